#include "random_graphs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>
#include <vector>

namespace axon::task {

namespace {

struct Tensor {
  std::string name;
  std::vector<std::string> shape;
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed), seed_(seed) {}

  std::string run() {
    header();
    const size_t count = 2 + pick(4);
    for (size_t i = 0; i < count; ++i) {
      if (pick(4) == 0)
        loop();
      else
        add(node());
    }
    results();
    return std::move(out_);
  }

 private:
  size_t pick(size_t n) { return random_() % n; }
  bool coin() { return pick(2) == 0; }

  void line(const std::string& text) { out_ += indent_ + text + "\n"; }
  std::string fresh() { return fmt::format("%{}", next_++); }
  static std::string type(const std::vector<std::string>& shape) {
    return fmt::format("f32[{}]", fmt::join(shape, ", "));
  }
  void add(Tensor t) { values_.push_back(std::move(t)); }

  void header() {
    line(fmt::format("graph \"random{}\"", seed_));
    indent_ = "  ";
    for (const char* text :
         {"size m = axis 0 of 0 where m", "size d = axis 1 of 0 where d", "size n = axis 0 of 2 where n",
          "size v = axis 0 of 4 where v", "fact 1 <= v", "input \"x\" argument f32[m, d]",
          "input \"w\" weight f32[d, d]", "input \"z\" argument f32[n, d]", "input \"cache\" state f32[m, d]",
          "input \"table\" argument f32[v, d]", "input \"ids\" argument i32[m]"})
      line(text);
    for (int i = 0; i < 6; ++i) line(fmt::format("{} = input {}", fresh(), i));
    values_ = {{"%0", {"m", "d"}}, {"%1", {"d", "d"}}, {"%3", {"m", "d"}}};
  }

  /// A value of that shape among those in scope, recent ones more often; "" when there is none.
  std::string like(const std::vector<std::string>& shape) {
    std::vector<std::string> fitting;
    for (const Tensor& t : values_)
      if (t.shape == shape) fitting.push_back(t.name);
    if (fitting.empty()) return {};
    return fitting[coin() ? fitting.size() - 1 : pick(fitting.size())];
  }
  const Tensor& any(size_t rank) {
    for (;;) {
      const Tensor& t = values_[coin() ? values_.size() - 1 - pick(std::min<size_t>(3, values_.size()))
                                       : pick(values_.size())];
      if (t.shape.size() == rank) return t;
    }
  }

  Tensor compute(const std::vector<std::string>& domain, const std::vector<std::string>& shape,
                 const std::vector<std::string>& body) {
    const std::string name = fresh();
    line(fmt::format("{} = compute [{}] {{", name, fmt::join(domain, ", ")));
    for (const auto& text : body) line("  " + text);
    line("}");
    return {name, shape};
  }

  // ---- nodes: each reads values in scope and makes one ----

  Tensor node() {
    switch (pick(8)) {
      case 0:
        return contraction();
      case 1:
        return row_sums();
      case 2:
        return online();
      case 3:
        return update();
      case 4:
        return gather();
      case 5:
        return sorted();
      default:
        return pointwise();
    }
  }

  Tensor pointwise() {
    const Tensor t = any(2);
    const auto &a = t.shape[0], &b = t.shape[1];
    const bool turn = coin();
    const std::string at = turn ? "j, i" : pick(3) == 0 ? fmt::format("{} - 1 - i, j", a) : "i, j";
    const std::vector<std::string> shape = turn ? std::vector{b, a} : std::vector{a, b};
    std::string body = fmt::format("{}[{}] * 0.5 + 1.0", t.name, at);
    if (const std::string other = like(shape); !other.empty() && coin())
      body += fmt::format(" - {}[i, j]", other);
    if (const std::string row = like({shape[1]}); !row.empty() && coin())
      body += fmt::format(" + {}[j]", row);
    return compute({fmt::format("i < {}", shape[0]), fmt::format("j < {}", shape[1])}, shape,
                   {fmt::format("out {} = {}", type(shape), body)});
  }

  Tensor contraction() {
    const Tensor t = any(2);
    const auto &a = t.shape[0], &k = t.shape[1];
    const std::string right = like({k, "d"});
    if (right.empty()) return pointwise();
    const std::vector<std::string> shape = {a, "d"}, domain = {"i < " + a, "j < d"};
    if (coin())
      return compute(
          domain, shape,
          {fmt::format("out {} = sum(k < {}; {}[i, k] * {}[k, j])", type(shape), k, t.name, right)});
    return compute(
        domain, shape,
        {fmt::format("local $0 \"p\" [a < {}, c < d] f32 = sum(k < {}; {}[a, k] * {}[k, c])", a, k, t.name,
                     right),
         fmt::format("out {} = $0[i, j] * 0.25 + $0[i, {}]", type(shape), coin() ? "j" : "d - 1 - j")});
  }

