// Distances between all pairs of rows of two matrices (cdist), or of one matrix (pdist).
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/half_ops.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/linalg/pair_blocks.h"
#include "runtime/ops/linalg/pairs.h"
#include "runtime/ops/products/cpu/blas.h"
#include "runtime/ops/reductions/cpu/reduce_again.h"
#include "runtime/ops/reductions/cpu/reduce_kernels.h"

namespace lunagrad {
namespace {

// The values of compute_mode, with PyTorch's names. kIfNecessary uses the matrix product for more than
// kManyRows rows.
enum Compute : int64_t { kIfNecessary, kProduct, kDirect };
constexpr int64_t kManyRows = 25;
constexpr int kPowerAt = 0, kComputeAt = 1;

void cdist_shape(Call& call) {
  require_floating(call);
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.ndim() < 2 || b.ndim() < 2)
    fail("cdist: x1 and x2 must have at least 2 dims (got shapes ", a.shape(), " and ", b.shape(), ")");
  if (a.size(-1) != b.size(-1))
    fail("cdist: the rows of x1 and x2 must have the same size (got shapes ", a.shape(), " and ", b.shape(),
         ")");
  if (!(call.real(kPowerAt) >= 0)) fail("cdist: p must not be negative (got ", call.real(kPowerAt), ")");
  const Shape batch = broadcast_shapes("cdist", batch_shape(a.shape()), batch_shape(b.shape()));
  call.emit(with_dims(batch, {a.size(-2), b.size(-2)}), a.dtype());
}

// Four sums (or maxima) side by side, so that the compiler can use vectors.
template <class T, class Term, class Join>
T reduce_pair(const T* x, const T* y, int64_t n, Term&& term, Join&& join) {
  T parts[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int64_t k = 0; k < 4; ++k) parts[k] = join(parts[k], term(std::abs(x[i + k] - y[i + k])));
  for (; i < n; ++i) parts[0] = join(parts[0], term(std::abs(x[i] - y[i])));
  return join(join(parts[0], parts[1]), join(parts[2], parts[3]));
}
// (sum |x - y|^p)^(1/p) where the sum leaves the range of T.
template <class T>
T scaled_distance(const T* x, const T* y, int64_t n, double p) {
  if (std::equal(x, x + n, y)) return 0;
  return T(norm_again(
      [&](const auto& f) {
        for (int64_t i = 0; i < n; ++i) {
          const double apart = double(x[i]) - double(y[i]);
          f(&apart, 1);
        }
      },
      p));
}
template <class T>
T distance(const T* x, const T* y, int64_t n, double p) {
  const auto plus = [](T a, T b) { return a + b; };
  const auto raised = [&](T sum, auto&& root) {
    const bool ordinary = sum >= T(SquareRange<T>::kLeast) && sum <= std::numeric_limits<T>::max();
    return ordinary ? root(sum) : scaled_distance(x, y, n, p);
  };
  if (p == 2)
    return raised(reduce_pair(
                      x, y, n, [](T d) { return d * d; }, plus),
                  [](T sum) { return std::sqrt(sum); });
  if (p == 1)
    return reduce_pair(
        x, y, n, [](T d) { return d; }, plus);
  if (p == 0)
    return reduce_pair(
        x, y, n, [](T d) { return T(d != 0); }, plus);
  if (std::isinf(p))
    return reduce_pair(
        x, y, n, [](T d) { return d; }, [](T a, T b) { return b > a || std::isnan(b) ? b : a; });
  const T power = T(p);
  return raised(reduce_pair(
                    x, y, n, [&](T d) { return std::pow(d, power); }, plus),
                [&](T sum) { return std::pow(sum, 1 / power); });
}

// |x - y|^2 = |x|^2 + |y|^2 - 2 x y from one matrix product. Where the terms cancel, so that equal rows would
// not have the distance 0, the distance is computed from the differences.
template <class T>
void distances_by_product(int64_t items, int64_t m, int64_t n, int64_t k, const T* x, const T* y, T* out) {
  constexpr T kCancelled = T(1e-2);
  const Workspace<T> memory(items * (m + n));
  T *const left = memory.data(), *const right = left + items * m;
  const auto square_lengths = [&](const T* rows, int64_t count, T* lengths) {
    parallel_for(count, std::max<int64_t>(1, 40000 / std::max<int64_t>(1, k)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     double sum = 0;
                     reduce_row(ReduceKind::sum_squares, 0, rows + i * k, k, &sum);
                     lengths[i] = T(sum);
                   }
                 });
  };
  square_lengths(x, items * m, left);
  square_lengths(y, items * n, right);
  blas::multiply<T>({.m = m,
                     .n = n,
                     .k = k,
                     .a = {x, k},
                     .b = {y, k, true},
                     .c = out,
                     .batch = {items},
                     .a_strides = {m * k},
                     .b_strides = {n * k}});
  const RowKernels& roots = row_kernels(int(Row::sqrt));
  parallel_for(items * m, std::max<int64_t>(1, 40000 / n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = row / m * n, columns = n, length = k;
      const T *const own = x + row * k, *const others = y + first * k, *const squares = right + first;
      const T own_square = left[row];
      T* const to = out + row * n;
      constexpr T kLeast = T(SquareRange<T>::kLeast);
      // If the sum of both squares is infinite, the comparison is false and the distance comes from the
      // differences.
      const auto settled = [=](T squared, T both) {
        return (squared > kCancelled * both) & (both >= kLeast);
      };
      int32_t open = 0;
      for (int64_t j = 0; j < columns; ++j) {
        const T both = own_square + squares[j];
        to[j] = (own_square - to[j]) + (squares[j] - to[j]);
        open += !settled(to[j], both);
      }
      if (open == 0) {
        roots.value[sizeof(T) == 8](
            {.in = {to}, .step = {1}, .out = to, .count = columns, .params = nullptr});
        continue;
      }
      for (int64_t j = 0; j < columns; ++j)
        to[j] = settled(to[j], own_square + squares[j]) ? std::sqrt(to[j])
                                                        : distance(own, others + j * length, length, 2.0);
    }
  });
}

