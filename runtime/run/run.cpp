// Implements run(), apply() and apply_in_place() of op.h. They use the tape, and the tape runs ops: so they
// are declared below the tape and implemented above it.
#include <algorithm>
#include <string>

#include "runtime/batching/batched.h"
#include "runtime/core/called.h"
#include "runtime/core/device_types.h"
#include "runtime/core/op.h"
#include "runtime/core/primitives.h"
#include "runtime/deferral/call_queue.h"
#include "runtime/deferral/in_kernel.h"
#include "runtime/ops/half_ops.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/finite.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
namespace {

// The bytes of an output. Error when the device cannot hold its dtype.
size_t bytes_of_output(const Call& call, const TensorBody& body, Device& device) {
  require_type_on(device, body.dtype, call.op->name + (call.op->hidden() ? 1 : 0));
  size_t bytes;
  if (__builtin_mul_overflow(size_t(body.layout->numel), item_size(body.dtype), &bytes))
    fail(call.op->name, ": a result of shape ", body.layout->shape, " needs more bytes than can be counted");
  return bytes;
}

void allocate_outputs(Call& call, Device& device) {
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (call.aliases >> i & 1) continue;
    TensorBody& body = *call.out[i].body();
    body.storage = Ref<Storage>(new Storage(device, bytes_of_output(call, body, device)));
  }
}

// Makes outputs without memory: the queue allocates it later. An output that exceeds the device's whole
// memory is an error now.
void promise_outputs(Call& call, Device& device) {
  constexpr size_t kSmall = 1 << 20;  // bytes; every device has more
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (call.aliases >> i & 1) continue;
    TensorBody& body = *call.out[i].body();
    const size_t bytes = bytes_of_output(call, body, device);
    if (bytes > kSmall && bytes > device.memory().total) {
      body.storage = Ref<Storage>(new Storage(device, bytes));
      continue;
    }
    body.storage = Ref<Storage>(new Storage(device, bytes, Unallocated()));
  }
}

bool nothing_to_compute(const Call& call) {
  if (call.op->writes_inputs) return false;
  for (size_t i = 0; i < call.out.size(); ++i)
    if (!(call.aliases >> i & 1) && call.out[i].numel() > 0) return false;
  return true;
}

// "f64", "f32 and bf16 to f64": the dtypes of a call's operands, and of its result if it differs.
std::string types_of(const Call& call) {
  std::vector<DType> types;
  for (const Tensor& x : call.in)
    if (x.defined() && std::find(types.begin(), types.end(), x.dtype()) == types.end())
      types.push_back(x.dtype());
  std::string text;
  for (const DType type : types) text += (text.empty() ? "" : " and ") + lunagrad::text(type);
  if (call.out.empty()) return text;  // the call writes its operands, as an optimizer step does
  const DType result = call.out[0].dtype();
  if (types.empty()) return lunagrad::text(result);
  return types == std::vector<DType>{result} ? text : text + " to " + lunagrad::text(result);
}

// For an op that the device has no kernel for: copies the operands to the CPU and the results back. Reports
// it to the trace.
void run_on_cpu_instead(Call& call, Device& device) {
  Context& ctx = context();
  if (ctx.strict_device)
    fail_as(ErrorKind::device, call.op->name + (call.op->hidden() ? 1 : 0), ": ", device.name(),
            " cannot run this op on ", types_of(call), ", and --strict-device forbids the CPU");
  if (ctx.trace) ctx.trace->fell_back(call, ("the device has no kernel for " + types_of(call)).c_str());
  const NoGrad off;
  Call on_cpu = call;
  for (Tensor& x : on_cpu.in)
    if (x.defined()) x = to(x, cpu_device());
  for (size_t i = 0; i < call.out.size(); ++i)
    on_cpu.out[i] = Tensor::empty(call.out[i].shape(), call.out[i].dtype());
  call.op->cpu(on_cpu);
  const auto bring_back = [](const Tensor& from, const Tensor& target) {
    copy_(target, to(from, target.device()));
  };
  for (size_t i = 0; i < call.out.size(); ++i) bring_back(on_cpu.out[i], call.out[i]);
  if (call.op->writes_inputs)
    for (size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].defined()) bring_back(on_cpu.in[i], call.in[i]);
}

