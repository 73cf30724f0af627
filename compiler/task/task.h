// Tile tasks and the event tensors that tie them together.
//
// In: graph::Graph after fusion. Each compute node becomes one task type: its domain is cut into tiles of
// constant size, one task per tile; extents stay symbolic. A task type carries the boxes of every buffer that
// one task reads and writes, as functions of its coordinates, its loops' indices and the sizes.
// derive_events.cpp intersects those boxes, finds who waits for whom, and writes down why that orders every
// dependence: the certificate. verify.cpp proves from it, for all sizes, that it does.
//
// Coordinates. A task is named by (loop indices..., coordinate...). Coordinate c runs over 0 .. extent-1,
// with extent >= 1 for every value of the sizes (max(1, cdiv(axis extent, tile))), so no task type is ever
// empty and orders compose; the box of a task past the end of its axis is empty.
//
// Time. Steps stand in program order; a loop repeats its body. The timestamp of a task is lexicographic:
// position in the step tree with loop indices at loop nodes, then the coordinate in row-major order. Events
// only go up in time.
//
// Events. An event tensor belongs to one producer task type. Its element e = notify(coordinates) (a
// projection of the producer's coordinates) counts `count` tasks, the product of the extents projected away.
// Per iteration of the producer's loops it starts afresh (its epoch is the iteration). A wait of a consumer
// names an inclusive box of event elements, and which iteration of the producer's loops is meant.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "graph/graph.h"
#include "layout/placement.h"
#include "shape/dim.h"
#include "shape/prover.h"
#include "target/machine.h"

