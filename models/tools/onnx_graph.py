"""A small builder for ONNX graphs of sentence encoders.

Every encoder here has the interface that the gateway expects: `input_ids` and `attention_mask`
(int64, [batch, sequence]) in, `last_hidden_state` (float32) out. Node and tensor names are counted,
never random, so that the same weights always give the same bytes.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 9
INPUTS = ("input_ids", "attention_mask")
OUTPUT = "last_hidden_state"


class Graph:
    """Nodes and constants in the order in which they were added."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, values: np.ndarray) -> str:
        """Adds a weight; the same name may be asked for again and is stored once."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.array(values, order="C"), name)
        return name

    def floats(self, name: str, values: object) -> str:
        return self.constant(name, np.asarray(values, np.float32))

    def ints(self, name: str, values: object) -> str:
        return self.constant(name, np.asarray(values, np.int64))

    def add(self, op: str, *inputs: str, output: str | None = None, **attributes: object) -> str:
        """Adds a node with one output and returns the name of that output."""
        return self._append(op, inputs, [output or self._fresh(op)], attributes)[0]

    def add_many(self, op: str, count: int, *inputs: str, **attributes: object) -> list[str]:
        """Adds a node with `count` outputs and returns their names."""
        base = self._fresh(op)
        return self._append(op, inputs, [f"{base}.{i}" for i in range(count)], attributes)

    def linear(self, x: str, name: str, weight: np.ndarray, bias: np.ndarray) -> str:
        """`x @ weight + bias`, with `weight` as [in, out]."""
        product = self.add("MatMul", x, self.floats(f"{name}.weight", weight))
        return self.add("Add", product, self.floats(f"{name}.bias", bias))

    def layer_norm(self, x: str, name: str, gain: np.ndarray, bias: np.ndarray, epsilon: float) -> str:
        inputs = (x, self.floats(f"{name}.gain", gain), self.floats(f"{name}.bias", bias))
        return self.add("LayerNormalization", *inputs, axis=-1, epsilon=epsilon)

    def save(self, path: Path, name: str, output_shape: list[str | int]) -> None:
        """Checks the model against the ONNX rules and writes it."""
        ids_shape = ["batch", "sequence"]
        inputs = [helper.make_tensor_value_info(i, TensorProto.INT64, ids_shape) for i in INPUTS]
        output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, output_shape)
        graph = helper.make_graph(self._nodes, name, inputs, [output], list(self._constants.values()))
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="weir"
        )
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString(deterministic=True))

    def _fresh(self, op: str) -> str:
        return f"{op}_{len(self._nodes)}"

    def _append(self, op: str, inputs: tuple, outputs: list[str], attributes: dict) -> list[str]:
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=self._fresh(op), **attributes))
        return outputs
