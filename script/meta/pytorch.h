#pragma once
// Our names for PyTorch's names, from lua/pytorch/ and the tables of docs/pytorch.md. No Lua; any thread.
#include <string>
#include <vector>

namespace lunagrad {

// What is known about one of PyTorch's public names.
struct PyTorchName {
  std::string name;     // "torch.nn.Linear"
  std::string here;     // "same", "missing", or our form: "`lg.io.save`"
  std::string differs;  // what differs, or why the name is missing; "" if nothing differs
};

// The names of lua/pytorch/names.txt with the notes on them, in order. Read from disk by each call.
std::vector<PyTorchName> pytorch_names();
// The answer to `lunagrad help torch.NAME` ("torch.save", "torch.nn.Linear", "F.relu", "Tensor.cuda"):
// PyTorch's name, our name and what differs. "" if PyTorch has no such name.
std::string explain_pytorch(const std::string& name);
// For a name that does not exist here ("lg.save"): "PyTorch's torch.save is lg.io.save", or "".
std::string pytorch_instead(const std::string& missing);

}  // namespace lunagrad