  Tensor row_sums() {
    const Tensor t = any(2);
    const auto &a = t.shape[0], &k = t.shape[1];
    if (coin())
      return compute({"i < " + a}, {a}, {fmt::format("out f32[{}] = sum(k < {}; {}[i, k])", a, k, t.name)});
    return compute({"i < " + a}, {a},
                   {fmt::format("local $0 \"s\" [r < {}] f32 = max(k < {}; {}[r, k])", a, k, t.name),
                    fmt::format("out f32[{}] = select($0[i] < 0.0, 0.0, 1.0)", a)});
  }

  Tensor online() {
    const Tensor t = any(2);
    const auto &a = t.shape[0], &k = t.shape[1];
    const std::string values = like({k, "d"});
    if (values.empty()) return row_sums();
    return compute({"i < " + a, "j < d"}, {a, "d"},
                   {fmt::format("out f32[{}, d] = proj(2, (t0 := online(r < {}; e, 1.0; {}[i, r] * 0.5, "
                                "{}[r, j]))) / proj(1, t0)",
                                a, k, t.name, values)});
  }

  Tensor update() {
    const Tensor t = any(2);
    const auto &a = t.shape[0], &b = t.shape[1];
    const std::string source = like({b});
    const std::string body = source.empty() ? "2.5" : source + "[j] + 1.0";
    switch (pick(3)) {
      case 0:
        return compute({fmt::format("i < {} / 2", a), "j < " + b}, t.shape,
                       {fmt::format("out {} of {} at [2*i, j] = {}", type(t.shape), t.name, body)});
      case 1:
        return compute({fmt::format("i < {} / 2", a), "j < " + b}, t.shape,
                       {fmt::format("out {} of {} at [{} - 1 - i, j] = {}", type(t.shape), t.name, a, body)});
      default:
        return compute(
            {"i < " + a, "j < " + b}, t.shape,
            {fmt::format("out {} of {} = {}[i, j] * 0.5 + {}", type(t.shape), t.name, t.name, body)});
    }
  }

  Tensor gather() {
    checked_ = true;
    const std::string from =
        pick(2) == 0 ? "%4" : fmt::format("{}", like({"v", "d"}).empty() ? "%4" : like({"v", "d"}));
    return compute({"i < m", "j < d"}, {"m", "d"},
                   {fmt::format("out f32[m, d] = {}[{{bounded(i64(%5[i]), v, 0)}}, j] + 1.0", from)});
  }

  /// The rows of a matrix in order, or the first of each.
  Tensor sorted() {
    const Tensor t = any(2);
    const auto &a = t.shape[0], &b = t.shape[1];
    const bool all = coin();
    const std::string kept = all ? b : "min(2, " + b + ")";
    const Tensor order = compute({"i < " + a, "j < " + kept}, {a, kept},
                                 {fmt::format("out i64[{}, {}] = {}(k < {}; {}[i, k] * -0.5, {{j}})", a, kept,
                                              coin() ? "argsmallest" : "arglargest", b, t.name)});
    if (all)
      return compute({"i < " + a, "j < " + b}, t.shape,
                     {fmt::format("out {} = {}[i, {{{}[i, j]}}]", type(t.shape), t.name, order.name)});
    return compute(
        {"i < " + a}, {a},
        {fmt::format("out f32[{}] = sum(j < {}; {}[i, {{{}[i, j]}}])", a, kept, t.name, order.name)});
  }

  // ---- loops ----

