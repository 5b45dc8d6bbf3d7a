// Running sums and products along one dim.
#include <algorithm>
#include <cmath>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/reductions/cpu/reduce.h"

namespace lunagrad {
namespace {

constexpr int kDimAt = 0, kExclusiveAt = 1, kReverseAt = 2;
constexpr int64_t kTogether = 8;

// Integers and bool add up in i64, and wrap around.
void running_shape(Call& call) {
  const Tensor& x = call.input(0);
  normalize_dim("cumsum", call.integer(kDimAt), x.shape());
  call.emit(x.shape(), is_differentiable(x.dtype()) ? x.dtype() : DType::i64);
}
// The operand of a scan: the tensor itself, or its elements converted and contiguous in the output.
template <class T>
const T* source_of(const Tensor& x, const Tensor& out) {
  if (x.is_contiguous() && x.dtype() == out.dtype()) return static_cast<const T*>(x.raw());
  copy_strided(out.raw(), out.dtype(), out.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
  return static_cast<const T*>(out.raw());
}

// The scan of a dim that is not the last. For each position along the dim, in order, calls step(running
// values, in, out, n) for n adjacent elements. Their running values begin as `first`. Memory is read in long
// rows.
template <class T, class Running, class Step>
void scan_side_by_side(const Split& split, const T* in, T* out, bool reverse, Running first, Step&& step) {
  constexpr int64_t kWidth = 512;
  const int64_t tiles = (split.inner + kWidth - 1) / kWidth;
  const int64_t grain =
      std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, split.size * std::min(kWidth, split.inner)));
  parallel_for(split.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    std::array<Running, kWidth> running;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t column = tile % tiles * kWidth, columns = std::min(kWidth, split.inner - column);
      running.fill(first);
      for (int64_t k = 0; k < split.size; ++k) {
        const int64_t row = tile / tiles * split.size + (reverse ? split.size - 1 - k : k);
        const int64_t at = row * split.inner + column;
        if (k % kWidth == kWidth - 1) context().check_stop();
        step(running.data(), in + at, out + at, columns);
      }
    }
  });
}

// The running sum of one row: y_i = x_0 + … + x_i, without x_i if exclusive, from the end if reverse. Floats
// are added in f64.
template <class T, class Sum>
void running_sum_row(const T* from, int64_t n, bool exclusive, bool reverse, T* to) {
  const int64_t first = reverse ? n - 1 : 0, step = reverse ? -1 : 1;
  Sum sum = 0;
  int64_t k = 0;
  if constexpr (std::is_integral_v<Sum>) {  // integer additions take one cycle
    in_pieces(n, [&](int64_t begin, int64_t end) {
      Sum running = sum;
      for (int64_t i = begin; i < end; ++i) {
        const Sum before = running;
        running += from[first + i * step];
        to[first + i * step] = exclusive ? before : running;
      }
      sum = running;
    });
    return;
  }
  // Eight at a time, so that only one addition in eight waits for the previous sum.
  for (; k + kTogether <= n; k += kTogether) {
    if (k % kStopPiece == kStopPiece - kTogether) context().check_stop();
    Sum part[kTogether + 1] = {};
    for (int64_t j = 0; j < kTogether; ++j) part[j + 1] = part[j] + Sum(from[first + (k + j) * step]);
    for (int64_t j = 0; j < kTogether; ++j) to[first + (k + j) * step] = T(sum + part[exclusive ? j : j + 1]);
    sum += part[kTogether];
  }
  for (; k < n; ++k) {
    const Sum value = Sum(from[first + k * step]);
    to[first + k * step] = T(exclusive ? sum : sum + value);
    sum += value;
  }
}

// Calls run<T, Running>() for the type of the results and the type in which the running value is kept.
template <class Run>
void visit_running_type(DType type, const Run& run) {
  switch (type) {
    case DType::f64:
      return run.template operator()<double, double>();
    case DType::c64:
      return run.template operator()<std::complex<float>, std::complex<double>>();
    case DType::c128:
      return run.template operator()<std::complex<double>, std::complex<double>>();
    case DType::i64:
      return run.template operator()<uint64_t, uint64_t>();
    default:
      return run.template operator()<float, double>();
  }
}

