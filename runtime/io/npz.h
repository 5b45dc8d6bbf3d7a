#pragma once
// NumPy's .npz archives: zip files with one .npy file per array, stored or deflated (read and written by
// libzip, with zip64). An entry may not declare more bytes than its compressed data can expand to, and all
// entries together may not declare more compressed bytes than the file has. The CRC of each entry is checked.
// Errors have kind file and name the file and the array. Any thread.
#include <string>

#include "runtime/io/array_info.h"
#include "runtime/io/safetensors.h"

namespace lunagrad {

// In the order of the archive; names without ".npy".
NamedTensors load_npz(const std::string& path);
// Names must be UTF-8, unique and not empty. Replaces the file atomically.
void save_npz(const std::string& path, const NamedTensors& tensors, bool compress = false);
FileInfo describe_npz(const std::string& path);

}  // namespace lunagrad
