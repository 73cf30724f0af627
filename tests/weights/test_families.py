"""Checkpoints in the naming of published model families, bound to the example programs by maps of at most ten lines,
written by hand and proposed by `etcc weights`, and run: the results are those of NumPy with the same tensors.

usage: test_families.py ETCC
"""
import json
import math
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

etcc = Path(sys.argv.pop(1))
root = Path(__file__).resolve().parents[2]
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)
random = np.random.default_rng(5)
TYPES = {np.dtype(np.float32): "F32", np.dtype(np.uint16): "BF16", np.dtype(np.int64): "I64"}
MOST_LINES = 10


def draw(*shape, scale=0.5):
    return (random.standard_normal(shape) * scale).astype(np.float32)


def narrowed(array):
    """The upper halves of the floats, which are bf16."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def widened(array):
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def write(name, tensors, metadata=None):
    header, data = {"__metadata__": metadata or {}}, b""
    for key, array in tensors.items():
        begin = len(data)
        data += np.ascontiguousarray(array).tobytes()
        header[key] = {"dtype": TYPES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path = folder / name
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def call(*arguments, status=0):
    done = subprocess.run([etcc, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def program(name, text):
    path = folder / name
    path.write_text(text)
    return path


def model(name):
    return root / "examples" / "models" / name


def text_of(value):
    if isinstance(value, np.ndarray) and value.size > 64 and not value.any():
        return f"zeros{list(value.shape)}"
    return json.dumps(value.tolist()) if isinstance(value, np.ndarray) else str(value)


def run(source, entry, binding_map, weights, **arguments):
    """The first result of an entry."""
    path, out = folder / "a.map", folder / "out.npz"
    path.write_text(binding_map)
    given = [f"{name}=@{file}" for name, file in weights.items()]
    given += [f"{name.replace('__', '.')}={text_of(value)}" for name, value in arguments.items()]
    call("run", source, entry, *given, "--map", path, "-o", out, "--level", "x86-64-v2")
    with np.load(out) as results:
        return results[results.files[0] if "0" not in results.files else "0"]


def rules_in(binding_map):
    return [line for line in binding_map.splitlines() if line.strip() and not line.startswith("--")]


def layer_norm(x, w, b, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps) * w + b


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def split_heads(x, heads):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def merge_heads(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


class Family(unittest.TestCase):
    maxDiff = None

    def close(self, actual, expected):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=2e-4 * max(1.0, np.abs(expected).max()))

    def proposed(self, source, checkpoint, *options):
        text = call("weights", source, checkpoint, *options)
        self.assertLessEqual(len(rules_in(text)), MOST_LINES, text)
        return text

    def same(self, source, one, other, *options):
        """Two (checkpoint, map) bind the same to every weight."""
        self.assertEqual(*(call("weights", source, file, "--map", text, *options) for file, text in (one, other)))

    def short(self, binding_map):
        self.assertLessEqual(len(rules_in(binding_map)), MOST_LINES)
        return binding_map


class Llama(Family):
    V, D, F, LAYERS, KV, GROUP, SIZE, POSITIONS = 37, 24, 40, 3, 2, 2, 6, 8
    TOKENS = np.array([3, 36, 0, 11, 5], np.int32)
    NEIGHBOURS = False  # what turns against each other: else the halves of a head
    MAP = """
        prefix model.
        all as f32
        words wq = self_attn.q_proj, wk = self_attn.k_proj, wv = self_attn.v_proj, wo = self_attn.o_proj
        words w1 = mlp.gate_proj, w3 = mlp.up_proj, w2 = mlp.down_proj
        words norm1 = input_layernorm, norm2 = post_attention_layernorm
        embed       <- embed_tokens.weight
        layers.*[l] <- layers.{l}.*.weight, transposed
        norm        <- norm.weight
        classifier  <- lm_head.weight
    """

    @classmethod
    def setUpClass(cls):
        text = model("llama.axn").read_text()
        # Published weights turn the halves of a head against each other; the example turns neighbours.
        text = re.sub(r"\brope \(", "position.rope_halves (", text)
        cls.source = program("llama.axn", text.replace("\ntype Layer", "\nimport position\n\ntype Layer", 1))
        cls.tensors = {name: narrowed(array) for name, array in cls.drawn().items()}
        cls.checkpoint = write("llama.safetensors", cls.tensors)

    @classmethod
    def drawn(cls):
        heads = cls.KV * cls.GROUP * cls.SIZE
        tensors = {"model.embed_tokens.weight": draw(cls.V, cls.D)}
        for layer in range(cls.LAYERS):
            name = f"model.layers.{layer}."
            tensors |= {
                name + "self_attn.q_proj.weight": draw(heads, cls.D),
                name + "self_attn.k_proj.weight": draw(cls.KV * cls.SIZE, cls.D),
                name + "self_attn.v_proj.weight": draw(cls.KV * cls.SIZE, cls.D),
                name + "self_attn.o_proj.weight": draw(cls.D, heads),
                name + "mlp.gate_proj.weight": draw(cls.F, cls.D),
                name + "mlp.up_proj.weight": draw(cls.F, cls.D),
                name + "mlp.down_proj.weight": draw(cls.D, cls.F),
                name + "input_layernorm.weight": draw(cls.D) + 1,
                name + "post_attention_layernorm.weight": draw(cls.D) + 1,
            }
        tensors |= {"model.norm.weight": draw(cls.D) + 1, "lm_head.weight": draw(cls.V, cls.D)}
        return tensors

    def reference(self, tensors):
        w = {name: widened(array).astype(np.float64) for name, array in tensors.items()}
        count, half = len(self.TOKENS), self.SIZE // 2
        angles = np.arange(count)[:, None] * 10000.0 ** (-np.arange(half) / half)
        cosines, sines = np.cos(angles), np.sin(angles)

        def norm(x, weight):
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

        def rotated(x):
            a, b = (x[..., ::2], x[..., 1::2]) if self.NEIGHBOURS else (x[..., :half], x[..., half:])
            turned = [a * cosines - b * sines, b * cosines + a * sines]
            return np.stack(turned, -1).reshape(x.shape) if self.NEIGHBOURS else np.concatenate(turned, -1)

        x = w["model.embed_tokens.weight"][self.TOKENS]
        for layer in range(self.LAYERS):
            p = {n.split(".", 3)[3]: a for n, a in w.items() if n.startswith(f"model.layers.{layer}.")}
            y = norm(x, p["input_layernorm.weight"])
            q = rotated(split_heads(y @ p["self_attn.q_proj.weight"].T, self.KV * self.GROUP))
            k = rotated(split_heads(y @ p["self_attn.k_proj.weight"].T, self.KV)).repeat(self.GROUP, 0)
            v = split_heads(y @ p["self_attn.v_proj.weight"].T, self.KV).repeat(self.GROUP, 0)
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.SIZE)
            scores[:, np.triu(np.ones((count, count), bool), 1)] = -np.inf
            x = x + merge_heads(softmax(scores) @ v) @ p["self_attn.o_proj.weight"].T
            y = norm(x, p["post_attention_layernorm.weight"])
            gate = y @ p["mlp.gate_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (y @ p["mlp.up_proj.weight"].T)) @ p["mlp.down_proj.weight"].T
        return norm(x[-1], w["model.norm.weight"]) @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T

    def run_with(self, binding_map, checkpoint=None):
        cache = {"cache__keys": np.zeros((self.LAYERS, self.KV, self.SIZE, self.POSITIONS)),
                 "cache__values": np.zeros((self.LAYERS, self.KV, self.POSITIONS, self.SIZE))}
        return run(self.source, "prefill", binding_map, {"p": checkpoint or self.checkpoint}, tokens=self.TOKENS,
                   pos=0, eps=1e-5, base=10000.0, **cache)

    def test_by_hand(self):
        self.close(self.run_with(self.short(self.MAP)), self.reference(self.tensors))

    def test_proposed(self):
        text = self.proposed(self.source, self.checkpoint)
        self.assertIn("prefix model.\n", text)
        self.assertIn("all as f32\n", text)
        self.assertIn("unsure: layers.w1: `model.layers.{0}.mlp.gate_proj.weight`, or", text)
        self.same(self.source, (self.checkpoint, text), (self.checkpoint, self.MAP))

    def test_a_shared_embedding(self):
        tensors = {name: array for name, array in self.tensors.items() if name != "lm_head.weight"}
        checkpoint = write("tied.safetensors", tensors)
        text = self.proposed(self.source, checkpoint)
        self.assertIn("unsure: classifier: no tensor of its own, `model.embed_tokens.weight` has its shape", text)
        self.same(self.source, (checkpoint, text),
                  (checkpoint, self.MAP.replace("lm_head.weight", "embed_tokens.weight")))

    def test_fused_projections(self):
        tensors = dict(self.tensors)
        for layer in range(self.LAYERS):
            name = f"model.layers.{layer}."
            parts = [tensors.pop(f"{name}self_attn.{part}_proj.weight") for part in "qkv"]
            tensors[name + "self_attn.qkv_proj.weight"] = np.concatenate(parts)
            parts = [tensors.pop(f"{name}mlp.{part}_proj.weight") for part in ("gate", "up")]
            tensors[name + "mlp.gate_up_proj.weight"] = np.concatenate(parts)
        checkpoint = write("fused.safetensors", tensors, {"h": str(self.KV), "r": str(self.SIZE // 2)})
        binding_map = self.short("""
            prefix model.
            all as f32
            words wo = self_attn.o_proj, w2 = mlp.down_proj, norm1 = input_layernorm, norm2 = post_attention_layernorm
            layers.wq[l], layers.wk[l], layers.wv[l] <- layers.{l}.self_attn.qkv_proj.weight, transposed, split columns
            layers.w1[l], layers.w3[l] <- layers.{l}.mlp.gate_up_proj.weight, transposed, split columns
            layers.*[l] <- layers.{l}.*.weight, transposed
            embed       <- embed_tokens.weight
            norm        <- norm.weight
            classifier  <- lm_head.weight
        """)
        expected = self.reference(self.tensors)
        self.close(self.run_with(binding_map, checkpoint), expected)
        unknown = write("fused2.safetensors", tensors)
        message = call("weights", self.source, unknown, "--map", binding_map, status=1)
        self.assertIn("`model.layers.0.self_attn.qkv_proj.weight` is [48, 24], whose parts", message)
        self.assertIn("do not follow from it: state their sizes behind `split`", message)
        stated = binding_map.replace("qkv_proj.weight, transposed, split columns",
                                     "qkv_proj.weight, transposed, split columns 24 12 12")
        self.same(self.source, (unknown, stated), (checkpoint, binding_map))


def gguf(name, tensors):
    """Writes a .gguf of arrays by the number of their type there."""
    head = b"GGUF" + np.uint32(3).tobytes() + np.uint64(len(tensors)).tobytes() + np.uint64(1).tobytes()

    def text(value):
        return np.uint64(len(value)).tobytes() + value.encode()

    head += text("general.architecture") + np.uint32(8).tobytes() + text("llama")
    data = b""
    for key, (number, shape, raw) in tensors.items():
        data += bytes(-len(data) % 32)
        head += text(key) + np.uint32(len(shape)).tobytes() + np.array(shape[::-1], np.uint64).tobytes()
        head += np.uint32(number).tobytes() + np.uint64(len(data)).tobytes()
        data += raw
    path = folder / name
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path


def quantized(array):
    """The blocks of q8_0, and what they stand for."""
    rows = array.reshape(-1, 32)
    scales = (np.abs(rows).max(1) / 127).astype(np.float16)
    values = np.rint(rows / scales.astype(np.float32)[:, None]).clip(-127, 127).astype(np.int8)
    raw = b"".join(scale.tobytes() + row.tobytes() for scale, row in zip(scales, values))
    return raw, (values * scales.astype(np.float32)[:, None]).reshape(array.shape)


class LlamaInBlocks(Llama):
    """The same model as a GGUF file, whose heads turn neighbours, as the example does."""
    D, F, SIZE = 32, 64, 8
    NEIGHBOURS = True
    MAP = """
        all as f32
        words wq = attn_q, wk = attn_k, wv = attn_v, wo = attn_output, norm1 = attn_norm, norm2 = ffn_norm
        words w1 = ffn_gate, w2 = ffn_down, w3 = ffn_up
        embed       <- token_embd.weight
        layers.*[l] <- blk.{l}.*.weight, transposed
        norm        <- output_norm.weight
        classifier  <- output.weight
    """
    NAMES = {"model.layers.": "blk.", "model.embed_tokens": "token_embd", "model.norm": "output_norm",
             "lm_head": "output", "self_attn.o_proj": "attn_output", "self_attn.": "attn_", "mlp.": "ffn_", "_proj": "",
             "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}

    @classmethod
    def setUpClass(cls):
        cls.source, cls.tensors, written = model("llama.axn"), {}, {}
        for name, array in cls.drawn().items():
            raw, kept, number = array.tobytes(), array, 0
            if name == "lm_head.weight":
                raw, kept, number = narrowed(array).tobytes(), widened(narrowed(array)), 30
            elif name == "model.embed_tokens.weight":
                raw, kept, number = array.astype(np.float16).tobytes(), array.astype(np.float16).astype(np.float32), 1
            elif array.ndim == 2:
                (raw, kept), number = quantized(array), 8
            cls.tensors[name] = kept
            for old, new in cls.NAMES.items():
                name = name.replace(old, new)
            written[name] = (number, array.shape, raw)
        cls.checkpoint = gguf("llama.gguf", written)

    def test_proposed(self):
        text = self.proposed(self.source, self.checkpoint)
        self.assertIn("all as f32\n", text)
        self.same(self.source, (self.checkpoint, text), (self.checkpoint, self.MAP))

    test_a_shared_embedding = test_fused_projections = None


class Gpt2(Family):
    V, D, F, LAYERS, POSITIONS, HEADS = 29, 12, 40, 2, 9, 3
    TOKENS = np.array([1, 28, 7, 7], np.int32)
    MAP = """
        words norm1 = ln_1, qkv = attn.c_attn, out = attn.c_proj, norm2 = ln_2, up = mlp.c_fc, down = mlp.c_proj
        words w = weight, b = bias
        tokens      <- wte.weight
        positions   <- wpe.weight
        layers.*[l] <- h.{l}.*
        norm.*      <- ln_f.*
    """

    @classmethod
    def setUpClass(cls):
        cls.source = model("gpt2.axn")
        cls.tensors = {"wte.weight": draw(cls.V, cls.D), "wpe.weight": draw(cls.POSITIONS, cls.D)}
        sizes = {"ln_1": (cls.D,), "attn.c_attn": (cls.D, 3 * cls.D), "attn.c_proj": (cls.D, cls.D), "ln_2": (cls.D,),
                 "mlp.c_fc": (cls.D, cls.F), "mlp.c_proj": (cls.F, cls.D)}
        for layer in range(cls.LAYERS):
            for name, shape in sizes.items():
                cls.tensors[f"h.{layer}.{name}.weight"] = draw(*shape)
                cls.tensors[f"h.{layer}.{name}.bias"] = draw(shape[-1])
            cls.tensors[f"h.{layer}.attn.bias"] = np.ones((1, 1, cls.POSITIONS, cls.POSITIONS), np.float32)
        cls.tensors |= {"ln_f.weight": draw(cls.D), "ln_f.bias": draw(cls.D)}
        cls.checkpoint = write("gpt2.safetensors", cls.tensors)
        cls.prefixed = write("gpt2p.safetensors", {"transformer." + n: a for n, a in cls.tensors.items()})

    def reference(self):
        w = {name: array.astype(np.float64) for name, array in self.tensors.items()}
        count = len(self.TOKENS)
        x = w["wte.weight"][self.TOKENS] + w["wpe.weight"][:count]

        def norm(x, name):
            return layer_norm(x, w[name + ".weight"], w[name + ".bias"], 1e-5)

        def dense(x, name):
            return x @ w[name + ".weight"] + w[name + ".bias"]

        for layer in range(self.LAYERS):
            name = f"h.{layer}."
            parts = np.split(dense(norm(x, name + "ln_1"), name + "attn.c_attn"), 3, -1)
            q, k, v = (split_heads(part, self.HEADS) for part in parts)
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.D // self.HEADS)
            scores[:, np.triu(np.ones((count, count), bool), 1)] = -np.inf
            x = x + dense(merge_heads(softmax(scores) @ v), name + "attn.c_proj")
            y = dense(norm(x, name + "ln_2"), name + "mlp.c_fc")
            y = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y ** 3)))
            x = x + dense(y, name + "mlp.c_proj")
        return norm(x, "ln_f") @ w["wte.weight"].T

    def run_with(self, binding_map, checkpoint=None, source=None):
        return run(source or self.source, "logits", binding_map, {"p": checkpoint or self.checkpoint},
                   tokens=self.TOKENS, eps=1e-5, h=self.HEADS)

    def test_by_hand(self):
        self.close(self.run_with(self.short(self.MAP)), self.reference())

    def test_behind_a_prefix(self):
        message = call("weights", self.source, self.prefixed, "--map", self.MAP, status=1)
        self.assertIn("but all of them behind `transformer.`; write `prefix transformer.` as a line of the binding map",
                      message)
        with_prefix = self.short("prefix transformer.\n" + self.MAP)
        self.close(self.run_with(with_prefix, self.prefixed), self.reference())
        self.same(self.source, (self.checkpoint, with_prefix), (self.checkpoint, self.MAP))

    def test_proposed(self):
        for checkpoint in (self.checkpoint, self.prefixed):
            text = self.proposed(self.source, checkpoint, "--entry", "logits")
            self.same(self.source, (checkpoint, text), (checkpoint, "prefix transformer.\n" + self.MAP))

    def test_a_program_with_separate_projections(self):
        text = model("gpt2.axn").read_text()
        text = text.replace("qkv : { w : 't[d, 3*d], b : 't[3*d] }", "q : { w : 't[d, d], b : 't[d] }"
                            ", k : { w : 't[d, d], b : 't[d] }, v : { w : 't[d, d], b : 't[d] }")
        begin, end = text.index("  let y = project x p.qkv"), text.index("  in project (merge_heads a)")
        text = text[:begin] + """  let split z = split_heads h z
  let a =
    attention.scored (causal 0) (split (project x p.q)) (split (project x p.k)) (split (project x p.v))
