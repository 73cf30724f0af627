// Programs that are mostly functions as values, and what they mean, by a small evaluator that knows no types.
//
// In: a seed. Out: the text of an entry over x : f32[n], y : f32[m], k : i64, d : i64[1] and c : bool, whose
// result is a vector, and its meaning for given arguments: a vector, or nothing where two lengths do not fit.
// Functions are applied, composed, chosen by `if`, given to and returned from functions, and put into tuples,
// records, names and loops; some of them make a vector as long as an integer that they are given. The meaning
// does not come from the compiler, so what the checker accepts can be compared with it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace axon::core {

class HigherOrderProgram {
 public:
  using Vector = std::vector<double>;
  struct Arguments {
    Vector x, y;
    int64_t k = 0;
    int64_t d = 0;  ///< the element of a vector: a size made of it depends on data
    bool c = false;
  };

  explicit HigherOrderProgram(uint64_t seed) : engine_(seed), result_(vector(4)) {}

  std::string text() const {
    return "fun ap f x = f x\n"
           "fun compose f g x = f (g x)\n"
           "fun twice f x = f (f x)\n"
           "fun same x = x\n"
           "fun pick c f g = if c then f else g\n"
           "fun upto (k : i64) = for (i < k) => real i + f32 1.0\n"
           "fun room k = for (i < k + 1) => f32 0.0\n"
           "fun pair f g = (f, g)\n"
           "fun made a = fn v => v + a\n"
           "fun of_record r = r.make r.size\n"
           "entry f (x : f32[n]) (y : f32[m]) (k : i64) (d : i64[1]) (c : bool) where 0 <= k, k <= 5 =\n  " +
           result_.text + "\n";
  }

  enum class Fit : uint8_t {
    fits,
    misfits,   ///< vectors of different lengths are added, or a loop changes the length of what it carries
    stretches  ///< one of the vectors that are added has one element: the types say what that means
  };
  /// The result where everything fits.
  std::optional<Vector> meaning(const Arguments& given, Fit& fit) const {
    fit = Fit::fits;
    try {
      return std::get<Vector>(*result_.value({given, nullptr}));
    } catch (const Fit& other) {
      fit = other;
      return std::nullopt;
    }
  }

 private:
  struct Value;
  using Ref = std::shared_ptr<const Value>;
  using Function = std::function<Ref(const Ref&)>;
  struct Value : std::variant<int64_t, Vector, Function> {
    using variant::variant;
  };
  static Ref of(int64_t v) { return std::make_shared<Value>(v); }
  static Ref of(Vector v) { return std::make_shared<Value>(std::move(v)); }
  static Ref of(Function f) { return std::make_shared<Value>(std::move(f)); }

  /// Names of `let` and `fn`, innermost first.
  struct Scope {
    std::string name;
    Ref value;
    const Scope* outer;
  };
  struct Environment {
    const Arguments& given;
    const Scope* scope;
    Ref find(const std::string& name) const {
      for (const Scope* s = scope; s; s = s->outer)
        if (s->name == name) return s->value;
      return {};
    }
  };
  struct Term {
    std::string text;
    std::function<Ref(const Environment&)> value;
  };

  static int64_t integer(const Ref& r) { return std::get<int64_t>(*r); }
  static const Vector& elements(const Ref& r) { return std::get<Vector>(*r); }
  static Ref call(const Ref& f, const Ref& x) { return std::get<Function>(*f)(x); }
  static Ref sum(const Ref& a, const Ref& b) {
    const Vector &u = elements(a), &v = elements(b);
    if (u.size() != v.size()) throw u.size() == 1 || v.size() == 1 ? Fit::stretches : Fit::misfits;
    Vector out;
    for (size_t i = 0; i < u.size(); ++i) out.push_back(u[i] + v[i]);
    return of(std::move(out));
  }
  static Ref joined(const Ref& a, const Ref& b) {
    Vector out = elements(a);
    out.insert(out.end(), elements(b).begin(), elements(b).end());
    return of(std::move(out));
  }
  /// What a loop carries keeps its length.
  static Ref repeated(const Ref& f, Ref x, size_t times) {
    const size_t length = elements(x).size();
    for (size_t i = 0; i < times; ++i) {
      x = call(f, x);
      if (elements(x).size() != length) throw Fit::misfits;
    }
    return x;
  }

  int below(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }
  std::string fresh(const char* hint) { return hint + std::to_string(names_++); }

  // ---- Names in scope, by what they are.
  enum class Sort : uint8_t {
    integer,
    vector,
    maker,
    mapper
  };  // maker: i64 -> vector; mapper: vector -> vector
  std::vector<std::pair<std::string, Sort>> scope_;

