// Rules for many parameters at once, lines that hold for a whole map, and tensors that are split or joined:
// read, bound and loaded, against the plain definition.
#include <fstream>
#include <random>

#include "bind.h"

namespace axon::weights {
namespace {

TEST(MapLines, hold_for_the_whole_map) {
  const BindingMap map = good_map(
      "prefix \"my model.\"   -- quotes, too\n"
      "all as f32\n"
      "words q = self_attn.q_proj, w = \"the weight\"\n"
      "words b=bias\n");
  EXPECT_EQ(map.prefix, "my model.");
  EXPECT_EQ(map.as, Elem::f32);
  EXPECT_EQ(map.words.size(), 3u);
  EXPECT_EQ(map.words.find("w")->second, "the weight");
}
TEST(MapLines, may_be_parameters_all_the_same) {
  const BindingMap map = good_map(
      "prefix <- a\n"
      "all[l] <- b.{l}\n"
      "words, all.x <- c, split rows\n"
      "as <- *");
  EXPECT_EQ(map.rules().size(), 4u);
  EXPECT_EQ(map.prefix, "");
  EXPECT_EQ(map.find("as").rule->tensors[0].pieces[0], "*")
      << "a `*` without one at the parameter is a letter";
}
TEST(MapLines, errors_name_their_lines) {
  EXPECT_EQ(errors_of("prefix a b\n"
                      "prefix a.\n"
                      "prefix a.\n"
                      "all f32\n"
                      "all as f33\n"
                      "all as f32\n"
                      "all as f32\n"
                      "words .x = y\n"
                      "words x y\n"
                      "words x =\n"
                      "words x = {l}\n"
                      "words x = y, x = z\n"),
            "line 1: `,` or the end of the line expected before `b`\n"
            "line 2: `prefix` occurs twice\n"
            "line 3: `prefix` occurs twice\n"
            "line 4: `as` expected after `all`\n"
            "line 5: unknown element type `f33`\n"
            "line 7: `all as` occurs twice\n"
            "line 8: a name between two dots expected\n"
            "line 9: `=` expected after `x`\n"
            "line 10: a part of a tensor's name expected after `=`\n"
            "line 11: what `x` is written as has no `{`, `}` or `*`\n"
            "line 12: word `x` occurs twice\n");
  EXPECT_EQ(errors_of("a, b <- t\n"
                      "a <- t + u\n"
                      "a, b <- t + u, split rows\n"
                      "a <- t, split rows\n"
                      "a <- t, joined rows\n"
                      "a, b <- t, split\n"
                      "a, b <- t, split diagonally\n"
                      "a, b <- t, split axis\n"
                      "a, b <- t, split axis 16\n"
                      "a, b <- t, split rows 1 2 3\n"
                      "a, b <- t, split rows 1 2 again\n"
                      "a, b <- t, split rows repeated\n"
                      "a, b <- t, split rows 1 281474976710657\n"
                      "a, b <- t, split rows, split rows\n"
                      "a[l], b <- t.{l}, split rows\n"
                      "a, a <- t, split rows\n"
                      "a.*.* <- t.*\n"
                      "a.*, b <- t.*, split rows\n"
                      "a.*[l] <- t.{l}\n"
                      "a <- t, summed"),
            "line 1: several parameters share a tensor: `, split rows` or `, split columns` expected\n"
            "line 2: several tensors make one parameter: `, joined rows`, `, joined columns` or `, "
            "summed` expected\n"
            "line 3: a rule splits a tensor or joins tensors, not both; a sum of tensors, `, summed`, may be "
            "split\n"
            "line 4: `split` needs several parameters\n"
            "line 5: `joined` needs several tensors: NAME + NAME\n"
            "line 6: `rows`, `columns` or `axis` expected after `split`\n"
            "line 7: `rows`, `columns` or `axis` expected after `split`\n"
            "line 8: a number expected after `axis`\n"
            "line 9: there is no axis 16\n"
            "line 10: 2 sizes expected, one for each part, and not 3\n"
            "line 11: a size or `repeated` expected\n"
            "line 12: `repeated` needs the sizes of one round before it\n"
            "line 13: 281474976710657 is over the limit of a size\n"
            "line 14: `split` occurs twice\n"
            "line 15: the parameters of one rule have different indices\n"
            "line 16: parameter `a` occurs twice\n"
            "line 17: more than one `*` in a parameter\n"
            "line 18: a `*` in some of the parameters only\n"
            "line 19: the tensor's name does not use `*`\n"
            "line 20: `summed` needs several tensors: NAME + NAME\n");
  EXPECT_EQ(errors_of("a <- t + u, summed, summed\na <- t + u, summed, joined rows\na <- t + u, added"),
            "line 1: `summed` occurs twice\n"
            "line 2: tensors are summed or joined, not both\n"
            "line 3: `transposed`, `axes`, `summed`, `split`, `joined` or `as` expected after `,`\n");
  EXPECT_EQ(errors_of("a.* <- b.*\na.* <- c.*"), "line 2: parameter `a.*` has a rule already, in line 1\n");
}
TEST(MapLines, limits) {
  std::string fields = "a0", tensors = "t0", stars;
  for (int i = 1; i < 65; ++i) fields += ", a" + std::to_string(i), tensors += " + t" + std::to_string(i);
  for (int i = 0; i < 1001; ++i) stars += "a" + std::to_string(i) + ".* <- b.*\n";
  EXPECT_EQ(errors_of(fields + " <- t, split rows"), "line 1: more than 64 parameters\n");
  EXPECT_EQ(errors_of("a <- " + tensors + ", joined rows"), "line 1: more than 64 tensors\n");
  EXPECT_EQ(errors_of(stars), "line 1001: more than 1000 rules with `*`\n");
}

TEST(Star, stands_for_any_part_of_a_path) {
  const BindingMap map = good_map(
      "words q = query, w = weight\n"
      "layers.*[l] <- h.{l}.*.x\n"
      "layers.norm.*[l] <- h.{l}.ln.*\n"
      "layers.q.b[l] <- bias.{l}\n"
      "w* <- v*");
  const auto name = [&](const char* field) {
    const auto match = map.find(field);
    return map.names(match, field, map.prefix)[0].name(std::vector<uint64_t>{3});
  };
  EXPECT_EQ(name("layers.q.w"), "h.3.query.weight.x");
  EXPECT_EQ(name("layers.deep.q.er"), "h.3.deep.query.er.x");
  EXPECT_EQ(name("layers.norm.w"), "h.3.ln.weight") << "what spells out most of the name";
  EXPECT_EQ(name("layers.q.b"), "bias.3") << "a rule without `*`";
  EXPECT_EQ(name("wq"), "vquery");
  EXPECT_EQ(name("layers."), "layers.") << "`*` stands for something";
  EXPECT_EQ(name("w"), "w");
}

TEST_F(Bind, one_rule_for_many_fields) {
  for (const std::string layer : {"0", "1"}) {
    add("m." + layer + ".self.query.weight", Elem::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
    add("m." + layer + ".self.query.bias", Elem::f32, {2});
  }
  const std::string map = "words q = self.query, w = weight, b = bias\nlayers.*[l] <- m.{l}.*, transposed";
  EXPECT_EQ(values(map, {"layers.q.w", Elem::f32, 3}, {2, 3, 2}),
            (std::vector<double>{1, 4, 2, 5, 3, 6, 1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values(map, {"layers.q.b", Elem::f32, 2}, {2, 2}), (std::vector<double>{0, 1, 0, 1}))
      << "vectors are not transposed by a rule with `*`";
  EXPECT_EQ(misfits("a.* <- b.*", {{"layers", Elem::f32, 1}}),
            "parameter `layers`: the weights have no tensor `layers`\n"
            "line 1 of the binding map: the program has no parameter `a.*`\n");
}

TEST_F(Bind, a_prefix_is_tried_first) {
  add("model.a", Elem::f32, {1}, {1});
  add("a", Elem::f32, {1}, {2});
  add("b.0", Elem::f32, {1}, {3});
  EXPECT_EQ(values("prefix model.", {"a", Elem::f32, 1}, {1}), std::vector<double>{1});
  EXPECT_EQ(values("prefix model.\nx <- a", {"x", Elem::f32, 1}, {1}), std::vector<double>{1});
  EXPECT_EQ(values("prefix model.\nx[l] <- b.{l}", {"x", Elem::f32, 2}, {1, 1}), std::vector<double>{3});
}

TEST_F(Bind, a_prefix_is_offered) {
  add("model.embed", Elem::f32, {1});
  add("model.layers.0.w", Elem::f32, {1});
  add("head", Elem::f32, {1});
  const std::vector<Field> fields = {{"embed", Elem::f32, 1}, {"w", Elem::f32, 2}, {"head", Elem::f32, 1}};
  EXPECT_EQ(
      misfits("w[l] <- layers.{l}.w", fields),
      "the weights have no tensors `embed`, `layers.0.w`, but all of them behind `model.`; write `prefix "
      "model.` as a line of the binding map\n");
  EXPECT_EQ(misfits("prefix model.\nw[l] <- layers.{l}.w", fields), "");
  const std::string others = misfits("w[l] <- layers.{l}.v", fields);
  EXPECT_EQ(others.find("prefix"), std::string::npos) << others;
}

TEST_F(Bind, all_as_holds_for_its_type_alone) {
  add("a", Elem::f16, {1}, {0.5});
  add("b", Elem::f16, {1}, {0.25});
  EXPECT_EQ(values("all as f32", {"a", Elem::f32, 1}, {1}), std::vector<double>{0.5});
  EXPECT_EQ(misfits("all as f32\nb <- b, as bf16", {{"a", Elem::f32, 1}, {"b", Elem::bf16, 1}}), "");
  EXPECT_EQ(misfits("all as f32", {{"a", Elem::bf16, 1}, {"b", Elem::i32, 1}}),
            "parameter `a` is bf16, `a` is f16; write `, as bf16` in a binding map to convert it\n"
            "parameter `b` is i32, `b` is f16\n");
}

TEST_F(Bind, split_into_equal_parts) {
  add("qkv.0", Elem::f32, {2, 6});
  add("qkv.1", Elem::f32, {2, 6});
  add("bias", Elem::f32, {4});
  const std::string map = "a[l], b[l], c[l] <- qkv.{l}, split columns\nx, y <- bias, split rows";
  const std::vector<Field> fields = {{"a", Elem::f32, 3},
                                     {"b", Elem::f32, 3},
                                     {"c", Elem::f32, 3},
                                     {"x", Elem::f32, 1},
                                     {"y", Elem::f32, 1}};
  const TensorFile weights = file();
  const Binding binding = bind_parameters(weights.table, good_map(map), fields);
  ASSERT_EQ(binding.misfits.size(), 0u);
  EXPECT_EQ(loaded(weights, *binding.sources[1]), (std::vector<double>{2, 3, 8, 9, 2, 3, 8, 9}));
  EXPECT_EQ(binding.sources[1]->shape, (std::vector<uint64_t>{2, 2, 2}));
  EXPECT_EQ(loaded(weights, *binding.sources[4]), (std::vector<double>{2, 3}));
  EXPECT_EQ(binding.sources[4]->mapped_offset(), 8u) << "rows of one tensor can be mapped";
  EXPECT_EQ(binding.sources[1]->mapped_offset(), std::nullopt);
}

TEST_F(Bind, four_gates_of_a_long_short_term_memory) {
  add("weight_ih_l0", Elem::f32, {8, 3});  // [4*h, d], gates one below the other
  const std::string map = "wi, wf, wc, wo <- weight_ih_l0, transposed, split columns";
  const std::vector<Field> fields = {
      {"wi", Elem::f32, 2}, {"wf", Elem::f32, 2}, {"wc", Elem::f32, 2}, {"wo", Elem::f32, 2}};
  const TensorFile weights = file();
  const Binding binding = bind_parameters(weights.table, good_map(map), fields);
  ASSERT_EQ(binding.misfits.size(), 0u) << binding.misfits[0].message;
  for (size_t gate = 0; gate < 4; ++gate) {
    const double first = 6.0 * static_cast<double>(gate);
    EXPECT_EQ(loaded(weights, *binding.sources[gate]),
              (std::vector<double>{first, first + 3, first + 1, first + 4, first + 2, first + 5}));
  }
}

TEST_F(Bind, dealt_out_in_turn) {
  add("qkv", Elem::f32, {1, 12});  // two heads of q, q, k, k, v, v
  add("q", Elem::f32, {4});
  add("k", Elem::f32, {2}, {10, 11});
  const std::string map =
      "a, b, c <- qkv, split columns 2 2 2 repeated\nj <- q + k, joined rows 2 1 repeated";
  const std::vector<Field> fields = {
      {"a", Elem::f32, 2}, {"b", Elem::f32, 2}, {"c", Elem::f32, 2}, {"j", Elem::f32, 1}};
  const TensorFile weights = file();
  const Binding binding = bind_parameters(weights.table, good_map(map), fields);
  ASSERT_EQ(binding.misfits.size(), 0u) << binding.misfits[0].message;
  EXPECT_EQ(loaded(weights, *binding.sources[0]), (std::vector<double>{0, 1, 6, 7}));
  EXPECT_EQ(loaded(weights, *binding.sources[2]), (std::vector<double>{4, 5, 10, 11}));
  EXPECT_EQ(loaded(weights, *binding.sources[3]), (std::vector<double>{0, 1, 10, 2, 3, 11}));
}

TEST_F(Bind, splits_and_joins_that_do_not_fit) {
  add("t", Elem::f32, {2, 7});
  add("u", Elem::f32, {3, 7});
  add("h", Elem::f16, {2, 7});
  add("s", Elem::f32, {});
  const std::vector<Field> two = {{"a", Elem::f32, 2}, {"b", Elem::f32, 2}};
  EXPECT_EQ(
      misfits("a, b <- t, split columns", two),
      "parameter `a`: `t` is [2, 7], which 2 parameters cannot share equally: state the sizes of the parts "
      "behind `split`\n");
  EXPECT_EQ(misfits("a, b <- t, split columns 3 5", two),
            "parameter `a`: `t` is [2, 7], and 7 is not the sum of the sizes of its parts, 8\n");
  EXPECT_EQ(
      misfits("a, b <- t, split columns 2 1 repeated", two),
      "parameter `a`: `t` is [2, 7], and 7 is not a multiple of the sum of the sizes of its parts, 3\n");
  EXPECT_EQ(misfits("a, b <- t, split axis 2", two),
            "parameter `a`: `t` is [2, 7], which has no such axis to split or to join\n");
  EXPECT_EQ(misfits("a, b <- s, split rows", two),
            "parameter `a`: `s` is [], which has no such axis to split or to join\n");
  EXPECT_EQ(misfits("a, c <- t, split rows", two),
            "parameter `b`: the weights have no tensor `b`\n"
            "line 1 of the binding map: the program has no parameter `c`\n");
  EXPECT_EQ(misfits("a <- t + u, joined columns\nb <- t + h, joined rows", two),
            "parameter `a`: `u` is f32[3, 7], which does not join `t`, f32[2, 7]\n"
            "parameter `b`: `h` is f16[2, 7], which does not join `t`, f32[2, 7]\n");
  EXPECT_EQ(misfits("a <- t + u, joined rows 2 4\nb <- t", two),
            "parameter `a`: part 1 is 3, and the binding map says 4\n");
}

TEST_F(Bind, two_biases_of_a_recurrent_layer_are_one) {
  for (int i = 0; i < 2; ++i) {
    add("ih.l" + std::to_string(i), Elem::f32, {6}, {1, 2, 3, 4, 5, 6});
    add("hh.l" + std::to_string(i), Elem::f32, {6}, {10, 20, 30, 40, 50, 60 + 1.0 * i});
  }
  EXPECT_EQ(values("b[l] <- ih.l{l} + hh.l{l}, summed", {"b", Elem::f32, 2}, {2, 6}),
            (std::vector<double>{11, 22, 33, 44, 55, 66, 11, 22, 33, 44, 55, 67}));
  const TensorFile weights = file();
  const BindingMap map = good_map("r[l], z[l], n[l] <- ih.l{l} + hh.l{l}, summed, split columns");
  const Binding binding = bind_parameters(
      weights.table, map, std::vector<Field>{{"r", Elem::f32, 2}, {"z", Elem::f32, 2}, {"n", Elem::f32, 2}});
  ASSERT_TRUE(binding.misfits.empty()) << binding.misfits[0].message;
  EXPECT_EQ(loaded(weights, *binding.sources[0]), (std::vector<double>{11, 22, 11, 22}));
  EXPECT_EQ(loaded(weights, *binding.sources[2]), (std::vector<double>{55, 66, 55, 67}));
}

TEST_F(Bind, sums_are_rounded_once) {
  add("a", Elem::f16, {1}, {1});
  add("b", Elem::f16, {1}, {0x1p-11});
  add("c", Elem::f16, {1}, {0x1p-20});
  EXPECT_EQ(values("w <- a + b + c, summed", {"w", Elem::f16, 1}, {1}), std::vector<double>{1 + 0x1p-10});
  EXPECT_EQ(values("w <- a + b + c, summed, as f32", {"w", Elem::f32, 1}, {1}),
            std::vector<double>{1 + 0x1p-11 + 0x1p-20});
}

/// A line of what the system says of this process, in KiB; or -1.
int64_t of_this_process(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t value = 0;
    if (word == name && status >> value) return value;
  }
  return -1;
}

TEST_F(Bind, sums_are_added_in_parts) {
  constexpr uint64_t count = 12u << 20;  // f64 of all of it would be 96 MiB, twice
  add("a", Elem::f16, {count}, std::vector<double>(count, 1));
  add("b", Elem::f16, {count}, std::vector<double>(count, 2));
  const TensorFile weights = file();
  const Binding binding =
      bind_parameters(weights.table, good_map("w <- a + b, summed"), std::vector<Field>{{"w", Elem::f16, 1}});
  ASSERT_TRUE(binding.misfits.empty());
  std::vector<uint8_t> out(2 * count, 1);
  std::ofstream("/proc/self/clear_refs") << "5\n";  // the peak is now what is there
  const int64_t before = of_this_process("VmRSS:"), reset = of_this_process("VmHWM:");
  if (before < 0 || reset > before + 1024)
    GTEST_SKIP() << "the system does not tell how much memory was used";
  EXPECT_EQ(error_of(load(weights, *binding.sources[0], out)), "no error");
  EXPECT_LT(of_this_process("VmHWM:") - before, 80 << 10)
      << "the file's 48 MiB, where they are mapped, and parts";
  double last = 0;
  convert(Elem::f16, out.data() + out.size() - 2, Elem::f64, &last, 1);
  EXPECT_EQ(last, 3);
}

TEST_F(Bind, summands_are_turned_each) {
  add("base", Elem::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  add("more", Elem::f32, {2, 3}, {10, 20, 30, 40, 50, 60});
  EXPECT_EQ(values("w <- base + more + base, transposed, summed", {"w", Elem::f32, 2}, {3, 2}),
            (std::vector<double>{12, 48, 24, 60, 36, 72}));
}

TEST_F(Bind, sums_that_do_not_fit) {
  add("t", Elem::f32, {2, 7});
  add("u", Elem::f32, {7, 2});
  add("h", Elem::f16, {2, 7});
  add("i", Elem::i64, {2, 7});
  const std::vector<Field> one = {{"a", Elem::f32, 2}};
  EXPECT_EQ(misfits("a <- t + u, summed", one),
            "parameter `a`: `u` is f32[7, 2], which is not added to `t`, f32[2, 7]\n");
  EXPECT_EQ(misfits("a <- t + h, summed, as f32", one),
            "parameter `a`: `h` is f16[2, 7], which is not added to `t`, f32[2, 7]\n");
  EXPECT_EQ(misfits("a <- i + i, summed", {{"a", Elem::i64, 2}}),
            "parameter `a`: `i` is i64[2, 7], and only f64, f32, f16 and bf16 are summed\n");
  EXPECT_EQ(misfits("a <- h + h, summed", one),
            "parameter `a` is f32, `h` is f16; write `, as f32` in a binding map to convert it\n");
  EXPECT_EQ(misfits("a, b <- t + t, summed, split columns 3 5", {{"a", Elem::f32, 2}, {"b", Elem::f32, 2}}),
            "parameter `a`: `t` is [2, 7], and 7 is not the sum of the sizes of its parts, 8\n");
}

TEST_F(Bind, too_many_pieces) {
  add("t", Elem::u8, {1, 140'000});
  EXPECT_EQ(misfits("a, b <- t, split columns 1 1 repeated", {{"a", Elem::u8, 2}, {"b", Elem::u8, 2}}),
            "parameter `a`: the axis is cut into more than 65536 pieces\n");
}

TEST_F(Bind, the_odd_tensor_of_a_stack_is_named) {
  add("m.0", Elem::f32, {3});
  add("m.1", Elem::f32, {2});
  add("m.2", Elem::f32, {2});
  EXPECT_EQ(misfits("m[l] <- m.{l}", {{"m", Elem::f32, 2}}),
            "parameter `m`: `m.0` is f32[3], but 2 others of the stack, such as `m.1`, are f32[2]\n");
}

TEST_F(Bind, stacks_that_are_joined_have_one_length) {
  add("a.0", Elem::f32, {1});
  add("a.1", Elem::f32, {1});
  add("b.0", Elem::f32, {1});
  EXPECT_EQ(misfits("m[l] <- a.{l} + b.{l}, joined rows", {{"m", Elem::f32, 2}}),
            "parameter `m`: the stack of `b.0` is [1], that of `a.0` is [2]\n");
}

/// A rule of a random shape, and what it gives by the definition: coordinates of a parameter are looked up in
/// the tensor.
class Definition : public Bind {
 protected:
  void draw() {
    const auto below = [&](uint64_t n) { return random() % n; };
    const size_t rank = 1 + below(4), parts = 2 + below(3);
    transposed = rank > 1 && below(2) == 1;
    repeated = below(2) == 1;
    axis = below(rank);
    rounds = repeated ? 1 + below(3) : 1;
    seen.clear();
    sizes.clear();
    for (size_t k = 0; k < rank; ++k) seen.push_back(below(12) == 0 ? 0 : 1 + below(5));
    sum = 0;
    for (size_t part = 0; part < parts; ++part)
      sum += sizes.emplace_back(below(4) + (repeated && part == 0 ? 1 : 0));
    seen[axis] = sum * rounds;
  }
  /// The shape that a tensor has in the file, and the options of its rule.
  std::vector<uint64_t> in_file(std::vector<uint64_t> shape) const {
    if (transposed) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return shape;
  }
  std::string options(const char* cut) const {
    std::string out = text(transposed ? ", transposed" : "", ", as f32, ", cut, " axis ", axis);
    for (const uint64_t size : sizes) out += text(" ", size);
    return out + (repeated ? " repeated" : "");
  }
  /// Calls `f` with all coordinates of a shape, in order.
  template <class F>
  static void each(const std::vector<uint64_t>& shape, const F& f) {
    std::vector<uint64_t> at(shape.size(), 0);
    for (uint64_t i = 0; i < *element_count(shape); ++i) {
      f(at);
      for (size_t k = shape.size(); k-- > 0;) {
        if (++at[k] < shape[k]) break;
        at[k] = 0;
      }
    }
  }
  /// The position in the file of an element of a tensor that the parameter has at these coordinates.
  double position(const std::vector<uint64_t>& shape, std::vector<uint64_t> at) const {
    const std::vector<uint64_t> file_shape = in_file(shape);
    if (transposed) std::swap(at[at.size() - 1], at[at.size() - 2]);
    uint64_t index = 0;
    for (size_t k = 0; k < at.size(); ++k) index = index * file_shape[k] + at[k];
    return static_cast<double>(index);
  }
  std::vector<uint64_t> shape_of_part(size_t part) const {
    std::vector<uint64_t> shape = seen;
    shape[axis] = sizes[part] * rounds;
    return shape;
  }
  /// Where a part's coordinate along the axis is in the whole.
  uint64_t in_whole(size_t part, uint64_t at) const {
    uint64_t before = 0;
    for (size_t k = 0; k < part; ++k) before += sizes[k];
    return at / sizes[part] * sum + before + at % sizes[part];
  }

  std::mt19937 random{1};
  bool transposed = false, repeated = false;
  size_t axis = 0;
  uint64_t rounds = 1, sum = 0;
  std::vector<uint64_t> seen, sizes;  ///< the whole shape; the parts of a round
};

TEST_F(Definition, of_splits) {
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    draw();
    tensors.clear();
    data.clear();
    add("t", random() % 2 == 0 ? Elem::f16 : Elem::f32, in_file(seen));
    std::string left;
    std::vector<Field> fields;
    for (size_t part = 0; part < sizes.size(); ++part) {
      fields.push_back({text("p", part), Elem::f32, static_cast<uint32_t>(seen.size())});
      left += text(part ? ", p" : "p", part);
    }
    const std::string map = left + " <- t" + options("split");
    const TensorFile weights = file();
    const Binding binding = bind_parameters(weights.table, good_map(map), fields);
    ASSERT_EQ(binding.misfits.size(), 0u) << map << ": " << binding.misfits[0].message;
    for (size_t part = 0; part < sizes.size(); ++part) {
      ASSERT_EQ(binding.sources[part]->shape, shape_of_part(part)) << map;
      std::vector<double> expected;
      each(shape_of_part(part), [&](std::vector<uint64_t> at) {
        at[axis] = in_whole(part, at[axis]);
        expected.push_back(position(seen, at));
      });
      ASSERT_EQ(loaded(weights, *binding.sources[part]), expected) << map << " part " << part;
    }
  }
}

TEST_F(Definition, of_joins) {
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    draw();
    tensors.clear();
    data.clear();
    std::string right;
    const bool narrow = random() % 2 == 0;
    std::vector<double> expected(*element_count(seen));
    for (size_t part = 0; part < sizes.size(); ++part) {
      add(text("t", part), narrow ? Elem::f16 : Elem::f32, in_file(shape_of_part(part)));
      right += text(part ? " + t" : "t", part);
      each(shape_of_part(part), [&](std::vector<uint64_t> at) {
        const double value = position(shape_of_part(part), at);
        at[axis] = in_whole(part, at[axis]);
        uint64_t index = 0;
        for (size_t k = 0; k < at.size(); ++k) index = index * seen[k] + at[k];
        expected[index] = value;
      });
    }
    const std::string map = "p <- " + right + options("joined");
    EXPECT_EQ(values(map, {"p", Elem::f32, static_cast<uint32_t>(seen.size())}, seen), expected) << map;
  }
}

}  // namespace
}  // namespace axon::weights
