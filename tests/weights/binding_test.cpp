// Binding maps and binding: what fits is described exactly and loaded, what does not is listed all at once.
#include "bind.h"
#include "host/weights/limits.h"

namespace axon::weights {
namespace {

std::string map_errors(const std::string& source) {
  std::string out;
  for (const Error& error : parse_binding_map(source).errors) out += error.message + "\n";
  return out;
}

TEST(BindingMap, reads_every_form) {
  const BindingMap map = good_map(
      "-- a comment\r\n"
      "\n"
      "embed <- model.embed_tokens.weight -- at the end\n"
      "\tlayers.wq[l] <- model.layers.{l}.q--proj.weight, transposed, as f32\n"
      "e.w[l, e]<-\"x {e} -- {l},\" , as bf16");
  ASSERT_EQ(map.rules().size(), 3u);
  const auto rule = [&](const char* field) { return *map.find(field).rule; };
  EXPECT_EQ(rule("embed").tensors[0].pieces, std::vector<std::string>{"model.embed_tokens.weight"});
  const Rule layers = rule("layers.wq");
  EXPECT_EQ(layers.indices, std::vector<std::string>{"l"});
  EXPECT_TRUE(layers.transposed);
  EXPECT_EQ(layers.as, Elem::f32);
  EXPECT_EQ(layers.line, 4u);
  EXPECT_EQ(layers.tensors[0].name(std::vector<uint64_t>{12}), "model.layers.12.q--proj.weight");
  EXPECT_EQ(rule("e.w").tensors[0].name(std::vector<uint64_t>{3, 7}), "x 7 -- 3,");
  EXPECT_EQ(map.find("f").rule, nullptr);
}

TEST(BindingMap, errors_name_their_lines) {
  EXPECT_EQ(map_errors("<- a\n"
                       "a b\n"
                       "a <-\n"
                       "a <- b c\n"
                       "a <- b, upside_down\n"
                       "a <- b, as f33\n"
                       "a <- b, transposed, transposed\n"
                       "a <- b, as f32, as f32\n"
                       "a[ <- b\n"
                       "a[l <- b\n"
                       "a[l] <- b\n"
                       "a[l, l] <- b.{l}\n"
                       "a <- b.{l}\n"
                       "a[l] <- b.{l\n"
                       "a <- b}\n"
                       "a[l, e] <- {l}{e}\n"
                       "a[l] <- {l}5\n"
                       "a <- \"b\n"),
            "line 1: a parameter's name expected\n"
            "line 2: `<-` expected after the parameter\n"
            "line 3: a tensor's name expected after `<-`\n"
            "line 4: `,` or the end of the line expected before `c`\n"
            "line 5: `transposed`, `axes`, `summed`, `split`, `joined` or `as` expected after `,`\n"
            "line 6: unknown element type `f33`\n"
            "line 7: `transposed` occurs twice\n"
            "line 8: `as` occurs twice\n"
            "line 9: an index name expected within `[ ]`\n"
            "line 10: `]` expected after the indices\n"
            "line 11: the tensor's name does not use `{l}`\n"
            "line 12: index `l` occurs twice\n"
            "line 13: `{l}` has no `[l]` at the parameter\n"
            "line 14: `{` without `}` in the tensor's name\n"
            "line 15: `}` without `{` in the tensor's name\n"
            "line 16: `{l}` is followed by a digit or another index\n"
            "line 17: `{l}` is followed by a digit or another index\n"
            "line 18: a closing quote expected\n");
  EXPECT_EQ(map_errors("a <- b\nc <- d\na <- e"), "line 3: parameter `a` has a rule already, in line 1\n");
  EXPECT_EQ(map_errors("a[a, b, c, d, e] <- x"), "line 1: more than 4 indices\n");
  EXPECT_EQ(map_errors(std::string(70'000, ' ') + "\na <- b"), "line 1: longer than 65536 bytes\n");
}
TEST(BindingMap, gives_up_after_many_errors) {
  std::string source;
  for (int i = 0; i < 100'000; ++i) source += "?\n";
  EXPECT_EQ(parse_binding_map(source).errors.size(), limits::map_errors);
}
TEST(BindingMap, any_bytes_are_survived) {
  std::string source;
  for (int i = 0; i < 256; ++i) source += static_cast<char>(i);
  EXPECT_FALSE(parse_binding_map(source).errors.empty());
  EXPECT_TRUE(parse_binding_map("").errors.empty());
}

TEST_F(Bind, a_field_is_the_tensor_of_its_name) {
  add("embed", Elem::f32, {2, 3});
  add("unused", Elem::i64, {2});
  const Binding binding = bind_parameters(file().table, {}, std::vector{Field{"embed", Elem::f32, 2}});
  ASSERT_TRUE(binding.sources.at(0));
  EXPECT_EQ(binding.sources[0]->mapped_offset(), 0u);
  EXPECT_EQ(values("", {"embed", Elem::f32, 2}, {2, 3}), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}
TEST_F(Bind, transposed) {
  add("w", Elem::f32, {2, 3});
  EXPECT_EQ(values("p.w <- w, transposed", {"p.w", Elem::f32, 2}, {3, 2}),
            (std::vector<double>{0, 3, 1, 4, 2, 5}));
}
TEST_F(Bind, transposed_exchanges_the_last_two_axes) {
  add("w", Elem::f32, {2, 2, 3});
  EXPECT_EQ(values("w <- w, transposed", {"w", Elem::f32, 3}, {2, 3, 2}),
            (std::vector<double>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}
TEST_F(Bind, stacked_transposed_and_converted) {
  for (int layer = 0; layer < 11; ++layer) {  // 10 sorts before 2 as text
    const double base = 10 * layer;
    add("model." + std::to_string(layer) + ".q", Elem::bf16, {2, 2}, {base, base + 1, base + 2, base + 3});
  }
  add("model.x.q", Elem::bf16, {1});
  add("model.01.q", Elem::bf16, {1});
  std::vector<double> expected;
  for (int layer = 0; layer < 11; ++layer)
    for (const int step : {0, 2, 1, 3}) expected.push_back(10 * layer + step);
  EXPECT_EQ(
      values("layers.wq[l] <- model.{l}.q, transposed, as f32", {"layers.wq", Elem::f32, 3, 1}, {11, 2, 2}),
      expected);
}
TEST_F(Bind, stacked_over_two_indices) {
  for (int layer = 0; layer < 2; ++layer)
    for (int expert = 0; expert < 3; ++expert)
      add("m." + std::to_string(expert) + ".of." + std::to_string(layer), Elem::f32, {1},
          {10.0 * layer + expert});
  EXPECT_EQ(values("w[l, e] <- m.{e}.of.{l}", {"w", Elem::f32, 3, 1}, {2, 3, 1}),
            (std::vector<double>{0, 1, 2, 10, 11, 12}));
}
TEST_F(Bind, an_index_used_twice_is_the_same_number) {
  add("a.0.b.0", Elem::f32, {1}, {5});
  add("a.0.b.1", Elem::f32, {2});
  EXPECT_EQ(values("w[l] <- a.{l}.b.{l}", {"w", Elem::f32, 2}, {1, 1}), std::vector<double>{5});
}
TEST_F(Bind, large_tensors_in_parts) {
  constexpr uint64_t rows = 700, columns = 1001;
  add("w", Elem::f64, {rows, columns});
  const auto loaded = values("w <- w, transposed, as f32", {"w", Elem::f32, 2}, {columns, rows});
  ASSERT_EQ(loaded.size(), rows * columns);
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j)
      ASSERT_EQ(loaded[j * rows + i], static_cast<double>(i * columns + j));
}
TEST_F(Bind, empty_tensors) {
  add("w", Elem::f32, {0, 3});
  EXPECT_EQ(values("w <- w, transposed", {"w", Elem::f32, 2}, {3, 0}), std::vector<double>{});
}

TEST_F(Bind, all_misfits_at_once) {
  add("embed.weight", Elem::f32, {2, 3});
  add("ids", Elem::i64, {4});
  add("half", Elem::f16, {4});
  add("norm", Elem::f32, {4});
  EXPECT_EQ(misfits("norm <- norm, transposed\nflat <- norm, as f16\nother <- norm",
                    {{"embed.weihgt", Elem::f32, 2},
                     {"ids", Elem::f32, 1},
                     {"half", Elem::f32, 1},
                     {"norm", Elem::f32, 1},
                     {"flat", Elem::f32, 1},
                     {"something.else", Elem::f32, 2, 1}}),
            "parameter `embed.weihgt`: the weights have no tensor `embed.weihgt`; there is `embed.weight`\n"
            "parameter `ids` is f32, `ids` is i64\n"
            "parameter `half` is f32, `half` is f16; write `, as f32` in a binding map to convert it\n"
            "parameter `norm`: `norm` is [4], too few axes to be transposed\n"
            "parameter `flat` is f32, but line 2 of the binding map says `as f16`\n"
            "parameter `something.else`: the weights have no tensor `something.else`; to stack one tensor "
            "per layer, "
            "write `something.else[l] <- ...{l}...` in a binding map\n"
            "line 3 of the binding map: the program has no parameter `other`\n");
}
TEST_F(Bind, rank_that_does_not_fit) {
  add("w", Elem::f32, {2, 3});
  add("m.0", Elem::f32, {2});
  EXPECT_EQ(misfits("s[l] <- m.{l}", {{"w", Elem::f32, 1}, {"s", Elem::f32, 3}}),
            "parameter `w` has 1 axis, `w` is [2, 3]\n"
            "parameter `s` has 3 axes, `m.0` stacked is [1, 2]\n");
}
TEST_F(Bind, stack_of_mixed_shapes) {
  add("m.0", Elem::f32, {2});
  add("m.1", Elem::f32, {3});
  add("n.0", Elem::f32, {2});
  add("n.1", Elem::f16, {2});
  EXPECT_EQ(misfits("m[l] <- m.{l}\nn[l] <- n.{l}", {{"m", Elem::f32, 2}, {"n", Elem::f32, 2}}),
            "parameter `m`: `m.0` is f32[2] but `m.1` is f32[3]; a stack needs equal ones\n"
            "parameter `n`: `n.0` is f32[2] but `n.1` is f16[2]; a stack needs equal ones\n");
}
TEST_F(Bind, stack_with_gaps) {
  add("m.0", Elem::f32, {1});
  add("m.3", Elem::f32, {1});
  add("far.0", Elem::f32, {1});
  add("far.18446744073709551615", Elem::f32, {1});
  add("two.0.0", Elem::f32, {1});
  add("two.0.1", Elem::f32, {1});
  add("two.1.0", Elem::f32, {1});
  EXPECT_EQ(
      misfits("m[l] <- m.{l}\nfar[l] <- far.{l}\ntwo[l, e] <- two.{l}.{e}\nnone[l] <- no.{l}",
              {{"m", Elem::f32, 2}, {"far", Elem::f32, 2}, {"two", Elem::f32, 3}, {"none", Elem::f32, 2}}),
      "parameter `m`: the stack has gaps; missing `m.1`, `m.2`\n"
      "parameter `far`: the stack has gaps; missing `far.1`, `far.2`, `far.3`\n"
      "parameter `two`: the stack has gaps; missing `two.1.1`\n"
      "parameter `none`: the weights have no tensor `no.0` to begin the stack\n");
}
TEST_F(Bind, room_of_the_wrong_size) {
  add("w", Elem::f32, {2});
  const TensorFile weights = file();
  const Binding binding = bind_parameters(weights.table, {}, std::vector{Field{"w", Elem::f32, 1}});
  std::vector<uint8_t> small(7);
  EXPECT_ERROR(load(weights, *binding.sources.at(0), small), code::shape, "has 8 bytes, room is 7");
}

}  // namespace
}  // namespace axon::weights
