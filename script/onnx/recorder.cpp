#include "script/onnx/recorder.h"

#include "script/onnx/graph.h"

namespace lunagrad::onnx_export {

Recorder::Recorder(ValueTable& values) : values_(values), previous_(context().trace) {
  context().trace = this;
}
Recorder::~Recorder() { context().trace = previous_; }

void Recorder::fell_back(const Call& call, const char* reason) {
  if (previous_) previous_->fell_back(call, reason);
}

Recorder::Entry* Recorder::find(const Tensor& x) {
  const auto memory = memory_.find(&x.storage());
  if (memory == memory_.end()) return nullptr;
  for (Entry& entry : memory->second.entries)
    if (entry.offset == x.offset() && entry.dtype == x.dtype() && entry.layout->shape == x.shape() &&
        entry.layout->strides == x.strides())
      return &entry;
  return nullptr;
}

void Recorder::know(const Tensor& x, int value) {
  const uint32_t version = x.storage().version;
  if (Entry* const entry = find(x)) {
    entry->version = version;
    entry->value = value;
    return;
  }
  Memory& memory = memory_[&x.storage()];
  memory.storage = x.storage_ref();
  memory.entries.push_back({x.layout(), x.offset(), x.dtype(), version, value});
}

bool Recorder::knows(const Tensor& x) const { return memory_.count(&x.storage()) > 0; }

int Recorder::value_of(const Tensor& x) {
  if (knows(x)) {
    const Entry* const entry = find(x);
    if (entry && entry->version == x.storage().version) return entry->value;
    const bool written = x.storage().last_write.known() || *x.storage().last_writer;
    if (complaint_.empty() && !written)
      complaint_ = text("a tensor of shape ", x.shape(), " shows a result in a way that no op made");
    if (complaint_.empty())
      complaint_ = text("a tensor of shape ", x.shape(),
                        " was changed in place through another view of its memory by ",
                        x.storage().last_writer, at(x.storage().last_write), "; write the model without it");
  }
  values_.push_back({x, {}, x.storage().version, false});
  return int(values_.size()) - 1;
}

// ran() is called after an in-place op has run, so the operand's version has already grown by one.
int Recorder::operand(const Call& call, size_t i, bool in_place) {
  const Tensor& x = call.in[i];
  if (!x.defined()) return kAbsent;
  if (in_place && &x.storage() == &call.in[0].storage())
    if (const Entry* const entry = find(x); entry && entry->version + 1 == x.storage().version)
      return entry->value;
  return value_of(x);
}

void Recorder::ran(const Call& call, uint64_t elapsed) {
  if (previous_) previous_->ran(call, elapsed);
  bool depends = call.op->random;
  for (const Tensor& x : call.in) depends |= x.defined() && knows(x);
  if (!depends) return;
  if (call.op->writes_inputs) {
    if (complaint_.empty()) complaint_ = text(call.op->name, " changes its operands", at(context().line));
    return;
  }
  const bool in_place = !call.in.empty() && call.in[0].defined() && !call.out.empty() &&
                        !(call.aliases & 1) && &call.out[0].storage() == &call.in[0].storage();
  if (in_place && !knows(call.in[0]) && std::string_view(call.op->name) != "_copy" && complaint_.empty())
    complaint_ = text(call.op->name, "_ changes a tensor that is no result of the inputs", at(context().line),
                      "; write the model without it");
  Step step{call, {}, {}, context().line, context().module};
  for (size_t i = 0; i < call.in.size(); ++i) step.in.push_back(operand(call, i, in_place));
  for (const Tensor& y : call.out) {
    values_.push_back({});
    step.out.push_back(int(values_.size()) - 1);
    know(y, step.out.back());
  }
  steps_.push_back(std::move(step));
}

}  // namespace lunagrad::onnx_export
