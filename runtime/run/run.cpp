// Implements run(), apply() and apply_in_place() of op.h: the path of every call. It uses the tape, and the
// tape runs ops: so these functions are declared below the tape and implemented above it.
#include "runtime/core/called.h"
#include "runtime/deferral/in_kernel.h"
#include "runtime/run/cpu_fallback.h"
#include "runtime/run/modes.h"
#include "runtime/run/outputs.h"
#include "runtime/run/through_f32.h"

namespace lunagrad {
namespace {

// Runs the call as other ops, if its op is a composition or computes 16-bit floats in f32. These ops are
// calls of their own, with modes, checks and nodes of their own.
[[gnu::always_inline]] inline bool run_as_other_ops(Call& call) {
  const Op& op = *call.op;
  if (op.compose && (op.is_composition() || (op.composed && op.composed(call)))) {
    call.out = compose(call);
    return true;
  }
  if (!goes_through_f32(call)) return false;
  run_through_f32(call);
  return true;
}

// Error when a required operand is undefined. Operands without a name in the record are required.
[[gnu::cold]] void check_absent(const Call& call) {
  const std::vector<InputSpec>& inputs = call.op->inputs;
  for (size_t i = 0; i < call.in.size(); ++i)
    if (!call.in[i].defined() && !(i < inputs.size() && inputs[i].optional))
      fail(call.op->name + (call.op->hidden() ? 1 : 0), ": ", input_name(*call.op, i), " is undefined");
}

inline void check_defined(const Call& call) {
  for (const Tensor& x : call.in)
    if (!x.defined()) [[unlikely]]
      return check_absent(call);
}

// Error when the call has complex operands or a complex dtype parameter, and the op does not take them.
void check_complex(const Call& call) {
  const Op& op = *call.op;
  if (op.complex) return;
  const auto check = [&](DType dtype) {
    if (is_complex(dtype))
      fail(op.name[0] == '_' ? op.name + 1 : op.name, ": complex numbers are not supported (got ", dtype,
           ")");
  };
  for (const Tensor& x : call.in)
    if (x.defined()) check(x.dtype());
  for (size_t i = 0; i < call.params.size(); ++i)
    if (op.params[i].kind == ParamKind::dtype && call.params[i].present()) check(DType(call.params[i].i));
}

// Error when an operand with index `first` or higher is half-written: an in-place write to it did not finish.
inline void check_whole(const Call& call, size_t first) {
  for (size_t i = first; i < call.in.size(); ++i)
    if (call.in[i].defined()) call.in[i].storage().check_whole(call.op->name);
}

// Before a call is computed now: computes the deferred calls that concern its operands. Kernels must not
// trigger this, since their threads have no queue.
inline void settle(const Call& call) {
  for (const Tensor& x : call.in) {
    if (!x.defined()) continue;
    if (call.op->writes_inputs)
      x.storage().before_write();
    else
      x.storage().before_read();
  }
}

// After an error: tensors that a kernel may have written in part have neither the old nor the new values.
// They are the target once a kernel has begun to write it, or the operands that shape() marked as written.
[[gnu::cold]] void mark_half_written(const Call& call, const InPlace* target) {
  const char* const op = call.op->name;
  if (target) {
    if (target->is_being_written()) target->target().storage().mark_half_written(op);
  } else if (call.op->writes_inputs) {
    for (const Tensor& x : call.in)
      if (x.defined() && x.storage().last_writer == op) x.storage().mark_half_written(op);
  }
}

// Computes the outputs, whose shapes are known, now or in the queue. Returns false when the device has no
// kernel and compose() ran instead: then its ops are recorded.
[[gnu::always_inline]] inline bool compute(const Context& ctx, Call& call, InPlace* const target) {
  const Op& op = *call.op;
  Device& device = call.device();
  const bool supported = device.supports(call);
  if (!target && !supported && op.compose && !op.composed) {
    call.out = compose(call);
    return false;
  }
  if (target) target->bind(call, supported);
  if (ctx.queue) [[unlikely]]
    if (supported && (!target || target->is_direct()) && defer(ctx, call, device)) return true;
  if (target) {  // before a result to copy takes memory: deferred calls may free some, or have errors
    settle(call);
    target->target().storage().before_write();
  }
  allocate_outputs(call, device);
  if (nothing_to_compute(call)) return true;
  if (!target) settle(call);
  if (supported) {
    if (target && target->is_direct()) target->begin_write();
    const InKernel running;
    device.run(call);
  } else {
    run_on_cpu_instead(call, device);
  }
  if (target && !target->is_direct()) target->copy_back(call, device);
  return true;
}

// The path of every call: modes that run it in another way, checks and shapes, memory and kernel, listeners
// and tape. `target` is null for a call with new outputs. Inlined into run() and apply_in_place(), so that
// neither tests for the target.
[[gnu::always_inline]] inline void run_call(Call& call, InPlace* const target) {
  check_defined(call);  // first: modes and checks read their dtypes
  const Context& ctx = context();
  if (any_mode(ctx)) [[unlikely]]
    if (run_by_mode(ctx, call, target)) return;
  const Op& op = *call.op;
  if (target) {
    target->check(op);
  } else {
    assert(call.params.size() == op.params.size());
    if (run_as_other_ops(call)) return;
  }
  const uint64_t start = ticks();
  check_complex(call);
  check_whole(call, target && target->replaces_storage() ? 1 : 0);
  op.shape(call);
  if (target) target->prepare(ctx, call);
  try {
    if (!compute(ctx, call, target)) return;
  } catch (...) {
    mark_half_written(call, target);
    throw;
  }
  if (target) target->finish(call);
  follow(ctx, call, target, ticks() - start);
}

}  // namespace

void run(Call& call) { run_call(call, nullptr); }

Operands apply(const Op& op, Operands in, Values params) {
  Call call;
  call.op = &op;
  call.in = std::move(in);
  call.params = std::move(params);
  if (op.random) {
    const RandomDraw draw = context().generator.draw();
    call.args[0].u = draw.seed;
    call.args[1].u = draw.stream;
  }
  run(call);
  return std::move(call.out);
}

Tensor apply1(const Op& op, Operands in, Values params) {
  return std::move(apply(op, std::move(in), std::move(params))[0]);
}

Tensor apply_in_place(const Op& op, Operands in, Values params) {
  InPlace target(in[0]);
  Call call;
  call.op = &op;
  call.in = std::move(in);
  call.params = std::move(params);
  run_call(call, &target);
  return target.take_target();
}

}  // namespace lunagrad
