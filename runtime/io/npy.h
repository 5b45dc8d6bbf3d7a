#pragma once
// NumPy's .npy files (numpy.lib.format): a magic string, a version, a header (the text of a Python dict), the
// elements. Versions 1 to 3, both byte orders, C and Fortran order. Strict: the header is parsed, never
// evaluated, and is at most 64 KiB long; the file must end after the array. Before memory is allocated for a
// declared size, the file is checked to have that many bytes. Errors have kind file and name the file. Any
// thread.
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/core/tensor.h"
#include "runtime/io/array_info.h"

namespace lunagrad {

// f2 f4 f8 i4 i8 u1 b1 keep their type; i1, i2 and u2 become i32, u4 becomes i64. Error with the reason for
// any other type.
Tensor load_npy(const std::string& path);
// Any dtype except bf16, which NumPy does not have. Replaces the file atomically.
void save_npy(const std::string& path, const Tensor&);
ArrayInfo describe_npy(const std::string& path);

// For archives of .npy files: a sequential source of `size` bytes. Error texts use `name`.
struct NpyStream {
  std::string name;
  uint64_t size = 0;
  std::function<void(void* to, uint64_t count)> read;
};
Tensor read_npy(const NpyStream&);
ArrayInfo describe_npy(const NpyStream&);
// The bytes before the elements of a contiguous tensor. Error "npy: …" for a dtype that NumPy does not have.
std::string npy_preamble(const Tensor&);

}  // namespace lunagrad
