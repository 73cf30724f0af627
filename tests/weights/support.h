// What the tests of weight files share: bytes by hand, a folder that goes away, checks of errors.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "host/weights/tensor_file.h"

namespace axon::weights {

inline std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

template <class T>
std::string little(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "axon-weights-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return *this / name;
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// The error of a result that must have failed, as "CODE: message".
template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "no error" : result.error().code + ": " + result.error().message;
}
inline std::string error_of(const Status& status) {
  return status ? status->code + ": " + status->message : "no error";
}

#define EXPECT_ERROR(result, which, part)                               \
  do {                                                                  \
    const std::string shown = error_of(result);                         \
    EXPECT_TRUE(shown.starts_with(std::string(which) + ": ")) << shown; \
    EXPECT_NE(shown.find(part), std::string::npos) << shown;            \
  } while (false)

/// A tensor's content as a vector, through read().
template <class T>
std::vector<T> content(const TensorFile& file, const std::string& name) {
  const Tensor* const tensor = file.table.find(name);
  if (!tensor) {
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }
  std::vector<T> out((tensor->end - tensor->begin) / sizeof(T));
  EXPECT_EQ(error_of(file.read(*tensor, 0, out.data(), out.size() * sizeof(T))), "no error");
  return out;
}

template <class T>
OutTensor borrowed(std::string name, Elem dtype, std::vector<uint64_t> shape, const std::vector<T>& values) {
  return out_tensor(std::move(name), dtype, std::move(shape),
                    Bytes(values.data(), values.size() * sizeof(T)));
}

}  // namespace axon::weights
