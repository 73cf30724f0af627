// See code_cache.h. What is kept is a container (image/build.h) with these sections:
//   key       as below
//   inputs    for each place that was looked at: its digest, or as many dashes where there was no file, and
//   its path,
//             which a NUL ends
//   warnings  1 where the compilation had any, else 0
//   bundle    what was compiled
#include "tools/code_cache.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "host/container.h"
#include "image/build.h"
#include "image/digest.h"
#include "source/files.h"
#include "tools/build_id.h"

namespace axon::tools {

namespace fs = std::filesystem;

namespace {

/// Texts behind each other, so that no two lists of them give the same.
class Key {
 public:
  Key& add(std::string_view text) { return out_ += fmt::format("{}:", text.size()), out_ += text, *this; }
  Key& add(int64_t number) { return add(std::to_string(number)); }
  Key& add(const std::vector<std::string>& texts) {
    add(static_cast<int64_t>(texts.size()));
    for (const std::string& text : texts) add(text);
    return *this;
  }
  /// A path as messages show it, and what it leads to.
  Key& add_path(const std::string& path) { return add(path).add(source::file_identity(path)); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// All options: one that is added does not compile here until it is part of the key.
void add_options(Key& key, const CompileOptions& options) {
  const auto& [core, library, levels, target, schedule, entries, verify_tasks, trace] = options;
  const auto& [sizes, elems, root] = core;
  key.add(static_cast<int64_t>(sizes.size()));
  for (const auto& [name, size] : sizes) key.add(name).add(size);
  key.add(static_cast<int64_t>(elems.size()));
  for (const auto& [name, elem] : elems) key.add(name).add(base::elem_name(elem));
  key.add_path(root).add(static_cast<int64_t>(library.size()));
  for (const std::string& directory : library) key.add_path(directory);
  key.add(levels).add(target).add(static_cast<int64_t>(schedule)).add(entries);
  key.add(int64_t{verify_tasks}).add(int64_t{trace});
}

/// What decides what is compiled, but for the files that the program leads to. Its own file counts by its
/// bytes, its name, which messages of the compiled program show, and the directory, where imports are looked
/// for.
std::string key_of(const Compilation& c, const std::string& build) {
  const source::SourceFile& file = c.sources[c.file];
  const std::string directory = fs::path(file.name()).parent_path().string();
  Key key;
  key.add("code 1").add(build).add_path(file.name()).add_path(directory.empty() ? "." : directory);
  key.add(file.text());
  add_options(key, c.options);
  return key.take();
}

constexpr size_t digest_digits = 64;
const std::string no_file(digest_digits, '-');

/// Of bytes at a place: another place that a link leads to is another file.
std::string digest_at(const std::string& path, std::string_view bytes) {
  return image::digest(source::file_identity(path) + '\0' + std::string(bytes));
}

/// The same of what is there now.
std::string digest_now(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return no_file;
  const auto bytes = source::read_bytes(path);
  return bytes ? digest_at(path, *bytes) : "";
}

std::string inputs_of(const Compilation& c) {
  std::string out;
  for (uint32_t id = 0; id < c.sources.size(); ++id) {
    if (id == c.file.index) continue;
    const source::SourceFile& file = c.sources[source::FileId{id}];
    out += digest_at(file.name(), file.text()) + file.name() + '\0';
  }
  for (const std::string& path : c.loader->absent()) out += no_file + path + '\0';
  return out;
}

bool are_unchanged(std::string_view inputs) {
  while (!inputs.empty()) {
    const size_t end = inputs.find('\0');
    if (end == std::string_view::npos || end < digest_digits) return false;
    if (digest_now(std::string(inputs.substr(digest_digits, end - digest_digits))) !=
        inputs.substr(0, digest_digits))
      return false;
    inputs.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

CodeCache::CodeCache(const Compilation& c, const CommonOptions& o, bool wanted) : verbose_(o.verbose) {
  if (!wanted) return;
  // A pipe has another place each time.
  std::error_code ignored;
  const bool is_file = o.file == "-" || fs::is_regular_file(o.file, ignored);
  const std::string build = build_id();
  std::string why = is_file ? "this compiler has no build id" : "the program is in no file";
  if (is_file && !build.empty()) folder_ = CacheFolder::open(why);
  if (!folder_) {
    say("no cache: " + why);
    return;
  }
  key_ = key_of(c, build);
  name_ = image::digest(key_);
}

void CodeCache::say(const std::string& what) const {
  if (verbose_) fmt::print(stderr, "{}\n", what);
}

bool CodeCache::compile(Compilation& c, const std::function<void()>& before_code) {
  if (find(c)) return !c.diagnostics.has_errors();
  if (!run(c, stage_of_interface)) return false;
  before_code();
  if (!run(c, "bundle")) return false;
  keep(c);
  return true;
}

bool CodeCache::find(Compilation& c) const {
  const auto file = folder_ ? folder_->find(name_) : nullptr;
  const bool found = file && take(c, *file);
  if (found) say(fmt::format("code from the cache: {}", folder_->path_of(name_)));
  return found;
}

/// False for what is damaged, out of date, or of another key.
bool CodeCache::take(Compilation& c, const weights::File& file) const {
  const auto bytes = file.view();
  if (!bytes) return false;
  const auto kept = host::read_container(*bytes);
  if (!kept) return false;
  const host::Section *const key = kept->find("key"), *const inputs = kept->find("inputs"),
                             *const warnings = kept->find("warnings"), *const bundle = kept->find("bundle");
  if (!key || !inputs || !warnings || !bundle || key->bytes.text() != key_ ||
      !are_unchanged(inputs->bytes.text()))
    return false;
  if (warnings->bytes.text() != "0") run(c, "core");  // which finds them again
  c.bundle = bundle->bytes.text();
  return true;
}

void CodeCache::keep(const Compilation& c) const {
  if (!folder_) return;
  const std::string warnings = c.diagnostics.warning_count() == 0 ? "0" : "1";
  std::string why;
  const bool kept = folder_->put(
      name_,
      image::make_container(
          {{"key", key_}, {"inputs", inputs_of(c)}, {"warnings", warnings}, {"bundle", c.bundle}}),
      why);
  say(kept ? fmt::format("code kept in the cache: {}", folder_->path_of(name_)) : "not cached: " + why);
}

}  // namespace axon::tools
