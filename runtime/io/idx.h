#pragma once
// IDX files, the format of the MNIST data (Y. LeCun, C. Cortes, C. Burges, "The MNIST database"): two zero
// bytes, an element type, a number of dims, the sizes as big-endian 32-bit integers, then the elements,
// big-endian. A name that ends in .gz, or content that is gzip, goes through zlib. The declared size is
// checked against the file before anything of that size is allocated. Errors are of kind file and name the
// file.
#include <string>

#include "runtime/io/array_info.h"
#include "runtime/tensor.h"

namespace lunagrad {

// u8 stays u8; i8 and i16 widen to i32; i32, f32 and f64 stay.
Tensor load_idx(const std::string& path);
// Its header alone.
FileInfo describe_idx(const std::string& path);
// u8, i32, f32 or f64, at least one dim; compressed when the name ends in .gz.
void save_idx(const std::string& path, const Tensor& values);

}  // namespace lunagrad
