// The manifest: what a bundle's entries expect, how their sizes are found, what is checked, and how each plan
// variant is launched. In: JSON text, untrusted. Out: structs in which every index and every name was
// checked, so that nothing later needs to check again. Dimensions are compiled (dim.h) over the sizes of
// their entry.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "axon/axon.h"
#include "host/dim.h"
#include "host/error.h"
#include "host/placement.h"
#include "host/weights/span.h"

namespace axon::host {

enum class Relation : uint8_t { equal, not_equal, at_most, less };
const char* relation_text(Relation);
bool holds(Wide lhs, Relation, Wide rhs);

struct Fact {
  Dim lhs;
  Relation relation = Relation::equal;
  Dim rhs;
  uint64_t mask() const { return lhs.mask() | rhs.mask(); }
};

/// An input or a result. `dims_text` is what the C interface hands out.
struct Port {
  std::string path;
  axon_kind kind = AXON_ARGUMENT;
  axon_elem elem = AXON_F32;
  std::vector<Dim> shape;
  std::vector<Dim> strides;  ///< that the program states, in elements; none: row-major
  std::vector<const char*> shape_text, stride_text;
  std::vector<Dim> room;  ///< results: the most that each axis can be, before the data is known
  uint32_t weight = 0;    ///< AXON_WEIGHT: index into Manifest::weights
  int32_t state = -1;     ///< results: the state input that this is
};

/// How a size is found, given those before it. `equation` is coefficient * size^power + offset; of a size
/// that the data decides, the most that it can be.
struct Size {
  std::string name;
  axon_size_from from = AXON_FROM_AXIS;
  uint32_t input = 0, axis = 0;
  Dim equation;
  uint32_t power = 1;
  bool unbounded = false;  ///< data-dependent, without a bound
  bool integer = false;    ///< an i64 that is no size: any value, of either sign
};

/// A fact over sizes, or (without one) every element of an integer input lies in [0, bound).
struct Check {
  std::optional<Fact> fact;
  uint32_t input = 0;
  Dim bound;
  std::string message;
};

struct Buffer {
  enum class Kind : uint8_t { input, result, slot } kind = Kind::slot;
  uint32_t index = 0;
};

/// One task type, run alone: what calibration measures.
struct Kernel {
  std::string symbol, name;
  Dim work;  ///< estimated, in the units of Variant::work
};

/// Memory of a temporary. It begins where the last of the slots that it lies above ends, or at 0.
struct Slot {
  Dim bytes;
  std::vector<uint32_t> above;  ///< slots before it in the list
};

struct Variant {
  std::string symbol;
  std::vector<Fact> guard;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots;
  std::vector<Dim> event_offset;
  std::vector<std::string> event_names;  ///< parallel to event_offset, or empty
  std::vector<int32_t> debug_buffers;    ///< parallel to Entry::debugs: a buffer of this variant, or -1
  Dim event_words, scratch, iterations, work, handoffs;
  std::vector<Kernel> kernels;
};

struct Debug {
  std::string name;
  axon_elem elem = AXON_F32;
  std::vector<Dim> shape;
  bool is_condition = false;  ///< of the next one: a bool for each point of its first axes
};

struct Entry {
  std::string name, doc;  ///< doc: the program's words for it, maybe none
  std::vector<std::string> size_names;
  std::vector<Size> sizes;
  std::vector<Check> checks;
  std::vector<std::string> device_checks;
  std::vector<Port> inputs, results;
  std::vector<Debug> debugs;
  std::vector<Variant> variants;
  bool has_weights = false;
  bool traced = false;  ///< its kernels note when they run their tasks
};

struct Weight {
  std::string path;
  axon_elem elem = AXON_F32;
  uint32_t rank = 0;
  Placement placement;
};

struct Manifest {
  std::string compiler, source;
  std::vector<std::string> levels;  ///< of the images that the bundle was made with; none: it has no code
  std::vector<Weight> weights;
  std::vector<Entry> entries;
  /// Paths of the program's weights that none of the entries takes: of entries that are not in the bundle.
  std::vector<std::string> other_weights;
};

Result<Manifest> read_manifest(weights::Bytes json);
/// Fills every Port::shape_text; to be called once the manifest no longer moves.
void point_to_shapes(Manifest&);

}  // namespace axon::host
