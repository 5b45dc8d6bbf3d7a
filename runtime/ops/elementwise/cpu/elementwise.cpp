#include "runtime/ops/elementwise/cpu/elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/elementwise/cpu/complex_kernels.h"
#include "runtime/ops/elementwise/cpu/copy.h"

namespace lunagrad {
namespace {

constexpr int64_t kTile = 8192;  // bytes of a tile's buffer: all buffers of a tile fit the first-level cache
constexpr int64_t kStretch = 8192;  // elements of an unbuffered tile

struct Work : RowWork {
  int64_t tile;  // elements that fit a buffer of kTile bytes
};

Work prepare(const Call& call) {
  Work work{row_work(call), 0};
  if (!work.kernel) fail(call.op->name, ": not computed for ", work.type);
  work.tile = kTile / int64_t(std::max(item_size(work.type), sizeof(double)));
  return work;
}

// An element of any dtype, converted to the kernel's type.
struct Single {
  alignas(16) char bytes[16];
};

// Makes the call one stretch, if every operand is contiguous or a single element and only single elements
// need a conversion. `single` holds these elements, converted. Returns false when this is not possible.
bool as_one_stretch(const Call& call, const Work& work, Stretch& stretch,
                    Single (&single)[kMostRowOperands]) {
  const Tensor& out = call.output();
  if (!out.is_contiguous() || out.dtype() != work.result) return false;
  const int64_t count = out.numel();
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& x = call.in[i];
    stretch.in[i] = kAbsentOperand;
    stretch.step[i] = 0;
    if (!x.defined()) continue;
    const int64_t elements = x.numel();
    if (elements == count && x.is_contiguous() && readable_as(x.dtype(), work.type)) {
      stretch.in[i] = x.raw();
      stretch.step[i] = 1;
    } else if (elements == 1) {
      block_copy(work.type, x.dtype())(single[i].bytes, 0, 0, static_cast<char*>(x.raw()), 0, 0, 1, 1);
      stretch.in[i] = single[i].bytes;
    } else {
      return false;
    }
  }
  stretch.out = out.raw();
  stretch.count = count;
  stretch.params = work.params;
  return true;
}

void run_stretch(const Call& call, const Work& work, const Stretch& whole) {
  if (whole.count <= kElementwiseGrain) return work.kernel(whole);
  const int64_t size = int64_t(item_size(work.type)), out_size = int64_t(item_size(work.result));
  const bool in_place = call.in[0].storage_ref() == call.output().storage_ref();
  const bool past_caches = whole.count * out_size >= kElementwisePastCaches && !in_place;
  // Real kernels use non-temporal stores themselves, so that their arithmetic overlaps the stores.
  const bool by_kernel = past_caches && is_floating(work.type) && work.result == work.type &&
                         reinterpret_cast<uintptr_t>(whole.out) % kStreamAlignment == 0;
  const bool buffered = past_caches && !by_kernel;
  parallel_for(whole.count, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    alignas(64) char buffer[kTile];
    const int64_t step = buffered ? work.tile : kStretch;
    Stretch part = whole;
    part.past_caches = by_kernel;
    for (int64_t at = begin; at < end; at += step) {
      part.count = std::min(step, end - at);
      for (size_t i = 0; i < call.in.size(); ++i)
        part.in[i] = static_cast<const char*>(whole.in[i]) + at * whole.step[i] * size;
      char* out = static_cast<char*>(whole.out) + at * out_size;
      part.out = buffered ? buffer : out;
      work.kernel(part);
      if (buffered) copy_past_caches(out, buffer, part.count * out_size);
    }
  });
}

// The loops of a call with strided operands: dims outermost first, adjacent dims merged where every operand
// allows it, the last two divided into tiles. Side `count` is the output.
class StridedWalk {
 public:
  StridedWalk(const Call& call, const Work& work);
  void run() const {
    parallel_for(outer_ * down_ * across_, iterations_in(kElementwiseGrain, tile_rows_ * tile_columns_),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t tile = begin; tile < end; ++tile) run_tile(tile);
                 });
  }

 private:
  struct Side {
    char* data = nullptr;      // null: the operand is absent
    BlockCopy copy = nullptr;  // into or out of a buffer; null: the kernel uses the operand's memory directly
    int64_t item = 0;          // bytes of an element of the kernel's type
    int64_t stride[kMaxDims];  // bytes, for each dim
  };
  void read_dims(const Call&);
  void sort_and_merge();
  void swap_dims(int a, int b);
  void choose_tiles();
  void run_tile(int64_t tile) const;
  const Tensor& tensor(const Call& call, int i) const {
    return i == count_ ? call.output() : call.in[size_t(i)];
  }

  const Work& work_;
  const int count_;
  Side sides_[kMostRowOperands + 1];
  Single single_[kMostRowOperands];  // operands of one element, converted
  int dims_ = 0;
  int64_t size_[kMaxDims];
  int rows_ = 0, columns_ = 0;  // the dims of a tile
  bool whole_tiles_ = false;    // each tile is one kernel call: all operands and the output are contiguous
  bool past_caches_ = false;    // the buffered output is written with non-temporal stores
  int64_t tile_rows_, tile_columns_, down_, across_, outer_;
};

