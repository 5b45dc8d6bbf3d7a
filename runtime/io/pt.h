#pragma once
// PyTorch's files, as torch.save writes them since version 1.6: a ZIP archive with a pickle of the object and
// a file for each storage. Nothing is executed: tensors, parameters, numbers, texts, lists, tuples and dicts
// are read. A file that calls any other function is an Error with the function's name. Errors have kind file
// and name the file. Any thread.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/core/tensor.h"
#include "runtime/io/array_info.h"

namespace lunagrad {

// An object in a PyTorch file. Tuples, sets and torch.Size are lists, OrderedDict and argparse.Namespace are
// dicts; a dtype or another name of torch is a text ("torch.float32").
struct PtValue {
  using List = std::vector<PtValue>;
  using Dict = std::vector<std::pair<PtValue, PtValue>>;  // in the file's order
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, List, Dict> value;
};

// Tensors are on the CPU and do not require gradients. float16 … float64, bfloat16, int32, int64, uint8,
// bool, complex64 and complex128 keep their type, int8 and int16 become i32. Tensors of one storage share
// memory, unless their type changes.
PtValue load_pt(const std::string& path);
// Writes a file that torch.load reads, also with weights_only: the tensors are contiguous, on the CPU, each
// with its own storage.
void save_pt(const std::string& path, const PtValue&);

}  // namespace lunagrad
