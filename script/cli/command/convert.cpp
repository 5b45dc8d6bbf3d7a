#include "script/cli/command/convert.h"

#include <filesystem>
#include <iostream>

#include "runtime/error.h"
#include "runtime/io/csv.h"
#include "runtime/io/format.h"
#include "runtime/io/idx.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/png.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "script/cli/base/carry_out.h"

namespace lunagrad {
namespace {

using Metadata = std::map<std::string, std::string>;

FileFormat required_format(const std::string& path) {
  const auto format = format_of_name(path);
  if (!format)
    fail_as(ErrorKind::file, path,
            ": its name ends in none of .safetensors, .npz, .npy, .csv, .idx, .idx.gz, -ubyte, .png");
  return *format;
}

// The name of the only array of a file: the file's own, without folder and endings.
std::string stem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string first = name.substr(0, name.find('.', 1));
  return first.empty() ? "array" : first;
}

Tensor load_table(const std::string& path, const ConvertOptions& options, std::optional<DType> dtype) {
  CsvOptions csv{.header = options.header};
  if (dtype) csv.dtype = is_integral(*dtype) ? DType::i64 : *dtype == DType::f64 ? DType::f64 : DType::f32;
  return load_csv(path, csv).values;
}

NamedTensors load_any(const std::string& path, const ConvertOptions& options, std::optional<DType> dtype,
                      Metadata& metadata) {
  switch (required_format(path)) {
    case FileFormat::safetensors: {
      Safetensors file = load_safetensors(path);
      metadata = std::move(file.metadata);
      return std::move(file.tensors);
    }
    case FileFormat::npz:
      return load_npz(path);
    case FileFormat::npy:
      return {{stem(path), load_npy(path)}};
    case FileFormat::idx:
      return {{stem(path), load_idx(path)}};
    case FileFormat::png:
      return {{stem(path), load_png(path)}};
    default:
      return {{stem(path), load_table(path, options, dtype)}};
  }
}

void save_any(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  const FileFormat format = required_format(path);
  if (format == FileFormat::safetensors) return save_safetensors(path, tensors, metadata);
  if (!metadata.empty())
    std::cerr << "lunagrad convert: " << metadata.size()
              << " entries of metadata are left out; only .safetensors "
              << "files hold them\n";
  if (format == FileFormat::npz) return save_npz(path, tensors);
  if (tensors.size() != 1)
    fail_as(ErrorKind::file, path, ": holds one array, and there are ", tensors.size(),
            "; .safetensors and .npz hold several");
  const Tensor& only = tensors[0].second;
  if (format == FileFormat::npy) return save_npy(path, only);
  if (format == FileFormat::idx) return save_idx(path, only);
  if (format == FileFormat::png) return save_png(path, only);
  save_csv(path, only);
}

}  // namespace

int convert_file(const std::string& from, const std::string& to_path, const ConvertOptions& options) {
  std::optional<DType> dtype;
  if (!options.dtype.empty()) {
    dtype = dtype_from_name(options.dtype);
    if (!dtype) {
      std::cerr << "lunagrad convert: --dtype " << options.dtype << " is no element type\n";
      return int(Outcome::usage);
    }
  }
  // An array that the other format cannot hold is a matter of the file, too.
  const auto convert = [&] {
    required_format(to_path);
    Metadata metadata;
    NamedTensors tensors = load_any(from, options, dtype, metadata);
    for (auto& [name, tensor] : tensors)
      if (dtype) tensor = to(tensor, *dtype);
    save_any(to_path, tensors, metadata);
    return 0;
  };
  return carry_out("convert", convert, Outcome::file);
}

}  // namespace lunagrad
