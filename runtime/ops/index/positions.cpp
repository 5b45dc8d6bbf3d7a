// Positions that other ops read or write at: the rows that several index tensors name together, for index and
// index_put, and each number as often as it is counted, for repeat_interleave and segment_reduce.
#include "runtime/ops/index/positions.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/indices.h"

namespace lunagrad {
namespace {

// --- _flat_positions ---

constexpr int kSizes = 0, kPuts = 1;  // parameters

void flat_positions_shape(Call& call) {
  Shape shape;
  for (const Tensor& index : call.in) shape = broadcast_shapes(call.op->name, shape, index.shape());
  call.emit({numel(shape)}, DType::i64);
}
// Combines the rows so far, `to`, with the indices of another dim; false if an index is out of range.
bool combine_positions(int64_t* to, const int64_t* index, int64_t count, int64_t size, bool first) {
  std::atomic<bool> good = true;
  parallel_for(count, kIndexGrain, [&](int64_t begin, int64_t end) {
    bool all = true;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t wrapped = index[i] < 0 ? index[i] + size : index[i];
      all &= uint64_t(wrapped) < uint64_t(size);
      to[i] = first ? wrapped : to[i] * size + wrapped;
    }
    if (!all) good = false;
  });
  return good;
}
void flat_positions_cpu(const Call& call) {
  Shape shape;
  for (const Tensor& index : call.in) shape = broadcast_shapes(call.op->name, shape, index.shape());
  const int64_t count = numel(shape);
  int64_t* const to = call.output().data<int64_t>();
  for (size_t d = 0; d < call.in.size(); ++d) {
    const Tensor& given = call.in[d];
    Tensor index = given;
    if (given.dtype() != DType::i64 || !(given.shape() == shape) || !given.is_contiguous()) {
      index = Tensor::empty(shape, DType::i64);
      copy_strided(index.raw(), DType::i64, index.strides(), given.raw(), given.dtype(),
                   broadcast_strides(given.shape(), given.strides(), shape), shape);
    }
    const int64_t* const values = index.data<int64_t>();
    const int64_t size = call.list(kSizes)[int(d)];
    if (combine_positions(to, values, count, size, d == 0)) continue;
    const auto [low, high] = std::minmax_element(values, values + count);
    fail(call.flag(kPuts) ? "index_put" : "index", ": index ", *low < -size ? *low : *high,
         " is out of range for dim ", d + 1, " of size ", size, " (indices count from 0)");
  }
}
Operands flat_positions_compose(const Call& call) {
  Shape shape;
  for (const Tensor& index : call.in) shape = broadcast_shapes(call.op->name, shape, index.shape());
  Tensor positions;
  for (size_t d = 0; d < call.in.size(); ++d) {
    const int64_t size = call.list(kSizes)[int(d)];
    const Tensor index = to(call.in[d], DType::i64), length = Tensor::number(size);
    const Tensor wrapped = where(lt(index, Tensor::number(int64_t(0))), index + length, index);
    positions = positions.defined() ? positions * length + wrapped : wrapped;
  }
  return {reshape(expand(positions, shape), {numel(shape)})};
}
const Op kFlatPositions{
    .name = "_flat_positions",
    .doc =
        "The rows of a tensor, whose first dims of these sizes are one, that the indices (from 0, negative "
        "from the end) name together.",
    .inputs = {{"indices", false, true}},
    .params = {{"sizes", ParamKind::integers, {}}, {"puts", ParamKind::boolean, {}}},
    .shape = flat_positions_shape,
    .cpu = flat_positions_cpu,
    .compose = flat_positions_compose,
    .integer_inputs = 0xffff,
    .family = OpFamily::view,
    .flops = kMovesData};

// --- _repeated_positions ---

constexpr int kTotal = 0;

void repeated_positions_shape(Call& call) { call.emit({call.integer(kTotal)}, DType::i64); }
void repeated_positions_cpu(const Call& call) {
  const Tensor counts = in_order(call.input(0));
  int64_t* to = call.output().data<int64_t>();
  int64_t* const end = to + call.integer(kTotal);
  visit_dtype(counts.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* const times = counts.data<T>();
      for (int64_t i = 0; i < counts.numel(); ++i)
        to = std::fill_n(to, std::min<int64_t>(times[i], end - to), i);
    }
  });
}
Operands repeated_positions_compose(const Call& call) {
  const Tensor ends = cumsum(to(call.input(0), DType::i64), 0);
  const Tensor positions = arange(0, double(call.integer(kTotal)), 1, DType::i64, ends.device());
  return {apply1(*find_op("_searchsorted"), {ends, positions}, {true})};
}
const Op kRepeatedPositions{
    .name = "_repeated_positions",
    .doc = "Each position of counts as often as it says, one after the other: total positions in all.",
    .inputs = {{"counts"}},
    .params = {{"total", ParamKind::integer, {}}, {"dim", ParamKind::integer, -1}},
    .shape = repeated_positions_shape,
    .cpu = repeated_positions_cpu,
    .compose = repeated_positions_compose,
    .integer_inputs = 1,
    .family = OpFamily::view,
    .flops = kMovesData};

}  // namespace

Tensor flat_positions(std::span<const Tensor> indices, const Shape& sizes, bool puts) {
  return apply1(kFlatPositions, Operands(indices), {sizes, puts});
}

Tensor repeated_positions(const Tensor& counts, int64_t total, int dim) {
  return apply1(kRepeatedPositions, {counts}, {total, dim});
}

std::span<const Op* const> position_ops() {
  static const Op* const ops[] = {&kFlatPositions, &kRepeatedPositions};
  return ops;
}

}  // namespace lunagrad
