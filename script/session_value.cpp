#include "script/session_value.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/error.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

using TablePtr = std::shared_ptr<const SessionTable>;

// A copy of the tree in which `leaf` replaces the values that are no tables.
template <class Leaf>
SessionValue mapped(const SessionValue& value, const Leaf& leaf) {
  const TablePtr* const table = std::get_if<TablePtr>(&value.is);
  if (!table) return leaf(value);
  auto made = std::make_shared<SessionTable>();
  made->items.reserve((*table)->items.size());
  for (const SessionValue& item : (*table)->items) made->items.push_back(mapped(item, leaf));
  for (const auto& [name, field] : (*table)->fields)
    made->fields.emplace_hint(made->fields.end(), name, mapped(field, leaf));
  return {TablePtr(std::move(made))};
}

}  // namespace

TensorCopy TensorCopy::of(const Tensor& x) {
  if (!x.defined()) fail("an undefined tensor has no values");
  const NoGrad off;
  const Tensor dense = contiguous(to(x.detach(), cpu_device()));
  const char* const first = static_cast<const char*>(dense.raw());
  return {x.shape(), x.dtype(), std::make_shared<const std::string>(first, first + dense.nbytes())};
}

Tensor TensorCopy::tensor() const {
  Tensor made = Tensor::empty(shape, dtype);
  if (!bytes->empty()) std::memcpy(made.raw(), bytes->data(), bytes->size());
  return made;
}

size_t depth_of(const SessionValue& value) {
  const TablePtr* const table = std::get_if<TablePtr>(&value.is);
  if (!table) return 0;
  size_t deepest = 0;
  for (const SessionValue& item : (*table)->items) deepest = std::max(deepest, depth_of(item));
  for (const auto& [name, field] : (*table)->fields) deepest = std::max(deepest, depth_of(field));
  return deepest + 1;
}

SessionValue copied(const SessionValue& value) {
  return mapped(value, [](const SessionValue& leaf) -> SessionValue {
    const Tensor* const x = std::get_if<Tensor>(&leaf.is);
    return x ? SessionValue{TensorCopy::of(*x)} : leaf;
  });
}

SessionValue with_tensors(const SessionValue& value) {
  return mapped(value, [](const SessionValue& leaf) -> SessionValue {
    const TensorCopy* const copy = std::get_if<TensorCopy>(&leaf.is);
    return copy ? SessionValue{copy->tensor()} : leaf;
  });
}

SessionValue detached(const SessionValue& value) {
  return mapped(value, [](const SessionValue& leaf) -> SessionValue {
    const Tensor* const x = std::get_if<Tensor>(&leaf.is);
    return x ? SessionValue{x->detach()} : leaf;
  });
}

Tensor as_tensor(const SessionValue& value) {
  if (const Tensor* const x = std::get_if<Tensor>(&value.is)) return *x;
  if (const TensorCopy* const copy = std::get_if<TensorCopy>(&value.is)) return copy->tensor();
  if (const int64_t* const i = std::get_if<int64_t>(&value.is)) return to(Tensor::number(*i), cpu_device());
  if (const bool* const b = std::get_if<bool>(&value.is))
    return to(Tensor::number(int64_t(*b)), cpu_device());
  if (const double* const f = std::get_if<double>(&value.is)) return to(Tensor::number(*f), cpu_device());
  return {};
}

}  // namespace lunagrad
