// Why a call failed: the error says it, and the trail leads to what the call read.
#include "ui/inspect/why_writer.h"

namespace lunagrad {

void WhyWriter::failed_call(int node) {
  say_of(node, words(node) + " failed and has no result, so the step has no gradients. The error says why.");
  const std::vector<OperandInfo>& inputs = tape_[node].inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const int maker = tape_.input(node, i); maker >= 0)
      say_of(maker, "Its " + std::string(role_of(tape_[node], i)) + " comes from " + words(maker) + ".");
}

}  // namespace lunagrad
