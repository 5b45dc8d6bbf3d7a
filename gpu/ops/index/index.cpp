// index_select, embedding, gather and one_hot of any element type; index_add and scatter_add of f32, c64
// and integers.
#include <algorithm>
#include <optional>

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/elementwise/complex.h"
#include "gpu/ops/index/long_lanes.h"
#include "gpu/ops/index/segments.h"
#include "gpu/ops/words.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct IndexArguments {
  uint64_t result, operand, index;
  uint64_t fault;
  int64_t size;
  uint32_t count, picked, inner, kind, repeats;
  Divisor by_inner, by_picked;
};

bool supports_index(const Call& call) { return indexable(call.output()); }

// Copies rows of `from` [outer, size, inner] that the indices select: the same rows for all outer positions,
// or with `own` an index for each of them. The script gave each index `repeats` times.
struct Picked {
  uint64_t outer = 1, size = 1, inner = 1;
  bool own = false;
  uint64_t repeats = 1;
};
void pick(const Call& call, const Tensor& from, const Tensor& indices, const Picked& picked, FaultKind kind,
          Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(from), index = contiguous(indices);
  Launch launch(recorder);
  IndexArguments a{};
  a.result = launch.writes(call.output());
  a.operand = launch.reads(x);
  a.index = launch.reads(index);
  a.fault = recorder.stream.fault_address();
  const Words words = words_of(x.dtype(), picked.inner, a.result | a.operand);
  a.count = uint32_t(uint64_t(call.output().numel()) / words.elements);
  a.picked = uint32_t(uint64_t(index.numel()) / (picked.own ? picked.outer : 1));
  a.inner = uint32_t(picked.inner / words.elements);
  a.size = int64_t(picked.size);
  a.kind = uint32_t(kind);
  a.repeats = uint32_t(picked.repeats);
  a.by_inner = Divisor(a.inner);
  a.by_picked = Divisor(a.picked);
  const bool single = a.inner == 1 && picked.outer == 1, few = picked.size <= kGroupSize;
  const bool fours = single && (words.bytes == 4 || words.bytes == 8) && index.dtype() != DType::u8 &&
                     picked.size > 0 && (a.result | a.index) % 16 == 0 && picked.size <= INT32_MAX;
  const Visit visit =
      fours ? Visit{1, groups_for((uint64_t(a.count) + 3) / 4, recorder)} : visit_elements(a.count, recorder);
  launch.run(shaders::Index{.type = words.type,
                            .index_type = uint32_t(index.dtype()),
                            .sixteen_bytes = words.bytes == 16,
                            .per_thread = visit.per_thread,
                            .own = picked.own,
                            .few = single && few && words.bytes < 16,
                            .fours = fours},
             {visit.groups}, bytes_of(a));
}
void pick_slices(const Call& call, const Tensor& from, const Tensor& indices, int dim, FaultKind kind,
                 Recorder& recorder) {
  const IndexedRows rows = slices_of(from.shape(), indices, dim, kind);
  pick(call, from, indices, {.outer = rows.outer, .size = rows.size, .inner = rows.inner}, kind, recorder);
}

void run_index_select(const Call& call, Recorder& recorder) {
  const Tensor& x = call.input(0);
  pick_slices(call, x, call.input(1), normalize_dim("index_select", call.integer(0), x.shape()),
              FaultKind::index_select, recorder);
}
bool slice_index_select(Call& call, int dim, int64_t first, int64_t size) {
  const int selected = normalize_dim("index_select", call.integer(0), call.input(0).shape());
  Tensor& x = dim == selected ? call.in[1] : call.in[0];
  x = slice_of(x, dim == selected ? 0 : dim, first, size);
  return true;
}
void run_embedding(const Call& call, Recorder& recorder) {
  pick_slices(call, call.input(1), call.input(0), 0, FaultKind::embedding, recorder);
}

struct Gathered {
  Tensor index;  // the part of the index that does not repeat
  Picked rows;
};
// The rows that a gather selects if its index repeats along all dims behind `dim`, and has its own or the
// same indices for all positions before it.
std::optional<Gathered> gathered_rows(const Tensor& x, const Tensor& index, int dim) {
  if (x.ndim() == 0 || index.ndim() == 0 || !x.is_contiguous()) return {};
  const IndexedRows rows = rows_of(x.shape(), index, dim, FaultKind::gather);
  if (rows.dim + 1 != rows.index.ndim() || (rows.dim > 0 && rows.outer > 1)) return {};
  uint64_t outer = rows.outer;
  for (int d = 0; d < rows.dim; ++d) {
    if (rows.index.size(d) != x.size(dim - rows.dim + d)) return {};
    outer *= uint64_t(rows.index.size(d));
  }
  return Gathered{rows.index,
                  {.outer = outer,
                   .size = uint64_t(rows.choices),
                   .inner = rows.inner,
                   .own = rows.dim > 0,
                   .repeats = rows.repeats}};
}

bool slice_embedding(Call& call, int dim, int64_t first, int64_t size) {
  Tensor& indices = call.in[0];
  if (dim >= indices.ndim()) return false;
  indices = slice_of(indices, dim, first, size);
  return true;
}

void run_gather(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &index = call.input(1), &out = call.output();
  const Tensor x =
      call.input(0).ndim() == 0 && index.ndim() == 1 ? reshape(call.input(0), {1}) : call.input(0);
  const int dim = dim_of(call);
  if (const auto gathered = gathered_rows(x, index, dim))
    return pick(call, x, gathered->index, gathered->rows, FaultKind::gather, recorder);
  // Each element is a lane of its own: the lanes run over all dims, and the step along a lane's dim is 0.
  LaneView from = view_of(x, dim), to{&out, out.strides(), 0}, by{&index, index.strides(), 0};
  Shape lanes = index.shape();
  if (!lanes.empty()) {
    from.strides = x.strides();
    from.strides[dim] = 0;
    lanes.push_back(1);
  }
  run_lanes(LaneMode::take, {lanes, index.ndim(), size_along(x, dim)}, from, to, by, FaultKind::gather,
            recorder);
}