// x expanded to the batch and contiguous.
Tensor expanded(const Tensor& x, const Shape& batch) {
  const Shape shape = with_dims(batch, {x.size(-2), x.size(-1)});
  if (x.shape() == shape) return in_order(x);
  Tensor copy = Tensor::empty(shape, x.dtype());
  copy_strided(copy.raw(), copy.dtype(), copy.strides(), x.raw(), x.dtype(),
               broadcast_strides(x.shape(), x.strides(), shape), shape);
  return copy;
}

// The time of a distance, in additions.
int64_t work_of(int64_t k, double p) {
  constexpr int64_t kPowerWork = 16;  // the time of a power
  return k * (p == 0 || p == 1 || p == 2 || std::isinf(p) ? 1 : kPowerWork);
}

// cdist, or with one operand pdist, of 16-bit operands.
extern const Op kCdist;
void distances_of_halves(const Call& call, int64_t mode) {
  static constexpr PairRole kRoles[] = {PairRole::own_rows, PairRole::other_rows};
  PairBlocks{.op = kCdist,
             .params = {call.real(kPowerAt), mode},
             .inputs = kRoles,
             .output = PairRole::pairs,
             .condensed = call.in.size() == 1}
      .run(call);
}

void cdist_cpu(const Call& call) {
  const Tensor& out = call.output();
  if (is_16bit_float(out.dtype())) {
    const bool many = std::max(out.size(-2), out.size(-1)) > kManyRows;
    const int64_t chosen = call.integer(kComputeAt);
    return distances_of_halves(call, chosen == kIfNecessary ? (many ? kProduct : kDirect) : chosen);
  }
  const Shape batch = batch_shape(out.shape());
  const Tensor a = expanded(call.input(0), batch), b = expanded(call.input(1), batch);
  const int64_t m = out.size(-2), n = out.size(-1), k = a.size(-1), items = numel(batch);
  const double p = call.real(kPowerAt);
  const int64_t mode = call.integer(kComputeAt);
  const bool product =
      p == 2 && k > 0 && (mode == kProduct || (mode == kIfNecessary && std::max(m, n) > kManyRows));
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T *const x = a.data<T>(), *const y = b.data<T>();
      T* const to = out.data<T>();
      if (product) return distances_by_product(items, m, n, k, x, y, to);
      parallel_for(items * m * n, iterations_in(40000, work_of(k, p)), [&](int64_t begin, int64_t end) {
        const int64_t length = k;
        const double power = p;
        for (int64_t i = begin; i < end;) {
          const int64_t row = i / n, last = std::min(end, (row + 1) * n);
          const T* const own = x + row * k;
          const T* other = y + (row / m * n + i % n) * k;
          T* const distances = to;
          for (; i < last; ++i, other += length) distances[i] = distance(own, other, length, power);
        }
      });
    }
  });
}

