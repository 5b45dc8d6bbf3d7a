#pragma once
// Which format a file has, and what is in it, whatever the format. Errors are of kind file and name the file.
#include <optional>
#include <string>

#include "runtime/io/array_info.h"

namespace lunagrad {

enum class FileFormat : uint8_t { safetensors, npz, npy, csv, idx, png, text };

// By the end of the name (also .gz behind .idx, and MNIST's …-idx3-ubyte); nothing for others.
std::optional<FileFormat> format_of_name(const std::string& path);
// By the first bytes; csv by its name, text where nothing else fits.
FileFormat format_of_file(const std::string& path);

// Arrays with types and shapes, metadata. A csv table is read whole, a text counted; of others the headers
// are read.
FileInfo describe_file(const std::string& path);

}  // namespace lunagrad
