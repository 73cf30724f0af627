// One entry with values from a command line, on a bundle: checked, run, and what it gives.
//
// In: a bundle, with or without code, and the values. Out: results, in the memory of this. All goes through
// the runtime's C interface, as in any other program, but for the check of what has no code yet. What goes
// wrong is thrown as a Problem.
#pragma once
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "tools/handles.h"
#include "tools/run_values.h"

namespace axon::tools {

/// The results of an entry before they are there: their names and element types.
std::vector<NamedView> results_of(const axon_entry*);

class RunCall {
 public:
  /// 0 workers: as many as pay off.
  explicit RunCall(uint32_t workers) : runtime_(runtime_of(workers)) {}

  /// The bundle of a file, or of bytes, in place of the one before.
  void open(const std::string& path);
  void open_bytes(std::string_view bytes);
  /// From now on the bundle has this entry alone, which needs no weights of others. False where there is none
  /// of that name.
  bool choose(const std::string& entry);
  std::vector<std::string> entry_names() const;
  const axon_entry* entry() const { return entry_; }

  /// Binds the weights and sets all inputs. The values are borrowed, and those of states updated by a run.
  /// `map`: the text of a binding map.
  void set(GivenValues&, const std::string& map);
  /// What a run checks before it begins.
  void check();
  void run();
  /// Of the last run, row-major.
  std::vector<NamedView> results();

 private:
  void bind(const GivenValues&, const std::string& map);
  void set_input(size_t index, const axon_port&, Array&);
  void make_row_major(size_t index, axon_view&);
  void must(axon_status status) const { tools::must(status, error_.get()); }

  Error error_{axon_error_create()};
  Runtime runtime_;
  BundleHandle bundle_;
  Parameters weights_;
  Call call_;
  const axon_entry* entry_ = nullptr;
  std::list<std::vector<uint8_t>> copies_;  ///< of results that do not lie row-major
};

}  // namespace axon::tools
