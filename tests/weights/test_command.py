"""`etcc weights`: what it says of good and of bad checkpoints, with and without a map.

usage: test_command.py ETCC
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

etcc = Path(sys.argv.pop(1))
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)

NET = """
type Layer[d, e] = { wq : f32[d, e], wk : f32[d, e], norm : f32[d] }
type Net[n, v, d, e] = { embed : f32[v, d], layers : Stack[n, Layer[d, e]], norm : f32[d], scale : f32 }
fun all x = sum (flatten x)
entry main (p : weights Net[n, v, d, e]) (x : f32[d]) =
  (all p.embed + all p.layers.wq + all p.layers.wk + all p.layers.norm + sum p.norm) * p.scale + sum x
"""


def program(text=NET, name="net.axn"):
    (folder / name).write_text(text)
    return folder / name


def checkpoint(name, shapes, dtype="F32", metadata=None):
    """Zeros of these shapes."""
    header, at = {"__metadata__": metadata or {}}, 0
    for key, shape in shapes.items():
        kind = dtype
        if isinstance(shape, tuple):
            kind, shape = shape
        size = {"F32": 4, "F16": 2, "I64": 8, "U64": 8, "C64": 8}[kind]
        for extent in shape:
            size *= extent
        header[key] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    path = folder / name
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(at))
    return path


def net(layers=4, d=6, e=8, prefix="", **other):
    shapes = {"embed": [10, d], "norm": [d], "scale": []}
    for layer in range(layers):
        shapes |= {f"layers.{layer}.q": [d, e], f"layers.{layer}.k": [d, e], f"layers.{layer}.ln": [d]}
    shapes |= other
    return {prefix + name: shape for name, shape in shapes.items()}


def weights(*arguments, stdin=None):
    command = [etcc, "weights", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


MAP = "layers.wq[l] <- layers.{l}.q\nlayers.wk[l] <- layers.{l}.k\nlayers.norm[l] <- layers.{l}.ln\n"


class Command(unittest.TestCase):
    maxDiff = None

    def test_a_map_is_proposed(self):
        for prefix in ("", "model."):
            status, out, err = weights(program(), checkpoint("net.safetensors", net(prefix=prefix)))
            self.assertEqual((status, err), (0, ""), out)
            expected = """\
words norm = ln, wk = k, wq = q
layers.*[l] <- layers.{l}.*
-- the tensors of their own names: embed, norm, scale
"""
            self.assertEqual(out, (f"prefix {prefix}\n" if prefix else "") + expected)

    def test_no_map_is_needed(self):
        shapes = {"embed": [10, 6], "layers.wq": [4, 6, 8], "layers.wk": [4, 6, 8], "layers.norm": [4, 6],
                  "norm": [6], "scale": []}
        status, out, err = weights(program(), checkpoint("own.safetensors", shapes))
        names = "embed, layers.wq, layers.wk, layers.norm, norm, scale"
        self.assertEqual((status, out, err), (0, f"-- the tensors of their own names: {names}\n", ""))

    def test_what_a_map_binds(self):
        path = checkpoint("net.safetensors", net(extra=("I64", [3])))
        status, out, err = weights(program(), path, "--map", MAP)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, """\