  std::optional<Term> name_of(Sort sort) {
    std::vector<std::string> all;
    for (const auto& [name, is] : scope_)
      if (is == sort) all.push_back(name);
    if (all.empty() || below(2) == 0) return std::nullopt;
    const std::string name = all[static_cast<size_t>(below(static_cast<int>(all.size())))];
    return Term{name, [name](const Environment& e) { return e.find(name); }};
  }
  /// A term made where a name is in scope.
  Term with_name(const std::string& name, Sort sort, const std::function<Term()>& make) {
    scope_.emplace_back(name, sort);
    Term t = make();
    scope_.pop_back();
    return t;
  }
  static Ref bound(const Environment& e, const std::string& name, const Ref& value, const Term& body) {
    const Scope inner{name, value, e.scope};
    return body.value({e.given, &inner});
  }
  /// Names outlive the call that binds them where a function is returned, so they are kept with it.
  Term lambda(const std::string& name, const std::string& type, Sort sort,
              const std::function<Term()>& make) {
    const Term body = with_name(name, sort, make);
    const std::string head = type.empty() ? name : "(" + name + " : " + type + ")";
    return {"(fn " + head + " => " + body.text + ")", [name, body](const Environment& e) {
              std::vector<std::pair<std::string, Ref>> kept;
              for (const Scope* s = e.scope; s; s = s->outer) kept.emplace_back(s->name, s->value);
              const Arguments* given = &e.given;
              return of(Function([=](const Ref& x) {
                std::vector<Scope> scopes(kept.size());
                const Scope* outer = nullptr;
                for (size_t i = kept.size(); i-- > 0;) {
                  scopes[i] = {kept[i].first, kept[i].second, outer};
                  outer = &scopes[i];
                }
                return bound({*given, outer}, name, x, body);
              }));
            }};
  }
  static Term applied(const std::string& head, const Term& f, const Term& x) {
    return {"(" + (head.empty() ? "" : head + " ") + f.text + " " + x.text + ")",
            [f, x](const Environment& e) { return call(f.value(e), x.value(e)); }};
  }
  Term choice(const std::string& head, const Term& a, const Term& b) {
    const std::string text = head.empty() ? "(if c then " + a.text + " else " + b.text + ")"
                                          : "(" + head + " c " + a.text + " " + b.text + ")";
    return {text, [a, b](const Environment& e) { return e.given.c ? a.value(e) : b.value(e); }};
  }
  Term composed(const Term& f, const Term& g) {
    return {"(compose " + f.text + " " + g.text + ")", [f, g](const Environment& e) {
              const Ref outer = f.value(e), inner = g.value(e);
              return of(Function([=](const Ref& x) { return call(outer, call(inner, x)); }));
            }};
  }

  // ---- Terms of each sort.
  Term integer(int depth) {
    if (auto name = name_of(Sort::integer)) return *name;
    const int which = below(depth > 0 ? 7 : 4);
    if (below(8) == 0)
      return {"(max 0 (min (d[0]) 4))",
              [](const Environment& e) { return of(std::max<int64_t>(0, std::min<int64_t>(e.given.d, 4))); }};
    if (which == 0) return {"k", [](const Environment& e) { return of(e.given.k); }};
    if (which == 1)
      return {"n", [](const Environment& e) { return of(static_cast<int64_t>(e.given.x.size())); }};
    if (which < 4) {
      const int64_t value = below(4);
      return {std::to_string(value), [value](const Environment&) { return of(value); }};
    }
    const Term a = integer(depth - 1), b = integer(depth - 1);
    if (which == 4)
      return {"(" + a.text + " + " + b.text + ")",
              [a, b](const Environment& e) { return of(integer(a.value(e)) + integer(b.value(e))); }};
    if (which == 5)
      return {"(min " + a.text + " " + b.text + ")", [a, b](const Environment& e) {
                return of(std::min(integer(a.value(e)), integer(b.value(e))));
              }};
    return {"(ap (fn i => i + 1) " + a.text + ")",
            [a](const Environment& e) { return of(integer(a.value(e)) + 1); }};
  }

  Term maker(int depth) {
    if (auto name = name_of(Sort::maker)) return *name;
    const int which = below(depth > 0 ? 7 : 2);
    if (which == 0)
      return {"upto", [](const Environment&) {
                return of(Function([](const Ref& k) {
                  Vector out;
                  for (int64_t i = 0; i < integer(k); ++i) out.push_back(static_cast<double>(i + 1));
                  return of(std::move(out));
                }));
              }};
    if (which == 1)
      return {"room", [](const Environment&) {
                return of(Function(
                    [](const Ref& k) { return of(Vector(static_cast<size_t>(integer(k) + 1), 0.0)); }));
              }};
    if (which == 2) return choice(below(2) ? "pick" : "", maker(depth - 1), maker(depth - 1));
    if (which == 3) {
      const Term inner = maker(depth - 1);
      return {"(same " + inner.text + ")", inner.value};
    }
    if (which == 4) return composed(mapper(depth - 1), maker(depth - 1));
    const std::string name = fresh("i");
    return lambda(name, which == 5 ? "i64" : "", Sort::integer, [&] { return vector(depth - 1); });
  }

