#include "runtime/ops/linalg/pair_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/linalg/cpu/pair_function.h"
#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

struct Range {
  int64_t first, size;
};
// Positions of a dim. Dims of size 1 repeat.
Tensor slice(const Tensor& x, int dim, const Range& range) {
  if (!x.defined() || dim < 0 || x.shape()[dim] == 1) return x;
  Shape shape = x.shape();
  shape[dim] = range.size;
  return Tensor(x.storage_ref(), LayoutRef(new Layout(shape, x.strides())),
                x.offset() + range.first * x.strides()[dim], x.dtype());
}
void copy(const Tensor& to, const Tensor& from) {
  copy_strided(to.raw(), to.dtype(), to.strides(), from.raw(), from.dtype(), from.strides(), from.shape());
}

// The rows of both matrices in one call.
struct Block {
  Range own, others;

  const Range& rows(PairRole role) const { return role == PairRole::other_rows ? others : own; }
  Tensor of(const Tensor& x, PairRole role) const {
    const Tensor part = slice(x, x.ndim() - 2, rows(role));
    return role == PairRole::pairs ? slice(part, x.ndim() - 1, others) : part;
  }
};

// Runs f(row, condensed elements of the pairs of that row and later rows) for rows of a block. Places of a
// row are adjacent.
template <class F>
void for_condensed(const Tensor& pairs, F&& f) {
  visit_any_dtype(pairs.dtype(), [&]<class T>() {
    if constexpr (sizeof(T) == 2) f(pairs.data<T>());
  });
}
Tensor square_block(const Tensor& pairs, const Block& block, int64_t n) {
  const Tensor made = Tensor::empty({block.own.size, block.others.size}, DType::f32);
  float* const to = made.data<float>();
  const int64_t step = pairs.strides()[0];
  for_condensed(pairs, [&](const auto* from) {
    parallel_for(block.own.size, iterations_in(20000, block.others.size), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < block.others.size; ++c) {
          const int64_t i = block.own.first + r, j = block.others.first + c;
          to[r * block.others.size + c] =
              i == j ? 0 : convert<float>(from[pair_index(std::min(i, j), std::max(i, j), n) * step]);
        }
    });
  });
  return made;
}
void store_condensed(const Tensor& pairs, const Tensor& square, const Block& block, int64_t n) {
  const float* const from = square.data<float>();
  for_condensed(pairs, [&]<class T>(T* to) {
    parallel_for(block.own.size, iterations_in(20000, block.others.size), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < block.others.size; ++c) {
          const int64_t i = block.own.first + r, j = block.others.first + c;
          if (i < j) to[pair_index(i, j, n)] = convert<T>(from[r * block.others.size + c]);
        }
    });
  });
}

// The least number that a 16-bit type rounds to x >= 0, so that comparisons with it decide as for rounded
// numbers.
float least_rounded_to(float x, DType type) {
  if (!(x > 0)) return x;
  const int digits = type == DType::f16 ? 11 : 8;
  const float smallest = type == DType::f16 ? 0x1p-24f : 0x1p-133f;
  if (std::isinf(x)) return type == DType::f16 ? 65520.f : x;
  int exponent;
  const float part = std::frexp(x, &exponent);
  const double unit = std::max<double>(std::ldexp(1.0, exponent - digits), smallest);
  const double below = part == 0.5f ? std::max<double>(unit / 2, smallest) : unit;
  const float middle = float(double(x) - below / 2);
  const bool even = std::fmod(double(x) / unit, 2) == 0;
  return even ? middle : std::nextafter(middle, std::numeric_limits<float>::infinity());
}

class Blocks {
 public:
  Blocks(const PairBlocks& form, const Call& call) : form_(form) {
    double bytes = double(call.output().nbytes());
    for (const Tensor& x : call.in)
      if (x.defined()) bytes += double(x.nbytes());
    room_ = std::max(bytes * kShare / sizeof(float), kLeast);
  }

