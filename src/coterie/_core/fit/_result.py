"""The result of a fit: groups, and what is needed to transform new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie._core.aggregations import Aggregation
from coterie._core.fit._aggregates import Aggregates, LinearAggregates, same_kind
from coterie._core.fit._names import aggregate_name, checked_names, made_unique
from coterie._core.fit._shown import groups_frame, groups_html, groups_text
from coterie._core.fit._spec import Features
from coterie._core.values import BoolArray, FloatArray, IntArray, Trace, is_sparse


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The result of a fit: groups, trace, and how inputs become aggregates.

    Parameters
    ----------
    labels : ndarray of shape (n_inputs,)
        The group number of each input, or -1 if it is left out. Groups are numbered in order of
        their first member.
    groups : list of ndarray
        The input numbers of the members of each group.
    signs : ndarray of shape (n_inputs,)
        -1 for an input that joined multiplied by -1, and 1 otherwise. The first member of each
        group has 1.
    trace : record array
        The merges in order, with fields group, candidate, price, allowance and accepted, and
        refusals if the fit was asked to keep them.
    aggregation : Aggregation
    aggregates : Aggregates
        How inputs become aggregates, with the parameters learned from the training rows.
    features : Features
        How features become inputs.
    classes : ndarray, list of ndarray or None
        The class labels of the target, if it has classes.
    tolerance, penalty : float or None
        The tolerance or penalty that the fit has chosen, if it was not given as a number.
    n_samples : float or None
        Number of training rows, or the sum of their weights; None for a fit from a file.
    constant : ndarray of shape (n_inputs,) or None
        Which inputs were constant.
    spread : ndarray of shape (n_inputs,) or None
        Standard deviation of each input, after scaling.
    standardised : ndarray of shape (n_groups,) or None
        Which groups are aggregated in standard deviations, because the units of their members
        differ; None: none.
    n_refused : ndarray of shape (n_groups,) or None
        How many candidates each group refused; None where no group is asked.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> coterie.NonLinCFA().fit(X, y).fit_
    Fit: 12 columns in 3 groups
      1: mean(x1, x4, x5, x7, x10, x11) (6)
      0: mean(x0, x8, x9) (3)
      2: mean(x2, x3, x6) (3)
    """

    labels: IntArray
    groups: list[IntArray]
    signs: FloatArray
    trace: Trace
    aggregation: Aggregation
    aggregates: Aggregates
    features: Features
    classes: Any = None
    tolerance: float | None = None
    penalty: float | None = None
    n_samples: float | None = None
    constant: BoolArray | None = None
    spread: FloatArray | None = None
    standardised: BoolArray | None = None
    n_refused: IntArray | None = None

    @property
    def n_inputs(self) -> int:
        """Number of columns that were grouped."""
        return len(self.labels)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.groups)

    def to_frame(self) -> Any:
        """The groups as a pandas data frame: column, members and highest price of a merge."""
        inputs = self._input_names()
        return groups_frame(self.names_out(inputs), self.groups, self.trace, inputs)

    def __repr__(self) -> str:
        left_out = f", {len(self.rest):,} left out" if len(self.rest) else ""
        groups = f"{self.n_groups:,} group" + "s" * (self.n_groups != 1)
        headline = f"Fit: {self.n_inputs:,} columns in {groups}{left_out}"
        return groups_text(headline, self.names_out(self._input_names()), self.groups)

    def _repr_html_(self) -> str:
        return groups_html(self.names_out(self._input_names()), self.groups, self.trace)

    def _input_names(self) -> list[str]:
        """Names of the inputs: those of the features, if each became one input."""
        features = self.features
        if features.n_features == self.n_inputs:
            return checked_names(None, features.names, self.n_inputs)
        return [f"input{number}" for number in range(self.n_inputs)]

    def without_trace(self) -> Fit:
        """The same fit without the trace, which can have millions of rows."""
        no_trace: Any = self.trace[:0]
        return replace(self, trace=no_trace, constant=None, spread=None)

    def transform(self, inputs: Any) -> Any:
        """The aggregate of each group, of shape (n_samples, n_groups)."""
        scaling = self.features.scaling
        if scaling is None:
            return self.aggregates.values(inputs)
        values: Any = self.aggregates.values(scaling.applied(inputs))
        if is_sparse(values):
            return values.toarray() - self.aggregates.values(scaling.shift[None])
        return values

    def inverse_transform(self, values: Any) -> Any:
        """Inputs of shape (n_samples, n_inputs) that have these aggregates."""
        assert isinstance(self.aggregates, LinearAggregates)
        columns = same_kind(self.aggregates.members(values), values)
        scaling = self.features.scaling
        if scaling is None:
            return columns
        return scaling.undone(columns.toarray() if is_sparse(columns) else columns)

    def names_out(self, input_names: Sequence[str]) -> NDArray[np.object_]:
        """Names of the aggregates, such as ``mean(a, b, c)``; ``a`` for a group of one."""
        signed = zip(input_names, self.signs, strict=True)
        names = [f"-{name}" if sign < 0 else name for name, sign in signed]
        # An aggregation of the user may lack the attribute keeps_single.
        keeps_single = getattr(self.aggregation, "keeps_single", False)
        named = [
            names[members[0]]
            if len(members) == 1 and keeps_single
            else aggregate_name(word, members, names)
            for word, members in zip(self._words, self.groups, strict=True)
        ]
        return np.array(made_unique(named), dtype=object)

    @property
    def _words(self) -> list[str]:
        """The word for each aggregate: that of the aggregation, with a z in standard deviations."""
        name = self.aggregation.name
        if self.standardised is None:
            return [name] * self.n_groups
        return [f"z{name}" if each else name for each in self.standardised]

    @property
    def rest(self) -> IntArray:
        """The inputs that are left out."""
        return np.flatnonzero(self.labels < 0)

    def weighted_sum(self) -> tuple[sparse.csr_array, FloatArray]:
        """The aggregates as weighted sums: the weights of the features, and the intercepts."""
        aggregates, scaling = self.aggregates, self.features.scaling
        if self.features.inputs is not None or not isinstance(aggregates, LinearAggregates):
            has_inputs = self.features.inputs is not None
            what = "inputs" if has_inputs else f"aggregation='{self.aggregation.name}'"
            raise ValueError(
                f"{what} is no weighted sum of columns, which is all that can be sent."
            )
        if aggregates.means is not None:
            raise ValueError(
                "missing='pairwise' looks at the rows that have a value: load X first."
            )
        weights, centre = aggregates.weights, aggregates.centre
        if scaling is not None:
            weights = sparse.csr_array(weights @ sparse.diags_array(1 / scaling.spread))
            centre = scaling.centre + centre * scaling.spread
        return weights, -(weights @ centre)
