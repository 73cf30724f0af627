// Objects to one shared object, by lld as a library.
//
// lld wants files: they lie in a directory of their own that is removed afterwards, whatever happens. Its
// state is global, so links take turns. Nothing of the file names gets into the result.
#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "base/bug.h"
#include "image/build.h"

LLD_HAS_DRIVER(elf)

namespace axon::image {

namespace {

namespace fs = std::filesystem;

class PrivateDirectory {
 public:
  PrivateDirectory() {
    std::error_code ignored;
    const fs::path base = fs::temp_directory_path(ignored);
    std::string pattern = (base.empty() ? fs::path("/tmp") : base) / "axon-link-XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  bool exists() const { return !path_.empty(); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::optional<std::string> link_image(const std::vector<std::string>& objects, std::string& error) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  const PrivateDirectory directory;
  if (!directory.exists()) return error = "cannot create a directory for temporary files", std::nullopt;
  const std::string output = directory.file("image.so");
  std::vector<std::string> inputs;
  for (const std::string& object : objects) {
    inputs.push_back(directory.file(fmt::format("{}.o", inputs.size()).c_str()));
    std::ofstream file(inputs.back(), std::ios::binary);
    file.write(object.data(), static_cast<std::streamsize>(object.size()));
    file.close();
    if (!file) return error = "cannot write temporary files (is the disk full?)", std::nullopt;
  }

  std::vector<const char*> arguments{"ld.lld",
                                     "-shared",
                                     "-z",
                                     "defs",
                                     "-z",
                                     "noexecstack",
                                     "-Bsymbolic",
                                     "--build-id=none",
                                     "--hash-style=gnu",
                                     "--strip-debug",
                                     "--discard-all",
                                     "--threads=1",
                                     "--no-warn-mismatch",
                                     "-o",
                                     output.c_str()};
  for (const std::string& input : inputs) arguments.push_back(input.c_str());
  std::string talk;
  llvm::raw_string_ostream stream(talk);
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (!result.canRunAgain) base::bug("link_image", "the linker crashed: " + talk);
  if (result.retCode != 0) return error = "linking failed: " + talk, std::nullopt;
  auto image = read_file(output);
  if (!image) error = "cannot read back temporary files";
  return image;
}

std::optional<std::string> build_bundle(const Bundle& bundle, std::string& error) {
  std::vector<std::string> levels;
  std::vector<std::pair<std::string, std::string>> sections{{"manifest", ""}};
  for (const auto& [level, objects] : bundle.objects) {
    auto image = link_image(objects, error);
    if (!image) return std::nullopt;
    levels.push_back(level);
    sections.emplace_back(level, std::move(*image));
  }
  sections[0].second = manifest_json(bundle, levels);
  return make_container(sections);
}

}  // namespace axon::image
