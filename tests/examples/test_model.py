"""The Llama program with weights of many shapes from one bundle, through the Python module, against NumPy.

usage: test_model.py DIRECTORY_OF_BUNDLES CONVERT_CHECKPOINT ETCC
"""
import hashlib
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import axon
import safetensors

bundles, convert, etcc = (Path(argument) for argument in sys.argv[1:4])
root = Path(__file__).resolve().parents[2]
stories = root / "examples" / "models" / "stories260K.safetensors"
scratch = tempfile.TemporaryDirectory()

# dim hidden layers heads kv_heads vocabulary sequence
SHAPES = {
    "grouped": (96, 256, 3, 6, 2, 128, 64),
    "one key-value head": (80, 31, 2, 5, 1, 61, 19),
    "all heads": (64, 100, 1, 4, 4, -37, 33),
    "tiny": (2, 1, 2, 1, 1, 3, 17),
}


def random_weights(name, dtype="f32"):
    path = Path(scratch.name) / f"{name}.{dtype}.safetensors"
    if not path.exists():
        numbers = [str(number) for number in SHAPES[name]]
        command = [convert, "--random", *numbers, "--dtype", dtype, "--seed", "7", "-o", path]
        subprocess.run(command, check=True)
    return path


def reference(path, tokens):
    """Logits of every position, in float64, straight from the definition."""
    w, metadata = safetensors.read(path)
    w = {name: array.astype(np.float64) for name, array in w.items()}
    heads, size = int(metadata["h"]), int(metadata["k"])
    eps, base = float(metadata["eps"]), float(metadata["base"])
    count = len(tokens)
    angles = np.arange(count)[:, None] * base ** (-2.0 * np.arange(size // 2) / size)
    turn = np.cos(angles) + 1j * np.sin(angles)

    def norm(x, weight):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight

    def rotated(x):  # [heads, positions, size]
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * turn
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    def split(x):
        return x.reshape(count, -1, size).transpose(1, 0, 2)

    x = w["embed"][tokens]
    for layer in range(len(w["layers.wq"])):
        p = {name[7:]: array[layer] for name, array in w.items() if name.startswith("layers.")}
        y = norm(x, p["norm1"])
        query, key, value = rotated(split(y @ p["wq"])), rotated(split(y @ p["wk"])), split(y @ p["wv"])
        group = len(query) // heads
        key, value = key.repeat(group, 0), value.repeat(group, 0)
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(size)
        scores[:, np.triu(np.ones((count, count), bool), 1)] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        x = x + mixed.transpose(1, 0, 2).reshape(count, -1) @ p["wo"]
        y = norm(x, p["norm2"])
        gate = y @ p["w1"]
        x = x + (gate / (1 + np.exp(-gate)) * (y @ p["w3"])) @ p["w2"]
    return norm(x, w["norm"]) @ w["classifier"].T


def zeros(type, *shape):
    if type == "bf16":
        return axon.Bits(np.zeros(shape, np.uint16), type)
    return np.zeros(shape, {"f32": np.float32, "f16": np.float16}[type])


class Reader:
    """A model with a cache, fed piece by piece."""

    def __init__(self, path, type="f32", workers=2):
        tensors, metadata = safetensors.read(path)
        self.entries = axon.load(bundles / f"llama-{type}.axb", workers=workers).bind(path)
        n, h, k, s = len(tensors["layers.wq"]), int(metadata["h"]), int(metadata["k"]), int(metadata["s"])
        self.vocabulary, self.positions = len(tensors["embed"]), s
        self.cache = {"keys": zeros(type, n, h, k, s), "values": zeros(type, n, h, s, k)}
        self.numbers = {"eps": float(metadata["eps"]), "base": float(metadata["base"])}
        self.fed = 0

    def __call__(self, tokens, one_by_one=False):
        if one_by_one:
            return np.stack([self([token]) for token in tokens])
        if len(tokens) == 1:
            entry, given = self.entries.decode, {"token": int(tokens[0])}
        else:
            entry, given = self.entries.prefill, {"tokens": np.array(tokens, np.int32)}
        logits, cache = entry(cache=self.cache, pos=self.fed, **given, **self.numbers)
        assert cache["keys"] is self.cache["keys"], "the cache is updated in place"
        self.fed += len(tokens)
        return np.asarray(logits, np.float32)


def some_tokens(reader, count):
    return np.random.default_rng(3).integers(0, reader.vocabulary, count)


class Model(unittest.TestCase):
    def close(self, actual, expected, tolerance=1e-4):
        largest = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * largest)

    def test_one_bundle_serves_every_shape(self):
        file = bundles / "llama-f32.axb"
        before = hashlib.sha256(file.read_bytes()).hexdigest()
        for path in [stories] + [random_weights(name) for name in SHAPES]:
            with self.subTest(path.name):
                reader = Reader(path)
                tokens = some_tokens(reader, 17)
                self.close(reader(tokens, one_by_one=True), reference(path, tokens))
        self.assertEqual(hashlib.sha256(file.read_bytes()).hexdigest(), before)

    def test_prefill_then_decode_equals_decode_alone(self):
        for path in (stories, random_weights("grouped"), random_weights("one key-value head")):
            tokens = some_tokens(Reader(path), 17)
            alone = Reader(path)(tokens, one_by_one=True)
            for pieces in ([17], [5, 12], [2, 2, 13], [16, 1], [1, 16], [7, 1, 1, 1, 7]):
                with self.subTest(path=path.name, pieces=pieces):
                    reader = Reader(path)
                    for count in pieces:
                        at = reader.fed + count
                        self.close(reader(tokens[reader.fed:at]), alone[at - 1])

    def test_the_number_of_workers_does_not_matter(self):
        path = random_weights("grouped")
        tokens = some_tokens(Reader(path), 12)
        decoded = Reader(path, workers=1)(tokens, one_by_one=True)
        prefilled = Reader(path, workers=1)(tokens)
        for workers in (2, 3, 5):  # to the last bit
            np.testing.assert_array_equal(Reader(path, workers=workers)(tokens, one_by_one=True), decoded)
            np.testing.assert_array_equal(Reader(path, workers=workers)(tokens), prefilled)

    def test_half_precision_stays_near(self):
        for type, tolerance in (("bf16", 0.05), ("f16", 0.01)):
            for name in ("grouped", "all heads"):
                with self.subTest(type=type, shape=name):
                    path = random_weights(name, type)
                    reader = Reader(path, type)
                    tokens = some_tokens(reader, 17)
                    expected = reference(path, tokens)  # of the rounded weights
                    self.close(reader(tokens, one_by_one=True), expected, tolerance)
                    self.close(Reader(path, type)(tokens), expected[-1], tolerance)

    def test_several_bundles_live_side_by_side(self):
        paths = {type: random_weights("grouped", type) for type in ("f32", "f16", "bf16")}
        readers = {type: Reader(path, type) for type, path in paths.items()}
        tokens = some_tokens(readers["f32"], 6)
        for type, reader in readers.items():
            self.close(reader(tokens), reference(paths[type], tokens)[-1], 0.05)

    def test_the_cache_holds_so_many_positions_and_no_more(self):
        reader = Reader(random_weights("one key-value head"))
        tokens = some_tokens(reader, reader.positions)
        self.close(reader(tokens), reference(random_weights("one key-value head"), tokens)[-1])
        for arguments in ([1], [1, 2]):
            with self.assertRaises(axon.Error) as caught:
                reader(arguments)
            self.assertEqual(caught.exception.code, "E0824")
        reader.fed = -1
        with self.assertRaises(axon.Error):
            reader([1])

    def test_a_token_out_of_range(self):
        reader = Reader(stories)
        for tokens in ([512], [-1], [1, 512, 3], [1, 2, -7]):
            with self.assertRaises(axon.Error) as caught:
                reader(tokens)
            self.assertEqual(caught.exception.code, "E0825")
            self.assertIn("less than 512", str(caught.exception))

    def test_states_of_the_wrong_shape(self):
        reader = Reader(stories)
        reader.cache["values"] = np.zeros((5, 4, 511, 8), np.float32)
        with self.assertRaises(axon.Error) as caught:
            reader([1])
        self.assertIn("axis 2 of `cache.values` is 511", str(caught.exception))
        reader.cache["values"] = np.zeros((5, 4, 512, 8), np.float64)
        with self.assertRaises(axon.Error) as caught:
            reader([1])
        self.assertEqual(str(caught.exception), "`cache.values` is f32, the given tensor is f64")

    def test_messages_are_those_of_the_command_line(self):
        lesson = root / "examples" / "02_shapes.axn"
        bundle = Path(scratch.name) / "shapes.axb"
        subprocess.run([etcc, "build", lesson, "-o", bundle], check=True)
        table = axon.load(bundle).table
        distances, products = table(x=np.eye(2, dtype=np.float32), y=np.eye(2, dtype=np.float32))
        np.testing.assert_array_equal(distances, [[0, 2], [2, 0]])
        np.testing.assert_array_equal(products, np.eye(2))
        for x, y in (([[1, 2]], [[1, 2, 3]]), ([1, 2], [[1, 2]])):
            command = [etcc, "run", lesson, "table", f"x={x}", f"y={y}"]
            shown = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(shown.returncode, 1)
            with self.assertRaises(axon.Error) as caught:
                table(x=np.array(x, np.float32), y=np.array(y, np.float32))
            self.assertEqual(shown.stderr, f"error[{caught.exception.code}]: {caught.exception}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
