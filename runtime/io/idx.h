#pragma once
// IDX files, the format of the MNIST data (Y. LeCun, C. Cortes, C. Burges, "The MNIST database"): two zero
// bytes, an element type, a number of dims, the sizes as big-endian 32-bit integers, then the elements,
// big-endian. A file whose name ends in .gz, or whose content is gzip, is decompressed with zlib. The
// declared size is compared with the file before that much memory is allocated. Errors have kind file and
// name the file. Any thread.
#include <string>

#include "runtime/core/tensor.h"
#include "runtime/io/array_info.h"

namespace lunagrad {

// i8 and i16 become i32; u8, i32, f32 and f64 keep their type.
Tensor load_idx(const std::string& path);
// Reads only the header.
FileInfo describe_idx(const std::string& path);
// values: u8, i32, f32 or f64, with at least one dim. Compresses when the name ends in .gz.
void save_idx(const std::string& path, const Tensor& values);

}  // namespace lunagrad
