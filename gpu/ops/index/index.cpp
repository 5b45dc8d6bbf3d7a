// index_select, embedding, gather and one_hot of any element type; index_add and scatter_add of f32, c64
// and integers.
#include <algorithm>

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
  uint32_t count, picked, inner, kind;
  Divisor by_inner, by_picked;
};

bool supports_index(const Call& call) { return indexable(call.output()); }

// Copies the slices of `from` along dim that the indices select.
void pick(const Call& call, const Tensor& from, const Tensor& indices, int dim, FaultKind kind,
          Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(from), index = contiguous(indices);
  const Shape& shape = x.shape();
  Launch launch(recorder);
  IndexArguments a{};
  a.result = launch.writes(call.output());
  a.operand = launch.reads(x);
  a.index = launch.reads(index);
  a.fault = recorder.stream.fault_address();
  uint64_t inner = 1;
  for (int d = dim + 1; d < shape.size(); ++d) inner *= uint64_t(shape[d]);
  const Words words = words_of(x.dtype(), inner, a.result | a.operand);
  a.count = uint32_t(uint64_t(call.output().numel()) / words.elements);
  a.picked = uint32_t(index.numel());
  a.inner = uint32_t(inner / words.elements);
  a.size = shape.empty() ? 1 : shape[dim];
  a.kind = uint32_t(kind);
  a.by_inner = Divisor(a.inner);
  a.by_picked = Divisor(a.picked);
  const Visit visit = visit_elements(a.count, recorder);
  launch.run(shaders::Index{.type = words.type,
                            .index_type = uint32_t(index.dtype()),
                            .sixteen_bytes = words.bytes == 16,
                            .per_thread = visit.per_thread},
             {visit.groups}, bytes_of(a));
}

void run_index_select(const Call& call, Recorder& recorder) {
  const Tensor& x = call.input(0);
  pick(call, x, call.input(1), normalize_dim("index_select", call.integer(0), x.shape()),
       FaultKind::index_select, recorder);
}
bool slice_index_select(Call& call, int dim, int64_t first, int64_t size) {
  const int selected = normalize_dim("index_select", call.integer(0), call.input(0).shape());
  Tensor& x = dim == selected ? call.in[1] : call.in[0];
  x = slice_of(x, dim == selected ? 0 : dim, first, size);
  return true;
}
void run_embedding(const Call& call, Recorder& recorder) {
  pick(call, call.input(1), call.input(0), 0, FaultKind::embedding, recorder);
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

void run_scatter_add(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &index = call.input(1), &source = call.input(2);
  const Changed out(call.output(), call.input(0), recorder);
  const int dim = dim_of(call);
  const Tensor& sums = out.tensor();
  const bool long_lanes = has_long_lanes(index, dim);
  if (long_lanes || lanes_suffice(index, dim)) {
    const auto add = [&](const Tensor& target, const Tensor& from) {
      const auto run = long_lanes ? run_long_lanes : run_lanes;
      run(LaneMode::add, {index.shape(), dim, size_along(sums, dim)}, view_of(target, dim),
          view_of(from, dim), view_of(index, dim), FaultKind::scatter_add, recorder);
    };
    if (!is_complex(sums.dtype()))
      add(sums, source);
    else
      for (const int part : {0, 1}) add(part_view(sums, part), part_view(source, part));
  } else {
    const Tensor rows = contiguous(window(source, index.shape(), source.strides()));
    const uint64_t parts = is_complex(sums.dtype()) ? 2 : 1;
    add_by_index(parts_in_a_row(sums), parts_in_a_row(rows), {1, uint64_t(sums.numel()), parts, 1.0},
                 {contiguous(index), dim, size_along(sums, dim), sums.strides(), FaultKind::scatter_add},
                 recorder);
  }
  out.finish();
}

struct AddPushConstants {
  uint64_t target, source, index, fault;
  uint32_t outer, size, count, inner, kind;
  float alpha;
};
static_assert(sizeof(AddPushConstants) <= kPushConstantBytes);

void run_index_add(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Changed out(call.output(), call.input(0), recorder);
  const Tensor& sums = out.tensor();
  const Tensor index = contiguous(call.input(1)), source = contiguous(call.input(2));
  const int dim = dim_of(call);
  uint64_t outer = 1, inner = is_complex(sums.dtype()) ? 2 : 1;  // real and imaginary parts alternate
  for (int d = 0; d < sums.ndim(); ++d)
    if (d != dim) (d < dim ? outer : inner) *= uint64_t(sums.size(d));
  const uint64_t size = uint64_t(size_along(sums, dim)), count = uint64_t(index.numel());
  const uint64_t column_groups = (outer * inner + kGroupSize - 1) / kGroupSize;
  if (count == 0) return out.finish();
  // With few indices, each row of the target searches all of them, which takes one dispatch.
  constexpr uint64_t kFew = 512, kShort = 8192;
  if (count <= kFew && column_groups * size * ((count + kGroupSize - 1) / kGroupSize) <= kShort) {
    Launch launch(recorder);
    AddPushConstants push{};
    push.target = launch.writes(sums);
    push.source = launch.reads(source);
    push.index = launch.reads(index);
    push.fault = recorder.stream.fault_address();
    push.outer = uint32_t(outer);
    push.inner = uint32_t(inner);
    push.size = uint32_t(size);
    push.count = uint32_t(count);
    push.kind = uint32_t(FaultKind::index_add);
    push.alpha = float(call.real(1));
    launch.run(
        shaders::IndexAdd{.type = uint32_t(part_type(sums.dtype())), .index_type = uint32_t(index.dtype())},
        {group_count(column_groups * size, recorder)}, {}, bytes_of(push));
  } else {
    add_by_index(parts_in_a_row(sums), parts_in_a_row(source), {outer, size, inner, call.real(1)},
                 {reshape(index, {index.numel()}), 0, int64_t(size), {1}, FaultKind::index_add}, recorder);
  }
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