bool slice_gather(Call& call, int dim, int64_t first, int64_t size) {
  Tensor &x = call.in[0], &index = call.in[1];
  index = slice_of(index, dim, first, size);
  // x may be longer than the index along other dims.
  if (x.ndim() > 0 && dim != dim_of(call)) x = slice_of(x, dim, first, size);
  return true;
}

bool supports_one_hot(const Call& call) {
  return indexable(call.input(0)) && call.output().dtype() == DType::i64;
}
void run_one_hot(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &ids = call.input(0), &out = call.output();
  const Tensor one = Tensor::empty({}, DType::i64, out.device());
  copy(out, Tensor::number(int64_t(0)), recorder);
  copy(one, Tensor::number(int64_t(1)), recorder);
  Shape shape = ids.shape();
  shape.push_back(1);
  run_lanes(LaneMode::put, {shape, ids.ndim(), out.size(-1)}, view_of(out, ids.ndim()),
            same_for_all(one, shape.size()), {&ids, ids.strides(), 0}, FaultKind::one_hot, recorder);
}

bool can_add(const Call& call) {
  if (is_complex(call.output().dtype()) && call.output().numel() >= most_elements() / 2) return false;
  return supports_index(call) && indexable(call.input(1)) &&
         (call.output().dtype() == DType::f32 || call.output().dtype() == DType::c64 ||
          is_integral(call.output().dtype()));
}

struct AddPushConstants {
  uint64_t target, source, index, fault;
  uint32_t outer, size, count, inner, kind, repeats;
  float alpha;
};
static_assert(sizeof(AddPushConstants) <= kPushConstantBytes);

// sums += alpha * rows of source, both contiguous. With few indices, each row of the sums searches all of
// them, which takes one dispatch.
void add_rows(const Tensor& sums, const Tensor& source, const IndexedRows& rows, double alpha,
              Recorder& recorder) {
  constexpr uint64_t kFew = 512, kShort = 8192;
  const uint64_t count = rows.count(), searches = (count + kGroupSize - 1) / kGroupSize;
  const uint64_t groups = (rows.columns() + kGroupSize - 1) / kGroupSize * rows.size;
  if (count > kFew || groups * searches > kShort || rows.index.ndim() > 1)
    return reduce_by_index(Reduction::sum, sums, source, rows, alpha, recorder);
  const Tensor index = contiguous(rows.index);
  Launch launch(recorder);
  AddPushConstants push{};
  push.target = launch.writes(sums);
  push.source = launch.reads(source);
  push.index = launch.reads(index);
  push.fault = recorder.stream.fault_address();
  push.outer = uint32_t(rows.outer);
  push.inner = uint32_t(rows.inner);
  push.size = uint32_t(rows.size);
  push.count = uint32_t(count);
  push.kind = uint32_t(rows.fault);
  push.repeats = uint32_t(rows.repeats);
  push.alpha = float(alpha);
  launch.run(shaders::IndexAdd{.type = uint32_t(sums.dtype()), .index_type = uint32_t(index.dtype())},
             {group_count(groups, recorder)}, {}, bytes_of(push));
}

void run_scatter_add(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &index = call.input(1), &source = call.input(2);
  const Changed out(call.output(), call.input(0), recorder);
  const int dim = dim_of(call);
  const Tensor& sums = out.tensor();
  IndexedRows rows = rows_of(sums.shape(), index, dim, FaultKind::scatter_add);
  if (const RunLanes lanes = lanes_for(index, dim, rows)) {
    const auto add = [&](const Tensor& target, const Tensor& from) {
      lanes(LaneMode::add, {index.shape(), dim, size_along(sums, dim)}, view_of(target, dim),
            view_of(from, dim), view_of(index, dim), rows.fault, recorder);
    };
    if (!is_complex(sums.dtype()))
      add(sums, source);
    else
      for (const int part : {0, 1}) add(part_view(sums, part), part_view(source, part));
  } else {
    if (is_complex(sums.dtype())) rows.inner *= 2;  // real and imaginary parts alternate
    const Tensor from = contiguous(window(source, index.shape(), source.strides()));
    add_rows(parts_in_a_row(sums), parts_in_a_row(from), rows, 1.0, recorder);
  }
  out.finish();
}

void run_index_add(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Changed out(call.output(), call.input(0), recorder);
  const Tensor& sums = out.tensor();
  IndexedRows rows = slices_of(sums.shape(), call.input(1), dim_of(call), FaultKind::index_add);
  if (is_complex(sums.dtype())) rows.inner *= 2;  // real and imaginary parts alternate
  if (rows.count() > 0)
    add_rows(parts_in_a_row(sums), parts_in_a_row(contiguous(call.input(2))), rows, call.real(1), recorder);
  out.finish();
}

}  // namespace

std::vector<KernelEntry> index_kernels() {
  return {{find_op("index_select"), {supports_index, run_index_select, true, nullptr, slice_index_select}},
          {find_op("_select_once"), {supports_index, run_index_select, true, nullptr, slice_index_select}},
          {find_op("embedding"), {supports_index, run_embedding, true, nullptr, slice_embedding}},
          {find_op("gather"), {supports_index, run_gather, true, nullptr, slice_gather}},
          {find_op("one_hot"), {supports_one_hot, run_one_hot}},
          {find_op("scatter_add"), {can_add, run_scatter_add, true}},
          {find_op("index_add"), {can_add, run_index_add, true}}};
}

}  // namespace lunagrad::gpu