void running_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  const Split split(with_one_dim(x.shape()), normalize_dim("cumsum", call.integer(kDimAt), x.shape()));
  const bool exclusive = call.flag(kExclusiveAt), reverse = call.flag(kReverseAt);
  const auto run = [&]<class T, class Sum>() {
    const T* const source = source_of<T>(x, out);
    T* const result = static_cast<T*>(out.raw());
    if (split.inner > 1)
      return scan_side_by_side(split, source, result, reverse, Sum(0),
                               [&](Sum* sums, const T* from, T* to, int64_t n) {
                                 for (int64_t j = 0; j < n; ++j) {
                                   const Sum before = sums[j];
                                   sums[j] = before + Sum(from[j]);
                                   to[j] = T(exclusive ? before : sums[j]);
                                 }
                               });
    for_rows(split, std::array{source}, result, [&](int64_t, const auto& in, T* to) {
      running_sum_row<T, Sum>(in[0], split.size, exclusive, reverse, to);
    });
  };
  visit_running_type(out.dtype(), run);
}
// The kernel of a row.
template <class T>
class RunningSum final : public RowKernel {
 public:
  explicit RunningSum(const Call& call) : RunningSum(call, row_reduction(call)) {}
  void run(int64_t, const void* const* in, void* out) const override {
    running_sum_row<T, double>(static_cast<const T*>(in[0]), columns(), exclusive_, reverse_,
                               static_cast<T*>(out));
  }

 private:
  RunningSum(const Call& call, const RowReduction& reduction)
      : RowKernel(reduction.rows, reduction.columns),
        exclusive_(call.flag(kExclusiveAt)),
        reverse_(call.flag(kReverseAt)) {}
  bool exclusive_, reverse_;
};

void running_vjp(Backward& b);
const Op kRunningSum{.name = "_cumsum",
                     .doc = "Running sums along a dim, from either end.",
                     .inputs = {{"input"}},
                     .params = {{"dim", ParamKind::dim, {}},
                                {"exclusive", ParamKind::boolean, false},
                                {"reverse", ParamKind::boolean, false}},
                     .shape = running_shape,
                     .cpu = running_cpu,
                     .vjp = running_vjp,
                     .half_through_f32 = true,
                     .complex = true,
                     .family = OpFamily::reduction,
                     .flops = kOnePerResult};
// Each element is part of the sums after it: the gradient is the running sum from the end.
void running_vjp(Backward& b) {
  b.set(0, apply1(kRunningSum, {b.grad()}, {b.integer(kDimAt), b.flag(kExclusiveAt), !b.flag(kReverseAt)}));
}

Tensor in_type(const Tensor& x, const Value& dtype) { return dtype.present() ? to(x, DType(dtype.i)) : x; }

Operands cumsum_compose(const Call& call) {
  return apply(kRunningSum, {in_type(call.input(0), call.params[2])},
               {call.params[kDimAt], call.params[kExclusiveAt], false});
}
const Op kCumsum{.name = "cumsum",
                 .doc = "Running sums along dim; exclusive sums leave out the element itself.",
                 .inputs = {{"input"}},
                 .params = {{"dim", ParamKind::dim, {}}, {"exclusive", ParamKind::boolean, false}, kDType},
                 .compose = cumsum_compose,
                 .in_place = InPlaceForm::writes,
                 .family = OpFamily::reduction,
                 .autocast = AutocastPolicy::f32};

// --- products ---

