"""Proposals for checkpoints whose names have numbers of several kinds: blocks of T5 and experts. They bind what maps bind
that are written by hand.

usage: test_stacks.py ETCC
"""
import unittest

from test_families import Family, call, draw, program, write


class T5(Family):
    """Numbers in names that are indices of a stack and ones that are not, an embedding whose name says nothing, and tensors
    of the first block alone."""
    SOURCE = """
type Attention[d, a] = { q : f32[d, a], k : f32[d, a], v : f32[d, a], o : f32[a, d] }
type Feed[d, f] = { wi : f32[d, f], wo : f32[f, d] }
type Down[d, a, f] = { norm1 : f32[d], attention : Attention[d, a], norm2 : f32[d], feed : Feed[d, f] }
type Up[d, a, f] =
  { norm1 : f32[d], attention : Attention[d, a], norm2 : f32[d], cross : Attention[d, a], norm3 : f32[d], feed : Feed[d, f] }
type Encoder[n, d, a, f, b, h] = { bias : f32[b, h], layers : Stack[n, Down[d, a, f]], norm : f32[d] }
type Decoder[n, d, a, f, b, h] = { bias : f32[b, h], layers : Stack[n, Up[d, a, f]], norm : f32[d] }
type Net[v, n, m, d, a, f, b, h] =
  { embed : f32[v, d], encoder : Encoder[n, d, a, f, b, h], decoder : Decoder[m, d, a, f, b, h] HEAD}
entry main (p : weights Net[v, n, m, d, a, f, b, h]) (x : f32[d]) = (p.embed * 1.0, p.encoder.bias * 1.0)
"""
    MAP = """
        embed <- shared.weight
        encoder.bias <- encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight
        decoder.bias <- decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight
        encoder.layers.norm1[l] <- encoder.block.{l}.layer.0.layer_norm.weight
        encoder.layers.norm2[l] <- encoder.block.{l}.layer.1.layer_norm.weight
        encoder.layers.attention.*[l] <- encoder.block.{l}.layer.0.SelfAttention.*.weight, transposed
        encoder.layers.feed.*[l] <- encoder.block.{l}.layer.1.DenseReluDense.*.weight, transposed
        encoder.norm <- encoder.final_layer_norm.weight
        decoder.layers.norm1[l] <- decoder.block.{l}.layer.0.layer_norm.weight
        decoder.layers.norm2[l] <- decoder.block.{l}.layer.1.layer_norm.weight
        decoder.layers.norm3[l] <- decoder.block.{l}.layer.2.layer_norm.weight
        decoder.layers.attention.*[l] <- decoder.block.{l}.layer.0.SelfAttention.*.weight, transposed
        decoder.layers.cross.*[l] <- decoder.block.{l}.layer.1.EncDecAttention.*.weight, transposed
        decoder.layers.feed.*[l] <- decoder.block.{l}.layer.2.DenseReluDense.*.weight, transposed
        decoder.norm <- decoder.final_layer_norm.weight
    """

    def tensors(self, d, a, f, v, h, blocks, tied):
        out = {"shared.weight": draw(v, d)} | ({} if tied else {"lm_head.weight": draw(v, d)})
        for half, parts in (("encoder", ("SelfAttention", "DenseReluDense")),
                            ("decoder", ("SelfAttention", "EncDecAttention", "DenseReluDense"))):
            out[f"{half}.final_layer_norm.weight"] = draw(d)
            for block in range(blocks[half]):
                for layer, part in enumerate(parts):
                    name = f"{half}.block.{block}.layer.{layer}."
                    shapes = {"wi": (f, d), "wo": (d, f)} if "Dense" in part else dict.fromkeys("qkv", (a, d)) | {"o": (d, a)}
                    out |= {f"{name}{part}.{key}.weight": draw(*shape) for key, shape in shapes.items()}
                    out[name + "layer_norm.weight"] = draw(d)
                    if block == 0 and part == "SelfAttention":
                        out[f"{name}{part}.relative_attention_bias.weight"] = draw(32, h)
        return out

    def test_proposed(self):
        for d, a, f, v, h, encoder, decoder in ((12, 8, 20, 30, 2, 3, 2), (12, 12, 20, 30, 2, 2, 2), (12, 12, 20, 32, 3, 2, 4),
                                                (7, 5, 11, 13, 1, 1, 1), (8, 8, 16, 32, 8, 2, 3)):
            for tied in (True, False):
                with self.subTest(d=d, a=a, f=f, v=v, encoder=encoder, decoder=decoder, tied=tied):
                    head = "" if tied else ", head : f32[v, d] "
                    source = program("t5.axn", self.SOURCE.replace(" HEAD", head))
                    blocks = {"encoder": encoder, "decoder": decoder}
                    checkpoint = write("t5.safetensors", self.tensors(d, a, f, v, h, blocks, tied))
                    by_hand = self.MAP + ("" if tied else "head <- lm_head.weight")
                    self.same(source, (checkpoint, call("weights", source, checkpoint)), (checkpoint, by_hand))


