#pragma once
// What the ops with index tensors share (index.cpp, scatter.cpp): checked indices, and the loops over the
// lanes of gather and scatter. For kernels only: CPU tensors, any thread.
#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"

namespace lunagrad {

inline constexpr int64_t kIndexGrain = 1 << 15;  // elements moved in about 20 µs

inline void need_index_type(const char* op, const Tensor& index) {
  const DType t = index.dtype();
  if (t != DType::i64 && t != DType::i32 && t != DType::u8)
    fail(op, ": indices must be i64, i32 or u8 (got ", t, "); index:long() converts them");
}

// Whether all of these are at least 0 and below size: a sign bit tells, without a branch or comparison.
inline bool all_below(const int64_t* indices, int64_t count, int64_t size) {
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; ++i)
    signs |= uint64_t(indices[i]) | (uint64_t(size) - 1 - uint64_t(indices[i]));
  return int64_t(signs) >= 0;
}

// The indices as contiguous i64, each checked to be below `size`. With `wraps` negative ones count from the
// end. repeats: how often each index followed in the index that the script gave, for errors.
class Indices {
 public:
  explicit Indices(const Tensor& index) : memory_(index) {  // without a check
    if (!index.is_contiguous() || index.dtype() != DType::i64) {
      memory_ = Tensor::empty(index.shape(), DType::i64);
      copy_strided(memory_.raw(), DType::i64, memory_.strides(), index.raw(), index.dtype(), index.strides(),
                   index.shape());
    }
    values_ = memory_.data<int64_t>();
  }
  Indices(const char* op, const Tensor& index, int dim, int64_t size, bool wraps = false, int64_t repeats = 1)
      : Indices(index) {
    std::atomic<bool> good = true;
    parallel_for(this->size(), kIndexGrain, [&](int64_t begin, int64_t end) {
      if (!all_below(values_ + begin, end - begin, size)) good = false;
    });
    if (good) return;
    const int64_t least = wraps ? -size : 0;
    for (int64_t i = 0; i < this->size(); ++i)
      if (values_[i] < least || values_[i] >= size)
        fail(op, ": index ", values_[i], " at position ", i * repeats + 1, " is out of range for dim ",
             dim + 1, " of size ", size, " (indices count from 0)");
    if (!wraps) return;
    const Tensor wrapped = Tensor::empty(index.shape(), DType::i64);
    std::transform(values_, values_ + this->size(), wrapped.data<int64_t>(),
                   [size](int64_t i) { return i < 0 ? i + size : i; });
    memory_ = wrapped;
    values_ = memory_.data<int64_t>();
  }
  int64_t size() const { return memory_.numel(); }
  int64_t operator[](int64_t i) const { return values_[i]; }
  const int64_t* data() const { return values_; }

 private:
  Tensor memory_;
  const int64_t* values_;
};

inline int dim_of(const Call& call) {
  return normalize_dim(call.op->name, call.integer(0), call.input(0).shape());
}
inline int dim_of(const Backward& b) { return normalize_dim(b.node().op->name, b.integer(0), b.shape(0)); }

inline void check_lanes(const char* op, const char* whole, const Shape& shape, const Shape& index, int dim) {
  bool fits = index.size() == shape.size();
  for (int i = 0; fits && i < index.size(); ++i) fits = i == dim || index[i] <= shape[i];
  if (!fits)
    fail(op, ": an index of shape ", index, " does not fit ", whole, " of shape ", shape, " along dim ",
         dim + 1);
}

// Checks the operands of a scatter: the input, the index, and a source that is at least as long as the index
// along every dim.
inline void check_scattered(const Call& call, const char* op) {
  const Shape x = with_one_dim(call.input(0).shape()), index = with_one_dim(call.input(1).shape());
  check_lanes(op, "a tensor", x, index, dim_of(call));
  if (const Tensor& source = call.input(2); !source.is_number())
    check_lanes(op, "a source", with_one_dim(source.shape()), index, -1);
}