void product_shape(Call& call) {
  const Tensor& x = call.input(0);
  normalize_dim("cumprod", call.integer(kDimAt), x.shape());
  call.emit(x.shape(), is_differentiable(x.dtype()) ? x.dtype() : DType::i64);
}
// y_i = x_0 … x_i; floats are multiplied in f64, integers wrap around.
void product_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  const Split split(with_one_dim(x.shape()), normalize_dim("cumprod", call.integer(kDimAt), x.shape()));
  const auto run = [&]<class T, class Product>() {
    const T* const source = source_of<T>(x, out);
    T* const result = static_cast<T*>(out.raw());
    if (split.inner > 1)
      return scan_side_by_side(split, source, result, false, Product(1),
                               [](Product* products, const T* from, T* to, int64_t n) {
                                 for (int64_t j = 0; j < n; ++j)
                                   to[j] = T(products[j] = products[j] * Product(from[j]));
                               });
    for_rows(split, std::array{source}, result, [&](int64_t, const auto& in, T* to) {
      Product product = 1;
      for (int64_t i = 0; i < split.size; ++i) to[i] = T(product = product * Product(in[0][i]));
    });
  };
  visit_running_type(out.dtype(), run);
}
// In log2(n) rounds: each element times the product of the elements before it that is known so far. The
// gradients are right also where factors are 0.
Operands product_compose(const Call& call) {
  Tensor y = is_integral(call.input(0).dtype()) ? to(call.input(0), DType::i64) : call.input(0);
  if (y.ndim() == 0) return {clone(y)};
  const int dim = normalize_dim("cumprod", call.integer(kDimAt), y.shape());
  const int64_t n = y.size(dim);
  for (int64_t known = 1; known < n; known *= 2)
    y = cat({narrow(y, dim, 0, known), narrow(y, dim, known, n - known) * narrow(y, dim, 0, n - known)}, dim);
  return {y.same(call.input(0)) ? clone(y) : y};
}

