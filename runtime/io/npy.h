#pragma once
// NumPy's .npy files (numpy.lib.format): a magic string, a version, a header that is a Python dict written
// out, the elements. Versions 1 to 3, both byte orders, both orders of the elements. Strict: the header is
// parsed by a grammar of its own and never evaluated, is at most 64 KiB long, and the file ends where its
// array does. Nothing of a declared size is allocated before the file was seen to hold it. Errors are of kind
// file and name the file.
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/io/array_info.h"
#include "runtime/tensor.h"

namespace lunagrad {

// f2 f4 f8 i4 i8 u1 b1 as they are; i1, i2 and u2 widen to i32, u4 to i64. Any other type is an Error that
// says why.
Tensor load_npy(const std::string& path);
// Any type but bf16, which NumPy does not know. The file appears whole or not at all.
void save_npy(const std::string& path, const Tensor&);
ArrayInfo describe_npy(const std::string& path);

// For archives of such files: bytes front to back, `size` in all, of what the errors call `name`.
struct NpyStream {
  std::string name;
  uint64_t size = 0;
  std::function<void(void* to, uint64_t count)> read;
};
Tensor read_npy(const NpyStream&);
ArrayInfo describe_npy(const NpyStream&);
// Everything in front of the elements of a contiguous tensor. Error "npy: …" for a type without a name.
std::string npy_preamble(const Tensor&);

}  // namespace lunagrad