embed        f32[10, 6]    <- embed f32[10, 6]
layers.wq    f32[4, 6, 8]  <- layers.0.q f32[6, 8] and 3 more
layers.wk    f32[4, 6, 8]  <- layers.0.k f32[6, 8] and 3 more
layers.norm  f32[4, 6]     <- layers.0.ln f32[6] and 3 more
norm         f32[6]        <- norm f32[6]
scale        f32           <- scale f32
unused: extra i64[3]
""")

    def test_the_tensor_that_disagrees_is_named(self):
        for d, name in ((4, "layers.*.q"), (5, "embed"), (7, "norm")):
            shapes = net()
            for key, shape in shapes.items():
                if key == name or (name == "layers.*.q" and key.endswith(".q")):
                    shapes[key] = [d if extent == 6 else extent for extent in shape]
            status, out, err = weights(program(), checkpoint("odd.safetensors", shapes), "--map", MAP)
            self.assertEqual(status, 1)
            parameter = "layers.wq" if name == "layers.*.q" else name
            self.assertIn(f"the weights do not fit the program: parameter `{parameter}` is [", err)
            self.assertIn("d = 6 by `", err)
            self.assertEqual(err.count("parameter `"), 1, err)

    def test_two_that_disagree_are_both_named(self):
        source = program("entry main (p : weights { a : f32[d], b : f32[d] }) = sum (p.a + p.b)", "two.axn")
        status, _, err = weights(source, checkpoint("two.safetensors", {"a": [2], "b": [3]}), "--map", "a <- a")
        self.assertEqual(status, 1)
        self.assertIn("parameter `b` is [3] in the file, expected [d] = [2] (d = 2 from axis 0 of `p.a`)", err)

    def test_an_orientation_that_would_fit_is_offered(self):
        source = program("entry main (p : weights { a : f32[d, e], b : f32[d], c : f32[d], e : f32[e], f : f32[e] }) = "
                         "sum (flatten p.a) + sum (p.b + p.c) + sum (p.e + p.f)", "turned.axn")
        path = checkpoint("turned.safetensors", {"a": [3, 2], "b": [2], "c": [2], "e": [3], "f": [3]})
        status, _, err = weights(source, path, "--map", "a <- a")
        self.assertEqual(status, 1)
        self.assertIn("with `transposed` it would fit", err)
        self.assertEqual(weights(source, path, "--map", "a <- a, transposed")[0], 0)
        status, out, _ = weights(source, path)
        self.assertEqual(status, 0)
        self.assertIn("a <- a, transposed\n", out)

    def test_what_is_missing_is_a_comment_and_an_error(self):
        shapes = net()
        del shapes["scale"]
        status, out, err = weights(program(), checkpoint("less.safetensors", shapes))
        self.assertEqual(status, 1)
        self.assertIn("-- scale: no tensor of its shape and type is left\n", out)
        self.assertIn("error[E0709]", err)
        self.assertIn("the weights have no tensor `scale`", err)

    def test_candidates_are_listed(self):
        source = program("entry main (p : weights { left : f32[n], right : f32[n] }) = sum (p.left - p.right)",
                         "open.axn")
        status, out, _ = weights(source, checkpoint("open.safetensors", {"x": [3], "y": [3]}))
        self.assertEqual(status, 0)
        self.assertIn("-- unsure: left: `x`, or `y`\n", out)

    def test_maps_that_cannot_be_read(self):
        path = checkpoint("net.safetensors", net())
        status, _, err = weights(program(), path, "--map", folder / "missing.map")
        self.assertEqual(status, 1)
        self.assertIn("error[E0701]", err)
        self.assertIn("missing.map", err)
        status, _, err = weights(program(), path, "--map", "a <- b, sideways")
        self.assertEqual(status, 1)
        self.assertIn("error[E0708]: the binding map cannot be read: line 1: `transposed`,", err)
        prefixed = checkpoint("prefixed.safetensors", net(prefix="m."))
        status, _, err = weights(program(), prefixed, "--map", MAP)
        self.assertIn("write `prefix m.` as a line of the binding map", err)
        (folder / "good.map").write_text("prefix m.\n" + MAP)
        self.assertEqual(weights(program(), prefixed, "--map", folder / "good.map")[0], 0)
        source = program("entry main (p : weights { a : f32[n] }) = sum p.a", "one.axn")
        one = checkpoint("one.safetensors", {"m.a": ("F16", [3])})
        self.assertEqual(weights(source, one, "--map", "prefix m.\nall as f32")[0], 0, "a text without rules")

    def test_programs_and_files_that_are_no_good(self):
        path = checkpoint("net.safetensors", net())
        status, _, err = weights(program("entry main (x : f32[n]) = x", "none.axn"), path)
        self.assertEqual(status, 1)
        self.assertIn("the entries have no weights", err)
        status, _, err = weights(program("entry main (x : ", "broken.axn"), path)
        self.assertEqual(status, 1)
        for name, data in (("e.safetensors", b""), ("e.gguf", b"GGUF"), ("e.pth", b"x")):
            (folder / name).write_bytes(data)
            status, _, err = weights(program(), folder / name)
            self.assertEqual(status, 1, name)
            self.assertIn("error[E070", err)
        self.assertEqual(weights(program(), folder / "no.safetensors")[0], 1)
        self.assertEqual(weights(program())[0], 2)

    def test_names_that_need_quotes_and_escapes(self):
        names = ["a, b", 'q"uote', "brace{d}", "st*r", "new\nline", "a <- b", "-- c", "{0}", "back\\slash", "{l}.\u00e9 + x",
                 "dot.{0}.w"]
        written = ['"a, b"', '"q""uote"', "brace{{d}}", "st{*}r", "new{0x0a}line", '"a <- b"', '"-- c"', "{{0}}", "back\\slash",
                   '"{{l}}.\u00e9 + x"', "dot.{{0}}.w"]
        source = program("entry main (p : weights { a : f32[n], b : f32[m] }) = sum p.a + sum p.b", "names.axn")
        for name, text in zip(names, written):
            path = checkpoint("names.safetensors", {name: [3], "b": [4], "": [5]})
            status, out, err = weights(source, path)
            self.assertEqual((status, err), (0, ""), out)
            self.assertIn(f"a <- {text}\n", out)
            self.assertEqual(weights(source, path, "--map", out)[0], 0)

    def test_names_of_stacks_that_need_quotes_and_escapes(self):
        fields = "type L = { w : f32[3], b : f32[2], c : f32[4] }\n"
        source = program(fields + "entry main (p : weights { layers : Stack[n, L], x : f32[5] }) = "
                         "(p.layers.w * 1.0, p.layers.b * 1.0, p.layers.c * 1.0, p.x * 1.0)", "stack.axn")
        for front, back in (("h{", "}"), ('say "', '" +'), ("*", "{0}"), ("a\n", "\n"), ("{{0}}", "}.x")):
            shapes = {f"{front}.{i}.{kind}{back}": [size] for i in range(3)
                      for kind, size in (("weight", 3), ("bias", 2), ("co*st", 4))}
            path = checkpoint("stack.safetensors", shapes | {"x": [5]})
            status, out, err = weights(source, path)
            self.assertEqual((status, err), (0, ""), out)
            shown = weights(source, path, "--map", out)
            self.assertEqual((shown[0], shown[1].count("unused"), shown[1].count("and 2 more")), (0, 0, 3), out)

    def test_tensors_of_types_that_are_not_read(self):
        source = program("entry main (p : weights { a : f32[n], b : f32[m] }) = sum p.a + sum p.b", "types.axn")
        path = checkpoint("types.safetensors", {"a": [3], "b": [4], "c": ("C64", [3]), "d": ("U64", [2, 2])})
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "-- the tensors of their own names: a, b\n-- unreadable: c C64[3]\n-- unreadable: d U64[2, 2]\n")
        status, out, err = weights(source, path, "--map", out)
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.endswith("b  f32[4]  <- b f32[4]\nunreadable: c C64[3]\nunreadable: d U64[2, 2]\n"), out)
        for used in ("a <- c", "a <- a + c, summed", "a <- c + a, joined rows"):
            status, _, err = weights(source, path, "--map", used)
            self.assertEqual(status, 1)
            self.assertIn("parameter `a`: `c` is C64[3], an element type that is not read", err)
        path = checkpoint("types.safetensors", {"a": ("U64", [3]), "b": [4]})
        status, out, err = weights(source, path)
        self.assertEqual(status, 1)
        self.assertIn("-- a: no tensor of its shape and type is left\n-- unreadable: a U64[3]\n", out)
        self.assertIn("parameter `a`: `a` is U64[3], an element type that is not read", err)

    def test_no_tensors_and_empty_tensors(self):
        status, out, _ = weights(program(), checkpoint("nothing.safetensors", {}))
        self.assertEqual(status, 1)
        self.assertEqual(out.count("no tensor of its shape"), 6)
        status, _, err = weights(program(), checkpoint("empty.safetensors", net(d=0, e=0)))
        self.assertEqual(status, 0, err)
        status, _, err = weights(program(), checkpoint("one.safetensors", net(layers=1, d=1, e=1)))
        self.assertEqual(status, 0, err)

    def test_several_files(self):
        shapes = net()
        first = checkpoint("first.safetensors", {name: shapes[name] for name in shapes if "layers" in name})
        second = checkpoint("second.safetensors", {name: shapes[name] for name in shapes if "layers" not in name})
        status, _, err = weights(program(), first, second)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(weights("-", first, second, stdin=NET)[0], 0)

    def gates(self, letters, biases=1, layers=0):
        """A program with a matrix for x, one for h and biases for each gate, and the tensors of PyTorch for it."""
        kinds = {"w": "f32[d, h]", "u": "f32[h, h]"} | {"bc"[i]: "f32[h]" for i in range(biases)}
        fields = ", ".join(f"{kind}_{letter} : {kinds[kind]}" for letter in letters for kind in kinds)
        where = "p.layers" if layers else "p"
        used = ", ".join(f"{where}.{kind}_{letter} * 1.0" for letter in letters for kind in kinds)
        held = "layers : Stack[n, Gates[d, h]]" if layers else fields
        source = program(f"type Gates[d, h] = {{ {fields} }}\nentry main (p : weights {{ {held} }}) = ({used})", "rnn.axn")
        size, shapes = len(letters) * 4, {}
        for layer in range(layers or 1):
            shapes |= {f"rnn.weight_ih_l{layer}": [size, 3], f"rnn.weight_hh_l{layer}": [size, 4],
                       f"rnn.bias_ih_l{layer}": [size], f"rnn.bias_hh_l{layer}": [size]}
        return weights(source, checkpoint("rnn.safetensors", shapes))

    def test_gates_of_recurrent_layers(self):
        self.assertEqual(self.gates("fcio"), (0, """\
