#pragma once
// Which devices may meet in one call. For the thread of the tensors. Implemented in runtime/batching/.
namespace lunagrad {

class Device;

// The device of a call with operands on `a` and on `b`, null when the two do not mix. A batched tensor takes
// operands of the device that its values are on.
Device* shared_device(Device& a, Device& b);

}  // namespace lunagrad
