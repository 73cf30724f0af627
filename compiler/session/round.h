// Brings what is known of declarations up to date.
//
// In: modules, and the records of an earlier state of them. Out: records of the declarations that are asked
// for, and of all that those use, that hold of these modules. Invariant: a record is what elaboration of the
// declaration from nothing would give; one is kept where nothing that it was made from has changed.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "core/elaborator.h"
#include "session/documents.h"
#include "session/record.h"

namespace axon::session {

/// Most keys differ in their names, and few in their modules, whose names are long.
struct ByName {
  bool operator()(const core::DeclKey& a, const core::DeclKey& b) const {
    return std::tie(a.name, a.space, a.module) < std::tie(b.name, b.space, b.module);
  }
};
using Records = std::map<core::DeclKey, Record, ByName>;
using ReplacedRecords = std::map<core::DeclKey, std::optional<Record>>;  ///< nothing: there was none

class Round {
 public:
  Round(Documents& documents, const core::Modules& modules, const core::Options& options, Records& records);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  void run(const std::vector<core::DeclId>& declarations);
  /// Those alone whose own text, or what its names stand for, is another one, and what those use.
  void run_changed(const std::vector<core::DeclId>& declarations);
  /// For a trial: errors are counted and not explained, those of before anew, and what records there were
  /// before is put into `before`.
  void keep_what_it_replaces(ReplacedRecords& before) { replaced_ = &before; }
  /// All that were brought up to date, in the order in which they are declared.
  std::vector<core::DeclId> reached() const;
  size_t checked() const { return checked_; }  ///< how many were checked anew
  size_t work() const { return work_; }        ///< how many expressions those have

 private:
  /// An elaboration of one declaration that is under way.
  struct Elaboration;
  struct Node {
    std::unique_ptr<Elaboration> elaboration;  ///< null while its record may still hold
    std::vector<core::DeclId> uses;
  };
  void collect(const std::vector<core::DeclId>& declarations);
  void finish_in_order();
  void begin(core::DeclId d, Node& node);
  void read(core::DeclId d, Node& node);
  void attempt(core::DeclId d, Node& node, const std::function<void()>& step);
  std::optional<Record> replace(const core::DeclKey& key, Record record);
  void finish(core::DeclId d, Node& node, bool circular);
  bool may_hold(core::DeclId d, const Record& record);
  bool holds(const Record& record, bool circular) const;
  Record record_of(const Elaboration& elaboration, const Node& node, bool circular) const;
  void add_names(Record& out, const core::Elaborator& e, core::GlobalId global) const;
  const std::string& fingerprint(const core::DeclKey& key) const;

  Documents& documents_;
  const core::Modules& modules_;
  core::Answers answers_;
  const core::Options& options_;
  Records& records_;
  std::map<core::DeclId, Node> nodes_;
  size_t checked_ = 0, work_ = 0;
  ReplacedRecords* replaced_ = nullptr;
};

}  // namespace axon::session