  Term mapper(int depth) {
    if (auto name = name_of(Sort::mapper)) return *name;
    const int which = below(depth > 0 ? 7 : 2);
    if (which == 0)
      return {"(fn v => v + 1.0)", [](const Environment&) {
                return of(Function([](const Ref& v) {
                  Vector out = elements(v);
                  for (double& d : out) d += 1;
                  return of(std::move(out));
                }));
              }};
    if (which == 1)
      return {"flip", [](const Environment&) {
                return of(Function(
                    [](const Ref& v) { return of(Vector(elements(v).rbegin(), elements(v).rend())); }));
              }};
    if (which == 2) return choice(below(2) ? "pick" : "", mapper(depth - 1), mapper(depth - 1));
    if (which == 3) return composed(mapper(depth - 1), mapper(depth - 1));
    const Term part = vector(depth - 1);
    if (which == 4)
      return {"(concat " + part.text + ")", [part](const Environment& e) {
                const Ref first = part.value(e);
                return of(Function([first](const Ref& v) { return joined(first, v); }));
              }};
    if (which == 5)
      return {"(made " + part.text + ")", [part](const Environment& e) {
                const Ref other = part.value(e);
                return of(Function([other](const Ref& v) { return sum(v, other); }));
              }};
    return lambda(fresh("v"), "", Sort::vector, [&] { return vector(depth - 1); });
  }

  Term vector(int depth) {
    if (auto name = name_of(Sort::vector)) return *name;
    const int which = below(depth > 0 ? 13 : 2);
    switch (which) {
      case 0:
        return {"x", [](const Environment& e) { return of(e.given.x); }};
      case 1:
        return {"y", [](const Environment& e) { return of(e.given.y); }};
      case 2: {
        static const char* heads[] = {"", "ap"};
        return applied(heads[below(2)], maker(depth - 1), integer(depth - 1));
      }
      case 3:
        return applied(below(2) ? "ap" : "", mapper(depth - 1), vector(depth - 1));
      case 4: {
        const Term f = mapper(depth - 1), x = vector(depth - 1);
        return {"(twice " + f.text + " " + x.text + ")", [f, x](const Environment& e) {
                  const Ref fn = f.value(e);
                  return call(fn, call(fn, x.value(e)));
                }};
      }
      case 5: {
        const Term f = mapper(depth - 1), x = vector(depth - 1);
        return {"(iterate 2 " + f.text + " " + x.text + ")",
                [f, x](const Environment& e) { return repeated(f.value(e), x.value(e), 2); }};
      }
      case 6: {
        const Term f = mapper(depth - 1), x = vector(depth - 1);
        return {"(fold (fn s r => " + f.text + " s) " + x.text + " y)",
                [f, x](const Environment& e) { return repeated(f.value(e), x.value(e), e.given.y.size()); }};
      }
      case 7:
        return choice("", vector(depth - 1), vector(depth - 1));
      case 8: {
        const Term a = vector(depth - 1), b = vector(depth - 1);
        return {"(concat " + a.text + " " + b.text + ")",
                [a, b](const Environment& e) { return joined(a.value(e), b.value(e)); }};
      }
      case 9: {
        const Term a = vector(depth - 1), b = vector(depth - 1);
        return {"(" + a.text + " + " + b.text + ")",
                [a, b](const Environment& e) { return sum(a.value(e), b.value(e)); }};
      }
      case 10: {  // a function by name, used more than once
        const bool makes = below(2);
        const std::string name = fresh("h");
        const Term f = makes ? maker(depth - 1) : mapper(depth - 1);
        const Term body =
            with_name(name, makes ? Sort::maker : Sort::mapper, [&] { return vector(depth - 1); });
        return {"(let " + name + " = " + f.text + " in " + body.text + ")",
                [=](const Environment& e) { return bound(e, name, f.value(e), body); }};
      }
      case 11: {  // two in a tuple
        const std::string one = fresh("f"), two = fresh("g");
        const Term f = maker(depth - 1), g = mapper(depth - 1);
        const Term body = with_name(one, Sort::maker, [&] {
          return with_name(two, Sort::mapper, [&] { return vector(depth - 1); });
        });
        const char* made = below(2) ? "pair " : nullptr;
        const std::string both =
            made ? std::string(made) + f.text + " " + g.text : "(" + f.text + ", " + g.text + ")";
        return {"(let (" + one + ", " + two + ") = " + both + " in " + body.text + ")",
                [=](const Environment& e) {
                  const Ref first = f.value(e), second = g.value(e);
                  const Scope outer{one, first, e.scope};
                  return bound({e.given, &outer}, two, second, body);
                }};
      }
      default: {  // one in a record, with what it is applied to
        const Term f = maker(depth - 1), i = integer(depth - 1);
        const std::string record = "{make = " + f.text + ", size = " + i.text + "}";
        const std::string text =
            below(2) ? "(of_record " + record + ")" : "(" + record + ".make " + i.text + ")";
        return {text, [f, i](const Environment& e) { return call(f.value(e), i.value(e)); }};
      }
    }
  }

  std::mt19937_64 engine_;
  int names_ = 0;
  Term result_;
};

}  // namespace axon::core
