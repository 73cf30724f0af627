"""The story program from the outside: what it prints, and how it refuses.

usage: test_story.py DIRECTORY_OF_BUNDLES STORY ETCC
"""
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import safetensors

bundles, story, etcc = (Path(argument) for argument in sys.argv[1:4])
root = Path(__file__).resolve().parents[2]
recorded = root / "tests" / "weights" / "data"  # as for the tests of the tokenizer
models = root / "examples" / "models"
bundle = bundles / "llama-f32.axb"
weights, tokenizer = models / "stories260K.safetensors", models / "tok512.bin"
expected_text = (recorded / "stories260K.expected.txt").read_bytes()
expected_tokens = (recorded / "stories260K.expected.tokens.txt").read_bytes().split()
scratch = tempfile.TemporaryDirectory()


def run(*arguments, bundle=bundle, model=weights, tokenizer=tokenizer, environment=None,
        stdout=subprocess.PIPE):
    command = [story, "--bundle", bundle, "--model", model, *arguments]
    if tokenizer:
        command += ["--tokenizer", tokenizer]
    return subprocess.run([str(word) for word in command], stdout=stdout, stderr=subprocess.PIPE, timeout=120,
                          env=dict(os.environ, **(environment or {})))


def file_with(content, name="file"):
    path = Path(scratch.name) / name
    path.write_bytes(content)
    return path


