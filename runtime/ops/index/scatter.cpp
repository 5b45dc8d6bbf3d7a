// Ops that write at indices held in a tensor without adding: scatter, index_copy, index_fill; and take and
// take_along_dim, which read. Indices count from 0; negative indices of index_fill and take count from the
// end. Among equal indices the last one counts, for any number of threads, and only its element gets the
// gradient.
#include <cstdint>
#include <cstring>

#include "runtime/batching/batched.h"
#include "runtime/core/script_numbers.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/index/indices.h"

namespace lunagrad {
namespace {

// Writes a number or a 0-d tensor as one element of type T to `element`.
void read_element(const Tensor& value, DType type, void* element) {
  copy_strided(element, type, {}, value.raw(), value.dtype(), {}, {});
}

// Checks what is written into `x`: elements of its type, or a number that fits it.
void need_source_type(const char* op, const char* name, const Tensor& x, const Tensor& source) {
  if (source.is_number()) {
    if (is_floating(source.dtype()) && !is_differentiable(x.dtype()))
      fail(op, ": ", source.item(), " cannot be written into a tensor of type ", x.dtype());
    check_converts(op, x.dtype(), value_of(source));
  } else if (source.dtype() != x.dtype()) {
    fail(op, ": the ", name, " is ", source.dtype(), ", the tensor ", x.dtype());
  }
}

// --- scatter ---

void scatter_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_index_type("scatter", index);
  need_source_type("scatter", "source", x, source);
  check_scattered(call, "scatter");
  call.emit(x.shape(), x.dtype());
}
void scatter_cpu(const Call& call) {
  const Tensor &index = call.input(1), &out = call.output();
  const bool number = call.input(2).is_number();
  const Tensor source = number ? call.input(2) : in_order(corner_of(call.input(2), index.shape()));
  const Shape whole = with_one_dim(out.shape());
  const int dim = dim_of(call);
  const Tensor rows = index_of_rows(index, whole, dim);
  const Split into(whole, dim);
  const Indices indices("scatter", rows.defined() ? rows : index, dim, into.size, false,
                        rows.defined() ? into.inner : 1);
  const int64_t stride = contiguous_strides(whole)[dim];
  copy_whole(out, call.input(0));
  visit_word(out.dtype(), [&]<class Word>(Word*) {
    Word element{};
    if (number) read_element(source, out.dtype(), &element);
    const Word* from = number ? &element : static_cast<const Word*>(source.raw());
    const int64_t step = number ? 0 : 1;
    Word* to = static_cast<Word*>(out.raw());
    if (rows.defined()) {
      for_indexed_rows(into, indices, number ? nullptr : from, into.inner * int64_t(sizeof(Word)),
                       [&](int64_t row, int64_t k, int64_t first, int64_t n) {
                         Word* const target = to + row * into.inner + first;
                         const Word* const part = from + (k * into.inner + first) * step;
                         for (int64_t i = 0; i < n; ++i) target[i] = part[i * step];
                       });
      return;
    }
    for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim,
                          [&](int64_t i, int64_t lane) { to[lane + indices[i] * stride] = from[i * step]; });
  });
}
void scatter_vjp(Backward& b) {
  const Tensor g = b.grad(), index = b.input(1);
  const int dim = dim_of(b);
  if (b.needs(0)) b.set(0, scatter(g, dim, index, Tensor::number(int64_t(0))));
  if (!b.needs(2)) return;
  // Positions that were written more than once hold the number of the last writer.
  const DType type = index.numel() <= INT32_MAX ? DType::i32 : DType::i64;
  const Tensor writers = reshape(arange(0, double(index.numel()), 1, type, index.device()), index.shape());
  const Tensor last = scatter(blank(b.shape(0), type, index.device()), dim, index, writers);
  const Tensor part =
      where(eq(gather(last, dim, index), writers), gather(g, dim, index), Tensor::number(0.0));
  b.set(2, in_corner(part, b.shape(2)));
}
const Op kScatter{
    .name = "scatter",
    .doc = "input with the elements of src, or one number, written along dim where index (from 0) says.",
    .inputs = {{"input"}, {"index"}, {"src"}},
    .params = {{"dim", ParamKind::dim, {}}},
    .shape = scatter_shape,
    .cpu = scatter_cpu,
    .vjp = scatter_vjp,
    .reads = {{.inputs = 2}, {}, {.inputs = 2}},
    .integer_inputs = 2,
    .complex = true,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .flops = kMovesData,
    .order = {"input", "dim", "index", "src"},
    .number_inputs = 0b100};

// --- index_copy, index_fill ---

void need_flat_index(const char* op, const Tensor& index) {
  need_index_type(op, index);
  if (index.ndim() > 1) fail(op, ": the index must have one dim (got shape ", index.shape(), ")");
}

