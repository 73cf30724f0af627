// The parts of verify(): each adds the obligations of one subject, in words, with their fate.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "task/task.h"

namespace axon::task {

class Report {
 public:
  void add(std::string what, bool proved, std::string by) {
    list_.push_back({std::move(what), proved, std::move(by)});
  }
  void add(std::string what, const shape::Answer& answer) {
    add(std::move(what), answer.verdict == shape::Verdict::proved, answer.by);
  }
  bool all_proved() const {
    for (const Obligation& o : list_)
      if (!o.proved) return false;
    return true;
  }
  std::vector<Obligation> take() { return std::move(list_); }

 private:
  std::vector<Obligation> list_;
};

void verify_structure(const Program&, Report&);  ///< steps and loops are the graph's
void verify_memory(const Program&, Report&);     ///< places, versions in one buffer, slots
void verify_types(const Program&, Report&);      ///< tiles, injective stores
void verify_boxes(const Program&, Report&);      ///< what tasks touch lies in the boxes that they declare
void verify_waits(const Program&, Report&);      ///< events and waits, one by one
void verify_order(const Program&, Report&);      ///< the certificate, and every dependence

}  // namespace axon::task
