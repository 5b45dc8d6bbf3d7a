#include "runtime/run/in_place.h"

#include "runtime/core/primitives.h"
#include "runtime/deferral/in_kernel.h"

namespace lunagrad {

void InPlace::refuse_overlap(const Op& op) const {
  fail(op.name,
       "_: elements of the target share memory (an expanded tensor, or windows that overlap); clone() it "
       "first");
}

void InPlace::refuse_result(const Op& op, const Tensor& result) const {
  if (!(result.shape() == target_.shape()))
    fail(op.name, "_: a result of shape ", result.shape(), " does not fit the target of shape ",
         target_.shape());
  fail(op.name, "_: a result of type ", result.dtype(), " cannot be written into a tensor of type ",
       target_.dtype());
}

// Operand 0 becomes a copy of the target with the target's place on the tape.
void InPlace::keep_value(Call& call) const {
  const Ref<Node> node = target_.node();
  const uint32_t output = target_.body()->output;
  {
    const NoGrad off;
    call.in[0] = clone(target_);
  }
  call.in[0].body()->node = node;
  call.in[0].body()->output = output;
}

void InPlace::copy_back(const Call& call, Device& device) {
  const NoGrad off;
  Call copy;
  copy.op = find_op("_copy");
  copy.in = {target_, call.output()};
  copy.out = {written()};
  if (!device.supports(copy)) copy.in[1] = to(call.output(), target_.dtype());  // on the CPU
  const InKernel running;
  begin_write();
  device.run(copy);
}

}  // namespace lunagrad
