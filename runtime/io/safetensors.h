#pragma once
// safetensors files (github.com/huggingface/safetensors): eight bytes with the length of a JSON header, the
// header, then the bytes of the tensors. Strict, as the format asks: a header of at most 100 MB that starts
// with '{', valid UTF-8, no name twice, sizes that match shape and type without overflow, data without holes
// or overlaps that ends where the file ends. Nothing is allocated for data that the file does not hold.
// Errors are of kind file and name the file and the tensor.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/array_info.h"
#include "runtime/tensor.h"

namespace lunagrad {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Safetensors {
  NamedTensors tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;
};

// F32 F64 F16 BF16 I64 I32 U8 BOOL as they are; I8, I16 and U16 widen to i32, U32 to i64. Any other type is
// an Error that names the tensor, or with skip_unsupported the tensor is left out.
Safetensors load_safetensors(const std::string& path, bool skip_unsupported = false);

// Its header alone; types that are not supported, too.
FileInfo describe_safetensors(const std::string& path);

// Names must be UTF-8, unique, and not "__metadata__". The file appears whole or not at all.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace lunagrad