StridedWalk::StridedWalk(const Call& call, const Work& work) : work_(work), count_(int(call.in.size())) {
  read_dims(call);
  sort_and_merge();
  for (int i = 0; i <= count_; ++i) {
    const Tensor& x = tensor(call, i);
    if (!x.defined()) continue;
    Side& side = sides_[i];
    const DType wanted = i == count_ ? work.result : work.type;
    side.data = static_cast<char*>(x.raw());
    side.item = int64_t(item_size(wanted));
    if (i < count_ && x.numel() == 1) {  // all strides are 0: convert it once
      side.data = single_[i].bytes;
      block_copy(wanted, x.dtype())(side.data, 0, 0, static_cast<char*>(x.raw()), 0, 0, 1, 1);
      continue;
    }
    const int64_t stride = side.stride[columns_];
    const bool usable = readable_as(x.dtype(), wanted) && (i < count_ || x.dtype() == wanted);
    if (!usable || !(stride == side.item || (stride == 0 && i < count_)))
      side.copy = i == count_ ? block_copy(x.dtype(), wanted) : block_copy(wanted, x.dtype());
  }
  choose_tiles();
  const Tensor& out = call.output();
  past_caches_ = int64_t(out.nbytes()) >= kElementwisePastCaches &&
                 std::none_of(call.in.begin(), call.in.end(), [&](const Tensor& x) {
                   return x.defined() && x.storage_ref() == out.storage_ref();
                 });
}

void StridedWalk::read_dims(const Call& call) {
  const Tensor& out = call.output();
  for (int d = 0; d < out.ndim(); ++d) {
    if (out.shape()[d] == 1) continue;
    size_[dims_] = out.shape()[d];
    for (int i = 0; i <= count_; ++i) {
      const Tensor& x = tensor(call, i);
      const int own = x.defined() ? d - out.ndim() + x.ndim() : -1;
      sides_[i].stride[dims_] =
          own >= 0 && x.shape()[own] != 1 ? x.strides()[own] * int64_t(item_size(x.dtype())) : 0;
    }
    ++dims_;
  }
}

void StridedWalk::swap_dims(int a, int b) {
  std::swap(size_[a], size_[b]);
  for (int i = 0; i <= count_; ++i) std::swap(sides_[i].stride[a], sides_[i].stride[b]);
}

// Sorts the dims by the output's strides, so that an in-place op on a transposed tensor follows its memory.
void StridedWalk::sort_and_merge() {
  const int64_t* out = sides_[count_].stride;
  for (int d = 1; d < dims_; ++d)
    for (int at = d; at > 0 && std::abs(out[at - 1]) < std::abs(out[at]); --at) swap_dims(at - 1, at);
  int kept = 0;
  for (int d = 1; d < dims_; ++d) {
    bool merges = true;
    for (int i = 0; i <= count_; ++i) merges &= sides_[i].stride[kept] == size_[d] * sides_[i].stride[d];
    if (!merges) ++kept;
    size_[kept] = merges ? size_[kept] * size_[d] : size_[d];
    for (int i = 0; i <= count_; ++i) sides_[i].stride[kept] = sides_[i].stride[d];
  }
  dims_ = dims_ ? kept + 1 : 0;
  while (dims_ < 2) {  // a tile needs rows and columns
    size_[dims_] = 1;
    for (int i = 0; i <= count_; ++i) sides_[i].stride[dims_] = 0;
    if (dims_++) swap_dims(0, 1);
  }
  rows_ = dims_ - 2;
  columns_ = dims_ - 1;
}

void StridedWalk::choose_tiles() {
  bool buffered = false;
  for (int i = 0; i <= count_; ++i) buffered |= sides_[i].copy != nullptr;
  // An operand with unit stride in another dim is read in tiles of both dims, so that its cache lines are
  // used completely.
  bool crossed = false;
  for (int i = 0; i < count_ && !crossed; ++i) {
    const int64_t* stride = sides_[i].stride;
    if (!sides_[i].copy || std::abs(stride[columns_]) <= 64) continue;
    for (int d = 0; d < columns_ && !crossed; ++d)
      if (stride[d] != 0 && std::abs(stride[d]) <= 8) {
        swap_dims(d, rows_);
        crossed = true;
      }
  }
  whole_tiles_ = crossed && !sides_[count_].copy;
  for (int i = 0; i < count_; ++i) {
    const Side& side = sides_[i];
    whole_tiles_ &= !side.data || side.copy || (side.stride[columns_] == 0 && side.stride[rows_] == 0);
  }
  tile_columns_ = std::min(size_[columns_], crossed ? 32 : buffered ? work_.tile : kStretch);
  tile_rows_ =
      std::min(size_[rows_], std::max<int64_t>(1, (buffered ? work_.tile : kStretch) / tile_columns_));
  across_ = (size_[columns_] + tile_columns_ - 1) / tile_columns_;
  down_ = (size_[rows_] + tile_rows_ - 1) / tile_rows_;
  outer_ = 1;
  for (int d = 0; d < rows_; ++d) outer_ *= size_[d];
}

