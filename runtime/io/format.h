#pragma once
// The file formats of arrays, as one list. lg.io, `lunagrad convert`, `lunagrad info` and help read it. A new
// format is a file NAME.cpp in this folder that defines NAME_format(), and its line in format.cpp. Errors are
// of kind file and name the file. Any thread may call.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/array_info.h"
#include "runtime/io/named_tensors.h"

namespace lunagrad {

// What `lunagrad convert` knows about its input file.
struct ReadOptions {
  bool header = false;         // the first line has the names of the columns
  std::optional<DType> dtype;  // the wanted dtype; a format with types of its own ignores it
};

// A format holds either one array (load and save) or arrays by name (load_all and save_all).
struct FileFormat {
  const char* name;   // "npy": the table lg.io.npy, and the format that info prints
  const char* about;  // sentences for help: which types and shapes the format reads and writes
  std::vector<std::string_view> endings;       // of file names
  bool (*begins)(std::string_view) = nullptr;  // checks the first kSniffed bytes; null: the name decides
  FileInfo (*describe)(const std::string& path) = nullptr;
  Tensor (*load)(const std::string& path, const ReadOptions&) = nullptr;
  void (*save)(const std::string& path, const Tensor&) = nullptr;
  Safetensors (*load_all)(const std::string& path) = nullptr;  // tensors and metadata
  void (*save_all)(const std::string& path, const Safetensors&) = nullptr;
  bool keeps_metadata = false;
  bool takes_options = false;  // its functions in lg.io take options: they are bound and annotated by hand
};
inline constexpr size_t kSniffed = 9;
inline constexpr uint32_t kLargestImageSide = 1'000'000;  // rows or columns of an image

// All formats, in the order in which they are tried.
const std::vector<const FileFormat*>& file_formats();
// The format by the end of the name; null for other names.
const FileFormat* format_of_name(const std::string& path);
// The format by the first bytes, else by the name; null for a file of no format, such as a text.
const FileFormat* format_of_file(const std::string& path);
// All arrays of a file; the end of its name decides the format. The only array of a file without names gets
// the file's name without folder and endings. Error when no format has that ending.
Safetensors load_arrays(const std::string& path, const ReadOptions& = {});
// The format by the end of the name. Error of kind file, with a list of the endings.
const FileFormat& required_format(const std::string& path);
// The arrays of a file with types, shapes and metadata. A csv table is read whole, a text (any other file) is
// counted; of other formats only the headers are read.
FileInfo describe_file(const std::string& path);

}  // namespace lunagrad
