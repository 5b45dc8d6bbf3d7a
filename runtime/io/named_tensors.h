#pragma once
// The content of a file that holds tensors by name. Plain values; they belong to the thread that made the
// tensors.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Safetensors {
  NamedTensors tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;
  bool has_checksums = false;  // and the file's content matched them
};

}  // namespace lunagrad