  // All items of the batch, or halves of them.
  void run(const Call& call) const {
    const Tensor& out = call.output();
    const int64_t m = call.input(0).size(-2), n = call.input(call.in.size() > 1 ? 1 : 0).size(-2);
    int64_t own = std::max<int64_t>(1, m), others = std::max<int64_t>(1, n);
    int dim = 0;
    while (dim < out.ndim() - 2 && out.shape()[dim] == 1) ++dim;
    if (!form_.condensed && dim < out.ndim() - 2 && elements(call, own, others) > room_) {
      const int64_t size = out.shape()[dim], half = (size + 1) / 2;
      for (const Range& range : {Range{0, half}, Range{half, size - half}}) {
        Call part = call;
        for (Tensor& x : part.in)
          if (x.defined()) x = slice(x, dim - (out.ndim() - x.ndim()), range);
        part.out[0] = slice(out, dim, range);
        run(part);
      }
      return;
    }
    while (elements(call, own, others) > room_ && (own > 1 || others > 1)) {
      const double fewer_own = own > 1 ? elements(call, (own + 1) / 2, others) : INFINITY,
                   fewer_others = others > 1 ? elements(call, own, (others + 1) / 2) : INFINITY;
      int64_t& halved = fewer_own <= fewer_others ? own : others;
      halved = (halved + 1) / 2;
    }
    for (int64_t i = 0; i < m; i += own) run_rows(call, {i, std::min(own, m - i)}, n, others);
  }

 private:
  static constexpr double kShare = 0.3, kLeast = 1 << 10;  // of operands and results; elements

  // f32 numbers that a block of so many rows takes, with what its kernel takes for itself.
  double elements(const Call& call, int64_t own, int64_t others) const {
    const double columns = double(call.input(0).size(-1)), pairs = double(own) * double(others);
    double sum = pairs / 4 + double(others) * columns;
    const auto count = [&](const Tensor& x, PairRole role) {
      double items = 1;
      for (int d = 0; d < x.ndim() - 2; ++d) items *= double(x.shape()[d]);
      sum += items * (role == PairRole::pairs      ? pairs
                      : role == PairRole::own_rows ? double(own) * columns
                                                   : double(others) * columns);
    };
    for (size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].defined()) count(call.in[i], form_.inputs[i]);
    count(call.output(), form_.output);
    if (form_.output == PairRole::own_rows) count(call.output(), form_.output);
    return sum;
  }

  void run_rows(const Call& call, const Range& own, int64_t n, int64_t others) const {
    Tensor total;
    const bool sums = form_.output == PairRole::own_rows;
    for (int64_t j = 0; j == 0 || j < n; j += others) {
      const Block block{own, {j, std::min(others, n - j)}};
      if (!sums && form_.condensed && block.others.first + block.others.size <= own.first) continue;
      const Tensor found = result_of(call, block, n);
      if (!sums) {
        form_.condensed ? store_condensed(call.output(), found, block, n)
                        : copy(block.of(call.output(), PairRole::pairs), found);
      } else if (!total.defined()) {
        total = found;
      } else {
        float* const to = total.data<float>();
        const float* const from = found.data<float>();
        parallel_for(total.numel(), 20000, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) to[i] += from[i];
        });
      }
    }
    if (sums) copy(block_of(call.output(), own), total);
  }
  static Tensor block_of(const Tensor& out, const Range& own) { return slice(out, out.ndim() - 2, own); }

  Tensor result_of(const Call& call, const Block& block, int64_t n) const {
    Call part;
    part.op = &form_.op;
    part.params = form_.params;
    for (size_t i = 0; i < form_.inputs.size(); ++i)
      part.in.push_back(operand_of(call, i, form_.inputs[i], block, n));
    const Tensor& out = call.output();
    Shape shape = form_.condensed ? Shape{0, 0} : out.shape();
    shape[shape.size() - 2] = block.own.size;
    shape[shape.size() - 1] = form_.output == PairRole::pairs ? block.others.size : call.input(0).size(-1);
    part.out.push_back(Tensor::empty(shape, DType::f32));
    form_.op.cpu(part);
    return part.out[0];
  }
  Tensor operand_of(const Call& call, size_t i, PairRole role, const Block& block, int64_t n) const {
    // The other rows of pdist are its own.
    const Tensor& x = call.in[std::min(i, call.in.size() - 1)];
    if (!x.defined()) return x;
    Tensor made;
    if (form_.condensed && role == PairRole::pairs) {
      made = square_block(x, block, n);
    } else {
      const Tensor part = block.of(x, role);
      made = Tensor::empty(part.shape(), DType::f32);
      copy(made, part);
    }
    if (int(i) == form_.largest_at) {
      float* const values = made.data<float>();
      for (int64_t e = 0; e < made.numel(); ++e) values[e] = least_rounded_to(values[e], x.dtype());
    }
    return made;
  }

  const PairBlocks& form_;
  double room_;
};

}  // namespace

void PairBlocks::run(const Call& call) const { Blocks(*this, call).run(call); }

}  // namespace lunagrad
