#pragma once
// Our names for PyTorch's names, from the tables of docs/pytorch.md. No Lua; any thread.
#include <string>

namespace lunagrad {

// The answer to `lunagrad help torch.NAME` ("torch.save", "torch.nn.Linear", "F.relu", "Tensor.cuda"):
// PyTorch's name, our name and what differs. "" if PyTorch has no such name.
std::string explain_pytorch(const std::string& name);
// For a name that does not exist here ("lg.save"): "PyTorch's torch.save is lg.io.save", or "".
std::string pytorch_instead(const std::string& missing);

}  // namespace lunagrad
