#pragma once
// Pieces of pickles (Lib/pickletools.py), assembled by hand.
#include <string>

#include "tests/support/files.h"

namespace lunagrad::tests {

inline std::string pickle_text(const std::string& text) {
  return "X" + little_endian(uint32_t(text.size())) + text;
}

// A tensor of storage 0, whose sizes and strides these opcodes push.
inline std::string pickle_tensor(const std::string& sizes, const std::string& strides,
                                 const std::string& type = "FloatStorage") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickle_text("storage") + "ctorch\n" + type + "\n" +
         pickle_text("0") + pickle_text("cpu") + std::string("K\4tQK\0", 6) + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

}  // namespace lunagrad::tests