class Story(unittest.TestCase):
    def test_the_text_is_the_expected_one(self):
        result = run()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, expected_text)
        self.assertRegex(result.stderr.decode(), r"tokens/s \(x86-64-v\d, \d+ workers\)")

    def test_the_tokens_are_the_expected_ones(self):
        result = run("--tokens")
        self.assertEqual(result.stdout.split(), expected_tokens)

    def test_the_logits_are_the_expected_ones(self):
        path = Path(scratch.name) / "logits"
        result = run("--logits", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, expected_text)
        actual = np.fromfile(path, np.float32)
        expected = np.fromfile(root / "tests/examples/data/stories260K.expected.logits8.f32", np.float32)
        self.assertEqual(actual.shape, expected.shape)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4)

    def test_any_number_of_workers_and_any_level_tells_the_same(self):
        for workers in (1, 2, 3):
            self.assertEqual(run("--workers", workers).stdout, expected_text)
        levels = 0
        for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
            result = run(environment={"AXON_LEVEL": level})
            if b"E0815" in result.stderr:
                continue  # not a level of this machine
            self.assertEqual(result.stdout, expected_text, level)
            self.assertIn(level, result.stderr.decode())
            levels += 1
        self.assertGreater(levels, 0)

    def test_other_prompts(self):
        for prompt in ("", "The dog", "Zoé 日本 \x01"):
            result = run("--positions", 40, prompt)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.decode(errors="replace").startswith(prompt))
        by_number = run("--tokens", "--prompt-tokens", 1, 403, 407, 261, 378, tokenizer=None)
        self.assertEqual(by_number.stdout.split(), expected_tokens)

    def test_all_positions(self):
        result = run("--positions", 512, "--tokens")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(len(result.stdout.split()), 512)

    def test_shared_weights_by_a_map(self):
        tensors, metadata = safetensors.read(weights)
        del tensors["classifier"]
        path = Path(scratch.name) / "shared.safetensors"
        safetensors.write(path, tensors, metadata)
        self.refused(1, "classifier", model=path)
        result = run("--map", file_with(b"classifier <- embed  -- shared\n"), model=path)
        self.assertEqual(result.stdout, expected_text, result.stderr)

    # ---- what is refused: (exit status, words of the message) ----

    def refused(self, status, *words, arguments=(), **inputs):
        result = run(*arguments, **inputs)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, status, message)
        self.assertFalse(result.stdout, "nothing is told when something is wrong")
        self.assertTrue(message.startswith("error"), message)
        for word in words:
            self.assertIn(word, message)

    def test_weights_that_cannot_be_read(self):
        whole = weights.read_bytes()
        self.refused(1, "nothing.safetensors", model="/nothing.safetensors")
        for size in (0, 7, 100, 2000, len(whole) - 1):
            self.refused(1, "error[E07", model=file_with(whole[:size], "cut.safetensors"))
        self.refused(1, "error[E07", model=file_with(b"\xff" * 8 + whole[8:], "long.safetensors"))
        self.refused(1, "error[E07", model=file_with(whole + b"x", "more.safetensors"))
        source = random.Random(1)
        for _ in range(20):
            mutated = bytearray(whole)
            for _ in range(3):
                mutated[source.randrange(1200)] = source.randrange(256)
            result = run("--positions", 8, model=file_with(bytes(mutated), "mutated.safetensors"))
            self.assertIn(result.returncode, (0, 1), result.stderr)

    def test_misfits_are_listed_together(self):
        tensors, metadata = safetensors.read(weights)
        del tensors["norm"]
        tensors["layers.wq"] = tensors["layers.wq"][:, :, :63]
        tensors["layers.w2"] = tensors["layers.w2"].transpose(0, 2, 1)
        path = Path(scratch.name) / "misfit.safetensors"
        safetensors.write(path, tensors, metadata)
        self.refused(1, "E0709", "norm", "layers.wq", "layers.w2", "[5, 64, 63]", model=path)

    def test_metadata_that_is_missing_or_wrong(self):
        tensors, metadata = safetensors.read(weights)
        path = Path(scratch.name) / "metadata.safetensors"
        for name in ("h", "s", "eps", "base"):  # the head size follows from h and the weights
            safetensors.write(path, tensors, {key: value for key, value in metadata.items() if key != name})
            self.refused(1, f"`{name}`", model=path)
        for change in ({"h": "3"}, {"h": "-4"}, {"h": "0"}, {"eps": "small"}, {"s": "0"}, {"s": "9" * 17}):
            safetensors.write(path, tensors, dict(metadata, **change))
            self.refused(1, model=path)

    def test_a_vocabulary_that_does_not_fit(self):
        longer = tokenizer.read_bytes() + b"\0\0\0\0" + (1).to_bytes(4, "little") + b"x"
        self.refused(1, "513", "512", tokenizer=file_with(longer, "longer.bin"))
        self.refused(1, "nothing.bin", tokenizer="/nothing.bin")
        self.refused(1, tokenizer=file_with(tokenizer.read_bytes()[:1000], "short.bin"))

    def test_prompts_and_positions_that_do_not_fit(self):
        self.refused(1, "too long", "5 tokens", "4 positions", arguments=("--positions", 4))
        self.refused(1, "513 positions", "512", arguments=("--positions", 513))
        self.refused(1, "too long", arguments=("word " * 600,))
        for token in (512, -1):
            self.refused(1, "E0825", f"is {token}", "less than 512",
                         arguments=("--tokens", "--prompt-tokens", 1, token), tokenizer=None)
        by_itself = ("--logits", "/dev/null", "--tokens", "--prompt-tokens", 512)
        self.refused(1, "E0825", arguments=by_itself, tokenizer=None)

    def test_wrong_usage(self):
        for arguments in (("--positions", "-3"), ("--positions", "many"), ("--nothing",), ("--workers", "x")):
            self.assertEqual(run(*arguments).returncode, 2, arguments)
        self.assertEqual(run(tokenizer=None).returncode, 2)
        self.assertEqual(subprocess.run([story], capture_output=True).returncode, 2)

    def test_bundles_that_are_none(self):
        whole = bundle.read_bytes()
        self.refused(3, "E0802", "nothing.axb", bundle="/nothing.axb")
        for size in (0, 7, 8, 40, 200, 5000, len(whole) // 2, len(whole) - 1):
            self.refused(1, "error[E08", bundle=file_with(whole[:size], "cut.axb"))
        self.refused(1, "E0814", "version", bundle=file_with(whole[:8] + b"\x02" + whole[9:], "version.axb"))
        self.refused(1, "error[E08", bundle=file_with(b"NOTABNDL" + whole[8:], "magic.axb"))
        for at in (len(whole) // 3, len(whole) - 100):
            flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
            self.refused(1, "E0811", bundle=file_with(flipped, "flipped.axb"))
        other = Path(scratch.name) / "other.axb"
        subprocess.run([etcc, "build", root / "examples/01_hello.axn", "-o", other], check=True)
        self.refused(1, "error", bundle=other)

    def test_outputs_that_cannot_be_written(self):
        self.refused(1, "/nothing/logits", arguments=("--logits", "/nothing/logits"))
        with open("/dev/full", "wb") as full:
            self.assertEqual(run(stdout=full).returncode, 3)
            self.assertEqual(run("--logits", "/dev/full").returncode, 3)
        command = [etcc, "build", root / "examples/01_hello.axn", "-o", "/nothing/a.axb"]
        result = subprocess.run(command, capture_output=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/nothing/a.axb", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
