#include "runtime/io/format.h"

#include <algorithm>

#include "runtime/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/csv.h"
#include "runtime/io/idx.h"
#include "runtime/io/input_file.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/png.h"
#include "runtime/io/safetensors.h"

namespace lunagrad {
namespace {

struct Ending {
  std::string_view ending;
  FileFormat format;
};
constexpr Ending kEndings[] = {
    {".safetensors", FileFormat::safetensors},
    {".npz", FileFormat::npz},
    {".npy", FileFormat::npy},
    {".csv", FileFormat::csv},
    {".idx", FileFormat::idx},
    {".idx.gz", FileFormat::idx},
    {"-ubyte", FileFormat::idx},
    {"-ubyte.gz", FileFormat::idx},
    {".png", FileFormat::png},
};

FileInfo describe_csv(const std::string& path) {
  CsvTable table;
  try {
    table = load_csv(path, {.dtype = DType::f64});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    try {
      table = load_csv(path, {.header = true, .dtype = DType::f64});
    } catch (const Error&) {
      throw error;  // the error of reading without a header is the more likely cause
    }
  }
  FileInfo out{.format = "csv"};
  const uint64_t rows = uint64_t(table.values.size(0)), columns = uint64_t(table.values.size(1));
  out.arrays.push_back({"", "numbers", {rows, columns}, InputFile(path).size()});
  std::string names;
  for (const std::string& name : table.columns) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) out.metadata["columns"] = names;
  return out;
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

std::optional<FileFormat> format_of_name(const std::string& path) {
  for (const Ending& known : kEndings)
    if (path.ends_with(known.ending)) return known.format;
  return std::nullopt;
}

FileFormat format_of_file(const std::string& path) {
  const InputFile file(path);
  std::string start(size_t(std::min<uint64_t>(file.size(), 9)), '\0');
  file.read(start.data(), 0, start.size());
  const auto begins = [&](std::string_view magic) { return start.starts_with(magic); };
  if (begins("\x93NUMPY")) return FileFormat::npy;
  if (begins("PK\3\4") || begins("PK\5\6")) return FileFormat::npz;
  if (begins("\x89PNG")) return FileFormat::png;
  if (begins("\x1f\x8b") || begins(std::string_view("\0\0", 2))) return FileFormat::idx;
  if (start.size() == 9 && start[8] == '{' && start[7] == '\0') return FileFormat::safetensors;
  const auto named = format_of_name(path);
  return named ? *named : FileFormat::text;
}

FileInfo describe_file(const std::string& path) {
  switch (format_of_file(path)) {
    case FileFormat::safetensors:
      return describe_safetensors(path);
    case FileFormat::npz:
      return describe_npz(path);
    case FileFormat::npy: {
      FileInfo out{.format = "npy"};
      out.arrays.push_back(describe_npy(path));
      return out;
    }
    case FileFormat::csv:
      return describe_csv(path);
    case FileFormat::idx:
      return describe_idx(path);
    case FileFormat::png:
      return describe_png(path);
    case FileFormat::text:
      break;
  }
  return describe_text(path);
}

}  // namespace lunagrad
