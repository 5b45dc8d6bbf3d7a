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

// What `lunagrad convert` knows about the file that it reads.
struct ReadOptions {
  bool header = false;         // the first line holds the names of columns
  std::optional<DType> dtype;  // what is wanted; a format with types of its own ignores it
};

// A format holds either one array (load and save) or arrays by name (load_all and save_all).
struct FileFormat {
  const char* name;                       // "npy": the table lg.io.npy, and the format that info prints
  const char* about;                      // sentences for help: which types and shapes it reads and writes
  std::vector<std::string_view> endings;  // of the names of its files
  bool (*begins)(std::string_view) = nullptr;  // looks at the first kSniffed bytes; null: goes by name
  FileInfo (*describe)(const std::string& path) = nullptr;
  Tensor (*load)(const std::string& path, const ReadOptions&) = nullptr;
  void (*save)(const std::string& path, const Tensor&) = nullptr;
  Safetensors (*load_all)(const std::string& path) = nullptr;  // tensors and metadata
  void (*save_all)(const std::string& path, const Safetensors&) = nullptr;
  bool keeps_metadata = false;
  bool takes_options = false;  // its functions in lg.io take options: they are bound and annotated by hand
};
inline constexpr size_t kSniffed = 9;

// All formats, in the order in which they are tried.
const std::vector<const FileFormat*>& file_formats();
// By the end of the name; null for others.
const FileFormat* format_of_name(const std::string& path);
// By the first bytes, else by the name; null for a file that is none of them, such as a text.
const FileFormat* format_of_file(const std::string& path);
// All arrays of a file, its format by the end of its name. The only array of a file without names gets the
// file's name without folder and endings. Error when no format has that ending.
Safetensors load_arrays(const std::string& path, const ReadOptions& = {});
// The format that the end of the name says. Error of kind file that lists the endings.
const FileFormat& required_format(const std::string& path);
// Arrays with types and shapes, metadata. A csv table is read whole, a text (any other file) counted; of
// others the headers are read.
FileInfo describe_file(const std::string& path);

}  // namespace lunagrad
