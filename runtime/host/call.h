// One entry with everything that running it needs; made once, run often.
//
// A run goes through: sizes (solved from shapes, only those that something changed), checks (axes, facts,
// index ranges), variant (the first whose guard holds), preparation (offsets, memory, pointers; only formulas
// that read a changed size), launch, results. `changed_` and the inputs' `dirty` marks say what is out of
// date; they are cleared only when all of it was brought up to date, so a failed run leaves nothing half
// done.
//
// Event words are never reset between launches: each launch has a base epoch, and words of earlier ones lie
// below it. A word may stay untouched for long; before the epoch gets so far ahead that such a word would
// look new, all are set to the present (see Plan::refreshed).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/bundle.h"
#include "host/debug_values.h"
#include "host/memory.h"
#include "host/parameters.h"
#include "host/runtime.h"
#include "host/sizes.h"
#include "host/trace.h"

namespace axon::host {

class Call {
 public:
  static Result<std::unique_ptr<Call>> create(std::shared_ptr<const Bundle>, const std::string& entry,
                                              std::shared_ptr<const Parameters>, std::shared_ptr<Runtime>);

  Status set_size(std::string_view name, int64_t value);
  int32_t find_input(std::string_view path) const;
  /// Strides in elements; null: row-major.
  Status set(size_t input, const axon_view&, const int64_t* strides = nullptr);
  /// The elements are copied to memory of the call, where they lie as the input's layout says.
  Status set_copy(size_t input, const axon_view&, const int64_t* strides);
  Status set_integer(size_t input, int64_t value);
  Status set_real(size_t input, double value);
  /// As if no input and no size had ever been set. Memory and what was found out about shapes stay.
  void clear();
  /// What run() looks at before it launches: whether all is set, shapes, facts, strides, elements. Also
  /// without code, and without memory for results and temporaries.
  Status check();
  Status run();
  Status result(size_t index, axon_view& out) const;
  Status result_strides(size_t index, int64_t* out) const;
  /// The memory of a result of the last run, which the call has no longer: the next run gets other memory.
  Status take_result(size_t index, Memory& out);
  /// Row-major.
  Status copy_result(size_t index, void* out) const;
  Status size(std::string_view name, int64_t& out) const;
  axon_call_statistics statistics() const;
  /// Adds what the kernels of the plan for the present arguments cost: each is measured for about so many
  /// seconds with one worker, and with all. Nothing but a check of the arguments fails it; states are
  /// written.
  Status calibrate(double seconds, Costs&);
  /// Nanoseconds that the last run should have taken with so many workers, by the bundle's costs.
  Status predict(uint32_t workers, double& nanoseconds) const;
  /// From the next launch on the tasks are noted, as so many runs of each worker; 0: no longer.
  Status trace(size_t runs);
  /// What the last launch has noted; null when nothing is.
  const Trace* traced() const { return trace_.get(); }
  void on_debug(axon_debug_function function, void* user) { debug_function_ = function, debug_user_ = user; }

  const Entry& entry() const { return *entry_; }
  const Bundle& bundle() const { return *bundle_; }
  /// For tests of wrap-around: as if so many epochs had passed. Only before the first run.
  void preset_epoch(uint32_t epoch);

 private:
  struct Input {
    const Port* port = nullptr;
    void* data = nullptr;
    uint64_t bytes = 0;
    int64_t low = 0;  ///< in bytes from `data`: where its memory begins, not above 0
    int64_t shape[AXON_MAX_RANK] = {}, strides[AXON_MAX_RANK] = {};
    Memory memory;                      ///< of a copy
    bool copied = false;                ///< the call may move it
    alignas(8) uint8_t scalar[8] = {};  ///< of scalars given by value
    bool set = false;                   ///< since the call was made, or cleared
    bool shaped = false;                ///< `shape` and `scalar` are those of the last time it was set
    bool dirty = false;                 ///< its shape, or the size that it is, is news
  };
  struct Output {
    Memory memory;
    int64_t shape[AXON_MAX_RANK] = {}, strides[AXON_MAX_RANK] = {};  ///< strides: where any are stated
    void* state = nullptr;                                           ///< the memory that the last run updated
    uint64_t bytes = 0;                                              ///< that a run needs; 0 of states
  };
  /// A variant's formulas, evaluated.
  struct Plan {
    const Variant* variant = nullptr;
    axon_kernel kernel = nullptr;
    uint64_t stale = ~uint64_t{0};  ///< sizes that changed since it was prepared
    bool prepared = false;
    std::vector<uint64_t> slot_offset, slot_end;
    std::vector<int64_t> event_offset;
    std::vector<void*> buffers;
    uint64_t arena_bytes = 0, slot_mask = 0, event_mask = 0;
    int64_t event_words = 0, scratch_bytes = 0, iterations = 0, work = 0, handoffs = 0;
    Memory events;
    uint64_t event_capacity = 0;        ///< words
    uint32_t epoch = 0, refreshed = 0;  ///< refreshed: the epoch when all words were last set
    WorkerChoice choice;

