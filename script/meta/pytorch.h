#pragma once
// What PyTorch's names are here, from the tables of docs/pytorch.md. No Lua; any thread.
#include <string>

namespace lunagrad {

// The answer of `lunagrad help torch.NAME` to a name of PyTorch ("torch.save", "torch.nn.Linear", "F.relu",
// "Tensor.cuda"): its name here and what differs. "" for a name that is not one of PyTorch's.
std::string explain_pytorch(const std::string& name);
// For a name that does not exist here ("lg.save"): "PyTorch's torch.save is lg.io.save", or "".
std::string pytorch_instead(const std::string& missing);

}  // namespace lunagrad