void index_copy_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_flat_index("index_copy", index);
  need_source_type("index_copy", "source", x, source);
  Shape shape = x.shape();
  if (!shape.empty()) shape[dim_of(call)] = index.numel();
  if (!(source.shape() == shape))
    fail("index_copy: the source has shape ", source.shape(), " where ", shape, " is needed for ",
         index.numel(), " indices into shape ", x.shape());
  call.emit(x.shape(), x.dtype());
}
void index_copy_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor source = in_order(call.input(2));
  const int dim = dim_of(call);
  const Split into(with_one_dim(out.shape()), dim);
  const Indices index("index_copy", call.input(1), dim, into.size);
  copy_whole(out, call.input(0));
  const int64_t item = int64_t(item_size(out.dtype()));
  char* to = static_cast<char*>(out.raw());
  const char* from = static_cast<const char*>(source.raw());
  for_indexed_rows(into, index, from, into.inner * item,
                   [&](int64_t row, int64_t k, int64_t first, int64_t n) {
                     std::memcpy(to + (row * into.inner + first) * item,
                                 from + (k * into.inner + first) * item, size_t(n * item));
                   });
}
void index_copy_vjp(Backward& b) {
  const Tensor g = b.grad(), index = b.input(1);
  const int dim = dim_of(b);
  if (b.needs(0)) b.set(0, index_fill(g, dim, index, Tensor::number(int64_t(0))));
  if (!b.needs(2)) return;
  const Tensor flat = reshape(index, {index.numel()});
  const Tensor writers = arange(0, double(flat.numel()), 1, DType::i64, flat.device());
  const int64_t size = b.shape(0).empty() ? 1 : b.shape(0)[dim];
  const Tensor last = index_copy(blank({size}, DType::i64, flat.device()), 0, flat, writers);
  Tensor counts = eq(index_select(last, 0, flat), writers);
  for (int d = dim + 1; d < b.shape(0).size(); ++d) counts = unsqueeze(counts, -1);
  if (b.shape(0).empty()) counts = reshape(counts, {});
  b.set(2, where(counts, index_select(g, dim, index), Tensor::number(0.0)));
}
const Op kIndexCopy{.name = "index_copy",
                    .doc = "input with source written at the positions of dim that index (from 0) names.",
                    .inputs = {{"input"}, {"index"}, {"source"}},
                    .params = {{"dim", ParamKind::dim, {}}},
                    .shape = index_copy_shape,
                    .cpu = index_copy_cpu,
                    .vjp = index_copy_vjp,
                    .reads = {{.inputs = 2}, {}, {.inputs = 2}},
                    .integer_inputs = 2,
                    .complex = true,
                    .in_place = InPlaceForm::writes,
                    .family = OpFamily::view,
                    .flops = kMovesData,
                    .order = {"input", "dim", "index", "source"}};

void index_fill_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &value = call.input(2);
  need_flat_index("index_fill", index);
  need_source_type("index_fill", "value", x, value);
  if (value.ndim() != 0)
    fail("index_fill: the value must be a number or have no dims (got shape ", value.shape(), ")");
  dim_of(call);
  call.emit(x.shape(), x.dtype());
}
void index_fill_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int dim = dim_of(call);
  const Split into(with_one_dim(out.shape()), dim);
  const Indices index("index_fill", call.input(1), dim, into.size, true);
  copy_whole(out, call.input(0));
  visit_word(out.dtype(), [&]<class Word>(Word*) {
    Word element{};
    read_element(call.input(2), out.dtype(), &element);
    Word* to = static_cast<Word*>(out.raw());
    for_indexed_rows(into, index, nullptr, 0, [&](int64_t row, int64_t, int64_t first, int64_t n) {
      std::fill_n(to + row * into.inner + first, n, element);
    });
  });
}
void index_fill_vjp(Backward& b) {
  const Tensor g = b.grad(), index = b.input(1);
  const int dim = dim_of(b);
  if (b.needs(0)) b.set(0, index_fill(g, dim, index, Tensor::number(int64_t(0))));
  if (!b.needs(2)) return;
  const Tensor written =
      index_fill(blank(g.shape(), g.dtype(), g.device()), dim, index, Tensor::number(int64_t(1)));
  b.set(2, sum(g * written));
}
const Op kIndexFill{
    .name = "index_fill",
    .doc = "input with value at the positions of dim that index (from 0, negative from the end) names.",
    .inputs = {{"input"}, {"index"}, {"value"}},
    .params = {{"dim", ParamKind::dim, {}}},
    .shape = index_fill_shape,
    .cpu = index_fill_cpu,
    .vjp = index_fill_vjp,
    .reads = {{.inputs = 2}, {}, {.inputs = 2}},
    .integer_inputs = 2,
    .complex = true,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .flops = kMovesData,
    .order = {"input", "dim", "index", "value"},
    .number_inputs = 0b100};

