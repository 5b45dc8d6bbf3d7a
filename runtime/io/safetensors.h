#pragma once
// safetensors files (github.com/huggingface/safetensors): eight bytes with the length of a JSON header, the
// header, then the bytes of the tensors. Strict, as the format requires: a header of at most 100 MB that
// starts with '{', valid UTF-8, unique names, sizes that match shape and type without overflow, data without
// gaps or overlaps that ends at the end of the file. Memory is allocated only for data that the file has.
// Errors have kind file and name the file and the tensor. Any thread.
//
// Files written here have checksums: the metadata begin with "lunagrad.checksums", the sum of the header and
// of each tensor in the order of their data. Another program that changes a file may keep its metadata.
// Therefore a space stands before the metadata, which other writers do not write: it says that the sums
// belong to this header.
#include <map>
#include <string>

#include "runtime/io/array_info.h"
#include "runtime/io/named_tensors.h"

namespace lunagrad {

// F32 F64 F16 BF16 I64 I32 U8 BOOL keep their type; I8, I16 and U16 become i32, U32 becomes i64. Any other
// type is an Error that names the tensor; with skip_unsupported the tensor is skipped. A checksum that
// differs is an Error too: the header, or the tensor, is damaged.
Safetensors load_safetensors(const std::string& path, bool skip_unsupported = false);

// Reads everything, a tensor at a time, and keeps nothing. Its errors say what is damaged.
FileInfo check_safetensors(const std::string& path);

// Reads only the header. Also lists tensors of unsupported types.
FileInfo describe_safetensors(const std::string& path);

// Names must be UTF-8, unique, and not "__metadata__". Replaces the file atomically.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace lunagrad