// Before a call is computed now: computes the deferred calls that concern its operands. Kernels must not
// trigger this, since their threads have no queue.
void settle(const Call& call) {
  for (const Tensor& x : call.in) {
    if (!x.defined()) continue;
    if (call.op->writes_inputs)
      x.storage().before_write();
    else
      x.storage().before_read();
  }
}

// Returns whether the device (or the CPU) ran the call. False: compose() ran and its ops are recorded.
bool execute(Call& call) {
  Device& device = call.device();
  if (call.op->compose && !call.op->composed && !device.supports(call)) {
    call.out = compose(call);
    return false;
  }
  const bool supported = device.supports(call);
  if (CallQueue* const queue = context().queue; queue && supported && !nothing_to_compute(call)) [[unlikely]]
    if (queue->takes(call)) {
      promise_outputs(call, device);
      queue->put(call, device);
      return true;
    }
  allocate_outputs(call, device);
  if (nothing_to_compute(call)) return true;
  settle(call);
  if (!supported) {
    run_on_cpu_instead(call, device);
    return true;
  }
  const InKernel running;
  device.run(call);
  return true;
}

// For ops that write their inputs: if the op fails, the tensors that shape() marked as written become
// half-written, with neither the old nor the new values.
bool execute_in_place(Call& call) {
  try {
    return execute(call);
  } catch (...) {
    for (const Tensor& x : call.in)
      if (x.defined() && x.storage().last_writer == call.op->name)
        x.storage().mark_half_written(call.op->name);
    throw;
  }
}

// Error when an operand with index `first` or higher is half-written: an in-place write to it did not finish.
void check_whole(const Call& call, size_t first) {
  for (size_t i = first; i < call.in.size(); ++i)
    if (call.in[i].defined()) call.in[i].storage().check_whole(call.op->name);
}

bool wants_f32(const Call& call) {
  if (!call.op->half_through_f32) return false;
  return std::any_of(call.in.begin(), call.in.end(),
                     [](const Tensor& x) { return x.defined() && is_16bit_float(x.dtype()); });
}

// Casts 16-bit operands to f32, runs the op, and casts its f32 results to the operands' type.
void run_through_f32(Call& call) {
  DType type = DType::boolean;
  for (const Tensor& x : call.in)
    if (x.defined() && is_floating(x.dtype())) type = promote(type, x.dtype());
  Call upcast = call;
  for (Tensor& x : upcast.in)
    if (x.defined() && is_16bit_float(x.dtype())) x = to(x, DType::f32);
  run(upcast);
  for (const Tensor& y : upcast.out) call.out.push_back(y.dtype() == DType::f32 ? to(y, type) : y);
}

// Whether the device has a kernel of the op for 16-bit operands of one type.
bool computes_halves(const Call& call) {
  Device& device = call.device();
  DType type = DType::boolean;
  for (const Tensor& x : call.in)
    if (x.defined() && is_floating(x.dtype())) {
      if (type != DType::boolean && x.dtype() != type) return false;
      type = x.dtype();
    }
  if (&device == &cpu_device())
    return call.in[0].defined() && call.in[0].dtype() == DType::bf16 && bf16_kernel() &&
           (is_bf16_product(call) || is_bf16_convolution(call));
  Call laid_out = call;
  call.op->shape(laid_out);
  return device.supports(laid_out);
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

}  // namespace

void run(Call& call) {
  Context& ctx = context();
  if (batching_in_use && concerns_batches(call)) [[unlikely]]
    return run_batched(call);
  if (ctx.guard == Guard::op) [[unlikely]]
    return run_guarded(call);
  if (ctx.autocast) [[unlikely]]
    return ctx.autocast->run(call);
  const Op& op = *call.op;
  assert(call.params.size() == op.params.size());
  if (op.is_composition() || (op.composed && op.composed(call))) {
    call.out = compose(call);
    return;
  }
  if (wants_f32(call) && !computes_halves(call)) return run_through_f32(call);
  const uint64_t start = ticks();
  check_complex(call);
  check_whole(call, 0);
  op.shape(call);
  if (op.writes_inputs) {
    if (!execute_in_place(call)) return;
  } else if (!execute(call)) {
    return;
  }
  const uint64_t elapsed = ticks() - start;
  if (ctx.trace) ctx.trace->ran(call, elapsed);
  if (ctx.grad_enabled) record(call, elapsed);
}

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