// Calls f(i, offset) in row-major order for the positions i of the index whose coordinate along dim `across`
// is in [begin, end). offset is where the lane along `dim` begins in a contiguous tensor of shape `whole`.
template <class F>
void for_lanes(const Shape& shape, const Shape& whole, int dim, int across, int64_t begin, int64_t end,
               F&& f) {
  const Strides strides = contiguous_strides(whole), index_strides = contiguous_strides(shape);
  const int n = shape.size(), last = n - 1;
  int64_t position[kMaxDims] = {};
  const auto first_of = [&](int i) { return i == across ? begin : 0; };
  const auto end_of = [&](int i) { return i == across ? end : shape[i]; };
  int64_t rows = 1;
  for (int i = 0; i < last; ++i) {
    position[i] = first_of(i);
    rows *= end_of(i) - first_of(i);
  }
  const int64_t step = last == dim ? 0 : 1;
  const int64_t start = first_of(last), length = end_of(last) - start;
  const int64_t rows_at_once = std::max<int64_t>(1, kStopPiece / std::max<int64_t>(length, 1));
  for (int64_t row = 0; row < rows;) {
    context().check_stop();
    for (const int64_t behind = std::min(rows, row + rows_at_once); row < behind; ++row) {
      int64_t base = 0, at = 0;
      for (int i = 0; i < last; ++i) {
        at += position[i] * index_strides[i];
        if (i != dim) base += position[i] * strides[i];
      }
      const auto walk = [&](int64_t k, int64_t end_k) {
        for (; k < end_k; ++k) f(at + k, base + k * step);
      };
      if (length > kStopPiece)
        in_pieces(length, [&](int64_t from, int64_t to) { walk(start + from, start + to); });
      else
        walk(start, start + length);
      for (int i = last - 1; i >= 0 && ++position[i] == end_of(i); --i) position[i] = first_of(i);
    }
  }
}

// The index as one dim, if it was expanded from one along all dims but `dim`, or these have size 1: it
// selects whole rows of a tensor of shape `whole`. Else undefined.
inline Tensor index_of_rows(const Tensor& index, const Shape& whole, int dim) {
  if (index.ndim() != whole.size()) return {};
  for (int d = 0; d < whole.size(); ++d) {
    if (d == dim || (whole[d] == 1 && index.size(d) == 1)) continue;
    if (index.strides()[d] != 0 || index.size(d) != whole[d]) return {};
  }
  return Tensor(index.storage_ref(), LayoutRef(new Layout({index.size(dim)}, {index.strides()[dim]})),
                index.offset(), index.dtype());
}

// The positions of an index by the range of rows that they name, in their order within a range.
class RowRanges {
 public:
  // About `wanted` ranges of `rows` rows.
  RowRanges(const Indices& index, int64_t rows, int64_t wanted) : places_(index.size()) {
    while ((rows >> (shift_ + 1)) >= wanted) ++shift_;
    const int64_t count = index.size(), ranges = ((rows - 1) >> shift_) + 1;
    const int64_t pieces = std::clamp<int64_t>(count / (kIndexGrain / 4), 1, 2 * thread_count());
    std::vector<int64_t> next(static_cast<size_t>(pieces * ranges), 0);
    const auto for_pieces = [&](auto&& f) {
      parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end; ++piece) {
          int64_t* const of_piece = next.data() + piece * ranges;
          for (int64_t k = count * piece / pieces; k < count * (piece + 1) / pieces; ++k)
            f(k, of_piece[index[k] >> shift_]);
        }
      });
    };
    for_pieces([](int64_t, int64_t& found) { ++found; });
    int64_t total = 0;
    for (int64_t range = 0; range < ranges; ++range) {
      begins_.push_back(total);
      for (int64_t piece = 0; piece < pieces; ++piece)
        total += std::exchange(next[size_t(piece * ranges + range)], total);
    }
    begins_.push_back(total);
    for_pieces([places = places_.data()](int64_t k, int64_t& at) { places[at++] = k; });
  }
  int64_t size() const { return int64_t(begins_.size()) - 1; }
  // Calls f(position) for a range. The rows of the source, of `bytes` bytes, are far apart: a few are fetched
  // ahead.
  template <class F>
  void for_each(int64_t range, const void* source, int64_t bytes, F&& f) const {
    constexpr int64_t kAhead = 8, kLine = 64, kMost = 8 * kLine;
    const int64_t end = begins_[size_t(range) + 1];
    for (int64_t i = begins_[size_t(range)]; i < end; ++i) {
      if (source && i + kAhead < end)
        for (int64_t at = 0; at < std::min(bytes, kMost); at += kLine)
          __builtin_prefetch(static_cast<const char*>(source) + places_.data()[i + kAhead] * bytes + at);
      f(places_.data()[i]);
    }
  }

 private:
  Workspace<int64_t> places_;
  std::vector<int64_t> begins_;
  int shift_ = 0;
};

// Calls f(n), with a constant for a few small n, so that loops over so few columns are unrolled.
template <class F>
void with_columns(int64_t n, F&& f) {
  if (n == 1) return f(std::integral_constant<int64_t, 1>());
  if (n == 4) return f(std::integral_constant<int64_t, 4>());
  if (n == 8) return f(std::integral_constant<int64_t, 8>());
  f(n);
}

