// Types, sizes, layouts and patterns in the style of printer.h. In sizes a product is written tight and all
// else with blanks: `2*n + 1`, `(n + 1) / 2`.
#include "format/printer.h"

namespace axon::format {

using namespace syntax;

Doc PrinterPart::path(const std::vector<Name>& names) {
  Docs parts;
  for (const Name& n : names) {
    if (!parts.empty()) parts.push_back(at_.token("."));
    parts.push_back(name(n));
  }
  return concat(std::move(parts));
}

// ---- Types

Doc TypePrinter::type(TypeId id, TypePlace place) {
  const Type& type = file_[id];
  bool is_arrow = as<ArrowType>(type) || as<ExistsType>(type);
  bool wrapped = as<IntegerType>(type) || (is_arrow && place > TypePlace::type) ||
                 (as<PlacedType>(type) && place > TypePlace::placed) ||
                 ((as<OwnedType>(type) || as<WeightsType>(type)) && place > TypePlace::mode);
  if (!wrapped) return std::visit([&](const auto& node) { return of(node); }, type.node);
  Docs parts{at_.token("(")};
  parts.push_back(d_.align(std::visit([&](const auto& node) { return of(node); }, type.node)));
  parts.push_back(at_.token(")"));
  return concat(std::move(parts));
}

Doc TypePrinter::of(const NamedType& n) {
  Docs parts{path(n.path)};
  if (n.items) parts.push_back(items(*n.items));
  return concat(std::move(parts));
}

Doc TypePrinter::of(const VariableType& n) {
  Docs parts{at_.token("'" + n.name.text)};
  if (n.items) parts.push_back(items(*n.items));
  return concat(std::move(parts));
}

Doc TypePrinter::of(const TupleType& n) {
  const auto element = [&](TypeId t) {
    const IntegerType* named = as<IntegerType>(file_[t]);
    return named ? of(*named) : type(t);
  };
  return listed("(", n.elements, element, ")");
}

Doc TypePrinter::of(const IntegerType& n) {
  Docs parts{name(n.name), blank(), at_.token(":"), blank(), type(n.type)};
  return concat(std::move(parts));
}

Doc TypePrinter::of(const RecordType& n) {
  const auto print = [&](const TypeField& f) {
    Docs parts{name(f.name), blank(), at_.token(":"), blank(), type(f.type)};
    return concat(std::move(parts));
  };
  return braced(n.fields, print, n.rest ? &*n.rest : nullptr);
}

Doc TypePrinter::of(const ArrowType& n) {
  Docs parts{type(n.from, TypePlace::placed)};
  const ArrowType* arrow = &n;
  while (arrow) {
    Docs next{d_.line(), at_.token("->"), blank()};
    const ArrowType* following = as<ArrowType>(file_[arrow->to]);
    next.push_back(
        type(following ? following->from : arrow->to, following ? TypePlace::placed : TypePlace::type));
    parts.push_back(d_.nest(2, concat(std::move(next))));
    arrow = following;
  }
  return d_.group(concat(std::move(parts)));
}

Doc TypePrinter::of(const OwnedType& n) {
  Docs parts{at_.token("*"), type(n.type, TypePlace::base)};
  return concat(std::move(parts));
}

Doc TypePrinter::of(const WeightsType& n) {
  Docs parts{at_.token("weights"), blank(), type(n.type, TypePlace::base)};
  return concat(std::move(parts));
}

Doc TypePrinter::of(const PlacedType& n) {
  Docs parts{type(n.type, TypePlace::mode), blank(), at_.token("@"), blank(), layout(n.layout)};
  return concat(std::move(parts));
}

Doc TypePrinter::of(const ExistsType& n) {
  Docs parts{at_.token("?"), n.facts.empty() ? name(n.names[0]) : facts(n.facts), at_.token("."), blank(),
             type(n.body)};
  return concat(std::move(parts));
}

Doc TypePrinter::items(const std::vector<Item>& all) {
  return listed("[", all, [&](const Item& i) { return item(i); }, "]");
}

Doc TypePrinter::item(const Item& item) {
  const auto join = [&](const JoinItem& n) {
    Docs parts{at_.token(".."), at_.token("(")};
    for (const Name& one : n.names) {
      if (&one != &n.names.front()) parts.push_back(at_.token("|"));
      parts.push_back(name(one));
    }
    parts.push_back(at_.token(")"));
    return concat(std::move(parts));
  };
  const auto spread = [&](const SpreadItem& n) {
    Docs parts{at_.token(".."), name(n.name)};
    return concat(std::move(parts));
  };
  return std::visit(Overloaded{[&](const DimItem& n) { return dim(n.dim); }, spread,
                               [&](const AnySpreadItem&) { return at_.token(".."); }, join,
                               [&](const InferItem&) { return at_.token("_"); },
                               [&](const TypeItem& n) { return type(n.type); }},
                    item.node);
}

// ---- Sizes

Doc TypePrinter::dim(DimId id, Level place) {
  const auto binary = [&](const BinaryDim& n) {
    Level own = n.op <= DimOp::subtract ? sum : product;
    const BinaryDim* inner = as<BinaryDim>(file_[n.lhs]);
    bool after_quotient = inner && (inner->op == DimOp::floor_divide || inner->op == DimOp::modulo);
    bool tight = n.op == DimOp::multiply && !after_quotient;
    bool wrapped = own < place;
    Docs parts;
    if (wrapped) parts.push_back(at_.token("("));
    parts.push_back(dim(n.lhs, own));
    if (!tight) parts.push_back(blank());
    parts.push_back(at_.token(dim_op_text(n.op)));
    if (!tight) parts.push_back(blank());
    parts.push_back(dim(n.rhs, own == sum ? product : unary));
    if (wrapped) parts.push_back(at_.token(")"));
    return concat(std::move(parts));
  };
  const auto negated = [&](const NegateDim& n) {
    Docs parts{at_.token("-"), dim(n.of, unary)};
    return concat(std::move(parts));
  };
  const auto call = [&](const CallDim& n) {
    Docs parts{name(n.fn), listed("(", n.args, [&](DimId d) { return dim(d); }, ")")};
    return concat(std::move(parts));
  };
  return std::visit(
      Overloaded{[&](const ErrorDim&) { return d_.empty(); }, [&](const NameDim& n) { return name(n.name); },
                 [&](const NumberDim&) { return at_.any(); }, binary, negated, call},
      file_[id].node);
}

Doc TypePrinter::fact(const Fact& fact) {
  Docs parts{dim(fact.lhs), blank(), at_.token(relation_text(fact.relation)), blank(), dim(fact.rhs)};
  return concat(std::move(parts));
}

Doc TypePrinter::facts(const std::vector<Fact>& all) {
  return separated(all, [&](const Fact& one) { return fact(one); });
}

Doc TypePrinter::condition(const Condition& condition) {
  const auto into = [&](const IntoFact& n) {
    Docs parts{at_.token(".."), name(n.shape), blank(), at_.token("into"), blank(), items(n.target)};
    return concat(std::move(parts));
  };
  const auto cls = [&](const ClassFact& n) {
    Docs parts{at_.token("'" + n.element.text), blank(), at_.token(":"), blank(), name(n.cls)};
    return concat(std::move(parts));
  };
  return std::visit(Overloaded{[&](const Fact& n) { return fact(n); }, into, cls}, condition.node);
}

Doc TypePrinter::signature(TypeId result, const std::vector<Condition>& where) {
  Docs parts;
  if (result.valid())
    parts.push_back(d_.group(concat({d_.line(), at_.token(":"), blank(), d_.align(type(result))})));
  if (!where.empty())
    parts.insert(parts.end(), {d_.line(), at_.token("where"), blank(),
                               d_.align(separated(where, [&](const Condition& c) { return condition(c); }))});
  return concat(std::move(parts));
}

// ---- Layouts

Doc TypePrinter::layout(LayoutId id) {
  Docs parts;
  for (const LayoutPart& one : file_[id].parts) {
    if (!parts.empty()) parts.insert(parts.end(), {blank(), at_.token("+"), blank()});
    parts.push_back(part(one));
  }
  return concat(std::move(parts));
}

Doc TypePrinter::part(const LayoutPart& part) {
  const auto named = [&](const NameLayout& n) {
    Docs parts{name(n.name)};
    if (n.bracketed) parts.push_back(listed("[", n.spots, [&](const Spot& s) { return spot(s); }, "]"));
    return concat(std::move(parts));
  };
  const auto mapped = [&](const MapLayout& n) {
    Docs parts{name(n.name),   at_.token("["), iteration(n.from), blank(),
               at_.token(":"), blank(),        iteration(n.to),   at_.token("]")};
    return concat(std::move(parts));
  };
  const auto offset = [&](const OffsetLayout& n) {
    Docs parts{dim(n.amount, unary), at_.token("@"), name(n.axis)};
    return concat(std::move(parts));
  };
  return std::visit(Overloaded{named, mapped, offset}, part);
}

Doc TypePrinter::spot(const Spot& s) {
  Docs parts{dim(s.size, product)};
  if (s.axis) parts.insert(parts.end(), {at_.token("@"), name(*s.axis)});
  return concat(std::move(parts));
}

Doc TypePrinter::iteration(const Iter& spots) {
  if (spots.size() == 1) return spot(spots[0]);
  return listed("(", spots, [&](const Spot& s) { return spot(s); }, ")");
}

// ---- Patterns

Doc TypePrinter::pattern(PatternId id, bool in_list) {
  const Pattern& p = file_[id];
  if (!p.type.valid()) return bare(p);
  Docs parts;
  if (!in_list) parts.push_back(at_.token("("));
  parts.insert(parts.end(), {bare(p), blank(), at_.token(":"), blank(), d_.align(type(p.type))});
  if (!in_list) parts.push_back(at_.token(")"));
  return concat(std::move(parts));
}

Doc TypePrinter::bare(const Pattern& pattern) {
  const auto tuple = [&](const TuplePattern& n) {
    return listed("(", n.elements, [&](PatternId p) { return this->pattern(p, true); }, ")");
  };
  return std::visit(Overloaded{[&](const ErrorPattern&) { return d_.empty(); },
                               [&](const NamePattern& n) { return name(n.name); },
                               [&](const WildcardPattern&) { return at_.token("_"); }, tuple},
                    pattern.node);
}

}  // namespace axon::format
