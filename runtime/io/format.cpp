#include "runtime/io/format.h"

#include <algorithm>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"

// All formats.
#define LUNAGRAD_FILE_FORMATS(FORMAT) \
  FORMAT(safetensors) FORMAT(npz) FORMAT(npy) FORMAT(csv) FORMAT(idx) FORMAT(png) FORMAT(pt) FORMAT(pnm)

namespace lunagrad {

#define LUNAGRAD_DECLARE(name) FileFormat name##_format();
LUNAGRAD_FILE_FORMATS(LUNAGRAD_DECLARE)
#undef LUNAGRAD_DECLARE

namespace {

// The name for the only array of a file: the file's name without folder and endings.
std::string stem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string first = name.substr(0, name.find('.', 1));
  return first.empty() ? "array" : first;
}

FileInfo describe_text(const std::string& path) {
  const std::string content = read_file(path);
  FileInfo out{.format = "text"};
  out.arrays.push_back({"", "u8", {content.size()}, content.size()});
  out.metadata["lines"] = std::to_string(std::count(content.begin(), content.end(), '\n') +
                                         (!content.empty() && content.back() != '\n'));
  return out;
}

}  // namespace

const std::vector<const FileFormat*>& file_formats() {
#define LUNAGRAD_MAKE(name) name##_format(),
  static const std::vector<FileFormat> formats{LUNAGRAD_FILE_FORMATS(LUNAGRAD_MAKE)};
#undef LUNAGRAD_MAKE
#undef LUNAGRAD_FILE_FORMATS
  static const std::vector<const FileFormat*> list = [] {
    std::vector<const FileFormat*> made;
    for (const FileFormat& format : formats) made.push_back(&format);
    return made;
  }();
  return list;
}

const FileFormat* format_of_name(const std::string& path) {
  for (const FileFormat* format : file_formats())
    for (const std::string_view ending : format->endings)
      if (path.ends_with(ending)) return format;
  return nullptr;
}

const FileFormat* format_of_file(const std::string& path) {
  const InputFile file(path);
  std::string start(size_t(std::min<uint64_t>(file.size(), kSniffed)), '\0');
  file.read(start.data(), 0, start.size());
  // Formats with the same beginning (archives) are distinguished by the name.
  const FileFormat* const named = format_of_name(path);
  if (named && named->begins && named->begins(start)) return named;
  for (const FileFormat* format : file_formats())
    if (format->begins && format->begins(start)) return format;
  return named;
}

const FileFormat& required_format(const std::string& path) {
  if (const FileFormat* const format = format_of_name(path)) return *format;
  std::string endings;
  for (const FileFormat* format : file_formats())
    for (const std::string_view ending : format->endings)
      endings += (endings.empty() ? "" : ", ") + std::string(ending);
  fail_as(ErrorKind::file, path, ": its name ends in none of ", endings);
}

Safetensors load_arrays(const std::string& path, const ReadOptions& options) {
  const FileFormat& format = required_format(path);
  if (format.load_all) return format.load_all(path);
  return {{{stem(path), format.load(path, options)}}, {}};
}

FileInfo describe_file(const std::string& path) {
  const FileFormat* const format = format_of_file(path);
  return format ? format->describe(path) : describe_text(path);
}

}  // namespace lunagrad
