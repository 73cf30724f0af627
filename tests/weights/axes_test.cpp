// `axes` in binding maps: read, bound and loaded, against the plain definition.
#include <numeric>
#include <random>

#include "bind.h"

namespace axon::weights {
namespace {

std::string error_in(const std::string& source) {
  const ParsedMap parsed = parse_binding_map(source);
  return parsed.errors.empty() ? "" : parsed.errors[0].message;
}

TEST(AxesText, reads_back) {
  for (const std::string axes :
       {"axes d h k -> d (h k)", "axes (h=12 k) d -> h d k", "axes 1 1 d -> d", "axes d -> 1 d 1",
        "axes 1 ->", "axes ->", "axes o i y x -> y x i o", "axes (a b=2 c=3) -> (c b a)"}) {
    const BindingMap map = good_map("w[l] <- t.{l}, " + axes + ", as f32");
    EXPECT_EQ(text_of(*map.rules()[0].axes), axes);
    EXPECT_TRUE(map.rules()[0].as);
  }
  EXPECT_EQ(text_of(*good_map("w <- t, axes ( h  k=2 )d->h d k").rules()[0].axes), "axes (h k=2) d -> h d k");
  EXPECT_EQ(text_of(*good_map("w <- t, axes (h k) -> h k=2").rules()[0].axes), "axes (h k=2) -> h k")
      << "a size may stand on either side";
}

TEST(AxesText, errors_say_what_is_wrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"a b", "`->` expected behind the axes of the tensor"},
      {"a b, as f32", "`->` expected behind the axes of the tensor"},
      {"", "`->` expected behind the axes of the tensor"},
      {"2 0 1", "an axis's name, `1` or `(` expected, as in `axes d h k -> d (h k)`"},
      {"a, b -> b a", "`->` expected behind the axes of the tensor"},
      {"a b -> b c", "axis `a` stands on one side of `->` only"},
      {"a -> a c", "axis `c` stands on one side of `->` only"},
      {"a a -> a", "axis `a` occurs twice on one side of `->`"},
      {"a b -> (a a) b", "axis `a` occurs twice on one side of `->`"},
      {"(a b -> a b", "an axis's name or `)` expected"},
      {"() a -> a", "no axis within `( )`"},
      {"((a b) c) -> a b c", "an axis's name or `)` expected"},
      {"a b) -> a b", "an axis's name, `1` or `(` expected, as in `axes d h k -> d (h k)`"},
      {"a=x -> a", "a size expected after `a=`"},
      {"a=2 -> a=3", "axis `a` is 2 and 3"},
      {"a=281474976710657 -> a", "281474976710657 is over the limit of a size"},
      {"a -> a -> a", "`,` or the end of the line expected before `-> a`"},
      {"a -> a, axes a -> a", "`axes` occurs twice"},
      {"a b -> b a, transposed", "`transposed` and `axes` both order the axes: one of them is enough"},
      {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 -> ", "more than 16 axes"},
      {"(a b c d e f g h i j k l m n o p q) -> a", "more than 16 axes"},
  };
  for (const auto& [axes, message] : cases)
    EXPECT_EQ(error_in(std::string("w <- t, axes ") + axes), std::string("line 1: ") + message) << axes;
}

TEST_F(Bind, axes_in_another_order) {
  add("cls", Elem::f32, {1, 1, 3});
  add("q", Elem::f32, {2, 2, 3});
  add("k", Elem::f32, {6, 2});
  add("f", Elem::f16, {2, 3, 1, 2});
  EXPECT_EQ(values("c <- cls, axes 1 1 d -> d", {"c", Elem::f32, 1}, {3}), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(values("c <- cls, axes 1 1 d -> d 1", {"c", Elem::f32, 2}, {3, 1}),
            (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(values("q <- q, axes d h k -> d (h k)", {"q", Elem::f32, 2}, {2, 6}).size(), 12u);
  EXPECT_EQ(values("q <- q, axes h k d -> d (h k)", {"q", Elem::f32, 2}, {3, 4}),
            (std::vector<double>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(values("k <- k, axes (h=2 k) d -> h d k", {"k", Elem::f32, 3}, {2, 2, 3}),
            (std::vector<double>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
  EXPECT_EQ(values("f <- f, axes o i y x -> y x i o, as f32", {"f", Elem::f32, 4}, {1, 2, 3, 2}),
            (std::vector<double>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}));
}

TEST_F(Bind, axes_that_stay_in_order_are_mapped) {
  add("q", Elem::f32, {1, 4, 2, 3});
  const TensorFile weights = file();
  const auto offset = [&](const char* map, uint32_t rank) {
    const Binding binding =
        bind_parameters(weights.table, good_map(map), std::vector{Field{"w", Elem::f32, rank}});
    EXPECT_TRUE(binding.misfits.empty());
    return binding.sources[0]->mapped_offset();
  };
  EXPECT_EQ(offset("w <- q, axes 1 d h k -> d (h k)", 2), 0u);
  EXPECT_EQ(offset("w <- q, axes a b c d -> b c d a", 4), 0u) << "an axis of extent 1 lies anywhere";
  EXPECT_EQ(offset("w <- q, axes a b c d -> a c b d", 4), std::nullopt);
}

TEST_F(Bind, axes_of_stacks_and_of_many_fields) {
  for (int l = 0; l < 2; ++l) {
    add("h." + std::to_string(l) + ".kernel", Elem::f32, {2, 1, 2}, {1, 2, 3, 4.0 + l});
    add("h." + std::to_string(l) + ".bias", Elem::f32, {1, 2}, {5, 6});
    add("h." + std::to_string(l) + ".scale", Elem::f32, {2}, {7, 8});
  }
  const TensorFile weights = file();
  const BindingMap map = good_map(
      "layers.*[l] <- h.{l}.*, axes d h k -> (h k) d\nlayers.bias[l] <- h.{l}.bias, axes h k -> (h k)");
  const Binding binding = bind_parameters(
      weights.table, map,
      std::vector<Field>{
          {"layers.kernel", Elem::f32, 3}, {"layers.bias", Elem::f32, 2}, {"layers.scale", Elem::f32, 2}});
  ASSERT_TRUE(binding.misfits.empty()) << binding.misfits[0].message;
  EXPECT_EQ(loaded(weights, *binding.sources[0]), (std::vector<double>{1, 3, 2, 4, 1, 3, 2, 5}));
  EXPECT_EQ(loaded(weights, *binding.sources[1]), (std::vector<double>{5, 6, 5, 6}));
  EXPECT_EQ(loaded(weights, *binding.sources[2]), (std::vector<double>{7, 8, 7, 8}))
      << "with `*` what has another number of axes stays as it is";
}

TEST_F(Bind, axes_of_sums_splits_and_joins) {
  add("a", Elem::f16, {2, 3}, {1, 2, 3, 4, 5, 6});
  add("b", Elem::f16, {2, 3}, {10, 20, 30, 40, 50, 60});
  EXPECT_EQ(values("w <- a + b, axes i j -> j i, summed, as f32", {"w", Elem::f32, 2}, {3, 2}),
            (std::vector<double>{11, 44, 22, 55, 33, 66}));
  EXPECT_EQ(values("w <- a + b, axes i j -> j i, joined columns", {"w", Elem::f16, 2}, {3, 4}),
            (std::vector<double>{1, 4, 10, 40, 2, 5, 20, 50, 3, 6, 30, 60}));
  const TensorFile weights = file();
  const Binding binding =
      bind_parameters(weights.table, good_map("p, q <- a, axes i j -> 1 (j i), split axis 1 1 5"),
                      std::vector<Field>{{"p", Elem::f16, 2}, {"q", Elem::f16, 2}});
  ASSERT_TRUE(binding.misfits.empty()) << binding.misfits[0].message;
  EXPECT_EQ(loaded(weights, *binding.sources[0]), std::vector<double>{1});
  EXPECT_EQ(loaded(weights, *binding.sources[1]), (std::vector<double>{4, 2, 5, 3, 6}));
}

TEST_F(Bind, axes_that_do_not_fit) {
  add("t", Elem::f32, {2, 6});
  add("u", Elem::f32, {1, 1, 3});
  const std::vector<Field> one = {{"a", Elem::f32, 2}};
  const auto refused = [&](const std::string& axes) { return misfits("a <- t, " + axes, one); };
  const std::string begin = "parameter `a`: `t` is [2, 6], ";
  EXPECT_EQ(refused("axes a b c -> a b c"), begin + "which has 2 axes, and `axes a b c -> a b c` is for 3\n");
  EXPECT_EQ(refused("axes 1 d -> d"), begin + "whose axis 0 is 2, and not 1 as in `axes 1 d -> d`\n");
  EXPECT_EQ(refused("axes a b=5 -> b a"), begin + "whose axis 1 is 6, and not 5 as in `axes a b=5 -> b a`\n");
  EXPECT_EQ(refused("axes a (b=4 c) -> b (c a)"),
            begin + "whose axis 1 is 6, and not a multiple of 4 as in `axes a (b=4 c) -> b (c a)`\n");
  EXPECT_EQ(refused("axes a (b=2 c=2) -> a (b c)"),
            begin + "whose axis 1 is 6, and not 4 as in `axes a (b=2 c=2) -> a (b c)`\n");
  EXPECT_EQ(refused("axes a (b=0 c) -> a (b c)"),
            begin + "whose axis 1 is 6, and not a multiple of 0 as in `axes a (b=0 c) -> a (b c)`\n");
  EXPECT_EQ(refused("axes a (b c) -> b (a c)"), begin +
                                                    "whose axis 1 is 6, and how it is divided is open: state "
                                                    "a size, as in `(b=2 c)`, in `axes a (b c) -> b "
                                                    "(a c)`\n");
  EXPECT_EQ(refused("axes a b -> (a b)"),
            "parameter `a` has 2 axes, `t` is [12] by `axes a b -> (a b)`, [2, 6] in the file\n");
  EXPECT_EQ(misfits("a <- u", {{"a", Elem::f32, 1}}),
            "parameter `a` has 1 axis, `u` is [1, 1, 3]; with `axes 1 1 a -> a` it would fit\n");
  EXPECT_EQ(misfits("a <- t", {{"a", Elem::f32, 1}}), "parameter `a` has 1 axis, `t` is [2, 6]\n");
}

TEST_F(Bind, axes_of_what_is_empty) {
  add("t", Elem::f32, {0, 6});
  add("s", Elem::f32, {});
  EXPECT_EQ(values("w <- t, axes a (b=2 c) -> c a b", {"w", Elem::f32, 3}, {3, 0, 2}), std::vector<double>());
  EXPECT_EQ(values("w <- t, axes (a=0 c=5) b -> b c a", {"w", Elem::f32, 3}, {6, 5, 0}),
            std::vector<double>());
  EXPECT_EQ(values("w <- s, axes -> 1 1", {"w", Elem::f32, 2}, {1, 1}), std::vector<double>{0});
}

/// Patterns of random axes, one tensor or a sum, whole or split or joined, by the definition.
TEST_F(Bind, axes_by_the_definition) {
  std::mt19937 random{3};
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    tensors.clear();
    data.clear();
    const uint32_t count = 1 + below(5);
    std::vector<uint64_t> extents(count);
    for (uint64_t& extent : extents) extent = 1 + below(4);
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    // A side of the pattern: the names in this order, some of them in brackets, and some axes of extent 1.
    std::vector<uint64_t> shapes[2];
    std::vector<uint32_t> orders[2];
    std::string sides[2];
    for (const int to : {0, 1}) {
      std::shuffle(order.begin(), order.end(), random);
      orders[to] = order;
      for (uint32_t k = 0; k < count;) {
        if (below(5) == 0) sides[to] += " 1", shapes[to].push_back(1);
        const uint32_t size = std::min(count - k, 1 + below(3));
        std::string names;
        uint64_t extent = 1;
        for (uint32_t i = 0; i < size; ++i, ++k) {
          names += text(" n", order[k]) + (to == 0 && size > 1 ? text("=", extents[order[k]]) : "");
          extent *= extents[order[k]];
        }
        sides[to] += size > 1 ? " (" + names.substr(1) + ")" : names;
        shapes[to].push_back(extent);
      }
    }
    const std::string axes = text("axes", sides[0], " ->", sides[1]);
    const uint64_t all = *element_count(shapes[0]);
    // What the parameter has at each place: the position in the file of the same coordinates.
    std::vector<double> expected(all);
    for (uint64_t place = 0; place < all; ++place) {
      std::vector<uint64_t> at(count);
      for (uint64_t rest = place, k = count; k-- > 0; rest /= extents[orders[1][k]])
        at[orders[1][k]] = rest % extents[orders[1][k]];
      uint64_t position = 0;
      for (const uint32_t name : orders[0]) position = position * extents[name] + at[name];
      expected[place] = static_cast<double>(position);
    }
    const Elem type = below(2) == 0 ? Elem::f16 : Elem::f32;
    add("t", type, shapes[0]);
    const auto rank = static_cast<uint32_t>(shapes[1].size());
    EXPECT_EQ(values("w <- t, as f32, " + axes, {"w", Elem::f32, rank}, shapes[1]), expected) << axes;
    std::vector<double> twice = expected;
    for (double& value : twice) value *= 2;
    EXPECT_EQ(values("w <- t + t, summed, as f32, " + axes, {"w", Elem::f32, rank}, shapes[1]), twice)
        << axes;
    // Joined with itself along an axis, and split again.
    const uint32_t axis = below(rank);
    uint64_t inner = 1;
    for (size_t k = axis + 1; k < shapes[1].size(); ++k) inner *= shapes[1][k];
    const uint64_t row = shapes[1][axis] * inner;
    std::vector<double> joined;
    for (uint64_t begin = 0; begin < all; begin += row)
      for (int part = 0; part < 2; ++part)
        joined.insert(joined.end(), expected.begin() + static_cast<ptrdiff_t>(begin),
                      expected.begin() + static_cast<ptrdiff_t>(begin + row));
    std::vector<uint64_t> whole = shapes[1];
    whole[axis] *= 2;
    EXPECT_EQ(
        values(text("w <- t + t, as f32, joined axis ", axis, ", ", axes), {"w", Elem::f32, rank}, whole),
        joined)
        << axes << " joined " << axis;
    const uint64_t first = below(shapes[1][axis] + 1);
    const TensorFile weights = file();
    const Binding binding =
        bind_parameters(weights.table,
                        good_map(text("a, b <- t, as f32, split axis ", axis, " ", first, " ",
                                      shapes[1][axis] - first, ", ", axes)),
                        std::vector<Field>{{"a", Elem::f32, rank}, {"b", Elem::f32, rank}});
    ASSERT_TRUE(binding.misfits.empty()) << binding.misfits[0].message;
    for (const bool second : {false, true}) {
      std::vector<double> part;
      for (uint64_t i = 0; i < all; ++i)
        if ((i / inner % shapes[1][axis] >= first) == second) part.push_back(expected[i]);
      EXPECT_EQ(loaded(weights, *binding.sources[second]), part)
          << axes << " split " << axis << " at " << first;
    }
  }
}

/// Whatever a map says, it is an error, a misfit, or gives as many elements as its shape has.
TEST_F(Bind, maps_of_random_words) {
  const std::vector<std::string> words = {
      "a",        "b",       "(",    ")",     "=",      "2",      "3",   "1",      "->",     "axes",
      ",",        ", ",      "<-",   " ",     "t",      "u",      "+",   "summed", "joined", "split",
      "rows",     "columns", "axis", "{",     "}",      "{l}",    "[l]", "*",      "\"",     "{{",
      "repeated", "as",      "f32",  "words", "prefix", "{0x41}", "--",  "\n",     "s.",     "transposed"};
  const std::vector<std::string> good = {"a <- t, axes x y -> y x",
                                         "a <- t, axes x (y=3 z) -> (z x) y",
                                         "a <- t, axes x y -> x 1 y",
                                         "a, b <- u, as f16, axes (x=2 y) 1 -> x y, split columns 1 2",
                                         "a <- t + t, axes x y -> (x y), summed",
                                         "a <- t + t, axes x y -> 1 x y, joined axis 0",
                                         "a[l] <- s.{l}, axes x y -> y x",
                                         "* <- *, axes x y -> y x, as f32\nwords a = t, b = u",
                                         "prefix s.\na <- \"0\", transposed"};
  add("t", Elem::f32, {2, 3});
  add("u", Elem::f16, {6, 1});
  add("s.0", Elem::f32, {2, 2});
  add("s.1", Elem::f32, {2, 2});
  const TensorFile weights = file();
  std::mt19937 random{7};
  size_t bound = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string source = good[random() % good.size()];
    for (size_t edits = random() % 4; edits-- > 0;) {
      const size_t at = random() % (source.size() + 1);
      if (random() % 2 == 0) source.erase(at, 1 + random() % 3);
      if (random() % 2 == 0) source.insert(std::min(at, source.size()), words[random() % words.size()]);
    }
    const ParsedMap parsed = parse_binding_map(source);
    if (!parsed.errors.empty()) continue;
    for (const uint32_t rank : {1U, 2U, 3U}) {
      const Binding binding = bind_parameters(
          weights.table, parsed.map, std::vector<Field>{{"a", Elem::f32, rank}, {"b", Elem::f16, rank}});
      for (const auto& found : binding.sources) {
        if (!found) continue;
        ++bound;
        ASSERT_EQ(found->shape.size(), rank) << source;
        std::vector<uint8_t> out(*byte_count(found->shape, found->field.dtype));
        ASSERT_EQ(error_of(load(weights, *found, out)), "no error") << source;
      }
    }
  }
  EXPECT_GT(bound, 1000u) << "some of them have to be good";
}

/// Rows and tensors that are longer than what is read at once.
TEST_F(Bind, axes_of_large_tensors) {
  for (const std::vector<uint64_t>& shape :
       {std::vector<uint64_t>{3, 300'007}, {300'007, 3}, {2, 150'001, 2}}) {
    tensors.clear();
    data.clear();
    add("t", Elem::f32, shape);
    const bool three = shape.size() == 3;
    const std::vector<double> actual =
        values(three ? "w <- t, axes a b c -> c b a" : "w <- t, axes a b -> b a",
               {"w", Elem::f32, static_cast<uint32_t>(shape.size())}, {shape.rbegin(), shape.rend()});
    ASSERT_EQ(actual.size(), *element_count(shape));
    size_t wrong = 0, at = 0;
    const uint64_t middle = three ? shape[1] : 1;
    for (uint64_t c = 0; c < shape.back(); ++c)
      for (uint64_t b = 0; b < middle; ++b)
        for (uint64_t a = 0; a < shape[0]; ++a, ++at)
          wrong += actual[at] != static_cast<double>(static_cast<float>((a * middle + b) * shape.back() + c));
    EXPECT_EQ(wrong, 0u);
    std::vector<double> sums =
        values(three ? "w <- t + t, summed, axes a b c -> c b a" : "w <- t + t, summed, transposed",
               {"w", Elem::f32, static_cast<uint32_t>(shape.size())}, {shape.rbegin(), shape.rend()});
    for (size_t i = 0; i < sums.size(); ++i) wrong += sums[i] != 2 * actual[i];
    EXPECT_EQ(wrong, 0u);
  }
}

}  // namespace
}  // namespace axon::weights