void StridedWalk::run_tile(int64_t tile) const {
  alignas(64) char buffers[kMostRowOperands + 1][kTile];
  const int64_t column = tile % across_ * tile_columns_, row = tile / across_ % down_ * tile_rows_;
  const int64_t rows = std::min(tile_rows_, size_[rows_] - row);
  const int64_t columns = std::min(tile_columns_, size_[columns_] - column);
  Stretch stretch;
  stretch.params = work_.params;
  stretch.count = columns;
  char* at[kMostRowOperands + 1];
  int64_t row_step[kMostRowOperands + 1] = {};
  char* out = nullptr;  // the memory of a buffered output
  for (int i = 0; i <= count_; ++i) {
    const Side& side = sides_[i];
    if (!side.data) {
      stretch.in[i] = kAbsentOperand;
      stretch.step[i] = 0;
      continue;
    }
    char* data = side.data + row * side.stride[rows_] + column * side.stride[columns_];
    int64_t rest = tile / across_ / down_;
    for (int d = rows_ - 1; d >= 0; --d) {
      data += rest % size_[d] * side.stride[d];
      rest /= size_[d];
    }
    at[i] = side.copy ? buffers[i] : data;
    row_step[i] = side.copy ? columns * side.item : side.stride[rows_];
    if (i == count_) {
      out = data;
    } else {
      if (side.copy)
        side.copy(buffers[i], row_step[i], side.item, data, side.stride[rows_], side.stride[columns_], rows,
                  columns);
      stretch.step[i] = side.copy || side.stride[columns_] != 0;
    }
  }
  if (whole_tiles_) {
    for (int i = 0; i < count_; ++i)
      if (sides_[i].data) stretch.in[i] = at[i];
    stretch.count = rows * columns;
    stretch.out = buffers[count_];
    work_.kernel(stretch);
    const int64_t bytes = columns * sides_[count_].item;
    for (int64_t r = 0; r < rows; ++r) {
      char* to = at[count_] + r * row_step[count_];
      const char* from = buffers[count_] + r * bytes;
      past_caches_ ? copy_past_caches(to, from, bytes) : void(std::memcpy(to, from, size_t(bytes)));
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int i = 0; i < count_; ++i)
      if (sides_[i].data) stretch.in[i] = at[i] + r * row_step[i];
    stretch.out = at[count_] + r * row_step[count_];
    work_.kernel(stretch);
  }
  const Side& side = sides_[count_];
  if (side.copy)
    side.copy(out, side.stride[rows_], side.stride[columns_], buffers[count_], row_step[count_], side.item,
              rows, columns);
}

}  // namespace

RowWork row_work(const Call& call) {
  const ElementwiseUse use = elementwise_use(*call.op);
  RowWork work;
  work.type = computing_type(call);
  work.result = work.type;
  if (use.gradient < 0 && row_traits(use.row).boolean_result)
    work.result = DType::boolean;
  else if (use.gradient < 0 && is_real_valued(Row(use.row)))
    work.result = part_type(work.type);
  if (!call.params.empty()) pack_params(call, work.params);
  if (is_complex(work.type)) {
    const RowKernels& row = complex_kernels(use.row);
    work.kernel = (use.gradient < 0 ? row.value : row.gradient[use.gradient])[work.type == DType::c128];
  } else if (is_floating(work.type)) {
    const RowKernels& row = row_kernels(use.row);
    work.kernel = (use.gradient < 0 ? row.value : row.gradient[use.gradient])[work.type == DType::f64];
  } else if (use.gradient < 0) {
    work.kernel = integer_kernels(use.row).value[work.type == DType::i32   ? 0
                                                 : work.type == DType::i64 ? 1
                                                                           : 2];
  }
  return work;
}

void run_elementwise(const Call& call) {
  const Work work = prepare(call);
  Stretch stretch;
  Single single[kMostRowOperands];
  if (as_one_stretch(call, work, stretch, single))
    run_stretch(call, work, stretch);
  else
    StridedWalk(call, work).run();
}

}  // namespace lunagrad
