"""Convert a fitted reducer to ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._core.aggregations import Extreme, Median, Norm, SumOfSquares
from coterie._core.fit import Fit, LinearAggregates
from coterie._core.joint import Clipped, Percentiles
from coterie._core.values import FloatArray, IntArray
from coterie._model_selection.tuning import REDUCERS

# NumPy functions that ONNX has too, with the same results up to rounding.
ONNX_OPERATORS = {
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
# ONNX's number for double precision, as in onnx.TensorProto.
DOUBLE = 11
# The operators used here have not changed since this opset.
MIN_OPSET = 18


def to_onnx(model: Any) -> Any:
    """Convert a fitted reducer, or a pipeline with one, to an ONNX model.

    The model takes a float32 table ``X`` and returns what ``transform`` or ``predict`` returns, up
    to rounding. It computes in double precision. Needs ``pip install "coterie[onnx]"``.

    Parameters
    ----------
    model : reducer or Pipeline
        Fitted. Functions given as `inputs` or `aggregation` must have an ONNX operator, such as
        ``np.square``; the other steps of a pipeline must be supported by skl2onnx.

    Returns
    -------
    onnx.ModelProto
        Write it with its ``SerializeToString``.

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
            kind, f"Coterie{kind.__name__}", _set_output_shape, _convert_reducer, overwrite=True
        )
    table = FloatTensorType([None, model.n_features_in_])
    return skl2onnx.to_onnx(model, initial_types=[("X", table)])


def _set_output_shape(operator: Any) -> None:
    """Set the output for skl2onnx: one column per group, of the type of the input."""
    kind = type(operator.inputs[0].type)
    operator.outputs[0].type = kind([None, operator.raw_operator.n_groups_])