  void loop() {
    if (pick(3) == 0) return loop_with_condition();
    const bool stack = coin(), nested = depth_ == 0 && pick(3) == 0;
    const Tensor start = any(2);
    std::string index = depth_ == 0 ? "l" : "q", empty;
    if (stack) {
      empty = fresh();
      line(fmt::format("{} = empty f32[n, d]", empty));
    }
    const std::string name = fresh(), param = fresh();
    line(fmt::format("{} = loop \"l\" [{} < n] ({} = {}{}) {{", name, index, type(start.shape), start.name,
                     stack ? fmt::format(", f32[n, d] = {}", empty) : ""));
    const size_t outer = values_.size();
    indent_ += "  ";
    ++depth_;
    line(param + " = param");
    add({stack ? param + ".0" : param, start.shape});
    const std::string carried_in = values_.back().name;
    indices_.push_back(index);
    body(nested);
    const Tensor last = next_carried(start.shape, carried_in, index);
    std::string emitted;
    if (stack)
      emitted = compute({"j < d"}, {"n", "d"},
                        {fmt::format("out f32[n, d] of {}.1 at [{}, j] = %2[{}, j] + {}", param, index, index,
                                     last.shape[0] == "m" ? "0.5" : "1.5")})
                    .name;
    line(stack ? fmt::format("yield ({}, {})", last.name, emitted) : fmt::format("yield ({})", last.name));
    indices_.pop_back();
    --depth_;
    indent_.resize(indent_.size() - 2);
    line("}");
    values_.resize(outer);
    add({stack ? name + ".0" : name, start.shape});
    if (stack) add({name + ".1", {"n", "d"}});
  }

  /// The loop of a region, perhaps between its nodes.
  void body(bool nested) {
    const size_t count = 1 + pick(2), before = nested ? pick(count + 1) : count;
    for (size_t i = 0; i < before; ++i) add(node());
    if (nested) loop();
    for (size_t i = before; i < count; ++i) add(node());
  }

  /// As many steps as a counter says, which differ from one iteration around it to the next; often none.
  void loop_with_condition() {
    const bool nested = depth_ == 0 && coin();
    const Tensor start = any(2);
    const std::string index = depth_ == 0 ? "l" : "q", steps = "steps_" + index;
    std::string most = fmt::format("{}", pick(3));
    for (const std::string& around : indices_) most = fmt::format("({} + {}) % 3", around, most);
    const std::string limit = fmt::format("{{{}}}", most);
    const Tensor zero = compute({}, {}, {"out i64[] = 0"});
    const Tensor first = compute({}, {}, {fmt::format("out bool[] = 0 < {}", limit)});
    const std::string name = fresh(), param = fresh();
    line(fmt::format(
        "{} = loop \"w\" while 2 \"it goes on\" as {} [{} < {}] ({} = {}, i64[] = {}, bool[] = {}) {{", name,
        steps, index, steps, type(start.shape), start.name, zero.name, first.name));
    const size_t outer = values_.size();
    indent_ += "  ";
    ++depth_;
    line(param + " = param");
    add({param + ".0", start.shape});
    indices_.push_back(index);
    body(nested);
    const Tensor last = next_carried(start.shape, param + ".0", "");
    const Tensor count = compute({}, {}, {fmt::format("out i64[] = {}.1[] + 1", param)});
    const Tensor again = compute({}, {}, {fmt::format("out bool[] = {}[] < {}", count.name, limit)});
    line(fmt::format("yield ({}, {}, {})", last.name, count.name, again.name));
    indices_.pop_back();
    --depth_;
    indent_.resize(indent_.size() - 2);
    line("}");
    values_.resize(outer);
    add({name + ".0", start.shape});
  }

  Tensor next_carried(const std::vector<std::string>& shape, const std::string& carried,
                      const std::string& index) {
    const auto &a = shape[0], &b = shape[1];
    const std::string other = like(shape);
    switch (pick(3)) {
      case 0:  // updated in place
        return compute({"i < " + a, "j < " + b}, shape,
                       {fmt::format("out {} of {} = {}[i, j] * 0.5 + 1.0", type(shape), carried, carried)});
      case 1:  // another value, perhaps the parameter itself
        return {other, shape};
      default: {
        const std::string step = b == "d" && !index.empty() ? fmt::format(" + %2[{}, j]", index) : "";
        return compute({"i < " + a, "j < " + b}, shape,
                       {fmt::format("out {} = {}[i, j] * 0.5 + {}[{} - 1 - i, j]{}", type(shape), other,
                                    carried, a, step)});
      }
    }
  }

  void results() {
    if (checked_) line("check %5 < v : \"`ids` index axis 0 of `table`\"");
    const size_t count = 1 + pick(3);
    for (size_t r = 0; r < count && r < values_.size(); ++r)
      line(fmt::format("result \"{}\" {}", r, values_[values_.size() - 1 - r].name));
  }

  std::mt19937_64 random_;
  const uint64_t seed_;
  std::string out_, indent_;
  std::vector<Tensor> values_;
  std::vector<std::string> indices_;  ///< of the loops around
  int next_ = 0, depth_ = 0;
  bool checked_ = false;
};

}  // namespace

std::string random_graph(uint64_t seed) { return Writer(seed).run(); }

}  // namespace axon::task