// --- take, take_along_dim ---

// Whether the indices can be read without waiting for a device.
bool at_hand(const Tensor& indices) {
  return !is_batched(indices) && indices.device().is_cpu() && !context().capturing && indices.numel() > 0;
}
// The least and the largest of indices that can be read without waiting. The ops min and max would take
// longer.
std::pair<int64_t, int64_t> extremes_of(const Tensor& indices) {
  const NoGrad off;
  const Tensor all = contiguous(to(indices, DType::i64));
  const auto* const first = static_cast<const int64_t*>(all.raw());
  const auto [low, high] = std::minmax_element(first, first + all.numel());
  return {*low, *high};
}
void check_taken(const Tensor& indices, int64_t size) {
  const auto [low, high] = extremes_of(indices);
  if (low >= -size && high < size) return;
  const std::vector<int64_t> numbers = indices.to_vector<int64_t>();
  size_t at = 0;
  while (numbers[at] >= -size && numbers[at] < size) ++at;
  fail("take: index ", numbers[at], " at position ", at + 1, " is out of range for ", size,
       " elements (indices count from 0)");
}

Operands take_compose(const Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  need_index_type("take", index);
  const int64_t size = x.numel();
  if (at_hand(index)) check_taken(index, size);
  const Tensor places = indices_from_front(reshape(index, {index.numel()}), size);
  return {reshape(index_select(reshape(x, {size}), 0, places), index.shape())};
}
const Op kTake{.name = "take",
               .doc =
                   "The elements of the flattened input that index (from 0) names; a negative index counts "
                   "from the end.",
               .inputs = {{"input"}, {"index"}},
               .compose = take_compose,
               .integer_inputs = 2,
               .family = OpFamily::view};

Operands take_along_dim_compose(const Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  need_index_type("take_along_dim", index);
  if (!call.params[0].present()) return {gather(reshape(x, {x.numel()}), 0, reshape(index, {index.numel()}))};
  if (x.ndim() != index.ndim())
    fail("take_along_dim: shapes ", x.shape(), " and ", index.shape(), " have different numbers of dims");
  const int dim = normalize_dim("take_along_dim", call.integer(0), x.shape());
  if (x.ndim() == 0) return {gather(x, 0, index)};
  const auto with_size = [dim](const Shape& shape, int64_t size) {
    Shape changed;
    for (int d = 0; d < shape.size(); ++d) changed.push_back(d == dim ? size : shape[d]);
    return changed;
  };
  const Shape common =
      broadcast_shapes("take_along_dim", with_size(x.shape(), 1), with_size(index.shape(), 1));
  return {gather(expand(x, with_size(common, x.size(dim))), dim,
                 expand(index, with_size(common, index.size(dim))))};
}
const Op kTakeAlongDim{
    .name = "take_along_dim",
    .doc = "gather with both shapes broadcast outside dim; without dim, of the flattened input.",
    .inputs = {{"input"}, {"indices"}},
    .params = {{.name = "dim", .kind = ParamKind::dim, .optional = true}},
    .compose = take_along_dim_compose,
    .integer_inputs = 2,
    .family = OpFamily::view};

}  // namespace

Tensor scatter(const Tensor& x, int dim, const Tensor& index, const Tensor& source) {
  return apply1(kScatter, {x, index, source}, {dim});
}
Tensor index_copy(const Tensor& x, int dim, const Tensor& index, const Tensor& source) {
  return apply1(kIndexCopy, {x, index, source}, {dim});
}
Tensor index_fill(const Tensor& x, int dim, const Tensor& index, const Tensor& value) {
  return apply1(kIndexFill, {x, index, value}, {dim});
}
Tensor indices_from_front(const Tensor& indices, int64_t size) {
  if (indices.dtype() == DType::u8 || indices.numel() == 0) return indices;
  const NoGrad off;
  if (at_hand(indices))
    if (const int64_t low = extremes_of(indices).first; low >= 0 || low < -size) return indices;
  const Tensor zero = Tensor::number(int64_t(0)), least = Tensor::number(-size);
  const Tensor counts = logical_and(lt(indices, zero), ge(indices, least));
  return where(counts, indices + Tensor::number(size), indices);
}
Tensor take(const Tensor& x, const Tensor& index) { return apply1(kTake, {x, index}); }
Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<int> dim) {
  return apply1(kTakeAlongDim, {x, indices}, {dim ? Value(*dim) : Value()});
}

std::span<const Op* const> scatter_ops() {
  static const Op* const ops[] = {&kScatter, &kIndexCopy, &kIndexFill, &kTake, &kTakeAlongDim};
  return ops;
}

}  // namespace lunagrad
