// Values given on a command line: numbers, lists, zeros[2, 3], and arrays in files.
#pragma once
#include <axon/axon.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/weights/tensor_file.h"

namespace axon::tools {

/// An array in memory, row-major, of one element type.
struct Array {
  axon_elem elem = AXON_F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
  axon_view view() { return {bytes.data(), elem, static_cast<int32_t>(shape.size()), shape.data()}; }
};

/// A number or a nested list of numbers, e.g. `[[1, 2.5], [3, 4]]`, or `zeros[2, 3]`; converted to `elem`.
/// nullopt, with a message, when it is malformed, ragged, or a number does not fit.
std::optional<Array> parse_array(const std::string& text, axon_elem elem, std::string& error);

/// What stands behind the `@` of a value: FILE, or FILE:TENSOR.
struct FilePart {
  std::string path;
  std::string tensor;  ///< empty: none is named
};
/// A file that has the whole text as its name is that file; else the first colon counts before which a file's
/// name stands.
FilePart file_part(const std::string& text);

/// Arrays of files, each of which is opened once.
class ArrayFiles {
 public:
  /// The first of these tensors that the file has; what an .npy holds has every name. nullopt, with a
  /// message, where it cannot be read.
  std::optional<Array> read(const std::string& path, const std::vector<std::string>& names,
                            std::string& error);

 private:
  const weights::TensorFile* open(const std::string& path, std::string& error);
  std::map<std::string, weights::TensorFile> files_;
};

/// The text of a binding map: what is given, where it has a `<-`, else the file of that name.
std::optional<std::string> read_map(const std::string& given, std::string& error);

/// Nested brackets, floats as short as they round-trip; long axes are cut in the middle.
std::string format_array(const axon_view&);

/// The kinds of files that results are written to.
enum class ArrayFile { npy, npz, safetensors };
/// The kind that the ending of the name says; .npz for a device, a pipe and what is open already. nullopt,
/// with a message, for all other names.
std::optional<ArrayFile> array_file(const std::string& path, std::string& error);

using NamedView = std::pair<std::string, axon_view>;
/// Why a file of the kind cannot hold these arrays, of which only names and element types are looked at; else
/// empty.
std::string unfit(ArrayFile, const std::vector<NamedView>&);
/// All arrays in one file. False, with a message, when that fails.
bool write_arrays(const std::string& path, ArrayFile, const std::vector<NamedView>&, std::string& error);

/// Sorts words into sizes, `n=12`, and others: false, with the word on stderr, for a size that is none.
bool sort_words(const std::vector<std::string>& words, std::vector<std::string>& others,
                std::map<std::string, int64_t>& sizes);

}  // namespace axon::tools
