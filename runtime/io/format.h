#pragma once
// Detects the format of a file and describes its content. Errors have kind file and name the file. Any
// thread.
#include <optional>
#include <string>

#include "runtime/io/array_info.h"

namespace lunagrad {

enum class FileFormat : uint8_t { safetensors, npz, npy, csv, idx, png, text };

// Detects the format from the end of the name (also .idx.gz, and MNIST's …-idx3-ubyte); empty for other
// names.
std::optional<FileFormat> format_of_name(const std::string& path);
// Detects the format from the first bytes; csv from the name; text if no other format matches.
FileFormat format_of_file(const std::string& path);

// Arrays with types and shapes, and metadata. Reads the headers only, except csv and text, which it reads
// completely.
FileInfo describe_file(const std::string& path);

}  // namespace lunagrad
