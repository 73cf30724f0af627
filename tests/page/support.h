// An entry of a program, taken to its plan.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "page/page.h"
#include "page/planned.h"
#include "pipeline.h"
#include "source/render.h"

namespace axon::page {

struct Made {
  std::unique_ptr<Compilation> c;
  core::GlobalId entry;
  std::unique_ptr<const Planned> made;
  Subject subject() const { return {*c->core, entry, c->sources, c->file, made->plan, &made->written, ""}; }
  const plan::Variant& variant() const { return made->plan.variants[0]; }
};

inline std::unique_ptr<Compilation> empty_compilation() {
  CompileOptions options;
  options.library = {std::string(AXON_SOURCE_DIR) + "/stdlib"};
  return std::make_unique<Compilation>(std::move(options));
}

inline Made made_from(std::unique_ptr<Compilation> c, const std::string& entry,
                      plan::Schedule schedule = plan::Schedule::events) {
  Made out;
  out.c = std::move(c);
  if (run(*out.c, "core")) {
    out.entry = out.c->core->find(entry);
    out.made = planned(*out.c->core, out.entry, out.c->sources, out.c->diagnostics, schedule);
  }
  return out;
}

inline Made made(const std::string& text, const std::string& entry) {
  auto c = empty_compilation();
  c->file = c->sources.add("test.axn", text, c->diagnostics);
  Made out = made_from(std::move(c), entry);
  if (!out.made) throw std::runtime_error(source::render_human(out.c->diagnostics, out.c->sources, {}));
  return out;
}

}  // namespace axon::page