// Calls f(target row, row of the source, first column, columns) for each outer position and index, for each
// target in the order of the index. The work is split by outer position, then by runs of columns or, where
// these are too few, by ranges of targets: no two threads have a target in common. `source` may be null,
// `bytes` is the size of its rows.
template <class F>
void for_indexed_rows(const Split& into, const Indices& index, const void* source, int64_t bytes, F&& f) {
  const int64_t count = index.size(), inner = into.inner, threads = thread_count();
  if (count == 0 || inner == 0) return;
  constexpr int64_t kLine = 16, kFewColumns = 64;
  // What a position costs beside its columns, also where it is read from a range, in columns.
  constexpr int64_t kPosition = 14, kRanged = 60;
  const int64_t least = std::min(inner, kFewColumns);
  const bool ranged = into.outer * (inner / kLine) < threads &&
                      count * (inner + kPosition) > 8 * kIndexGrain &&
                      least + kRanged < threads * (least + kPosition);
  const int64_t wanted = std::max<int64_t>(1, 2 * threads / into.outer);
  const int64_t columns = std::max((inner + wanted - 1) / wanted, ranged ? least : std::min(inner, kLine));
  const int64_t runs = (inner + columns - 1) / columns, tasks = into.outer * runs;
  const int64_t work = count * (columns + kPosition);
  const auto call = [&](int64_t task, auto&& walk) {
    const int64_t outer = task / runs, first = task % runs * columns;
    with_columns(std::min(columns, inner - first), [&](auto n) {
      walk([&](int64_t k) { f(outer * into.size + index[k], outer * count + k, first, n); });
    });
  };
  if (!ranged)
    return parallel_for(tasks, iterations_in(kIndexGrain, work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task)
        call(task, [&](auto&& each) {
          in_pieces(count, [&](int64_t from, int64_t to) {
            for (int64_t k = from; k < to; ++k) each(k);
          });
        });
    });
  const RowRanges ranges(index, into.size, 2 * wanted);
  const auto* const rows = static_cast<const char*>(source);
  parallel_for(tasks * ranges.size(), iterations_in(kIndexGrain, work / ranges.size()),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t outer = i % tasks / runs;
                   call(i % tasks, [&](auto&& each) {
                     ranges.for_each(i / tasks, rows ? rows + outer * count * bytes : nullptr, bytes, each);
                   });
                 }
               });
}

// The longest dim other than `dim` (-1: of all dims), along which the work is split over threads; -1 if there
// is none.
inline int longest_other(const Shape& shape, int dim) {
  int longest = -1;
  for (int i = 0; i < shape.size(); ++i)
    if (i != dim && (longest < 0 || shape[i] > shape[longest])) longest = i;
  return longest;
}

// Ops that only read the tensor of shape `whole` also split the work along `dim`.
template <class F>
void for_lanes_in_parallel(const Shape& shape, const Shape& whole, int dim, F&& f, bool reads = false) {
  const int across = longest_other(shape, reads ? -1 : dim);
  if (numel(shape) == 0) return;
  if (across < 0) return for_lanes(shape, whole, dim, -1, 0, 0, f);
  const int64_t per_position = numel(shape) / shape[across];
  parallel_for(shape[across], iterations_in(kIndexGrain / 4, per_position),
               [&](int64_t begin, int64_t end) { for_lanes(shape, whole, dim, across, begin, end, f); });
}

// The view of this shape that begins at the first element of x.
inline Tensor corner_of(const Tensor& x, const Shape& shape) {
  return Tensor(x.storage_ref(), LayoutRef(new Layout(shape, x.strides())), x.offset(), x.dtype());
}

// The gradient of a source when an op read only its first elements along each dim: zeros of this shape, with
// `part` at these elements. For any device.
inline Tensor in_corner(const Tensor& part, const Shape& shape) {
  if (part.shape() == shape) return part;
  return as_strided_scatter(blank(shape, part.dtype(), part.device()), part, contiguous_strides(shape), 0);
}

// An element of 16 bytes.
struct PairOfWords {
  uint64_t first, second;
};

// Calls f with a null pointer to a plain type of the size of an element.
template <class F>
void visit_word(DType type, F&& f) {
  switch (item_size(type)) {
    case 1:
      return f(static_cast<uint8_t*>(nullptr));
    case 2:
      return f(static_cast<uint16_t*>(nullptr));
    case 4:
      return f(static_cast<uint32_t*>(nullptr));
    case 8:
      return f(static_cast<uint64_t*>(nullptr));
    default:
      return f(static_cast<PairOfWords*>(nullptr));
  }
}

}  // namespace lunagrad
