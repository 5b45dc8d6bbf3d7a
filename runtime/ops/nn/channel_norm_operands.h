#pragma once
// Any thread.

namespace lunagrad {

// The operands of batch_norm and instance_norm.
enum ChannelNormOperand { kNormInput, kRunningMean, kRunningVar, kNormWeight, kNormBias };

}  // namespace lunagrad