class Experts(Family):
    """Experts in one tensor for each layer, or in one tensor each."""
    LAYER = """
type Layer[d, f, e, c] = { norm1 : f32[d], wq : f32[d, c], wk : f32[d, c], wv : f32[d, c], wo : f32[c, d], norm2 : f32[d],
  router : f32[d, e], EXPERTS }
type Net[v, n, d, f, e, c] = { embed : f32[v, d], layers : Stack[n, Layer[d, f, e, c]], norm : f32[d], head : f32[v, d] }
entry main (p : weights Net[v, n, d, f, e, c]) (x : f32[d]) = p.embed * 1.0
"""
    RECORDS = ("type Expert[d, f] = { up : f32[d, f], gate : f32[d, f], down : f32[f, d] }" +
               LAYER.replace("EXPERTS", "experts : Stack[e, Expert[d, f]]"), "experts.")
    TENSORS = (LAYER.replace("EXPERTS", "up : f32[e, d, f], gate : f32[e, d, f], down : f32[e, f, d]"), "")
    MAP = """
        prefix model.
        embed <- embed_tokens.weight
        layers.norm1[l] <- layers.{l}.input_layernorm.weight
        layers.norm2[l] <- layers.{l}.post_attention_layernorm.weight
        words wq = q_proj, wk = k_proj, wv = v_proj, wo = o_proj, up = up_proj, gate = gate_proj, down = down_proj
        layers.*[l] <- layers.{l}.self_attn.*.weight, transposed
        layers.router[l] <- layers.{l}.mlp.ROUTER.weight, transposed
        norm <- norm.weight
        head <- lm_head.weight
    """

    def check(self, router, experts, rules, sizes):
        d, f, e, layers = sizes
        tensors = {"model.embed_tokens.weight": draw(23, d), "model.norm.weight": draw(d), "lm_head.weight": draw(23, d)}
        for layer in range(layers):
            name = f"model.layers.{layer}."
            tensors |= {f"{name}self_attn.{part}_proj.weight": draw(d, d) for part in "qkvo"}
            tensors |= {f"{name}{part}_layernorm.weight": draw(d) for part in ("input", "post_attention")}
            tensors[f"{name}mlp.{router}.weight"] = draw(e, d)
            tensors |= {f"{name}mlp.{key}": draw(*shape) for key, shape in experts(d, f, e).items()}
        checkpoint = write("experts.safetensors", tensors)
        for text, front in (self.RECORDS, self.TENSORS):
            with self.subTest(program=text, router=router, sizes=sizes):
                source = program("experts.axn", text)
                by_hand = self.MAP.replace("ROUTER", router) + rules.replace("FRONT", front)
                self.same(source, (checkpoint, call("weights", source, checkpoint)), (checkpoint, by_hand))

    def test_a_tensor_for_each(self):
        def experts(d, f, e):
            return {f"experts.{i}.{part}_proj.weight": (d, f) if part == "down" else (f, d)
                    for i in range(e) for part in ("up", "gate", "down")}
        rules = "\n".join(f"layers.FRONT{part}[l, e] <- layers.{{l}}.mlp.experts.{{e}}.{part}_proj.weight, transposed"
                          for part in ("up", "gate", "down"))
        for sizes in ((8, 12, 4, 3), (8, 12, 6, 2), (6, 5, 2, 1)):
            self.check("gate", experts, rules, sizes)

    def test_a_tensor_for_all(self):
        for turned in (True, False):
            def experts(d, f, e):
                return {f"experts.{part}_proj": (e, d, f) if (part == "down") == turned else (e, f, d)
                        for part in ("up", "gate", "down")}
            rules = "\n".join(f"layers.FRONT{part}[l] <- layers.{{l}}.mlp.experts.{part}_proj{', transposed' * turned}"
                              for part in ("up", "gate", "down"))
            for sizes in ((8, 12, 4, 3), (8, 12, 6, 2), (6, 5, 2, 1)):
                self.check("router", experts, rules, sizes)


if __name__ == "__main__":
    unittest.main()
