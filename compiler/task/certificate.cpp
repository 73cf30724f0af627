// See certificate.h.
//
// Along a chain the iterations follow by substitution: what the consumer has seen of a task type are all its
// iterations up to some, so the next wait is that of this last one. A wait for the same iteration of shared
// loops needs no such last one: it carries every iteration that is known over to its producer.
#include "task/certificate.h"

#include <algorithm>

#include "base/work.h"

namespace axon::task {

namespace {

/// The leading indices that a wait's iteration sets; in the loops inside those it is the last one.
size_t leading(const Program& p, const Wait& wait) {
  const auto& loops = p.types[p.events[wait.event].producer].loops;
  size_t n = loops.size();
  while (n > 0 && wait.iteration[n - 1] == p.loops[loops[n - 1]].extent - Dim(1)) --n;
  return n;
}

void add_fact(std::vector<Fact>& facts, const Fact& fact) {
  const bool known = std::any_of(facts.begin(), facts.end(), [&](const Fact& f) {
    return f.lhs == fact.lhs && f.rhs == fact.rhs && f.relation == fact.relation;
  });
  if (!known) facts.push_back(fact);
}

}  // namespace

CertificateWriter::CertificateWriter(Program& p) : p_(p) {
  for (uint32_t n = 0; n < p.certificate.size(); ++n) {
    const Finished& f = p.certificate[n];
    written_.emplace(Link{f.consumer, f.after, f.wait}, n);
  }
}

void CertificateWriter::add(TaskTypeId consumer, const Chain& chain) {
  std::optional<uint32_t> after;
  for (size_t link = 0; link < chain.waits.size(); ++link) {
    base::work();
    const auto [it, added] = written_.try_emplace({consumer, after, chain.waits[link]},
                                                  static_cast<uint32_t>(p_.certificate.size()));
    if (added) p_.certificate.push_back(entry(consumer, chain, link, after));
    after = it->second;
  }
}

Finished CertificateWriter::entry(TaskTypeId consumer, const Chain& chain, size_t link,
                                  std::optional<uint32_t> after) const {
  const Wait& wait = p_.waits[chain.waits[link]];
  const TaskTypeId producer = p_.events[wait.event].producer;
  const auto &waiting = p_.types[wait.consumer].loops, &awaited = p_.types[producer].loops;
  Finished f{consumer, producer, chain.finished[link], {}, {}, chain.waits[link], after};
  std::vector<Dim> seen;  // the waiting task's last iteration that is known, of its first loops
  if (after) {
    seen = p_.certificate[*after].through;
    f.guard = p_.certificate[*after].guard;
  } else {
    for (LoopId l : waiting) seen.push_back(p_.loops[l].index);
  }
  const size_t count = leading(p_, wait);
  size_t same = 0;
  while (same < count && same < waiting.size() && wait.iteration[same] == Dim(p_.loops[waiting[same]].index))
    ++same;
  shape::Substitution at;
  for (size_t b = 0; b < waiting.size(); ++b) {
    const Loop& loop = p_.loops[waiting[b]];
    at[loop.index] = b < seen.size() ? seen[b] : loop.extent - Dim(1);
    if (b < seen.size() || b < same) continue;
    if (std::find(awaited.begin(), awaited.end(), waiting[b]) == awaited.end())
      add_fact(f.guard, shape::at_least(loop.extent, Dim(1)));
  }
  for (size_t b = 0; b < count; ++b) f.through.push_back(wait.iteration[b].substitute(at));
  while (!f.through.empty() && f.through.back() == p_.loops[awaited[f.through.size() - 1]].extent - Dim(1))
    f.through.pop_back();
  const bool each = after && same == count && seen.size() <= count;  // every iteration, each by its own wait
  if (each) f.through = seen;
  for (const Fact& fact : wait.guard) {
    const bool always = std::any_of(awaited.begin(), awaited.end(), [&](LoopId l) {
      return fact.rhs == p_.loops[l].extent && fact.lhs.is(1);
    });  // else there is no iteration to speak of
    if (!always) add_fact(f.guard, {fact.lhs.substitute(at), fact.relation, fact.rhs.substitute(at)});
  }
  return f;
}

}  // namespace axon::task
