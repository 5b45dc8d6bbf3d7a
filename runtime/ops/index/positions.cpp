// What other ops read and write by: the rows that several index tensors name together, for index and
// index_put; each number as often as it is counted, for repeat_interleave and segment_reduce; and gathered
// elements compared or multiplied with others, so that they need no memory of their own, for the gradients of
// scatter_reduce.
#include "runtime/ops/index/positions.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/gather_with.h"
#include "runtime/ops/index/indices.h"

namespace lunagrad {
namespace {

// --- _flat_positions ---

constexpr int kSizes = 0, kPuts = 1;  // parameters

void flat_positions_shape(Call& call) {
  const Dims& sizes = call.list(kSizes);
  if (sizes.empty() || int(call.in.size()) != sizes.size())
    fail(call.op->name, ": ", sizes.size(), " sizes do not fit ", call.in.size(), " index tensors");
  int64_t rows = 1;
  for (const int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(rows, size, &rows))
      fail(call.op->name, ": no tensor has dims of the sizes ", sizes);
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
      const bool in_range = uint64_t(wrapped) < uint64_t(size);
      all &= in_range;
      to[i] = (first ? 0 : to[i] * size) + (in_range ? wrapped : 0);  // else the sum might overflow
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

constexpr int kTotal = 0, kAxis = 1;  // parameters

void repeated_positions_shape(Call& call) {
  if (call.integer(kTotal) < 0) fail(call.op->name, ": the total is ", call.integer(kTotal));
  call.emit({call.integer(kTotal)}, DType::i64);
}
void repeated_positions_cpu(const Call& call) {
  const Tensor counts = in_order(call.input(0));
  const int64_t total = call.integer(kTotal);
  int64_t* to = call.output().data<int64_t>();
  int64_t* const end = to + total;
  visit_dtype(counts.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* const times = counts.data<T>();
      uint64_t sum = 0;  // wraps around, as on a GPU
      for (int64_t i = 0; i < counts.numel(); ++i) {
        const int64_t n = int64_t(times[i]);
        if (n < 0) fail("segment_reduce: a length must not be negative (got ", n, ")");
        sum += uint64_t(n);
        to = std::fill_n(to, std::min(n, end - to), i);
      }
      if (int64_t(sum) != total)
        fail("segment_reduce: the lengths add up to ", int64_t(sum), " where dim ", call.integer(kAxis) + 1,
             " has ", total);
    }
  });
}
const Op kRepeatedPositions{
    .name = "_repeated_positions",
    .doc = "Each position of counts as often as it says, one after the other: total positions in all.",
    .inputs = {{"counts"}},
    .params = {{"total", ParamKind::integer, {}}, {"dim", ParamKind::integer, -1}},
    .shape = repeated_positions_shape,
    .cpu = repeated_positions_cpu,
    .integer_inputs = 1,
    .family = OpFamily::view,
    .flops = kMovesData};

// --- _gather_with ---

enum class GatherUse : int64_t { equals, times };
constexpr int kUse = 1;  // parameter

bool compares(const Call& call) { return GatherUse(call.integer(kUse)) == GatherUse::equals; }

void gather_with_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &other = call.input(2);
  need_index_type("gather", index);
  check_lanes("gather", "a tensor", with_one_dim(x.shape()), with_one_dim(index.shape()), dim_of(call));
  if (!is_floating(x.dtype()) || other.dtype() != x.dtype() || !(other.shape() == index.shape()))
    fail("gather: the other operand is ", other.dtype(), ' ', other.shape(), ", the tensor ", x.dtype(),
         ", the index ", index.shape());
  call.emit(index.shape(), x.dtype());
}
void gather_with_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), other = in_order(call.input(2));
  const Tensor& index = call.input(1);
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  const Indices indices("gather", index, dim, whole[dim]);
  const int64_t stride = contiguous_strides(whole)[dim];
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T *const from = x.data<T>(), *const with = other.data<T>();
      T* const to = call.output().data<T>();
      const auto walk = [&](auto&& use) {
        for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim, [&](int64_t i, int64_t lane) {
          to[i] = use(from[lane + indices[i] * stride], with[i]);
        });
      };
      if (compares(call))
        walk([](T a, T b) { return T(a == b); });
      else
        walk([](T a, T b) { return T(a * b); });
    }
  });
}
Operands gather_with_compose(const Call& call) {
  const Tensor gathered = gather(call.input(0), dim_of(call), call.input(1)), &other = call.input(2);
  return {compares(call) ? to(eq(other, gathered), other.dtype()) : other * gathered};
}
void gather_with_vjp(Backward& b) {
  if (GatherUse(b.integer(kUse)) == GatherUse::equals) return;
  const Tensor g = b.grad();
  const int dim = dim_of(b);
  if (b.needs(0))
    b.set(0, scatter_add(blank(b.shape(0), g.dtype(), g.device()), dim, b.input(1), g * b.input(2)));
  if (b.needs(2)) b.set(2, times_gathered(b.input(0), dim, b.input(1), g));
}
const Op kGatherWith{.name = "_gather_with",
                     .doc = "other compared with, or times, the elements of input that gather gives.",
                     .inputs = {{"input"}, {"index"}, {"other"}},
                     .params = {{"dim", ParamKind::dim, {}}, {"use", ParamKind::choice, {}, {"eq", "mul"}}},
                     .shape = gather_with_shape,
                     .cpu = gather_with_cpu,
                     .vjp = gather_with_vjp,
                     .reads = {{.inputs = 6}, {}, {.inputs = 3}},
                     .compose = gather_with_compose,
                     .half_through_f32 = true,
                     .integer_inputs = 2,
                     .family = OpFamily::view,
                     .flops = kOnePerResult};

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

Tensor equals_gathered(const Tensor& x, int dim, const Tensor& index, const Tensor& other) {
  const NoGrad off;
  return apply1(kGatherWith, {x, index, other}, {dim, int64_t(GatherUse::equals)});
}
Tensor times_gathered(const Tensor& x, int dim, const Tensor& index, const Tensor& other) {
  return apply1(kGatherWith, {x, index, other}, {dim, int64_t(GatherUse::times)});
}

std::span<const Op* const> gather_with_ops() {
  static const Op* const ops[] = {&kGatherWith};
  return ops;
}

}  // namespace lunagrad