    /// A formula of the plan, which is not negative; `out` stays where no size that it reads has changed.
    Status evaluate(const SizeTable&, const Dim&, int64_t& out) const;
    /// The same of what is only estimated: 2^62 where it cannot be computed, which refuses no call.
    void estimate(const SizeTable&, const Dim&, int64_t& out) const;
    /// Sets all words of events to the present epoch.
    void refresh_events();
  };

  explicit Call(const Entry& entry) : entry_(&entry), sizes_(entry) {}

  // call_inputs.cpp
  Status scalar_input(size_t input, const char* what);
  void store_scalar(Input&, const void* value, uint64_t bytes);
  Status store_integer(Input&, int64_t value);
  Status check_missing() const;
  Status check_ranges() const;
  Status check_overlaps() const;
  Status check_view(size_t input, const axon_view&) const;

  // call_strides.cpp
  Status check_apart(const Port&, const uint8_t* begin, uint64_t bytes) const;
  Status lie_at(Input&, const axon_view&, const int64_t* strides);
  int64_t packed_stride(size_t size) const;
  Status place_copies();
  Status check_strides() const;
  Failure misplaced(const Input&, const int64_t* stated) const;
  Status check_written(const std::string& what, const int64_t* shape, const int64_t* strides,
                       size_t rank) const;
  Status stride_result(size_t index, uint64_t& bytes);
  bool strides_of(const Port&, int64_t* out) const;

  // call.cpp
  Status run_once();
  void guess_room();
  bool wants_room();
  bool gives_room_back();
  Status resolve();
  Status resolve_arguments();
  Status replace_taken();
  Status solve_sizes();
  Failure undetermined(const std::string& size) const;
  Status check_axes() const;
  Status check_facts() const;
  Status choose_plan();
  Status shape_results();
  bool concerns(uint64_t mask) const { return !resolved_ || (mask & changed_) != 0; }

  // calibrate.cpp
  uint32_t choose_workers(Plan&) const;

  // call_launch.cpp
  Status prepare(Plan&);
  Status prepare_slots(Plan&);
  Status prepare_events(Plan&);
  Status prepare_scratch(const Plan&);
  Status take_data_sizes();
  Status reserve(Memory&, uint64_t bytes, const char* what,
                 std::optional<Memory> (*allocate)(uint64_t) = Memory::allocate);
  void note_states();
  void fill_buffers(Plan&);
  Status launch(Plan&);
  Status hang_failure(const Plan&) const;
  void debug(uint32_t number);

  std::shared_ptr<const Bundle> bundle_;
  std::shared_ptr<const Parameters> parameters_;
  std::shared_ptr<Runtime> runtime_;
  const Entry* entry_;
  SizeTable sizes_;
  std::vector<int64_t> given_sizes_;   ///< by axon_call_set_size
  std::vector<int64_t> launch_sizes_;  ///< what the launch reads, and where it writes those that it decides
  uint64_t given_ = 0;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<int64_t> bounds_;  ///< parallel to Entry::checks: evaluated bounds of element checks
  std::vector<Plan> plans_;
  Plan* plan_ = nullptr;
  Memory arena_, scratch_;
  uint64_t scratch_stride_ = 0;
  std::vector<uint8_t*> scratch_of_;  ///< per worker

  uint64_t changed_ = 0;  ///< sizes that changed since the last successful resolve()
  bool resolved_ = false;
  bool dirty_ = true;       ///< some input or given size is news
  bool incomplete_ = true;  ///< whether every input is set has not been looked at
  bool pointers_dirty_ = true;
  bool has_ranges_ = false, has_states_ = false;
  size_t data_sizes_ = 0;        ///< how many the data decides
  std::vector<int64_t> room_;    ///< per size, for those that nothing bounds
  std::vector<int64_t> needed_;  ///< of it, what the present run has asked for

  Launch launch_;
  uint32_t failed_ = 0, cancel_ = 0;
  int64_t failed_value_[2] = {0, 0};  ///< what failed, and what it was held against
  uint32_t allocations_ = 0;
  bool ran_ = false;    ///< results are there
  bool taken_ = false;  ///< of some the memory is not
  std::unique_ptr<Trace> trace_;
  DebugValues debug_values_;
  axon_debug_function debug_function_ = nullptr;
  void* debug_user_ = nullptr;
};

}  // namespace axon::host