def _convert_reducer(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a reducer to the graph."""
    from onnx import TensorProto

    if container.target_opset < MIN_OPSET:
        raise ValueError(f"Reducers need opset {MIN_OPSET}, got {container.target_opset}.")
    graph, fit = OnnxGraph(scope, container), operator.raw_operator.fit_
    # Other steps of a pipeline may pass doubles.
    is_double = type(operator.inputs[0].type).__name__ == "DoubleTensorType"
    to = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    columns = graph.node("Cast", operator.inputs[0].full_name, to=TensorProto.DOUBLE)
    columns, scaling = _add_inputs(graph, columns, fit.features.inputs), fit.features.scaling
    if scaling is not None:
        centred = graph.node("Sub", columns, graph.constant(scaling.centre))
        columns = graph.node("Div", centred, graph.constant(scaling.spread))
    values = _add_aggregates(graph, columns, fit)
    graph.node("Cast", values, to=to, output=operator.outputs[0].full_name)


@dataclass(frozen=True)
class OnnxGraph:
    """An ONNX graph under construction; every node has one output, given by name."""

    scope: Any
    container: Any

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        result = output or self.scope.get_unique_variable_name(kind.lower())
        name = self.scope.get_unique_operator_name(kind)
        version = self.container.target_opset
        self.container.add_node(
            kind, list(inputs), [result], op_version=version, name=name, **attributes
        )
        return result

    def sort_rows(self, columns: str, size: int) -> str:
        """Add a node that sorts the values of each row, of `size` columns."""
        result = self.scope.get_unique_variable_name("sorted")
        indices = self.scope.get_unique_variable_name("places")
        self.container.add_node(
            "TopK",
            [columns, self.constant([size])],
            [result, indices],
            op_version=self.container.target_opset,
            name=self.scope.get_unique_operator_name("TopK"),
            axis=1,
            largest=0,
            sorted=1,
        )
        return str(result)

    def constant(self, values: Any) -> str:
        """Add a constant: doubles, or integers for indices."""
        from onnx.helper import np_dtype_to_tensor_dtype

        array = np.asarray(values)
        array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
        name = self.scope.get_unique_variable_name("constant")
        kind = np_dtype_to_tensor_dtype(array.dtype)
        self.container.add_initializer(name, kind, list(array.shape), array.ravel().tolist())
        return str(name)


def _add_inputs(graph: OnnxGraph, columns: str, inputs: Any) -> str:
    """Apply the function `inputs` to the columns."""
    if inputs is None:
        return columns
    if inputs is np.square:
        return graph.node("Mul", columns, columns)
    if isinstance(inputs, Clipped):
        lower = graph.node("Max", columns, graph.constant(inputs.low))
        clipped = graph.node("Min", lower, graph.constant(inputs.high))
        # What is missing stays so.
        return graph.node("Where", graph.node("IsNaN", columns), columns, clipped)
    if isinstance(inputs, Percentiles):
        raise ValueError(
            "The reducer turns columns into ranks (inputs_ is 'rank'), which has no ONNX operator: "
            "fit it with inputs=None or inputs='clip'."
        )
    known = [operator for function, operator in ONNX_OPERATORS.items() if inputs is function]
    if not known:
        raise ValueError(
            f"inputs={inputs!r} has no ONNX operator: apply it before the reducer, in a Pipeline "
            "step that skl2onnx supports."
        )
    return graph.node(known[0], columns)


def _add_aggregates(graph: OnnxGraph, columns: str, fit: Fit) -> str:
    """Add the aggregates of all groups, one column each."""
    aggregates = fit.aggregates
    if isinstance(aggregates, LinearAggregates):
        if aggregates.means is not None:
            return _add_available(graph, columns, aggregates, aggregates.means)
        if aggregates.centre.any():
            columns = graph.node("Sub", columns, graph.constant(aggregates.centre))
        return graph.node("MatMul", columns, graph.constant(aggregates.weights.toarray().T))
    if aggregates.means is not None:
        raise ValueError(
            f"aggregation {fit.aggregation.name!r} with missing values is not supported in ONNX: "
            "use the mean or the sum, or fill in missing values before the reducer."
        )
    return _add_nonlinear_aggregates(graph, columns, fit.aggregation, fit.labels, fit.groups)


def _add_available(
    graph: OnnxGraph, columns: str, aggregates: LinearAggregates, means: FloatArray
) -> str:
    """Add linear aggregates that fill in missing members, as `LinearAggregates` does."""
    weights = aggregates.weights.toarray()
    unit = np.ones(len(means)) if aggregates.spread is None else aggregates.spread
    is_missing = graph.node("IsNaN", columns)
    missing = graph.node("Cast", is_missing, to=DOUBLE)
    filled = graph.node("Where", is_missing, graph.constant(means), columns)
    apart = graph.node(
        "Div", graph.node("Sub", filled, graph.constant(means)), graph.constant(unit)
    )
    deviation = graph.node("MatMul", apart, graph.constant(np.sign(weights).T))
    there = graph.node("Sub", graph.constant(1.0), missing)
    count = graph.node("MatMul", there, graph.constant(np.abs(np.sign(weights)).T))
    if aggregates.spread is not None:
        count = graph.node("Max", count, graph.constant(1.0))
    each = graph.node("Div", deviation, count)
    lost = graph.node("MatMul", missing, graph.constant((np.abs(weights) * unit).T))
    known = graph.node("Sub", filled, graph.constant(aggregates.centre))
    sums = graph.node("MatMul", known, graph.constant(weights.T))
    return graph.node("Add", sums, graph.node("Mul", lost, each))


def _add_nonlinear_aggregates(
    graph: OnnxGraph, columns: str, aggregation: Any, labels: IntArray, groups: Sequence[IntArray]
) -> str:
    if isinstance(aggregation, SumOfSquares | Norm):
        members = (labels[:, None] == np.arange(len(groups))).astype(np.float64)
        squares = graph.node("Mul", columns, columns)
        sums = graph.node("MatMul", squares, graph.constant(members))
        return sums if isinstance(aggregation, SumOfSquares) else graph.node("Sqrt", sums)
    if not isinstance(aggregation, Extreme | Median):
        raise ValueError(f"aggregation '{aggregation.name}' is not supported in ONNX.")
    aggregates = []
    for group in groups:
        members = graph.node("Gather", columns, graph.constant(group), axis=1)
        aggregates.append(_add_group_aggregate(graph, members, aggregation, len(group)))
    return graph.node("Concat", *aggregates, axis=1)


def _add_group_aggregate(graph: OnnxGraph, members: str, aggregation: Any, size: int) -> str:
    axis = graph.constant([1])
    if isinstance(aggregation, Extreme):
        kind = "ReduceMax" if aggregation.of is np.maximum else "ReduceMin"
        return graph.node(kind, members, axis, keepdims=1)
    both = graph.constant([(size - 1) // 2, size // 2])
    middle = graph.node("Gather", graph.sort_rows(members, size), both, axis=1)
    return graph.node("ReduceMean", middle, axis, keepdims=1)
