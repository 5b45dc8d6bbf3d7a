#include "runtime/deferral/activations.h"

#include <string_view>
#include <utility>

#include "runtime/deferral/groups.h"

namespace lunagrad {
namespace {

constexpr uint32_t kNoReader = UINT32_MAX, kManyReaders = UINT32_MAX - 1;

// Whether the op has a parameter for an activation of its result, and the call has none yet.
bool takes_activation(const QueuedCall& queued) {
  const Op& op = *queued.call.op;
  return !op.params.empty() && std::string_view(op.params.back().name) == "activation" &&
         queued.call.params[op.params.size() - 1].i == 0 && !queued.in_place;
}

// The activation's index among the choices of the op's parameter; 0: the op cannot compute it.
int64_t choice_of(const Op& op, const Op& activation) {
  const std::vector<const char*>& choices = op.params.back().choices;
  for (size_t i = 1; i < choices.size(); ++i)
    if (std::string_view(choices[i]) == activation.name) return int64_t(i);
  return 0;
}

// Whether the merged call has the same bits. For 16-bit results the op rounds after the activation instead of
// before it, which is the same for relu alone. On the CPU 16-bit results get no activation; complex results
// never do.
bool has_same_bits(const Call& product, const Op& activation, const Device& device) {
  const DType type = product.output().dtype();
  if (is_complex(type)) return false;
  return !is_16bit_float(type) || (!device.is_cpu() && std::string_view(activation.name) == "relu");
}

}  // namespace

size_t join_activations(std::span<QueuedCall> calls, const std::vector<uint8_t>& alive) {
  std::vector<uint32_t> products;
  for (uint32_t i = 0; i < calls.size(); ++i)
    if (takes_activation(calls[i])) products.push_back(i);
  if (products.empty()) return 0;
  std::vector<uint32_t> reader(alive.size(), kNoReader);
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const auto sees = [&](const Tensor& x) {
      uint32_t& its = reader[x.storage().place];
      its = its == kNoReader ? i : kManyReaders;
    };
    for (const Tensor& x : calls[i].call.in)
      if (in_memory(x)) sees(x);
    if (calls[i].in_place)
      for (const Tensor& y : calls[i].call.out) sees(y);
  }
  size_t merged = 0;
  for (const uint32_t i : products) {
    QueuedCall& product = calls[i];
    Tensor& result = product.call.out[0];
    const uint32_t place = result.storage().place, by = reader[place];
    if (alive[place] || by >= kManyReaders || calls[by].in_place || calls[by].call.in.size() != 1) continue;
    QueuedCall& activation = calls[by];
    Tensor& end = activation.call.out[0];
    const int64_t choice = choice_of(*product.call.op, *activation.call.op);
    if (choice == 0 || !same_elements_in_order(activation.call.input(0), result)) continue;
    if (!(end.shape() == result.shape()) || end.dtype() != result.dtype() || !end.is_contiguous()) continue;
    if (!has_same_bits(product.call, *activation.call.op, *product.device)) continue;
    product.call.params[product.call.op->params.size() - 1] = choice;
    product.activation = {activation.call.op, activation.line, activation.result};
    std::swap(result, end);
    ++merged;
  }
  return merged;
}

}  // namespace lunagrad
