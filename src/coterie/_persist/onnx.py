"""A fitted reducer as a graph of ONNX, for machines without Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._core.aggregations import Extreme, Median, Norm, SumOfSquares
from coterie._core.values import IntArray
from coterie._model_selection.tuning import REDUCERS
from coterie.estimators._aggregates import LinearAggregates

# Functions of numpy that ONNX has, to the last digits.
OPERATORS = {
    np.absolute: "Abs",
    np.cos: "Cos",
    np.exp: "Exp",
    np.log: "Log",
    np.negative: "Neg",
    np.positive: "Identity",
    np.reciprocal: "Reciprocal",
    np.sign: "Sign",
    np.sin: "Sin",
    np.sqrt: "Sqrt",
    np.tanh: "Tanh",
}
# All that is used here has been the same since this one.
LEAST_OPSET = 18


def to_onnx(model: Any) -> Any:
    """A fitted reducer, or a pipeline with one, as a model of ONNX.

    It takes a table ``X`` of float32 and gives what ``transform`` or ``predict`` gives, but for
    rounding. Inside, numbers have double precision. Needs ``pip install "coterie[onnx]"``.

    Parameters
    ----------
    model : reducer or Pipeline
        Fitted. Functions given as `inputs` or `aggregation` must be ones that ONNX has, such as
        ``np.square``; the other steps of a pipeline ones that skl2onnx knows.

    Returns
    -------
    onnx.ModelProto
        To be written by its ``SerializeToString``.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> model = coterie.to_onnx(coterie.NonLinCFA().fit(X, y))
    >>> [node.op_type for node in model.graph.node]
    ['Cast', 'MatMul', 'Cast']
    """
    try:
        import skl2onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError:
        raise ImportError('ONNX needs an extra: pip install "coterie[onnx]".') from None
    check_is_fitted(model)
    for kind in REDUCERS:
        skl2onnx.update_registered_converter(
            kind, f"Coterie{kind.__name__}", _shape, _convert, overwrite=True
        )
    table = FloatTensorType([None, model.n_features_in_])
    return skl2onnx.to_onnx(model, initial_types=[("X", table)])


def _shape(operator: Any) -> None:
    """Tell skl2onnx what comes out: as many columns as groups, of the type that comes in."""
    kind = type(operator.inputs[0].type)
    operator.outputs[0].type = kind([None, operator.raw_operator.n_groups_])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of one reducer to a graph."""
    from onnx import TensorProto

    if container.target_opset < LEAST_OPSET:
        raise ValueError(f"Reducers need opset {LEAST_OPSET}, got {container.target_opset}.")
    graph, reducer = Graph(scope, container), operator.raw_operator
    # Other steps of a pipeline may hand on doubles.
    is_double = type(operator.inputs[0].type).__name__ == "DoubleTensorType"
    to = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    columns = graph.node("Cast", operator.inputs[0].full_name, to=TensorProto.DOUBLE)
    columns = _inputs(graph, columns, reducer._inputs)
    if reducer._scaling is not None:
        centred = graph.node("Sub", columns, graph.constant(reducer._scaling.centre))
        columns = graph.node("Div", centred, graph.constant(reducer._scaling.spread))
    values = _aggregated(graph, columns, reducer)
    graph.node("Cast", values, to=to, gives=operator.outputs[0].full_name)


@dataclass(frozen=True)
class Graph:
    """A graph under construction: every node gives one table, by its name."""

    scope: Any
    container: Any

    def node(self, kind: str, *takes: str, gives: str | None = None, **attributes: Any) -> str:
        """Add a node, and say what its result is called."""
        result = gives or self.scope.get_unique_variable_name(kind.lower())
        name = self.scope.get_unique_operator_name(kind)
        version = self.container.target_opset
        self.container.add_node(
            kind, list(takes), [result], op_version=version, name=name, **attributes
        )
        return result

    def in_order(self, columns: str, size: int) -> str:
        """Columns, of which there are so many, sorted within each row."""
        result = self.scope.get_unique_variable_name("sorted")
        places = self.scope.get_unique_variable_name("places")
        self.container.add_node(
            "TopK",
            [columns, self.constant([size])],
            [result, places],
            op_version=self.container.target_opset,
            name=self.scope.get_unique_operator_name("TopK"),
            axis=1,
            largest=0,
            sorted=1,
        )
        return str(result)

    def constant(self, values: Any) -> str:
        """Add numbers that do not change: doubles, or whole numbers for places."""
        from onnx.helper import np_dtype_to_tensor_dtype

        array = np.asarray(values)
        array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
        name = self.scope.get_unique_variable_name("constant")
        kind = np_dtype_to_tensor_dtype(array.dtype)
        self.container.add_initializer(name, kind, list(array.shape), array.ravel().tolist())
        return str(name)


def _inputs(graph: Graph, columns: str, inputs: Any) -> str:
    """What is grouped."""
    if inputs is None:
        return columns
    if inputs is np.square:
        return graph.node("Mul", columns, columns)
    known = [operator for function, operator in OPERATORS.items() if inputs is function]
    if not known:
        raise ValueError(
            f"inputs={inputs!r} has no form in ONNX: do it before the reducer, as a step of a "
            "Pipeline that skl2onnx knows."
        )
    return graph.node(known[0], columns)


def _aggregated(graph: Graph, columns: str, reducer: Any) -> str:
    """The aggregates of all groups, side by side."""
    aggregates, aggregation = reducer._aggregates, reducer._aggregation
    if aggregates.means is not None:
        raise ValueError("missing='pairwise' has no form in ONNX: fill gaps before the reducer.")
    if isinstance(aggregates, LinearAggregates):
        if aggregates.centre.any():
            columns = graph.node("Sub", columns, graph.constant(aggregates.centre))
        return graph.node("MatMul", columns, graph.constant(aggregates.weights.toarray().T))
    return _of_columns(graph, columns, aggregation, reducer.labels_, reducer.groups_)


def _of_columns(
    graph: Graph, columns: str, aggregation: Any, labels: IntArray, groups: Sequence[IntArray]
) -> str:
    if isinstance(aggregation, SumOfSquares | Norm):
        members = (labels[:, None] == np.arange(len(groups))).astype(np.float64)
        squares = graph.node("Mul", columns, columns)
        sums = graph.node("MatMul", squares, graph.constant(members))
        return sums if isinstance(aggregation, SumOfSquares) else graph.node("Sqrt", sums)
    if not isinstance(aggregation, Extreme | Median):
        raise ValueError(f"aggregation '{aggregation.name}' has no form in ONNX.")
    each = []
    for group in groups:
        chosen = graph.node("Gather", columns, graph.constant(group), axis=1)
        each.append(_of_group(graph, chosen, aggregation, len(group)))
    return graph.node("Concat", *each, axis=1)


def _of_group(graph: Graph, members: str, aggregation: Any, size: int) -> str:
    axis = graph.constant([1])
    if isinstance(aggregation, Extreme):
        kind = "ReduceMax" if aggregation.of is np.maximum else "ReduceMin"
        return graph.node(kind, members, axis, keepdims=1)
    both = graph.constant([(size - 1) // 2, size // 2])
    middle = graph.node("Gather", graph.in_order(members, size), both, axis=1)
    return graph.node("ReduceMean", middle, axis, keepdims=1)
