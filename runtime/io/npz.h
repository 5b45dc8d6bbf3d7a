#pragma once
// NumPy's .npz archives: zip files of .npy files, one an array, stored or deflated (libzip reads and writes
// them, zip64 included). An entry may not declare more than its packed bytes can hold, the entries together
// not more packed bytes than the file has, and each is checked against its CRC. Errors are of kind file and
// name file and array.
#include <string>

#include "runtime/io/array_info.h"
#include "runtime/io/safetensors.h"

namespace lunagrad {

// In the order of the archive; names without ".npy".
NamedTensors load_npz(const std::string& path);
// Names must be UTF-8, unique and not empty. The file appears whole or not at all.
void save_npz(const std::string& path, const NamedTensors& tensors, bool compress = false);
FileInfo describe_npz(const std::string& path);

}  // namespace lunagrad