Operands cdist_compose(const Call& call) {
  const Tensor difference = unsqueeze(call.input(0), -2) - unsqueeze(call.input(1), -3);
  if (difference.size(-1) == 0) return {sum(difference, {-1})};
  return {norm(difference, call.real(kPowerAt), {-1})};
}

// d y / d x1 = sign(t) |t|^(p-1) with t = (x1 - x2) / y, and 0 where y is 0. Largest differences, for p =
// inf, each get the whole gradient, as in PyTorch.
PairFunction slope_of(double p) { return {p - 1, true}; }
// For p = 1 the slope does not depend on y, for p = 0 it is 0.
bool reads_distances(const Call& call) {
  return call.real(kPowerAt) > 1 || std::fmod(call.real(kPowerAt), 1) != 0;
}

void cdist_vjp(Backward& b) {
  const double p = b.real(kPowerAt);
  if (p == 0) {
    for (int i = 0; i < 2; ++i)
      if (b.needs(i)) b.set(i, zeros(b.shape(i), b.dtype(i), b.device()));
    return;
  }
  Tensor x1 = b.input(0), x2 = b.input(1), g = b.grad(), y = p == 1 ? Tensor() : b.output();
  if (b.create_graph() && is_16bit_float(x1.dtype())) {  // further derivatives round nothing in between
    x1 = to(x1, DType::f32), x2 = to(x2, DType::f32), g = to(g, DType::f32);
    if (y.defined()) y = apply1(*find_op("cdist"), {x1, x2}, {p, b.integer(kComputeAt)});
  }
  if (p == 2 && b.needs(0) && b.needs(1) && !b.create_graph()) {
    const Operands slopes = cdist_gradients(g, x1, x2, y);
    return b.set(0, slopes[0]), b.set(1, slopes[1]);
  }
  if (b.needs(0)) b.set(0, to(pair_row_sums(x1, x2, {g, y, {}}, slope_of(p)), b.dtype(0)));
  if (b.needs(1)) {
    const PairOperands of_pairs = {transposed(g), y.defined() ? transposed(y) : y, {}};
    b.set(1, to(pair_row_sums(x2, x1, of_pairs, slope_of(p)), b.dtype(1)));
  }
}

double cdist_flops(const Call& call) {
  const double each = call.real(kPowerAt) == 2 || call.real(kPowerAt) == 1 ? 2 : 3;
  return each * elements(call.out[0]) * double(call.input(0).size(-1));
}
const Op kCdist{
    .name = "cdist",
    .doc = "The p-norm of the difference of every row of x1 and every row of x2; p may be 0 and inf.",
    .inputs = {{"x1"}, {"x2"}},
    .params = {{"p", ParamKind::real, 2.0},
               {"compute_mode",
                ParamKind::choice,
                int64_t(kIfNecessary),
                {"use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                 "donot_use_mm_for_euclid_dist"}}},
    .shape = cdist_shape,
    .cpu = cdist_cpu,
    .vjp = cdist_vjp,
    .reads = {{.inputs = 3, .outputs = 1}},
    .reads_outputs = reads_distances,
    .compose = cdist_compose,
    .composed = never_composed,
    .half_through_f32 = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {cdist_flops, "2 for each pair of elements, 3 if p is neither 1 nor 2"},
    .examples = {
        {.inputs = {{{3, 2}}, {{4, 2}}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 4}}, {{2, 4}}}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 4}}, {{2, 4}}}, .params = {1.0}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 4}}, {{2, 4}}}, .params = {3.0}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 4}}, {{2, 4}}}, .params = {2.0, 1}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 4}}, {{2, 5}}}, .error = "cdist: the rows of x1 and x2 must have the same size"},
        {.inputs = {{{3, 4}}, {{2, 4}}}, .params = {-1.0}, .error = "cdist: p must not be negative"}}};