prefix rnn.
w_i, w_f, w_c, w_o <- weight_ih_l0, transposed, split columns
u_i, u_f, u_c, u_o <- weight_hh_l0, transposed, split columns
b_i, b_f, b_c, b_o <- bias_ih_l0 + bias_hh_l0, summed, split columns
""", ""))
        status, out, err = self.gates("nzr", layers=2)
        self.assertEqual((status, err), (0, ""), out)
        self.assertIn("layers.w_r[l], layers.w_z[l], layers.w_n[l] <- rnn.weight_ih_l{l}, transposed, split columns\n", out)
        self.assertIn("<- rnn.bias_ih_l{l} + rnn.bias_hh_l{l}, summed, split columns\n", out)
        self.assertIn("of which PyTorch resets one with the last gate", out)

    def test_two_biases_that_the_program_keeps_apart(self):
        status, out, err = self.gates("rzn", biases=2)
        self.assertEqual((status, err), (0, ""), out)
        self.assertNotIn("summed", out)
        self.assertIn("-- unsure: b_r, b_z, b_n: `rnn.bias_", out)

    def test_gates_in_a_file_of_nobody_known(self):
        gates = ", ".join(f"{gate} : {{ w : f32[d, h], u : f32[h, h] }}" for gate in ("forget", "cell", "output", "input"))
        used = " + ".join(f"sum (flatten p.{gate}.{m})" for gate in ("forget", "cell", "output", "input") for m in "wu")
        source = program(f"entry main (p : weights {{ {gates} }}) = {used}", "gates.axn")
        path = checkpoint("keras.safetensors", {"lstm/kernel": [3, 16], "lstm/recurrent_kernel": [4, 16]})
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        self.assertIn("input.w, forget.w, cell.w, output.w <- lstm/kernel, split columns\n", out)
        self.assertIn("-- unsure: input.w, forget.w, cell.w, output.w: parts of `lstm/kernel`, in this order\n", out)

    def test_parts_in_their_usual_order(self):
        source = program("entry main (p : weights { down : f32[f, d], up : f32[d, f], gate : f32[d, f], b : f32[d] }) = "
                         "sum (flatten p.up) + sum (flatten p.gate) + sum (flatten p.down) + sum p.b", "gated.axn")
        path = checkpoint("gated.safetensors", {"gate_up_proj.weight": [12, 4], "down_proj.weight": [4, 6], "b": [4]})
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        self.assertIn("gate, up <- gate_up_proj.weight, transposed, split columns\n", out)

    def test_filters_are_not_turned(self):
        source = program("entry main (p : weights { stem : f32[c, i, s, s], head : f32[c, k], b : f32[k] }) = "
                         "(p.stem * 1.0, p.head * 1.0, p.b * 1.0)", "filters.axn")
        path = checkpoint("filters.safetensors", {"conv.weight": [4, 3, 7, 7], "fc.weight": [5, 4], "fc.bias": [5]})
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        self.assertIn("stem <- conv.weight\n", out)
        self.assertNotIn("unsure: stem", out)
        self.assertIn("head <- weight, transposed\n", out)

    def axes(self, fields, shapes):
        """What is proposed for a program with these fields; the proposal binds."""
        used = ", ".join(f"p.{field.split(':')[0].strip()} * 1.0" for field in fields.split("; "))
        source = program(f"entry main (p : weights {{ {fields.replace(';', ',')} }}) = ({used})", "axes.axn")
        path = checkpoint("axes.safetensors", shapes)
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(weights(source, path, "--map", out)[0], 0)
        return re.sub(" +", " ", out)

    def test_axes_of_extent_1(self):
        out = self.axes("cls : f32[d]; pos : f32[n, d]; w : f32[d, e]; b : f32[e]",
                        {"vit.cls_token": [1, 1, 6], "vit.pos_embed": [1, 9, 6], "head.weight": [4, 6], "head.bias": [4]})
        self.assertIn("cls <- vit.cls_token, axes 1 1 a -> a\n", out)
        self.assertIn("pos <- vit.pos_embed, axes 1 a b -> a b\n", out)
        out = self.axes("w : f32[1, d, 1]; x : f32[d]; y : f32[d]", {"w": [6], "x": [6], "y": [6]})
        self.assertIn("w <- w, axes (a=1 b=6 c) -> a b c\n", out)
        out = self.axes("conv : f32[i, o]; b : f32[o]; c : f32[i]", {"conv.weight": [4, 3, 1, 1], "b": [4], "c": [3]})
        self.assertIn("conv <- conv.weight, axes a b 1 1 -> b a\n", out)

    def test_filters_in_another_order(self):
        out = self.axes("stem : f32[s, s, i, o]; stem_bias : f32[o]; conv : f32[t, t, o, o]; conv_bias : f32[o]",
                        {"stem.weight": [4, 3, 7, 7], "stem.bias": [4], "conv.weight": [4, 4, 3, 3], "conv.bias": [4]})
        self.assertIn("stem <- stem.weight, axes a b c d -> c d b a\n", out)
        self.assertIn("conv <- conv.weight, axes a b c d -> c d b a\n", out, "as the other one is")
        self.assertNotIn("unsure: conv:", out)
        out = self.axes("conv : f32[t, t, o, o]; conv_bias : f32[o]", {"conv.weight": [4, 4, 3, 3], "conv.bias": [4]})
        self.assertIn("-- unsure: conv: which of its axes is which, its shape does not tell\n", out)
        out = self.axes("stem : f32[o, i, s, s]; stem_bias : f32[o]", {"stem.kernel": [7, 7, 3, 4], "stem.bias": [4]})
        self.assertIn("axes a b c d -> d c a b\n", out)

    def test_filters_along_one_axis(self):
        out = self.axes("conv1 : f32[3, i, d]; conv1_b : f32[d]; conv2 : f32[3, d, d]; conv2_b : f32[d]; pos : f32[t, d]",
                        {"conv1.weight": [8, 5, 3], "conv1.bias": [8], "conv2.weight": [8, 8, 3], "conv2.bias": [8],
                         "pos": [20, 8]})
        self.assertIn("conv1 <- conv1.weight, axes a b c -> c b a\n", out)
        self.assertIn("conv2 <- conv2.weight, axes a b c -> c b a\n", out, "as the other one is")
        out = self.axes("conv2 : f32[3, d, d]; conv2_b : f32[d]", {"conv2.weight": [8, 8, 3], "conv2.bias": [8]})
        self.assertIn("-- unsure: conv2: which of its axes is which, its shape does not tell\n", out)

    def test_a_scalar_of_axes_of_extent_1(self):
        out = self.axes("t : f32; w : f32[d]", {"t": [1, 1], "w": [3]})
        self.assertIn("t <- t, axes 1 1 ->\n", out)

    def test_a_record_of_layers_with_tensors_of_two(self):
        conv = "type C[o, i, k] = { w : f32[o, i, k, k], scale : f32[o], shift : f32[o] }\n"
        block = "type B[c, m] = { conv1 : C[m, c, 1], conv2 : C[m, m, 3], conv3 : C[c, m, 1] }\n"
        source = program(conv + block + "entry main (p : weights { stem : C[c, 3, 7], blocks : Stack[n, B[c, m]] }) (x : f32[2]) "
                         "= p.stem.w * 1.0", "resnet.axn")
        shapes = {"conv1.weight": [8, 3, 7, 7], "bn1.weight": [8], "bn1.bias": [8]}
        for i in range(2):
            for j, (o, c, k) in enumerate(((4, 8, 1), (4, 4, 3), (8, 4, 1)), 1):
                name = f"layer1.{i}."
                shapes |= {f"{name}conv{j}.weight": [o, c, k, k], f"{name}bn{j}.weight": [o], f"{name}bn{j}.bias": [o]}
        path = checkpoint("resnet.safetensors", shapes)
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        shown = weights(source, path, "--map", out)
        self.assertEqual((shown[0], shown[1].count("unused")), (0, 0), out + shown[1])

    def test_axes_that_are_one(self):
        shapes = {}
        for i in range(2):
            shapes |= {f"block_{i}.query.kernel": [6, 4, 2], f"block_{i}.query.bias": [4, 2],
                       f"block_{i}.out.kernel": [4, 2, 6], f"block_{i}.out.bias": [6]}
        layer = "type L[d, a] = { query : f32[d, a], query_b : f32[a], out : f32[a, d], out_b : f32[d] }\n"
        source = program(layer + "entry main (p : weights { layers : Stack[n, L[d, a]], norm : f32[d] }) = p.norm * 1.0",
                         "flax.axn")
        path = checkpoint("flax.safetensors", shapes | {"norm.scale": [6]})
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        for field, name, axes in (("query", "query.kernel", "a b c -> a (b c)"), ("query_b", "query.bias", "a b -> (a b)"),
                                  ("out", "out.kernel", "a b c -> (a b) c")):
            self.assertRegex(out, rf"(?m)^layers\.{field}\[l\] +<- block_{{l}}\.{name}, axes {re.escape(axes)}$")
        self.assertEqual(weights(source, path, "--map", out)[0], 0)

    def test_axes_that_are_divided(self):
        out = self.axes("q : f32[4, k, d]; other : f32[d]", {"q.weight": [8, 6], "other": [6]})
        self.assertIn("q <- q.weight, axes (a=4 b) c -> a b c\n", out)

    def test_axes_that_follow_from_what_is_assumed(self):
        out = self.axes("wq : f32[h, d, k]; wo : f32[h, k, d]; bq : f32[h, k]", {"q": [6, 4, 2], "o": [4, 2, 6], "bq": [4, 2]})
        self.assertIn("wq <- q, axes a b c -> b a c\nwo <- o\n", out)
        self.assertIn("-- unsure: bq: whether it is transposed, its shape does not tell\n", out)

    def test_axes_that_shapes_leave_open(self):
        source = program("entry main (p : weights { bq : f32[h, k], other : f32[h, k, d] }) = (p.bq * 1.0, p.other * 1.0)",
                         "open.axn")
        status, out, err = weights(source, checkpoint("open.safetensors", {"q": [8], "bq": [8], "x": [8, 6]}))
        self.assertEqual(status, 1)
        self.assertIn("-- bq: maybe `bq`, with `axes`, which its shape does not tell\n", out)
        self.assertIn("parameter `bq` has 2 axes, `bq` is [8]", err)

    def test_an_order_of_axes_is_offered(self):
        source = program("entry main (p : weights { a : f32[2, i, o], b : f32[i], c : f32[i], e : f32[o], f : f32[o] }) = "
                         "(p.a * 1.0, p.b + p.c, p.e + p.f)", "offer.axn")
        path = checkpoint("offer.safetensors", {"a": [5, 3, 2], "b": [3], "c": [3], "e": [5], "f": [5]})
        status, _, err = weights(source, path, "--map", "a <- a")
        self.assertEqual(status, 1)
        self.assertIn("parameter `a` is [5, 3, 2] in the file, expected [2, i, o] = [2, 3, 5]", err)
        self.assertIn("; with `axes a b c -> c b a` it would fit", err)
        self.assertEqual(weights(source, path, "--map", "a <- a, axes a b c -> c b a")[0], 0)
        _, _, err = weights(source, path, "--map", "a <- a, axes x y z -> z x y")
        self.assertIn("parameter `a` is [2, 5, 3] by `axes x y z -> z x y` (`a`, [5, 3, 2] in the file), expected [2, i, o]", err)

    def test_two_stacks_of_one_record(self):
        layer = "type L[e] = { a : f32[3], b : f32[4], up : f32[e, 5], down : f32[e, 6] }\n"
        source = program(layer + "entry main (p : weights { layers : Stack[n, L[e]], x : f32[2] }) = p.x * 1.0", "two.axn")
        shapes = {"x": [2]}
        for i in range(2):
            shapes |= {f"h.{i}.a": [3], f"h.{i}.b": [4]}
            for j in range(3):
                shapes |= {f"h.{i}.e.{j}.up": [5], f"h.{i}.e.{j}.down": [6]}
        path = checkpoint("two.safetensors", shapes)
        status, out, err = weights(source, path)
        self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(weights(source, path, "--map", out)[0], 0)

    def test_sizes_of_parts_follow_from_other_weights(self):
        source = program("entry main (p : weights { q : f32[d, a], k : f32[d, b], v : f32[d, b], o : f32[a, d] }) = "
                         "sum (flatten p.q) + sum (flatten p.k) + sum (flatten p.v) + sum (flatten p.o)", "parts.axn")
        path = checkpoint("parts.safetensors", {"qkv": [24, 4], "o": [12, 4]})
        status, out, err = weights(source, path, "--map", "q, k, v <- qkv, transposed, split columns")
        self.assertEqual((status, err), (0, ""), out)
        self.assertRegex(out, r"k +f32\[4, 6\] +<- qkv f32\[24, 4\], transposed, a part")

    def test_layers_that_the_program_keeps_apart(self):
        fields = ", ".join(f"w{i} : f32[d, d], b{i} : f32[d]" for i in range(60))
        uses = " + ".join(f"sum (flatten p.w{i}) + sum p.b{i}" for i in range(60))
        source = program(f"entry main (p : weights {{ {fields} }}) = {uses}", "apart.axn")
        shapes = {}
        for i in range(60):
            shapes |= {f"fc{i}.weight": [3, 3], f"fc{i}.bias": [3]}
        status, out, err = weights(source, checkpoint("apart.safetensors", shapes))
        self.assertEqual(status, 0, err)
        for i in range(60):
            self.assertRegex(out, rf"(?m)^w{i} +<- fc{i}\.weight$")
            self.assertRegex(out, rf"(?m)^b{i} +<- fc{i}\.bias$")


if __name__ == "__main__":
    unittest.main()