namespace axon::task {

using graph::Elem;
using layout::Placement;
using shape::Dim;
using shape::Fact;
using shape::Var;

struct TaskTypeTag;
struct BufferTag;
struct EventTag;
struct LoopTag;
using TaskTypeId = base::Id<TaskTypeTag>;
using BufferId = base::Id<BufferTag>;
using EventId = base::Id<EventTag>;
using LoopId = base::Id<LoopTag>;

/// Which emitter makes the body (module/tile/<family>.cpp) and which tiling rule applied
/// (tiling/<family>.cpp).
enum class Family : uint8_t { elementwise, contract, reduce, scatter, online, order, prefix };
const char* family_name(Family);

struct Buffer {
  std::string name;
  Elem elem = Elem::f32;
  std::vector<Dim>
      shape;  ///< row-major; carried temporaries have a leading axis of 2 (slot = iteration mod 2)
  enum class Kind : uint8_t { weight, argument, state, result, temporary } kind = Kind::temporary;
  uint32_t index = 0;  ///< weight, argument, state: graph input; result: graph result
  /// Of a weight, in the prepared parameter object (placements.h): one for all entries of a bundle. Of what
  /// is the caller's, as the program states it: one stride for each axis.
  Placement placement;
};

struct Interval {
  Dim low, high;  ///< [low, high)
};

/// What one task accesses of one buffer: a box, one interval per axis, over coordinates, loop indices and
/// sizes.
struct Access {
  BufferId buffer;
  std::vector<Interval> box;
  bool write = false;
};

struct Coordinate {
  Var var;
  Dim extent;         ///< number of tiles, >= 1
  uint32_t axis = 0;  ///< of the node's domain
  int64_t tile = 1;   ///< domain points per tile along that axis
};

/// Where a graph value lives: a buffer and, for carried values, the slot index (a Dim over loop indices).
struct Place {
  BufferId buffer;
  std::optional<Dim> slot;  ///< leading index when the buffer has slots
};

struct TaskType {
  std::string name;  ///< unique, stable: node hint and number
  graph::NodeId node;
  Family family = Family::elementwise;
  std::vector<LoopId> loops;  ///< enclosing, outermost first
  std::vector<Coordinate> coordinates;
  std::vector<Access> accesses;
  Dim work;        ///< estimated scalar operations of one full tile, see work.h
  Dim total_work;  ///< of the whole grid
};

/// The extent of a loop with an exit condition (graph::Node::condition) is a variable, whose value is known
/// when the loop has ended. A nested loop runs once in each iteration of the loops around it, and the
/// variable has another value in each of these runs (see trip_counts.h).
struct Loop {
  Var index;
  Dim extent;
  graph::NodeId node;
};

/// One step of the program: a task type or a loop over steps.
struct Step {
  TaskTypeId task;  ///< valid: run this type's whole grid
  LoopId loop;      ///< valid: repeat `body`
  std::vector<Step> body;
};

/// `element = notify(producer coordinates)`: keeps coordinates `kept` (positions), in order.
struct Event {
  std::string name;
  TaskTypeId producer;
  std::vector<uint32_t> kept;
  std::vector<Dim> shape;  ///< extents of the kept coordinates
  Dim count;               ///< product of the other extents
};

/// A consumer's wait. `box`: inclusive element range per event axis, over the consumer's coordinates, loop
/// indices and sizes, already clamped to the event's shape. `iteration`: value of each loop index of the
/// producer (outermost first); `guard`: facts under which the wait exists at all (e.g. l >= 1); a wait whose
/// guard fails is skipped. Of a loop with a condition that is run again and again, `extent - 1` is the last
/// iteration of the runs so far, in the iteration of the loops around it that is meant: an empty run has
/// none, and the one before it counts; when all were empty there is nothing to wait for.
struct Wait {
  EventId event;
  TaskTypeId consumer;
  struct Range {
    Dim first, last;
  };
  std::vector<Range> box;
  std::vector<Dim> iteration;
  std::vector<Fact> guard;
  enum class Why : uint8_t {
    read_after_write,
    write_after_read,
    write_after_write,
    reuse  ///< of the buffer's memory, by another one
  } why = Why::read_after_write;
  BufferId buffer;  ///< the dependence that asked for it
};

/// One range per coordinate of a task type; nullopt: some value of that coordinate.
using Ranges = std::vector<std::optional<Wait::Range>>;

/// An entry of the certificate: what has finished before a task of `consumer` begins, if the guard holds. It
/// is every task of `producer` with coordinates in `ranges`, in every iteration of its loops up to `through`.
/// That bounds the indices of its first loops, compared lexicographically; the loops inside those have run
/// to their ends. Where a coordinate has no range, one task is meant for each choice of the coordinates that
/// have one. All is over the consumer's coordinates, its loops' indices and the sizes.
///
/// Entries make chains: the last link is `wait`, which the tasks of entry `after` have waited for; without
/// `after` the consumer itself has.
struct Finished {
  TaskTypeId consumer, producer;
  Ranges ranges;
  std::vector<Dim> through;
  std::vector<Fact> guard;
  uint32_t wait = 0;
  std::optional<uint32_t> after = std::nullopt;  ///< an earlier entry
};

struct Program {
  const graph::Graph* graph = nullptr;
  base::Store<TaskTypeTag, TaskType> types;
  base::Store<BufferTag, Buffer> buffers;
  base::Store<LoopTag, Loop> loops;
  base::Store<EventTag, Event> events;
  std::vector<Wait> waits;
  std::vector<Finished> certificate;  ///< why the waits order every dependence
  std::vector<Step> steps;
  std::vector<Fact> facts;                             ///< of the sizes, plus the variant's guard
  std::vector<Fact> guard;                             ///< under which this plan variant is chosen
  std::vector<std::pair<graph::Value, Place>> places;  ///< sorted by value; every value that tasks touch
  const Place& place(graph::Value) const;
};

std::string print(const Program&);
/// Reads print()'s text back against the same graph.
std::optional<Program> parse(const graph::Graph&, const std::string& text, std::string& error);

/// Tiles, places, and orders; events are empty. `guard` is the variant's condition on sizes. A placement for
/// each input.
Program from_graph(const graph::Graph&, const std::vector<Placement>&, const std::vector<Fact>& guard,
                   const target::Class&);
/// Fills events and waits from the accesses, removes waits implied by others, and writes the certificate.
void derive_events(Program&);

/// One proof obligation and its fate.
struct Obligation {
  std::string what;  ///< in words: pair, buffer, kind
  bool proved = false;
  std::string by;  ///< prover's name for how, or why not
};
/// All obligations of events.md's list, for all sizes. Sound: a program with a missing order is never
/// all-proved.
std::vector<Obligation> verify(const Program&);

}  // namespace axon::task
