#include "runtime/tape/custom.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "runtime/batching/batched.h"
#include "runtime/tape/tape.h"

namespace lunagrad {

namespace {

bool same_value(const Tensor& a, const Tensor& b) {
  return a.same(b) || (a.storage_ref() == b.storage_ref() && a.offset() == b.offset() &&
                       a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides());
}

int find_value(const TensorList& list, const Tensor& x) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].defined() && same_value(list[i], x)) return int(i);
  return -1;
}

CustomCall::Saved keep(const Tensor& x, const TensorList& inputs, const TensorList& outputs) {
  CustomCall::Saved saved;
  if (!x.defined()) return saved;
  saved.value.layout = x.layout();
  saved.value.offset = x.offset();
  saved.value.dtype = x.dtype();
  saved.value.version = x.storage().version;
  saved.value.tensor_id = x.id();
  saved.value.saved = x.storage_ref();
  saved.input = find_value(inputs, x);
  if (saved.input < 0) saved.output = find_value(outputs, x);
  return saved;
}

// The vjp of every custom op.
void differentiate(Backward& b) {
  const char* const name = b.node().op->name;
  std::vector<bool> needs;
  for (int i = 0; i < b.inputs(); ++i) needs.push_back(b.needs(i));
  const CustomContext shared(std::move(needs), b.custom_values());
  TensorList arrived;
  for (size_t i = 0; i < b.node().out.size(); ++i) arrived.push_back(conjugated(b.grad(int(i))));
  const CustomBackward backward = b.custom().backward;
  TensorList results;
  try {
    results = backward(shared, arrived);
  } catch (const Error& error) {
    throw Error(text("backward of ", name, made_at(b.node().line), ": ", error.what()), error.kind());
  }
  if (results.size() != size_t(b.inputs()))
    fail("backward of ", name, made_at(b.node().line), ": it returned ", results.size(), " gradients for ",
         b.inputs(), " inputs");
  for (int i = 0; i < b.inputs(); ++i) {
    Tensor& gradient = results[size_t(i)];
    if (!gradient.defined() || !b.has(i)) continue;
    if (!(gradient.shape() == b.shape(i)))
      fail("backward of ", name, made_at(b.node().line), ": its gradient of input ", i + 1, " has shape ",
           gradient.shape(), " where the input has ", b.shape(i));
    if (!is_differentiable(gradient.dtype()))
      fail("backward of ", name, made_at(b.node().line), ": its gradient of input ", i + 1, " is ",
           gradient.dtype(), ", not floating");
    if (b.needs(i)) b.set(i, conjugated(gradient));
  }
}

}  // namespace

const Op* custom_record(const std::string& name) {
  static std::mutex mutex;
  static std::deque<Op> records;
  static std::map<std::string, const Op*> by_name;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = by_name.try_emplace(name);
  if (is_new) {
    Op& record = records.emplace_back();
    record.name = entry->first.c_str();
    record.doc = "An op of the script.";
    record.inputs = {{"input", false, true}};
    record.vjp = differentiate;
    entry->second = &record;
  }
  return entry->second;
}

bool is_custom(const Op& op) { return op.vjp == differentiate; }

TensorList apply_custom(const CustomOp& op, const TensorList& inputs) {
  if (std::any_of(inputs.begin(), inputs.end(), is_batched))
    return for_each_sample(inputs, [&](const TensorList& sample) { return apply_custom(op, sample); });
  Context& ctx = context();
  std::vector<bool> needs;
  bool any = false;
  for (const Tensor& x : inputs) {
    needs.push_back(ctx.grad_enabled && x.defined() && is_differentiable(x.dtype()) && x.requires_grad());
    any |= needs.back();
  }
  CustomContext shared(std::move(needs));
  const SourceLine line = ctx.line;
  const uint64_t start = ticks();
  TensorList outputs;
  {
    const NoGrad off;
    outputs = op.forward(shared, inputs);
  }
  const uint64_t elapsed = ticks() - start;
  ctx.line = line;
  Tensor* first = nullptr;  // the first output that can have a gradient
  for (Tensor& y : outputs) {
    if (!y.defined()) fail(op.record->name, ": forward returned nothing where a tensor belongs");
    // A separate tensor: forward may return an input, or keep the tensor that it returns.
    y = y.detach();
    if (!first && is_differentiable(y.dtype())) first = &y;
  }
  if (!any || !first) return outputs;
  Call call;
  call.op = op.record;
  call.in = Operands(inputs);
  call.out = Operands(outputs);
  record(call, elapsed);
  Node& node = *first->node();
  auto custom = std::make_unique<CustomCall>();
  for (const Tensor& x : shared.saved()) custom->saved.push_back(keep(x, inputs, outputs));
  custom->backward = op.backward;
  custom->again = op.again;
  if (ctx.checkpoint)
    ctx.checkpoint->record_custom(node, std::move(custom));
  else
    node.extra().custom = std::move(custom);
  return outputs;
}

}  // namespace lunagrad