""" + text[end:]
        source = program("separate.axn", text)
        binding_map = self.short("""
            words norm1 = ln_1, out = attn.c_proj, norm2 = ln_2, up = mlp.c_fc, down = mlp.c_proj, w = weight, b = bias
            tokens      <- wte.weight
            positions   <- wpe.weight
            layers.q.*[l], layers.k.*[l], layers.v.*[l] <- h.{l}.attn.c_attn.*, split columns
            layers.*[l] <- h.{l}.*
            norm.*      <- ln_f.*
        """)
        self.close(self.run_with(binding_map, source=source), self.reference())
        proposed = self.proposed(source, self.checkpoint, "--entry", "logits")
        self.assertIn("unsure: layers.q.w, layers.k.w, layers.v.w: parts of `h.{0}.attn.c_attn.weight`", proposed)
        self.assertIn("layers.q.*[l], layers.k.*[l], layers.v.*[l] <- h.{l}.attn.c_attn.*, split columns\n", proposed)

    def test_a_checkpoint_with_separate_projections(self):
        tensors = dict(self.tensors)
        for layer in range(self.LAYERS):
            name = f"h.{layer}.attn."
            for kind in ("weight", "bias"):
                parts = np.split(tensors.pop(f"{name}c_attn.{kind}"), 3, -1)
                tensors |= {f"{name}{part}_proj.{kind}": np.ascontiguousarray(a) for part, a in zip("qkv", parts)}
        checkpoint = write("separate.safetensors", tensors)
        names = [f"h.{{l}}.attn.{part}_proj.*" for part in "qkv"]
        binding_map = self.short(self.MAP + f"layers.qkv.*[l] <- {' + '.join(names)}, joined columns")
        self.close(self.run_with(binding_map, checkpoint), self.reference())
        self.assertIn(f"{' + '.join(names)}, joined columns\n",
                      self.proposed(self.source, checkpoint, "--entry", "logits"))


class Bert(Family):
    V, D, F, LAYERS, POSITIONS, HEADS, CLASSES = 31, 12, 28, 2, 7, 2, 3
    TOKENS = np.array([[2, 9, 30, 4, 0], [1, 1, 5, 0, 0]], np.int32)
    SEGMENTS = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 0, 0]], np.int32)
    MASK = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], bool)
    MAP = """
        prefix bert.
        words q = attention.self.query, k = attention.self.key, v = attention.self.value, w = weight, b = bias
        words out = attention.output.dense, norm1 = attention.output.LayerNorm, up = intermediate.dense
        words down = output.dense, norm2 = output.LayerNorm
        p.tokens      <- embeddings.word_embeddings.weight
        p.positions   <- embeddings.position_embeddings.weight
        p.segments    <- embeddings.token_type_embeddings.weight
        p.norm.*      <- embeddings.LayerNorm.*
        p.layers.*[l] <- encoder.layer.{l}.*, transposed
    """
    HEADS_MAP = """
        pooler.*      <- pooler.dense.*, transposed
        classifier.*  <- classifier.*, transposed
    """

    @classmethod
    def setUpClass(cls):
        cls.source = model("bert.axn")
        embeddings = "bert.embeddings."
        cls.tensors = {
            embeddings + "word_embeddings.weight": draw(cls.V, cls.D),
            embeddings + "position_embeddings.weight": draw(cls.POSITIONS, cls.D),
            embeddings + "token_type_embeddings.weight": draw(2, cls.D),
            embeddings + "position_ids": np.arange(cls.POSITIONS)[None],
        }

        def norm(name):
            cls.tensors |= {name + ".weight": draw(cls.D) + 1, name + ".bias": draw(cls.D)}

        def dense(name, inputs, outputs):
            cls.tensors |= {name + ".weight": draw(outputs, inputs), name + ".bias": draw(outputs)}

        norm(embeddings + "LayerNorm")
        for layer in range(cls.LAYERS):
            name = f"bert.encoder.layer.{layer}."
            for part in ("query", "key", "value"):
                dense(f"{name}attention.self.{part}", cls.D, cls.D)
            dense(name + "attention.output.dense", cls.D, cls.D)
            norm(name + "attention.output.LayerNorm")
            dense(name + "intermediate.dense", cls.D, cls.F)
            dense(name + "output.dense", cls.F, cls.D)
            norm(name + "output.LayerNorm")
        dense("bert.pooler.dense", cls.D, cls.D)
        dense("classifier", cls.D, cls.CLASSES)
        cls.checkpoint = write("bert.safetensors", cls.tensors)

    def reference(self):
        w = {name: array.astype(np.float64) for name, array in self.tensors.items()}

        def norm(x, name):
            return layer_norm(x, w[name + ".weight"], w[name + ".bias"], 1e-6)

        def dense(x, name):
            return x @ w[name + ".weight"].T + w[name + ".bias"]

        states = []
        for tokens, segments, mask in zip(self.TOKENS, self.SEGMENTS, self.MASK):
            embeddings = "bert.embeddings."
            x = (w[embeddings + "word_embeddings.weight"][tokens] +
                 w[embeddings + "token_type_embeddings.weight"][segments] +
                 w[embeddings + "position_embeddings.weight"][:len(tokens)])
            x = norm(x, embeddings + "LayerNorm")
            for layer in range(self.LAYERS):
                name = f"bert.encoder.layer.{layer}."
                q, k, v = (split_heads(dense(x, f"{name}attention.self.{part}"), self.HEADS)
                           for part in ("query", "key", "value"))
                scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.D // self.HEADS)
                scores[:, :, ~mask] = -np.inf
                y = dense(merge_heads(softmax(scores) @ v), name + "attention.output.dense")
                x = norm(x + y, name + "attention.output.LayerNorm")
                y = dense(x, name + "intermediate.dense")
                y = y * 0.5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
                x = norm(x + dense(y, name + "output.dense"), name + "output.LayerNorm")
            states.append(x)
        states = np.stack(states)
        return states, dense(np.tanh(dense(states[:, 0], "bert.pooler.dense")), "classifier")

    def run_with(self, entry, binding_map, parameters):
        return run(self.source, entry, binding_map, {name: self.checkpoint for name in parameters},
                   tokens=self.TOKENS, segments=self.SEGMENTS, mask=self.MASK, eps=1e-6, h=self.HEADS)

    def test_by_hand(self):
        self.close(self.run_with("encode", self.short(self.MAP), ["p"]), self.reference()[0])

    def test_proposed(self):
        text = self.proposed(self.source, self.checkpoint, "--entry", "encode")
        bare = re.sub(r"\bp\.", "", self.MAP)  # the only parameter of the entry
        self.same(self.source, (self.checkpoint, text), (self.checkpoint, bare), "--entry", "encode")

    def test_proposed_with_several_parameters(self):
        text = call("weights", self.source, self.checkpoint, "--entry", "classify")
        shown = call("weights", self.source, self.checkpoint, "--entry", "classify", "--map", text)
        self.assertIn("unused: bert.embeddings.position_ids i64[1, 7]", shown)
        by_hand = call("weights", self.source, self.checkpoint, "--entry", "classify", "--map",
                       self.MAP + self.HEADS_MAP)
        self.assertEqual(shown, by_hand)


class Lstm(Family):
    """The tensors of a recurrent layer have four gates each, one below the other: input, forget, cell, output."""
    V, D, LAYERS, STEPS, BATCH = 11, 5, 2, 4, 3
    MAP = """
        embed <- encoder.weight
        layers.wi[l], layers.wf[l], layers.wc[l], layers.wo[l] <- rnn.weight_ih_l{l}, transposed, split columns
        layers.ui[l], layers.uf[l], layers.uc[l], layers.uo[l] <- rnn.weight_hh_l{l}, transposed, split columns
        layers.bi[l], layers.bf[l], layers.bc[l], layers.bo[l] <- rnn.bias_l{l}, split rows
        classifier <- decoder.weight, transposed
        bias       <- decoder.bias
    """

    def test_gates(self):
        d, tensors = self.D, {"encoder.weight": draw(self.V, self.D), "decoder.weight": draw(self.V, self.D),
                              "decoder.bias": draw(self.V)}
        for layer in range(self.LAYERS):
            tensors |= {f"rnn.weight_ih_l{layer}": draw(4 * d, d), f"rnn.weight_hh_l{layer}": draw(4 * d, d),
                        f"rnn.bias_l{layer}": draw(4 * d)}
        checkpoint = write("lstm.safetensors", tensors)
        tokens = random.integers(0, self.V, (self.STEPS, self.BATCH)).astype(np.int32)
        state = np.zeros((self.LAYERS, self.BATCH, d), np.float32)
        actual = run(model("lstm.axn"), "logits", self.short(self.MAP), {"p": checkpoint}, tokens=tokens,
                     state__h=state, state__c=state)

        def sigmoid(x):
            return 1 / (1 + np.exp(-x))

        h, c, expected = state.astype(np.float64), state.astype(np.float64), []
        for step in tokens:
            x = tensors["encoder.weight"][step].astype(np.float64)
            for layer in range(self.LAYERS):
                gates = (x @ tensors[f"rnn.weight_ih_l{layer}"].T + h[layer] @ tensors[f"rnn.weight_hh_l{layer}"].T +
                         tensors[f"rnn.bias_l{layer}"])
                i, f, g, o = np.split(gates, 4, -1)
                c[layer] = sigmoid(f) * c[layer] + sigmoid(i) * np.tanh(g)
                x = h[layer] = sigmoid(o) * np.tanh(c[layer])
            expected.append(x @ tensors["decoder.weight"].T + tensors["decoder.bias"])
        self.close(actual, np.stack(expected))


if __name__ == "__main__":
    unittest.main()
