// See round.h. First every declaration that is needed is found, with what it uses; of those whose records may
// hold, from the records. Then each is finished after what it uses.
#include "session/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>

#include "base/bug.h"
#include "base/outside.h"
#include "session/circles.h"

namespace axon::session {

using core::DeclId;
using core::DeclKey;
using core::GlobalId;

namespace {

std::optional<bool> is_function(const core::Program& p, core::TypeId type) {
  if (!type.valid() || p.types.types[type].kind == core::Type::Kind::error) return std::nullopt;
  return p.types.types[type].kind == core::Type::Kind::function;
}

void add_integers(const core::Program& p, const core::Pattern& pattern, std::vector<core::Local>& out) {
  if (pattern.kind == core::Pattern::Kind::name) {
    const core::Local& local = p.locals[pattern.local];
    if (local.type.valid() && p.types.types[local.type].value) out.push_back(local);
  }
  for (const core::Pattern& item : pattern.items) add_integers(p, item, out);
}

/// The parameters that are integers with a value that types can name.
std::vector<core::Local> integer_parameters(const core::Program& p, GlobalId global) {
  std::vector<core::Local> out;
  for (const core::Pattern& parameter : p.globals[global].params) add_integers(p, parameter, out);
  return out;
}

/// See Record::mentions.
void settle_sizes(std::vector<core::Use>& uses, const std::vector<core::Local>& integers,
                  const source::SourceManager& sources) {
  using Kind = core::Use::Kind;
  const auto place = [](source::Span span) { return std::pair(span.file, span.begin); };
  std::set<std::pair<source::FileId, uint32_t>> axes;
  for (const core::Use& use : uses)
    if (use.kind == Kind::axis) axes.insert(place(use.span));
  for (core::Use& use : uses) {
    if (use.kind == Kind::axis && axes.count(place(use.binding)) == 0) use.kind = Kind::size;
    if (use.kind != Kind::size) continue;
    const auto parameter = std::find_if(integers.begin(), integers.end(), [&](const core::Local& local) {
      return local.name == sources.text(use.span);
    });
    if (parameter == integers.end()) continue;
    use.kind = Kind::local;
    use.binding = parameter->span;
  }
}

}  // namespace

struct Round::Elaboration {
  Elaboration(const source::SourceManager& sources, const core::Modules& modules, const core::Module& file,
              const core::Options& options)
      : e(sources, modules, file, found, options) {
    e.lookups.keeps_log = true;
  }
  std::unique_ptr<Checked> state = std::make_unique<Checked>();
  source::Diagnostics found;
  core::Elaborator e;
  GlobalId global;
  bool fault = false;  ///< it met a bug of ours
};

Round::Round(Documents& documents, const core::Modules& modules, const core::Options& options,
             Records& records)
    : documents_(documents), modules_(modules), answers_(modules), options_(options), records_(records) {}
Round::~Round() = default;

/// Whether the declaration is written, and its type is stated, in the parts that the record was read from.
static bool is_read_from(const Record& record, const core::Declared& d) {
  auto own = record.own.begin();
  for (const core::Written& written : {d.written, d.stated})
    if (written && (own == record.own.end() || (own++)->id != written.file->source)) return false;
  return own == record.own.end();
}

bool Round::may_hold(DeclId d, const Record& record) {
  if (record.fault || !is_read_from(record, modules_[d])) return false;
  if (replaced_ && !record.reports.empty()) return false;
  const bool same_texts = std::all_of(record.texts.begin(), record.texts.end(), [&](const auto& text) {
    const Document* const document = documents_.find(text.first);
    return document && document->revision(text.first) == text.second;
  });
  return same_texts && answers_.are_those_of(record.names);
}

const std::string& Round::fingerprint(const DeclKey& key) const {
  static const std::string none;
  const auto found = records_.find(key);
  return found != records_.end() && found->second.interface ? found->second.interface->fingerprint() : none;
}

/// Of a record that may hold, once what it uses is up to date.
bool Round::holds(const Record& record, bool circular) const {
  return record.circular == circular &&
         std::all_of(record.uses.begin(), record.uses.end(),
                     [&](const auto& use) { return fingerprint(use.first) == use.second; });
}

void Round::begin(DeclId d, Node& node) {
  node.elaboration =
      std::make_unique<Elaboration>(documents_.sources(), modules_, *modules_[d].module, options_);
  Elaboration& now = *node.elaboration;
  now.e.only_counting = replaced_ != nullptr;
  const shape::UseArena use(now.state->arena);
  now.e.given = [this](DeclId used) -> const core::Interface* {
    const auto found = records_.find(modules_.key(used));
    return found == records_.end() ? nullptr : found->second.interface.get();
  };
  now.global = now.e.global(d);
}

/// A step of the elaboration of one declaration. A bug of ours in it is an error of that declaration: nothing
/// is known of it then, and the others go on.
void Round::attempt(DeclId d, Node& node, const std::function<void()>& step) {
  std::string what;
  try {
    const shape::UseArena use(node.elaboration->state->arena);
    return step();
  } catch (const base::InternalError& bug) {
    what = bug.what();
  } catch (const std::bad_alloc&) {
    what = "there is not enough memory";
  }
  begin(d, node);
  Elaboration& now = *node.elaboration;
  const shape::UseArena use(now.state->arena);
  core::Global& global = now.e.program.globals[now.global];
  now.found.report(
      source::error(source::Code::E9003, global.span, fmt::format("`{}` could not be checked", global.name))
          .text(fmt::format("The compiler has a bug: {}. The other declarations are checked.", what)));
  now.fault = global.has_error = true;
  global.scheme.type = now.e.vars.error();
  now.e.infos[now.global.index].state = core::DeclInfo::State::done;
}

void Round::read(DeclId d, Node& node) {
  begin(d, node);
  attempt(d, node, [&] { node.elaboration->e.read(node.elaboration->global); });
  const Elaboration& now = *node.elaboration;
  node.uses.clear();
  for (GlobalId used : now.e.infos[now.global.index].uses) node.uses.push_back(now.e.infos[used.index].id);
}

void Round::collect(const std::vector<DeclId>& declarations) {
  std::vector<DeclId> todo(declarations.rbegin(), declarations.rend());
  while (!todo.empty()) {
    const DeclId d = todo.back();
    todo.pop_back();
    const auto [at, is_new] = nodes_.try_emplace(d);
    if (!is_new) continue;
    Node& node = at->second;
    const auto known = records_.find(modules_.key(d));
    if (known != records_.end() && may_hold(d, known->second)) {
      for (const auto& [key, print] : known->second.uses)
        if (const DeclId used = modules_.find(key); used.valid()) node.uses.push_back(used);
    } else {
      read(d, node);
    }
    todo.insert(todo.end(), node.uses.rbegin(), node.uses.rend());
  }
}

Record Round::record_of(const Elaboration& now, const Node& node, bool circular) const {
  Record out;
  out.circular = circular;
  out.names = now.e.lookups.log();
  const auto add_text = [&](const core::Written& written) {
    if (!written) return;
    const source::FileId part = written.file->source;
    const Document* const document = documents_.find(part);
    out.texts.emplace_back(part, document ? document->revision(part) : 0);
  };
  for (const core::DeclInfo& info : now.e.infos) {
    if (info.given) continue;
    add_text(info.written);
    add_text(info.stated);
  }
  // Types of what is used carry places of fields: where those move, so do the answers.
  for (const auto& [a, b] : now.e.vars.same_fields())
    for (const source::Span place : {a, b}) {
      const Document* const document = documents_.find(place.file);
      const std::pair text(place.file, document ? document->revision(place.file) : 0);
      if (std::find(out.texts.begin(), out.texts.end(), text) == out.texts.end()) out.texts.push_back(text);
    }
  for (DeclId used : node.uses) {
    const DeclKey key = modules_.key(used);
    out.uses.emplace_back(key, fingerprint(key));
  }
  out.reports = now.found.in_order_of_report();
  out.fault = now.fault;
  const core::DeclInfo& own = now.e.infos[now.global.index];
  for (const core::Written& written : {own.written, own.stated}) {
    if (!written) continue;
    const source::FileId part = written.file->source;
    const Document* const document = documents_.find(part);
    out.own.push_back(
        {part, document ? document->revision(part) : 0, std::string(documents_.sources()[part].text())});
  }
  const core::Global& global = now.e.program.globals[now.global];
  if (global.kind == core::Global::Kind::entry && !global.has_error)
    out.weights = core::weights_of(now.e.program, now.global);
  out.good = !now.found.has_errors() && !own.not_read;
  out.function = is_function(now.e.program, global.scheme.type);
  out.entry = global.kind == core::Global::Kind::entry;
  add_names(out, now.e, now.global);
  return out;
}

/// What the names of the declaration stand for, in words that outlive the modules.
void Round::add_names(Record& out, const core::Elaborator& e, GlobalId global) const {
  out.same_fields = e.vars.same_fields();
  out.mentions = e.infos[global.index].names;
  std::stable_sort(out.mentions.begin(), out.mentions.end(), [](const core::Use& a, const core::Use& b) {
    return std::pair(a.span.file.index, a.span.begin) < std::pair(b.span.file.index, b.span.begin);
  });
  settle_sizes(out.mentions, integer_parameters(e.program, global), documents_.sources());
  std::map<DeclId, uint32_t> numbers;
  for (core::Use& use : out.mentions) {
    if (!use.declared.valid()) continue;
    const auto [number, is_new] = numbers.try_emplace(use.declared, out.named.size());
    if (is_new) out.named.push_back(modules_.shared_key(use.declared));
    use.declared = DeclId{number->second};
  }
}

/// Gives what nobody needs any more.
std::optional<Record> Round::replace(const DeclKey& key, Record record) {
  std::optional<Record> old;
  const auto [known, is_new] = records_.try_emplace(key);
  Record& before = known->second;
  if (replaced_) {
    if (is_new)
      replaced_->try_emplace(key);
    else if (!replaced_->count(key))
      replaced_->try_emplace(key, std::move(before));
    else
      old = std::move(before);
  } else if (record.good) {
    old = std::move(before);
  } else {
    record.last_good =
        before.good ? std::make_unique<Record>(std::move(before)) : std::move(before.last_good);
    if (!before.good) old = std::move(before);
  }
  known->second = std::move(record);
  return old;
}

void Round::finish(DeclId d, Node& node, bool circular) {
  base::poll_now();
  const DeclKey key = modules_.key(d);
  if (!node.elaboration) {
    if (holds(records_.at(key), circular)) return;
    read(d, node);
  }
  ++checked_;
  attempt(d, node, [&] {
    Elaboration& now = *node.elaboration;
    if (circular)
      now.e.report_recursion(now.global);
    else
      now.e.check(now.global);
  });
  base::poll_now();
  Elaboration& now = *node.elaboration;
  const shape::UseArena use(now.state->arena);
  Record record = record_of(now, node, circular);
  base::poll_now();
  if (modules_[d].kind != core::Global::Kind::type)
    record.interface = std::make_unique<core::Interface>(now.e, now.global);
  record.checked = std::move(now.state);
  record.checked->global = now.global;
  record.checked->program = std::move(now.e.program);
  work_ += record.checked->program.exprs.size();
  std::optional<Record> old = replace(key, std::move(record));
  base::outside([] {}, [&] {  // what is large takes its time to go
    node.elaboration.reset();
    old.reset();
  });
}

void Round::run(const std::vector<DeclId>& declarations) {
  collect(declarations);
  finish_in_order();
}

void Round::run_changed(const std::vector<DeclId>& declarations) {
  std::vector<DeclId> changed;
  std::copy_if(declarations.begin(), declarations.end(), std::back_inserter(changed), [&](DeclId d) {
    const auto known = records_.find(modules_.key(d));
    return known == records_.end() || !may_hold(d, known->second);
  });
  run(changed);
}

/// Each after what it uses.
void Round::finish_in_order() {
  std::vector<DeclId> all;
  std::map<DeclId, uint32_t> number;
  for (const auto& [d, node] : nodes_) {
    number[d] = static_cast<uint32_t>(all.size());
    all.push_back(d);
  }
  std::vector<std::vector<uint32_t>> uses;
  for (DeclId d : all) {
    auto& own = uses.emplace_back();
    for (DeclId used : nodes_.at(d).uses) own.push_back(number.at(used));
  }
  const UseOrder order = order_of_uses(uses);
  for (uint32_t i : order.circular) finish(all[i], nodes_.at(all[i]), true);
  for (uint32_t i : order.order)
    if (!std::binary_search(order.circular.begin(), order.circular.end(), i))
      finish(all[i], nodes_.at(all[i]), false);
}

std::vector<DeclId> Round::reached() const {
  std::vector<DeclId> out;
  for (const auto& [d, node] : nodes_) out.push_back(d);
  return out;
}

}  // namespace axon::session