// --- pdist ---

void pdist_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() != 2) fail("pdist: input must be [N, M] (got shape ", x.shape(), ")");
  if (!is_floating(x.dtype())) fail("pdist: a floating type is needed (got ", x.dtype(), ")");
  if (!(call.real(kPowerAt) >= 0)) fail("pdist: p must be at least 0 (got ", call.real(kPowerAt), ")");
  call.emit(Shape{pair_count(x.size(0))}, x.dtype());
}
void pdist_cpu(const Call& call) {
  if (is_16bit_float(call.output().dtype())) return distances_of_halves(call, kDirect);
  const Tensor x = in_order(call.input(0));
  const int64_t n = x.size(0), k = x.size(1);
  const double p = call.real(kPowerAt);
  visit_linalg_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T* const rows = x.data<T>();
      T* const out = call.output().data<T>();
      parallel_for(n, iterations_in(40000, n / 2 * work_of(k, p)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          for (int64_t j = i + 1; j < n; ++j)
            out[pair_index(i, j, n)] = distance(rows + i * k, rows + j * k, k, p);
      });
    }
  });
}
Operands pdist_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t n = x.size(0);
  Tensor first, second;
  {
    const NoGrad off;
    const Tensor pairs = nonzero(triu(ones({n, n}, DType::f32, x.device()), 1));
    first = select(pairs, 1, 0), second = select(pairs, 1, 1);
  }
  if (first.numel() == 0 || x.size(1) == 0) return {zeros({first.numel()}, x.dtype(), x.device())};
  return {norm(index_select(x, 0, first) - index_select(x, 0, second), call.real(kPowerAt), {1})};
}
void pdist_vjp(Backward& b) {
  const double p = b.real(kPowerAt);
  Tensor x = b.input(0), g = b.grad();
  const int64_t n = x.size(0);
  if (p == 0) return b.set(0, zeros(x.shape(), x.dtype(), x.device()));
  Tensor y = p == 1 ? Tensor() : b.output();
  if (!b.create_graph()) return b.set(0, pair_row_sums(x, x, {g, y, {}}, slope_of(p), true));
  if (is_16bit_float(x.dtype())) {
    x = to(x, DType::f32), g = to(g, DType::f32);
    if (y.defined()) y = apply1(*find_op("pdist"), {x}, {p});
  }
  const Tensor square = y.defined() ? square_of_pairs(y, n) : y;
  b.set(0, to(pair_row_sums(x, x, {square_of_pairs(g, n), square, {}}, slope_of(p)), b.dtype(0)));
}
double pdist_flops(const Call& call) {
  const double each = call.real(kPowerAt) == 2 || call.real(kPowerAt) == 1 ? 2 : 3;
  return each * elements(call.out[0]) * double(call.input(0).size(-1));
}
const Op kPdist{
    .name = "pdist",
    .doc = "The p-norms of the differences of all pairs of rows of input [N, M]: [N (N - 1) / 2].",
    .inputs = {{"input"}},
    .params = {{"p", ParamKind::real, 2.0}},
    .shape = pdist_shape,
    .cpu = pdist_cpu,
    .vjp = pdist_vjp,
    .reads = {{.inputs = 1, .outputs = 1}},
    .reads_outputs = reads_distances,
    .compose = pdist_compose,
    .composed = never_composed,
    .half_through_f32 = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {pdist_flops, "2 for each pair of elements, 3 if p is neither 1 nor 2"},
    .examples = {{.inputs = {{.shape = {4, 3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3, 2}}}, .params = {1.0}, .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3, 2}}}, .params = {3.0}, .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {4}}}, .error = "input must be [N, M]"},
                 {.inputs = {{.shape = {4, 2}}}, .params = {-1.0}, .error = "p must be at least 0"}}};

}  // namespace

bool is_pairs_of_rows(const Call& call) {
  return call.op == &kCdist || call.op == &kPdist || call.op == pair_ops()[1] || call.op == pair_ops()[2];
}

std::span<const Op* const> cdist_ops() {
  static const Op* const ops[] = {&kCdist, &kPdist, pair_ops()[0], pair_ops()[1], pair_ops()[2]};
  return ops;
}

}  // namespace lunagrad
