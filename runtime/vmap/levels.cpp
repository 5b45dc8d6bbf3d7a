#include "runtime/vmap/levels.h"

#include <algorithm>

#include "runtime/ops.h"

namespace lunagrad {
namespace {

int64_t count_of(const BatchLevels& levels) {
  int64_t count = 1;
  for (const BatchLevel& level : levels) count *= level.size;
  return count;
}

bool contains(const BatchLevels& levels, const BatchLevel& level) {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

BatchLevels without(const BatchLevels& levels, const BatchLevels& removed) {
  BatchLevels rest;
  for (const BatchLevel& level : levels)
    if (!contains(removed, level)) rest.push_back(level);
  return rest;
}

int64_t elements_of(const Shape& shape) { return numel(shape); }

// Reorders the levels of a value from the order `from` to the order `to`, which has the same levels. The
// value has shape [levels of `from`..., elements]; the result has one dim for all levels.
Tensor reordered(const Tensor& value, const BatchLevels& from, const BatchLevels& to, const Shape& sample) {
  if (from == to)
    return reshape(value, [&] {
      Shape shape = sample;
      shape.insert(0, count_of(to));
      return shape;
    }());
  Shape apart;
  for (const BatchLevel& level : from) apart.push_back(level.size);
  apart.push_back(elements_of(sample));
  Dims order;
  for (const BatchLevel& level : to)
    order.push_back(int64_t(std::find(from.begin(), from.end(), level) - from.begin()));
  order.push_back(int64_t(from.size()));
  Shape shape = sample;
  shape.insert(0, count_of(to));
  return reshape(permute(reshape(value, apart), order), shape);
}

}  // namespace

BatchLevels join(const BatchLevels& a, const BatchLevels& b) {
  BatchLevels all = a;
  for (const BatchLevel& level : b)
    if (!contains(all, level)) all.push_back(level);
  std::sort(all.begin(), all.end(), [](const BatchLevel& x, const BatchLevel& y) { return x.id < y.id; });
  return all;
}

BatchLevels union_of_levels(std::span<const Tensor> tensors) {
  BatchLevels all;
  for (const Tensor& x : tensors)
    if (is_batched(x)) all = join(all, levels_of(x));
  for (const BatchLevel& level : all)
    if (!contains(active_levels(), level))
      fail("vmap: a tensor of a vmap that has ended is used; return it from the function instead");
  return all;
}

Tensor value_for(const Tensor& x, const BatchLevels& levels) {
  const int64_t count = count_of(levels);
  if (!is_batched(x)) {
    Shape shape = x.shape();
    shape.insert(0, count);
    return expand(unsqueeze(x, 0), shape);
  }
  const BatchLevels own = levels_of(x);
  if (own == levels) return batch_value(x);
  Shape apart, expanded;
  for (const BatchLevel& level : levels) {
    apart.push_back(contains(own, level) ? level.size : 1);
    expanded.push_back(level.size);
  }
  apart.push_back(elements_of(x.shape()));
  expanded.push_back(elements_of(x.shape()));
  Shape shape = x.shape();
  shape.insert(0, count);
  return reshape(expand(reshape(batch_value(x), apart), expanded), shape);
}

Tensor into_level(const Tensor& x, const BatchLevel& level) {
  const BatchLevels own = levels_of(x);
  if (own.empty()) return make_batched(x, {level});
  Shape shape = x.shape();
  shape[0] *= count_of(own);
  BatchLevels levels = own;
  levels.push_back(level);
  return make_batched(reshape(batch_value(x), shape), std::move(levels));
}

Tensor out_of_levels(const Tensor& x, const BatchLevels& levels) {
  if (levels.empty()) return x;
  const BatchLevels all = join(levels_of(x), levels), rest = without(all, levels);
  BatchLevels order = rest;
  order.insert(order.end(), levels.begin(), levels.end());
  const Tensor value = reordered(value_for(x, all), all, order, x.shape());
  Shape shape = x.shape();
  shape.insert(0, count_of(levels));
  if (rest.empty()) return reshape(value, shape);
  shape.insert(0, count_of(rest));
  return make_batched(reshape(value, shape), rest);
}

Tensor under_levels(const Tensor& x, const BatchLevels& levels) {
  if (levels.empty()) return x;
  if (!is_batched(x)) return make_batched(x, levels);
  Shape sample = x.shape();
  sample.erase(0);
  BatchLevels from = levels_of(x);
  from.insert(from.end(), levels.begin(), levels.end());
  const BatchLevels all = join(from, {});
  return make_batched(reordered(batch_value(x), from, all, sample), all);
}

}  // namespace lunagrad
