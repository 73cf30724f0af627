// The task types of a plan variant as LLVM functions: (context, scratch, loop indices..., coordinates...,
// numbers of steps...).
//
// In: a variant with the tile programs of its types. Out: for each type a function, emitted in the module of
// its part and declared in others. Parts are modules of their own, so that they can be compiled side by side;
// how many there are depends on the program alone.
#pragma once
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "module/frame.h"
#include "module/module.h"
#include "tile/from_task.h"

namespace axon::module {

/// What the tasks of all types of a variant do.
struct Bodies {
  using Levels = std::vector<const target::Machine*>;
  std::shared_ptr<const Graph> graph;  ///< that of the variant, with the scalars that the programs add
  std::map<const target::Machine*, std::vector<tile::MadePrograms>> programs;  ///< by type
  Dim scratch_bytes;  ///< of a worker: enough at each of the levels
};
Bodies make_bodies(const plan::Variant&, const Bodies::Levels&);
/// A type that has no code at the level, and why.
std::optional<std::string> why_no_code(const plan::Variant&, const Bodies&, const target::Machine&);

/// Which types of a variant are emitted in one module.
struct Part {
  uint32_t first = 0, end = 0;
  bool whole = true;  ///< no other part has types
  bool has(task::TaskTypeId t) const { return first <= t.index && t.index < end; }
};
Part whole_of(const plan::Variant&);
/// At least one.
std::vector<Part> parts_of(const plan::Variant&);

struct TaskFunctions {
  std::vector<llvm::Function*> run;    ///< the tasks
  std::vector<llvm::Function*> ahead;  ///< asks for the first weights; null where a type streams none
};
TaskFunctions emit_tasks(llvm::Module&, const plan::Variant&, const Bodies&, const Part&,
                         const target::Machine&);

}  // namespace axon::module
