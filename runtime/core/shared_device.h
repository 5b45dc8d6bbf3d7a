#pragma once
// Which devices may meet in one call. For the tensors' thread. Implemented in runtime/batching/.
namespace lunagrad {

class Device;

// The device of a call with operands on `a` and on `b`, null when the two do not mix. A batched tensor mixes
// with operands on the device that holds its values.
Device* shared_device(Device& a, Device& b);

}  // namespace lunagrad