void product_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
// With z the position of the first 0: dx_i = (sum of g_k y_k for i <= k < z) / x_i for i < z; dx_z = the sum
// of g_k times the product of all x_j up to k except x_z; and 0 after z.
void product_grad_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor g = in_order(call.input(0)), x = in_order(call.input(1)), y = in_order(call.input(2));
  const Split split(with_one_dim(x.shape()), normalize_dim("cumprod", call.integer(kDimAt), x.shape()));
  const auto run = [&]<class T>() {
    for_rows(split,
             std::array{static_cast<const T*>(g.data<T>()), static_cast<const T*>(x.data<T>()),
                        static_cast<const T*>(y.data<T>())},
             out.data<T>(), [&](int64_t, const auto& in, T* to) {
               const T *g_row = in[0], *x_row = in[1], *y_row = in[2];
               const int64_t n = split.size;
               const int64_t zero = std::find(x_row, x_row + n, T(0)) - x_row;
               double sum = 0;
               for (int64_t i = zero - 1; i >= 0; --i) {
                 sum += double(g_row[i]) * double(y_row[i]);
                 to[i] = T(sum / double(x_row[i]));
               }
               if (zero == n) return;
               double product = zero > 0 ? double(y_row[zero - 1]) : 1;
               double total = double(g_row[zero]) * product;
               for (int64_t k = zero + 1; k < n && x_row[k] != T(0); ++k) {
                 product *= double(x_row[k]);
                 total += double(g_row[k]) * product;
               }
               to[zero] = T(total);
               std::fill(to + zero + 1, to + n, T(0));
             });
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
const Op kRunningProductGrad{.name = "_cumprod_grad",
                             .doc = "Gradient of cumprod.",
                             .inputs = {{"g"}, {"input"}, {"result"}},
                             .params = {{"dim", ParamKind::dim, {}}},
                             .shape = product_grad_shape,
                             .cpu = product_grad_cpu,
                             .half_through_f32 = true,
                             .family = OpFamily::reduction,
                             .flops = {for_results<3>, "3 for each element of the result"}};
void product_vjp(Backward& b) {
  if (b.create_graph() || is_complex(b.dtype(0))) return differentiate_composition(b);
  b.set(0, apply1(kRunningProductGrad, {b.grad(), b.input(0), b.output()}, {b.integer(kDimAt)}));
}
const Op kRunningProduct{.name = "_cumprod",
                         .doc = "Running products along a dim.",
                         .inputs = {{"input"}},
                         .params = {{"dim", ParamKind::dim, {}}},
                         .shape = product_shape,
                         .cpu = product_cpu,
                         .vjp = product_vjp,
                         .reads = {{.inputs = 1, .outputs = 1}},
                         .compose = product_compose,
                         .half_through_f32 = true,
                         .complex = true,
                         .family = OpFamily::reduction,
                         .flops = kOnePerResult};

// --- the gradient of the product of a row: dx_i = g times the product of all other elements ---

// Where the product of a block and the product of all elements are normal numbers, the product of all
// elements is divided by x_i. Other blocks, as with a 0 or an infinity, use running products from both ends.
// Blocks depend only on the length, so the result does not depend on the threads.
template <class T>
void row_product_grad(const T* x, double g, int64_t n, T* to) {
  constexpr int64_t kBlock = 1024, kBlocks = 16;
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> products(size_t(2 * blocks), 1.0);
  double *const own = products.data(), *const others = own + blocks;
  const auto length = [&](int64_t block) { return std::min(kBlock, n - block * kBlock); };
  parallel_for(blocks, kBlocks, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      reduce_row(ReduceKind::product, 0, x + b * kBlock, length(b), &own[b]);
  });
  double product = g;
  for (int64_t b = 0; b < blocks; ++b) others[b] = product, product *= own[b];
  product = 1;
  for (int64_t b = blocks; b-- > 0;) others[b] *= product, product *= own[b];
  parallel_for(blocks, kBlocks, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const T* const from = x + b * kBlock;
      T* const slopes = to + b * kBlock;
      const int64_t count = length(b);
      const double rest = others[b], whole = rest * own[b];
      if (std::isnormal(own[b]) && (rest == 0 || std::isnormal(whole))) {
        for (int64_t i = 0; i < count; ++i) slopes[i] = T(whole / double(from[i]));
        continue;
      }
      double before[kBlock], running = rest;
      for (int64_t i = 0; i < count; ++i) before[i] = running, running *= double(from[i]);
      running = 1;
      for (int64_t i = count; i-- > 0; running *= double(from[i])) slopes[i] = T(before[i] * running);
    }
  });
}
void row_product_grad_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor g = in_order(call.input(0)), x = in_order(call.input(1));
  const Split split(with_one_dim(x.shape()), normalize_dim("prod", call.integer(kDimAt), x.shape()));
  const auto run = [&]<class T>() {
    for_rows(split, std::array{static_cast<const T*>(x.data<T>())}, out.data<T>(),
             [&](int64_t row, const auto& in, T* to) {
               row_product_grad(in[0], double(g.data<T>()[row]), split.size, to);
             });
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
const Op kRowProductGrad{.name = "_prod_grad",
                         .doc = "Gradient of the products of rows along a dim.",
                         .inputs = {{"g"}, {"input"}},
                         .params = {{"dim", ParamKind::dim, {}}},
                         .shape = product_grad_shape,
                         .cpu = row_product_grad_cpu,
                         .half_through_f32 = true,
                         .family = OpFamily::reduction,
                         .flops = {for_results<3>, "3 for each element of the result"}};

Operands cumprod_compose(const Call& call) {
  return apply(kRunningProduct, {in_type(call.input(0), call.params[1])}, {call.params[kDimAt]});
}
const Op kCumprod{.name = "cumprod",
                  .doc = "Running products along dim.",
                  .inputs = {{"input"}},
                  .params = {{"dim", ParamKind::dim, {}}, kDType},
                  .compose = cumprod_compose,
                  .in_place = InPlaceForm::writes,
                  .family = OpFamily::reduction,
                  .autocast = AutocastPolicy::f32};

}  // namespace

Tensor cumprod(const Tensor& x, int dim) { return apply1(kCumprod, {x}, {dim, Value()}); }
Tensor cumsum(const Tensor& x, int dim, bool exclusive) {
  return apply1(kCumsum, {x}, {dim, exclusive, Value()});
}

std::span<const RowKernelMaker> scan_row_kernels() {
  static const RowKernelMaker all[] = {row_kernel_maker<RunningSum>(kRunningSum)};
  return all;
}

std::span<const Op* const> scan_ops() {
  static const Op* const ops[] = {&kCumsum,         &kRunningSum,         &kCumprod,
                                  &kRunningProduct, &kRunningProductGrad, &kRowProductGrad};
  return ops;
}

}  // namespace lunagrad
