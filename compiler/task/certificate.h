// The certificate of a task program: for every chain of waits that a dependence needs, what is known to have
// finished at each link (task.h, Finished).
//
// Written by the deriver from what happens_before.h found. verify_certificate.cpp proves each entry from its
// wait and the entry before it, by other means.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "task/happens_before.h"

namespace axon::task {

class CertificateWriter {
 public:
  /// Entries that the program has already are not written again.
  explicit CertificateWriter(Program& p);
  /// Adds the entries of a chain that are not there yet.
  void add(TaskTypeId consumer, const Chain&);

 private:
  Finished entry(TaskTypeId consumer, const Chain&, size_t link, std::optional<uint32_t> after) const;

  Program& p_;
  using Link = std::tuple<TaskTypeId, std::optional<uint32_t>, uint32_t>;
  std::map<Link, uint32_t> written_;  ///< by consumer, the entry before, and wait
};

}  // namespace axon::task
