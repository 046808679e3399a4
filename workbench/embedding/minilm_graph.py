"""The forward pass of the bundled model as ONNX graphs; ``python -m workbench.embedding.minilm_graph`` writes them anew.

BERT with six post-norm layers (Devlin et al. 2019, https://arxiv.org/abs/1810.04805), without padding and so without a mask:
one graph for one text, up to the mean over its tokens, and one for several texts of equal length, up to their tokens (the mean
over an inner axis adds in another order, so it is left to the caller). Operators are those of the ONNX standard, opset 20. The
weights are not copied: each points at its bytes in ``model.safetensors``, so a graph is a small file.

Needs the package ``onnx``; running the graph does not.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from workbench.embedding.bundled import BATCH_GRAPH_FILE, GRAPH_FILE, WEIGHTS_FILE, bundled_folder

LAYERS, HEADS, WIDTH = 6, 12, 384
_EPSILON = 1e-12
_OPSET, _IR_VERSION = 20, 9


def build_graph(weights: Path) -> bytes:
    """The graph over the tensors of ``weights`` (a safetensors file), serialised.

    Input ``ids``: int64, shape (n,), the word pieces of one text with [CLS] and [SEP], 2 <= n <= 512. Output ``mean``: float32,
    shape (384,), not yet of unit norm.
    """
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    graph.add("Shape", ["ids"], "n")
    split = graph.integers("split", 0, HEADS, WIDTH // HEADS)
    x = _layers(graph, _embeddings(graph), split, batched=False)
    graph.add("ReduceMean", [x, graph.integers("first", 0)], "mean", keepdims=0)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])
    return _serialised(graph, ids, helper.make_tensor_value_info("mean", TensorProto.FLOAT, [WIDTH]))


def build_batch_graph(weights: Path) -> bytes:
    """The graph for several texts that have the same number of word pieces, serialised.

    Input ``ids``: int64, shape (b, n). Output ``tokens``: float32, shape (b, n, 384), whose mean over n is what ``build_graph``
    calls ``mean``.
    """
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    graph.add("Shape", ["ids"], "shape")
    graph.add("Slice", ["shape", graph.integers("second", 1), graph.integers("third", 2)], "n")
    x = graph.add("Reshape", [_embeddings(graph), graph.integers("rows", -1, WIDTH)], "embedded.rows")
    split = graph.add("Concat", ["shape", graph.integers("heads", HEADS, WIDTH // HEADS)], "split", axis=0)
    x = _layers(graph, x, split, batched=True)
    graph.add("Reshape", [x, graph.add("Concat", ["shape", graph.integers("width", WIDTH)], "back", axis=0)], "tokens")
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "n"])
    return _serialised(graph, ids, helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["b", "n", WIDTH]))


def _serialised(graph: _Graph, ids: Any, output: Any) -> bytes:
    from onnx import helper

    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [ids],
            [output],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    data: bytes = model.SerializeToString(deterministic=True)
    return data


class _Graph:
    """Nodes and constants while they are being collected; every method gives the name of a value."""

    def __init__(self, weights: Path) -> None:
        with weights.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            self._tensors = json.loads(file.read(size))
        self._begin = 8 + size
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def add(self, operator: str, inputs: list[str], name: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str) -> str:
        from onnx import TensorProto

        known = self._tensors[name]
        begin, end = known["data_offsets"]
        tensor = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=known["shape"], data_location=TensorProto.EXTERNAL
        )  # fmt: skip
        for key, value in (("location", WEIGHTS_FILE), ("offset", self._begin + begin), ("length", end - begin)):
            tensor.external_data.add(key=key, value=str(value))
        self.constants[name] = tensor
        return name

    def integers(self, name: str, *values: int) -> str:
        from onnx import TensorProto, helper

        self.constants[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def dense(self, x: str, prefix: str) -> str:
        # transB because the file keeps (out, in); the runtime repacks the matrix once, when it loads
        return self.add("Gemm", [x, self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")], f"{prefix}.out", transB=1)

    def norm(self, x: str, prefix: str) -> str:
        inputs = [x, self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")]
        return self.add("LayerNormalization", inputs, f"{prefix}.out", epsilon=_EPSILON, axis=-1)


def _embeddings(graph: _Graph) -> str:
    """Word + position + kind of segment (always the first), normalised: shape of ids x 384."""
    first, second = graph.integers("first", 0), graph.integers("second", 1)
    words = graph.add("Gather", [graph.weight("embeddings.word_embeddings.weight"), "ids"], "words")
    positions = graph.add("Slice", [graph.weight("embeddings.position_embeddings.weight"), first, "n", first], "positions")
    kind = graph.add("Slice", [graph.weight("embeddings.token_type_embeddings.weight"), first, second, first], "kind")
    placed = graph.add("Add", [words, positions], "placed")
    return graph.norm(graph.add("Add", [placed, kind], "embedded"), "embeddings.LayerNorm")


def _layers(graph: _Graph, x: str, split: str, *, batched: bool) -> str:
    for layer in range(LAYERS):
        x = _layer(graph, x, f"encoder.layer.{layer}.", split, batched=batched)
    return x


def _layer(graph: _Graph, x: str, at: str, split: str, *, batched: bool) -> str:
    """Self-attention, then the two dense layers, each added to its input and normalised: rows of tokens, shape (rows, 384).

    split: shape that divides the rows into texts (if ``batched``), tokens and heads.
    """
    from onnx import TensorProto, helper

    joined = graph.integers("joined", -1 if batched else 0, WIDTH)
    graph.constants["scale"] = helper.make_tensor("scale", TensorProto.FLOAT, [], [(WIDTH // HEADS) ** -0.5])

    def order(*axes: int) -> tuple[int, ...]:
        return (0, *(axis + 1 for axis in axes)) if batched else axes

    heads = {}
    for part, axes in {"query": (1, 0, 2), "key": (1, 2, 0), "value": (1, 0, 2)}.items():
        flat = graph.dense(x, f"{at}attention.self.{part}")
        apart = graph.add("Reshape", [flat, split], f"{flat}.split")
        heads[part] = graph.add("Transpose", [apart], f"{flat}.heads", perm=order(*axes))
    scores = graph.add("MatMul", [heads["query"], heads["key"]], f"{at}scores")
    scores = graph.add("Softmax", [graph.add("Mul", [scores, "scale"], f"{at}scaled")], f"{at}attention", axis=-1)
    mixed = graph.add("MatMul", [scores, heads["value"]], f"{at}mixed")
    mixed = graph.add("Transpose", [mixed], f"{at}mixed.tokens", perm=order(1, 0, 2))
    mixed = graph.dense(graph.add("Reshape", [mixed, joined], f"{at}mixed.joined"), f"{at}attention.output.dense")
    x = graph.norm(graph.add("Add", [mixed, x], f"{at}attended"), f"{at}attention.output.LayerNorm")
    inner = graph.add("Gelu", [graph.dense(x, f"{at}intermediate.dense")], f"{at}gelu")
    inner = graph.dense(inner, f"{at}output.dense")
    return graph.norm(graph.add("Add", [inner, x], f"{at}summed"), f"{at}output.LayerNorm")


if __name__ == "__main__":
    weights_file = bundled_folder() / WEIGHTS_FILE
    GRAPH_FILE.write_bytes(build_graph(weights_file))
    BATCH_GRAPH_FILE.write_bytes(build_batch_graph(weights_file))
