"""What a joint fit has found, from which the groups of any number follow without the data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from coterie._core.aggregations import LinearSum
from coterie._core.fit import Aggregates, Features, Fit, LinearAggregates, PlainAggregates
from coterie._core.joint import HeldOut, JointFit, Path, Step, Tree, labels_of
from coterie._core.values import TRACE_DTYPE, BoolArray, FloatArray, IntArray, Trace
from coterie._data.joint_training import JointTraining


@dataclass(frozen=True, eq=False)
class JointModel:
    """A joint fit and the features that it is about.

    Parameters
    ----------
    joint : JointFit
    leaf_of : ndarray of shape (n_inputs,)
        The leaf of the tree that each input belongs to; -1 for constant ones.
    signs : ndarray of shape (n_inputs,)
        Signs of the inputs relative to the root of the tree.
    centre, spread : ndarray of shape (n_inputs,)
    constant : ndarray of shape (n_inputs,)
    in_units : ndarray
        Nodes of the path whose members have one unit, in which their mean is coherent.
    n_samples : float
    """

    joint: JointFit
    leaf_of: IntArray
    signs: FloatArray
    centre: FloatArray
    spread: FloatArray
    constant: BoolArray
    in_units: IntArray
    n_samples: float

    @classmethod
    def of(cls, joint: JointFit, training: JointTraining) -> JointModel:
        """The model of a joint fit to some training data."""
        leaf_of = np.full(len(training.centre), -1, dtype=np.intp)
        sizes = joint.tree.n_members[: joint.tree.n_leaves]
        leaf_of[np.concatenate(training.leaf_members)] = np.repeat(np.arange(len(sizes)), sizes)
        signs = training.signs * np.append(joint.tree.signs, 1.0)[leaf_of]
        path = joint.path
        nodes = np.array([*path.start, *(step.merged for step in path.steps if step.merged >= 0)])
        checked = []
        for node in nodes.astype(np.intp).tolist():
            leaves = joint.tree.leaves(node)
            members = np.concatenate([training.leaf_members[leaf] for leaf in leaves])
            if training.is_coherent_in_units(members, signs[members]):
                checked.append(node)
        return cls(
            joint,
            leaf_of,
            signs,
            training.centre,
            training.spread,
            training.constant,
            np.array(checked, dtype=np.intp),
            training.data.n_rows,
        )

    @property
    def sizes(self) -> IntArray:
        """Number of inputs of each leaf."""
        return self.joint.tree.n_members[: self.joint.tree.n_leaves]

    def groups_at(self, n_groups: int) -> tuple[list[IntArray], IntArray]:
        """The members of each group, in order of first members, and the node of each group."""
        nodes = self.joint.nodes_at(n_groups)
        labels = np.append(self.joint.labels_at(n_groups), -1)[self.leaf_of]
        in_order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
        groups = np.split(in_order, np.cumsum(np.bincount(labels[in_order]))[:-1])
        order = sorted(range(len(groups)), key=lambda number: int(groups[number][0]))
        return [groups[number] for number in order], nodes[order]

    def fit_at(self, n_groups: int, aggregation: Any, features: Features, classes: Any) -> Fit:
        """The fit with so many groups."""
        groups, nodes = self.groups_at(n_groups)
        labels = np.full(len(self.leaf_of), -1, dtype=np.intp)
        signs = np.ones(len(self.leaf_of))
        for number, members in enumerate(groups):
            labels[members] = number
            signs[members] = self._signs_of(members)
        standardised = self._standardised(groups, nodes, features, aggregation)
        aggregates = self._aggregates(groups, signs, standardised, aggregation, features)
        return Fit(
            labels=labels,
            groups=groups,
            signs=signs,
            trace=self._trace(n_groups, labels),
            aggregation=aggregation,
            aggregates=aggregates,
            features=features,
            classes=classes,
            n_samples=self.n_samples,
            constant=self.constant,
            spread=self.spread,
            standardised=standardised,
        )

    def _signs_of(self, members: IntArray) -> FloatArray:
        """Signs of the members of a group: plus for most of them, whatever their order."""
        signs, first = self.signs[members], members[self.leaf_of[members].argmin()]
        return signs * np.sign(signs.sum() + self.signs[first] / 2)

    def _standardised(
        self, groups: list[IntArray], nodes: IntArray, features: Features, aggregation: Any
    ) -> BoolArray:
        """Which groups are aggregated in standard deviations."""
        if not isinstance(aggregation, LinearSum):
            return np.full(len(groups), features.scaling is not None)
        known = np.isin(nodes, self.in_units)
        equal = np.array(
            [np.ptp(self.spread[group]) <= 1e-9 * self.spread[group].max() for group in groups]
        )
        return ~(known | equal | np.array([len(group) == 1 for group in groups]))

    def _aggregates(
        self,
        groups: list[IntArray],
        signs: FloatArray,
        standardised: BoolArray,
        aggregation: Any,
        features: Features,
    ) -> Aggregates:
        means = self.centre if features.missing else None
        if not isinstance(aggregation, LinearSum):
            return PlainAggregates(aggregation, groups, means)
        # What is left out comes back at its mean.
        centre, weights = self.centre.copy(), signs.copy()
        unit = np.where(self.constant, 1.0, self.spread)
        for members, in_deviations in zip(groups, standardised, strict=True):
            _, each = aggregation.weights(np.empty((0, len(signs))), members)
            weights[members] *= each / (unit[members] if in_deviations else 1.0)
            centre[members] = self.centre[members] if in_deviations else 0.0
        return LinearAggregates.with_weights(centre, weights, groups, means, unit)

    def stability_of(self, held_out: HeldOut, n_groups: int) -> FloatArray:
        """The stability of each group, in the order of `groups_at`."""
        _, nodes = self.groups_at(n_groups)
        labels, start = self.joint.labels_at(n_groups), self.joint.path.start
        each = held_out.stability(labels, labels_of(self.joint.tree, start), self.sizes)
        place = {int(node): number for number, node in enumerate(self.joint.nodes_at(n_groups))}
        return each[[place[int(node)] for node in nodes]]

    def _trace(self, n_groups: int, labels: IntArray) -> Trace:
        """The merges of the path that led to the groups."""
        path, tree = self.joint.path, self.joint.tree
        steps = path.steps[: max(0, len(path.start) - n_groups)]
        first_input = np.full(tree.n_leaves, len(self.leaf_of), dtype=np.intp)
        known = self.leaf_of >= 0
        np.minimum.at(first_input, self.leaf_of[known], np.flatnonzero(known))
        paid = max((step.price for step in steps), default=0.0)
        records = []
        for step in steps:
            if step.merged < 0:
                continue
            ends = [int(first_input[tree.leaves(node)].min()) for node in (step.first, step.second)]
            if labels[min(ends)] >= 0:
                records.append(
                    (
                        labels[min(ends)],
                        max(ends),
                        step.price / self.n_samples,
                        paid / self.n_samples,
                        True,
                    )
                )
        return np.array(records, dtype=TRACE_DTYPE).view(np.recarray)

    def linkage(self) -> FloatArray:
        """The tree over all inputs as a SciPy linkage."""
        tree, n = self.joint.tree, len(self.leaf_of)
        inside, node_of = self._inside_leaves()
        above = n + len(inside) + np.arange(len(tree.children))
        nodes = np.concatenate([node_of, above])
        merges = np.empty((len(tree.children), 4))
        merges[:, :2], merges[:, 2] = nodes[tree.children], 1 - tree.likeness
        merges[:, 3] = tree.n_members[tree.n_leaves :]
        # Constant inputs are like nothing.
        constant = np.flatnonzero(self.constant)
        last = np.empty((len(constant), 4))
        n_before = n + len(inside) + len(merges)
        last[:, 0] = np.append(nodes[-1], n_before + np.arange(len(constant)))[: len(constant)]
        last[:, 1], last[:, 2] = constant, 2.0
        last[:, 3] = tree.n_members[-1] + 1 + np.arange(len(constant))
        return _in_order(np.concatenate([inside, merges, last]), n)

    def _inside_leaves(self) -> tuple[FloatArray, IntArray]:
        """Merges of the inputs of each leaf, and the node that each leaf is then."""
        merges: list[tuple[int, int, float, int]] = []
        in_order = np.argsort(self.leaf_of, kind="stable")[np.count_nonzero(self.leaf_of < 0) :]
        starts = np.cumsum(self.sizes) - self.sizes
        node_of = in_order[starts]
        for leaf in np.flatnonzero(self.sizes > 1):
            members = in_order[starts[leaf] : starts[leaf] + self.sizes[leaf]]
            for size, member in enumerate(members[1:].tolist(), start=2):
                merges.append((int(node_of[leaf]), member, 0.0, size))
                node_of[leaf] = len(self.leaf_of) + len(merges) - 1
        return np.array(merges, dtype=np.float64).reshape(-1, 4), node_of

    def plain(self) -> dict[str, Any]:
        """The model as plain arrays, for files."""
        joint = self.joint
        tree = {one.name: getattr(joint.tree, one.name) for one in fields(joint.tree)}
        steps = np.array([step[:3] for step in joint.path.steps], dtype=np.intp).reshape(-1, 3)
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "joint"}
        return {
            **own,
            # Files hold no empty tables, only empty lists.
            "tree": tree | {"children": joint.tree.children.ravel()},
            "start": joint.path.start,
            "steps": steps.ravel(),
            "prices": np.array([step.price for step in joint.path.steps]),
            "chosen": joint.chosen,
            "relevance": joint.relevance,
            "leaves_out": joint.leaves_out,
            "kept": joint.kept,
        }

    @classmethod
    def again(cls, plain: dict[str, Any]) -> JointModel:
        """The model again."""
        steps = zip(plain["steps"].reshape(-1, 3).tolist(), plain["prices"].tolist(), strict=True)
        tree = Tree(**plain["tree"] | {"children": plain["tree"]["children"].reshape(-1, 2)})
        joint = JointFit(
            tree,
            Path(plain["start"], [Step(a, b, c, price) for (a, b, c), price in steps]),
            plain["chosen"],
            plain["relevance"],
            plain["leaves_out"],
            plain["kept"],
        )
        own = {one.name: plain[one.name] for one in fields(cls) if one.name != "joint"}
        return cls(joint, **own)


def _in_order(merges: FloatArray, n: int) -> FloatArray:
    """A linkage in order of distance, the lower node of each merge first."""
    order = np.argsort(merges[:, 2], kind="stable")
    number = np.empty(n + len(merges))
    number[:n], number[n + order] = np.arange(n), n + np.arange(len(merges))
    made = merges[order]
    made[:, :2] = np.sort(number[made[:, :2].astype(np.intp)], axis=1)
    return made