namespace {

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.offset() == b.offset() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

}  // namespace

Tensor apply_in_place(const Op& op, Operands in, Values params) {
  const Tensor x = in[0];
  if (batching_in_use) [[unlikely]]
    for (const Tensor& operand : in)
      if (is_batched(operand)) return apply_in_place_batched(op, std::move(in), std::move(params));
  check_in_place(op.name, x);
  if (overlaps(x.shape(), x.strides()))
    fail(op.name,
         "_: elements of the target share memory (an expanded tensor, or windows that overlap); clone() it "
         "first");
  Call call;
  call.op = &op;
  call.in = std::move(in);
  call.params = std::move(params);
  const uint64_t start = ticks();
  check_complex(call);
  // A copy that overwrites the whole storage may repair a half-written one.
  const bool replaced = std::string_view(op.name) == "_copy" && size_t(x.nbytes()) == x.storage().bytes;
  check_whole(call, replaced ? 1 : 0);
  op.shape(call);
  const Tensor& result = call.out[0];
  if (!(result.shape() == x.shape()))
    fail(op.name, "_: a result of shape ", result.shape(), " does not fit the target of shape ", x.shape());
  if ((is_differentiable(result.dtype()) && !is_differentiable(x.dtype())) ||
      (is_complex(result.dtype()) && !is_complex(x.dtype())))
    fail(op.name, "_: a result of type ", result.dtype(), " cannot be written into a tensor of type ",
         x.dtype());

  const bool guarded = context().guard == Guard::op;
  const Contents before = guarded ? contents_of(x) : Contents();

  // A gradient that reads operand 0 needs its value before the write.
  bool reads_target = false;
  if (context().grad_enabled)
    for (size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].defined() && call.in[i].requires_grad() && !op.reads.empty())
        reads_target |= op.reads[std::min(i, op.reads.size() - 1)].inputs & 1;
  if (reads_target) {
    const Ref<Node> node = x.node();
    const uint32_t output = x.body()->output;
    {
      const NoGrad off;
      call.in[0] = clone(x);
    }
    call.in[0].body()->node = node;
    call.in[0].body()->output = output;
  }

  // The kernel writes directly into x, unless the result must be cast or another operand shares its memory.
  const bool same_type = result.dtype() == x.dtype();
  bool entangled = false;
  for (size_t i = 1; i < call.in.size(); ++i)
    if (call.in[i].defined() && call.in[i].storage_ref() == x.storage_ref() && !same_elements(call.in[i], x))
      entangled = true;
  Device& device = call.device();
  const auto write = [&x, &op](Device& its, Call& to_run) {
    try {
      const InKernel running;
      its.run(to_run);
    } catch (...) {
      x.storage().mark_half_written(op.name);
      throw;
    }
  };
  CallQueue* const queue = context().queue;
  const bool direct = same_type && !entangled && device.supports(call);
  if (direct) call.out[0] = Tensor(x.storage_ref(), x.layout(), x.offset(), x.dtype());
  if (direct && queue && x.numel() > 0 && queue->takes(call)) {
    queue->put(call, device);
  } else if (direct) {
    settle(call);
    x.storage().before_write();
    if (x.numel() > 0) write(device, call);
  } else {
    settle(call);
    x.storage().before_write();
    allocate_outputs(call, device);
    if (x.numel() > 0) {
      if (device.supports(call))
        device.run(call);
      else
        run_on_cpu_instead(call, device);
      const NoGrad off;
      Call copy;
      copy.op = find_op("_copy");
      copy.in = {x, call.out[0]};
      copy.out = {Tensor(x.storage_ref(), x.layout(), x.offset(), x.dtype())};
      if (!device.supports(copy)) copy.in[1] = to(call.out[0], x.dtype());  // on the CPU
      write(device, copy);
    }
    call.out[0] = Tensor(x.storage_ref(), x.layout(), x.offset(), x.dtype());
  }
  x.storage().mark_written(op.name);
  if (replaced) x.storage().half_written_by = nullptr;
  const uint64_t elapsed = ticks() - start;
  if (context().trace) context().trace->ran(call, elapsed);
  if (guarded) check_written(call, before);
  if (context().grad_enabled) record_in_place(x, call, elapsed);
  return x;
}

}  // namespace lunagrad
