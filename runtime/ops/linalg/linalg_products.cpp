// Products of matrices and vectors in other arrangements, and matrix functions that are computed by products.
#include <algorithm>
#include <cmath>

#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/products/plus_scaled.h"

namespace lunagrad {
namespace {

// --- multi_dot ---

// The order of products with the fewest multiplications: Cormen, Leiserson, Rivest, Stein, "Introduction to
// Algorithms", section 15.2. split[i][j] is the last product of matrices i to j.
std::vector<std::vector<size_t>> best_splits(const TensorList& matrices) {
  const size_t n = matrices.size();
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double price =
            cost[i][k] + cost[k + 1][j] +
            double(matrices[i].size(0)) * double(matrices[k].size(1)) * double(matrices[j].size(1));
        if (price < cost[i][j]) cost[i][j] = price, split[i][j] = k;
      }
    }
  return split;
}
Tensor multiply_range(const TensorList& matrices, const std::vector<std::vector<size_t>>& split, size_t i,
                      size_t j) {
  if (i == j) return matrices[i];
  const size_t k = split[i][j];
  return matmul(multiply_range(matrices, split, i, k), multiply_range(matrices, split, k + 1, j));
}

// The product of matrices; with `vectors` the first may be a row and the last a column.
Tensor chain(const Call& call, bool vectors) {
  constexpr size_t kMost = 512;  // the time to find the best order grows with the cube of their number
  const size_t count = call.in.size();
  if (count == 0 || (vectors && count < 2) || count > kMost)
    fail(call.op->name, ": ", vectors ? 2 : 1, " to ", kMost, " matrices are needed (got ", count, ")");
  TensorList matrices;
  for (size_t i = 0; i < count; ++i) {
    Tensor x = call.in[i];
    const bool first = i == 0, last = i + 1 == count;
    if (vectors && x.ndim() == 1 && (first || last)) x = unsqueeze(x, first ? 0 : 1);
    if (x.ndim() != 2)
      fail(call.op->name, ": matrix ", i + 1, " has shape ", call.in[i].shape(), "; it must have 2 dims",
           vectors && (first || last) ? ", or 1" : "");
    if (i > 0 && matrices[i - 1].size(1) != x.size(0))
      fail(call.op->name, ": matrices ", i, " and ", i + 1, " of shapes ", call.in[i - 1].shape(), " and ",
           call.in[i].shape(), " cannot be multiplied");
    matrices.push_back(x);
  }
  Tensor y = multiply_range(matrices, best_splits(matrices), 0, count - 1);
  if (vectors && call.in[count - 1].ndim() == 1) y = squeeze(y, -1);
  if (vectors && call.in[0].ndim() == 1) y = squeeze(y, 0);
  return y;
}
Operands multi_dot_compose(const Call& call) { return {chain(call, true)}; }
Operands chain_matmul_compose(const Call& call) { return {chain(call, false)}; }
const Op kMultiDot{
    .name = "linalg.multi_dot",
    .doc =
        "The product of all tensors, in the order that needs the fewest operations; the first "
        "and the last may be vectors.",
    .inputs = {{.name = "tensors", .list = true}},
    .compose = multi_dot_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 3}}, {{3, 4}}, {{4, 2}}}, .types = OpExample::Types::number},
                 {.inputs = {{{3}}, {{3, 4}}, {{4}}}, .types = OpExample::Types::number},
                 {.inputs = {{{2, 3}}, {{2, 3}}}, .error = "linalg.multi_dot: matrices 1 and 2"},
                 {.inputs = {{{2, 3}}}, .error = "linalg.multi_dot: 2 to 512 matrices"}}};
const Op kChainMatmul{
    .name = "chain_matmul",
    .doc = "The product of all matrices, in the order that needs the fewest operations.",
    .inputs = {{.name = "matrices", .list = true}},
    .compose = chain_matmul_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 3}}, {{3, 4}}, {{4, 2}}}, .types = OpExample::Types::number},
                 {.inputs = {{{3}}, {{3, 4}}}, .error = "chain_matmul: matrix 1 has shape [3]"}}};

// --- matrix_power ---

Tensor power_of(Tensor a, uint64_t n) {
  Tensor product;
  for (; n > 0; n >>= 1) {
    if (n & 1) product = product.defined() ? matmul(product, a) : a;
    if (n > 1) a = matmul(a, a);
  }
  return product;
}
Operands matrix_power_compose(const Call& call) {
  const Tensor& a = call.input(0);
  if (a.ndim() < 2 || a.size(-1) != a.size(-2))
    fail(call.op->name, ": ", call.op->inputs[0].name,
         " must be a square matrix or a batch of them (got shape ", a.shape(), ")");
  const int64_t n = call.integer(0);
  if (n == 0) return {identity_like(a) + zeros_like(a.detach())};
  if (n > 0) return {power_of(a, uint64_t(n))};
  return {power_of(linalg_inv(a), 0 - uint64_t(n))};
}
std::vector<OpExample> power_examples() {
  return {{.inputs = {{{3, 3}}}, .params = {3}, .types = OpExample::Types::number},
          {.inputs = {{{2, 2, 2}}}, .params = {2}, .types = OpExample::Types::number},
          {.inputs = {{{2, 1, 1}, 0.5, 2}}, .params = {-2}, .types = OpExample::Types::floating}};
}
const Op kMatrixPower{.name = "linalg.matrix_power",
                      .doc = "A to the integer power n; negative powers are powers of the inverse.",
                      .inputs = {{"A"}},
                      .params = {{"n", ParamKind::integer, {}}},
                      .compose = matrix_power_compose,
                      .family = OpFamily::linear_algebra,
                      .examples = power_examples()};
const Op kPlainMatrixPower{.name = "matrix_power",
                           .doc = "input to the integer power n: linalg.matrix_power.",
                           .inputs = {{"input"}},
                           .params = {{"n", ParamKind::integer, {}}},
                           .compose = matrix_power_compose,
                           .family = OpFamily::linear_algebra,
                           .examples = power_examples()};

// --- matrix_exp ---

// exp(A) = exp(A / 2^s)^(2^s) with the Taylor polynomial of degree 18, for which the 1-norm of A / 2^s may be
// up to 1.09 in double precision: Bader, Blanes, Casas, "Computing the matrix exponential with an optimized
// Taylor polynomial approximation", 2019. The polynomial is evaluated in powers of A^4 (Paterson, Stockmeyer,
// "On the number of nonscalar multiplications necessary to evaluate polynomials", 1973).
Tensor matrix_exp_of(const Tensor& a, double norm) {
  constexpr double kLargestNorm = 1.09;
  constexpr int kDegree = 18, kStep = 4;
  // With NaN or infinities the result is NaN for any s.
  const int squarings =
      std::isfinite(norm) && norm > kLargestNorm ? int(std::ceil(std::log2(norm / kLargestNorm))) : 0;
  const Tensor x = squarings > 0 ? a * std::ldexp(1.0, -squarings) : a;
  Tensor powers[kStep + 1];
  powers[0] = identity_like(a);
  powers[1] = x;
  for (int i = 2; i <= kStep; ++i) powers[i] = matmul(powers[i - 1], x);
  double inverse_factorial[kDegree + 1] = {1};
  for (int i = 1; i <= kDegree; ++i) inverse_factorial[i] = inverse_factorial[i - 1] / i;
  Tensor y;
  for (int block = kDegree / kStep; block >= 0; --block) {
    Tensor part;
    for (int i = 0; i < kStep && block * kStep + i <= kDegree; ++i) {
      const Tensor term = powers[i] * inverse_factorial[block * kStep + i];
      part = part.defined() ? part + term : term;
    }
    y = y.defined() ? matmul(y, powers[kStep]) + part : part;
  }
  for (int i = 0; i < squarings; ++i) y = matmul(y, y);
  return y;
}

// Exponents e for which the matrix of the elements a[i][j] 2^(e[j] - e[i]) is balanced: Parlett, Reinsch,
// "Balancing a matrix for calculation of eigenvalues and eigenvectors", 1969. If an index has elements off
// the diagonal only in its row or only in its column, as in a triangular matrix, their sum is scaled to at
// most 1. `a` holds the magnitudes of the elements; afterwards it holds the balanced ones.
std::vector<int> balance(std::span<double> a, int64_t n) {
  constexpr int kSweeps = 200;
  std::vector<int> e(size_t(n), 0);
  bool changed = true;
  for (int sweep = 0; changed && sweep < kSweeps; ++sweep) {
    changed = false;
    context().check_stop();
    for (int64_t i = 0; i < n; ++i) {
      double row = 0, column = 0;
      for (int64_t j = 0; j < n; ++j)
        if (j != i) row += a[size_t(i * n + j)], column += a[size_t(j * n + i)];
      int by = 0;
      if (row > 0 && column > 0)
        by = int(std::lround((std::log2(row) - std::log2(column)) / 2));
      else if (row > 1 || column > 1)
        by = int(row > 1 ? std::ceil(std::log2(row)) : -std::ceil(std::log2(column)));
      if (std::ldexp(column, by) + std::ldexp(row, -by) >= 0.95 * (row + column)) continue;
      changed = true;
      e[size_t(i)] += by;
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        a[size_t(i * n + j)] = std::ldexp(a[size_t(i * n + j)], -by);
        a[size_t(j * n + i)] = std::ldexp(a[size_t(j * n + i)], by);
      }
    }
  }
  return e;
}

// A balanced batch: for each matrix the powers of two with the exponents of balance() and their reciprocals,
// [..., n], and the largest 1-norm of the balanced matrices. Matrices of ordinary size stay as they are.
struct Balanced {
  Tensor up, down;
  double norm = 0;
};
Balanced balanced(const Tensor& a, const std::vector<double>& given, double least) {
  const int64_t n = a.size(-1), items = a.numel() / (n * n);
  const int limit = part_type(a.dtype()) == DType::f64 ? 900 : 100;  // powers of two that the type holds
  std::vector<double> up, down, all = given;
  Balanced result;
  for (int64_t item = 0; item < items; ++item) {
    const std::span<double> matrix(all.data() + item * n * n, size_t(n * n));
    const auto norm_of = [&] {
      double norm = 0;
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += matrix[size_t(i * n + j)];
        norm = std::max(norm, sum);
      }
      return norm;
    };
    const std::vector<int> e = norm_of() > least ? balance(matrix, n) : std::vector<int>(size_t(n), 0);
    const auto [low, high] = std::minmax_element(e.begin(), e.end());
    const int middle = (*low + *high) / 2;
    for (const int x : e) {
      const int exponent = std::clamp(x - middle, -limit, limit);
      up.push_back(std::ldexp(1.0, exponent)), down.push_back(std::ldexp(1.0, -exponent));
    }
    result.norm = std::max(result.norm, norm_of());
  }
  Shape shape = a.shape();
  shape.erase(shape.size() - 1);
  result.up = to(to(Tensor::from<double>(up, shape), a.dtype()), a.device());
  result.down = to(to(Tensor::from<double>(down, shape), a.dtype()), a.device());
  return result;
}

// exp(A) = D exp(inv(D) A D) inv(D): with the right powers of two in the diagonal matrix D, a large element
// off the diagonal does not scale the matrix so far down that the others are lost. Exact, as the elements
// keep their digits.
Operands matrix_exp_compose(const Call& call) {
  constexpr double kOrdinary = 0x1p20, kMuchSmaller = 0x1p-10;
  require_square(call);
  const Tensor& a = call.input(0);
  if (a.numel() == 0) return {a * 1.0};
  if (is_16bit_float(a.dtype())) return {to(apply1(*call.op, {to(a, DType::f32)}), a.dtype())};
  const DType type = part_type(a.dtype()) == DType::f64 ? DType::f64 : DType::f32;
  double norm = 0;
  Balanced found;
  {
    const NoGrad off;
    const Tensor sizes = to(abs(a.detach()), type);
    norm = amax(sum(sizes, {-2}), {}).item();
    if (norm > kOrdinary) {
      const std::vector<double> elements = sizes.to_vector<double>();
      if (std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); }))
        found = balanced(a, elements, kOrdinary);
    }
  }
  if (!found.up.defined() || found.norm > norm * kMuchSmaller) return {matrix_exp_of(a, norm)};
  const auto scaled = [](const Tensor& x, const Tensor& rows, const Tensor& columns) {
    return x * unsqueeze(columns, -2) * unsqueeze(rows, -1);
  };
  return {scaled(matrix_exp_of(scaled(a, found.down, found.up), found.norm), found.up, found.down)};
}
std::vector<OpExample> exp_examples() {
  return {{.inputs = {{{3, 3}}}, .second_order = false, .types = OpExample::Types::floating},
          {.inputs = {{{2, 2, 2}, -0.5, 0.5}}, .types = OpExample::Types::floating}};
}
const Op kMatrixExp{.name = "linalg.matrix_exp",
                    .doc = "The exponential of square matrices.",
                    .inputs = {{"A"}},
                    .compose = matrix_exp_compose,
                    .family = OpFamily::linear_algebra,
                    .examples = exp_examples()};
const Op kPlainMatrixExp{.name = "matrix_exp",
                         .doc = "The exponential of square matrices: linalg.matrix_exp.",
                         .inputs = {{"input"}},
                         .compose = matrix_exp_compose,
                         .family = OpFamily::linear_algebra,
                         .examples = exp_examples()};

// --- kron, cross ---

Operands kron_compose(const Call& call) {
  Tensor a = call.input(0), b = call.input(1);
  const int n = std::max(a.ndim(), b.ndim());
  if (2 * n > kMaxDims) fail("kron: operands of at most ", kMaxDims / 2, " dims are supported (got ", n, ")");
  while (a.ndim() < n) a = unsqueeze(a, 0);
  while (b.ndim() < n) b = unsqueeze(b, 0);
  Shape left, right, result;
  for (int d = 0; d < n; ++d) {
    left.push_back(a.size(d));
    left.push_back(1);
    right.push_back(1);
    right.push_back(b.size(d));
    int64_t size;
    if (__builtin_mul_overflow(a.size(d), b.size(d), &size))
      fail("kron: shapes ", a.shape(), " and ", b.shape(), " give too large a result");
    result.push_back(size);
  }
  return {reshape(reshape(a, left) * reshape(b, right), result)};
}
const Op kKron{.name = "kron",
               .doc = "The Kronecker product: every element of input times other.",
               .inputs = {{"input"}, {"other"}},
               .compose = kron_compose,
               .family = OpFamily::linear_algebra,
               .examples = {{.inputs = {{{2, 3}}, {{2, 2}}}}, {.inputs = {{{2}}, {{3, 2}}}}}};

Tensor cross_along(const Call& call, int64_t dim) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Shape shape = broadcast_shapes(call.op->name, a.shape(), b.shape());
  const int d = normalize_dim(call.op->name, dim, shape);
  if (shape.empty() || shape[d] != 3)
    fail(call.op->name, ": dim ", d + 1, " of the operands must have size 3 (got shapes ", a.shape(), " and ",
         b.shape(), ")");
  const Tensor x = expand(a, shape), y = expand(b, shape);
  const auto turned = [&](const Tensor& v, int64_t by) { return roll(v, {-by}, {d}); };
  return turned(x, 1) * turned(y, 2) - turned(x, 2) * turned(y, 1);
}
Operands linalg_cross_compose(const Call& call) { return {cross_along(call, call.integer(0))}; }
Operands cross_compose(const Call& call) {
  if (call.params[0].present()) return {cross_along(call, call.integer(0))};
  const Shape shape = broadcast_shapes("cross", call.input(0).shape(), call.input(1).shape());
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] == 3) return {cross_along(call, d)};
  fail("cross: no dim has size 3 (got shapes ", call.input(0).shape(), " and ", call.input(1).shape(), ")");
}
const Op kLinalgCross{
    .name = "linalg.cross",
    .doc = "The cross products of the vectors of size 3 along dim.",
    .inputs = {{"input"}, {"other"}},
    .params = {{"dim", ParamKind::dim, -1}},
    .compose = linalg_cross_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 3}}, {{2, 3}}}, .types = OpExample::Types::number},
                 {.inputs = {{{3, 2}}, {{3, 1}}}, .params = {0}, .types = OpExample::Types::number},
                 {.inputs = {{{3, 2}}, {{3, 2}}}, .error = "linalg.cross: dim 2 of the operands must have"}}};
const Op kCross{
    .name = "cross",
    .doc = "The cross products of the vectors along dim, by default the first dim of size 3.",
    .inputs = {{"input"}, {"other"}},
    .params = {{.name = "dim", .kind = ParamKind::dim, .optional = true}},
    .compose = cross_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3, 3}}, {{3, 3}}}, .types = OpExample::Types::number},
                 {.inputs = {{{2, 3}}, {{2, 3}}}, .params = {1}, .types = OpExample::Types::number},
                 {.inputs = {{{2}}, {{2}}}, .error = "cross: no dim has size 3"}}};

// --- vectors ---

void require_vectors(const Call& call, int first = 0) {
  for (size_t i = size_t(first); i < call.in.size(); ++i)
    if (call.in[i].ndim() != 1)
      fail(call.op->name, ": ", call.op->inputs[i].name, " must have 1 dim (got shape ", call.in[i].shape(),
           ")");
}
Operands vdot_compose(const Call& call) {
  require_vectors(call);
  return {matmul(conjugated(call.input(0)), call.input(1))};
}
const Op kVdot{.name = "vdot",
               .doc = "The sum of conj(input) other of two vectors.",
               .inputs = {{"input"}, {"other"}},
               .compose = vdot_compose,
               .family = OpFamily::linear_algebra,
               .examples = {{.inputs = {{{4}}, {{4}}}, .types = OpExample::Types::number},
                            {.inputs = {{{2, 2}}, {{2}}}, .error = "vdot: input must have 1 dim"}}};

Operands vecdot_compose(const Call& call) {
  const Tensor product = conjugated(call.input(0)) * call.input(1);
  return {sum(product, {normalize_dim(call.op->name, call.integer(0), product.shape())})};
}
const Op kVecdot{
    .name = "linalg.vecdot",
    .doc = "The sums of conj(x) y along dim.",
    .inputs = {{"x"}, {"y"}},
    .params = {{"dim", ParamKind::dim, -1}},
    .compose = vecdot_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 3}}, {{2, 3}}}}, {.inputs = {{{2, 3}}, {{2, 1}}}, .params = {0}}}};

Operands inner_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.ndim() == 0 || b.ndim() == 0) return {a * b};
  return {tensordot(a, b, {a.ndim() - 1}, {b.ndim() - 1})};
}
const Op kInner{.name = "inner",
                .doc = "The sums of products along the last dims of input and other.",
                .inputs = {{"input"}, {"other"}},
                .compose = inner_compose,
                .family = OpFamily::linear_algebra,
                .examples = {{.inputs = {{{4}}, {{4}}}, .types = OpExample::Types::number},
                             {.inputs = {{{2, 3}}, {{2, 2, 3}}}, .types = OpExample::Types::number}}};

Tensor scaled_sum(const Tensor& input, const Tensor& y, double beta, double alpha) {
  const Tensor sum = plus_scaled(input, beta, alpha == 1 ? y : y * alpha);
  return expand(sum, broadcast_shapes("addmv", input.shape(), y.shape()));
}
const ParamSpec kBeta{"beta", ParamKind::real, 1.0}, kAlpha{"alpha", ParamKind::real, 1.0};

Operands addmv_compose(const Call& call) {
  if (call.input(1).ndim() != 2) fail("addmv: mat must have 2 dims (got shape ", call.input(1).shape(), ")");
  require_vectors(call, 2);
  return {scaled_sum(call.input(0), matmul(call.input(1), call.input(2)), call.real(0), call.real(1))};
}
const Op kAddmv{
    .name = "addmv",
    .doc = "beta input + alpha mat vec.",
    .inputs = {{"input"}, {"mat"}, {"vec"}},
    .params = {kBeta, kAlpha},
    .compose = addmv_compose,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{2}}, {{2, 3}}, {{3}}}, .types = OpExample::Types::number},
        {.inputs = {{{1}}, {{2, 3}}, {{3}}}, .params = {0.5, -2.0}, .types = OpExample::Types::number},
        {.inputs = {{{2}}, {{2}}, {{3}}}, .error = "addmv: mat must have 2 dims"}}};

Operands addr_compose(const Call& call) {
  require_vectors(call, 1);
  return {scaled_sum(call.input(0), outer(call.input(1), call.input(2)), call.real(0), call.real(1))};
}
const Op kAddr{.name = "addr",
               .doc = "beta input + alpha times the products of each element of vec1 with each of vec2.",
               .inputs = {{"input"}, {"vec1"}, {"vec2"}},
               .params = {kBeta, kAlpha},
               .compose = addr_compose,
               .in_place = InPlaceForm::writes,
               .family = OpFamily::linear_algebra,
               .examples = {{.inputs = {{{2, 3}}, {{2}}, {{3}}}},
                            {.inputs = {{{3}}, {{2}}, {{3}}}, .params = {0.5, -2.0}},
                            {.inputs = {{{3}}, {{2, 1}}, {{3}}}, .error = "addr: vec1 must have 1 dim"}}};

// --- vander ---

// The powers 0 to count - 1 of the elements, in a new last dim.
Tensor powers_of(const char* op, const Tensor& x, int64_t count) {
  constexpr int64_t kMost = 1 << 20;
  if (count < 0 || count > kMost) fail(op, ": N must lie in 0 to ", kMost, " (got ", count, ")");
  Shape shape = x.shape();
  shape.push_back(count);
  const DType type = x.dtype() == DType::boolean ? DType::i64 : x.dtype();
  if (count == 0) return zeros(shape, type, x.device());
  shape[x.ndim()] = 1;
  const Tensor first = ones(shape, type, x.device());
  if (count == 1) return first;
  shape[x.ndim()] = count - 1;
  return cat({first, cumprod(expand(unsqueeze(to(x, type), -1), shape), -1)}, -1);
}
int64_t count_of(const Call& call) {
  return call.params[0].present() ? call.integer(0) : call.input(0).size(-1);
}
const ParamSpec kCount{.name = "N", .kind = ParamKind::integer, .optional = true};

Operands linalg_vander_compose(const Call& call) {
  if (call.input(0).ndim() == 0) fail("linalg.vander: x must have at least 1 dim (got shape [])");
  return {powers_of(call.op->name, call.input(0), count_of(call))};
}
Operands vander_compose(const Call& call) {
  require_vectors(call);
  const Tensor powers = powers_of(call.op->name, call.input(0), count_of(call));
  return {call.flag(1) ? powers : flip(powers, {1})};
}
const Op kLinalgVander{
    .name = "linalg.vander",
    .doc = "The powers 0 to N - 1 of the elements of x in a new last dim; N is by default the last size.",
    .inputs = {{"x"}},
    .params = {kCount},
    .compose = linalg_vander_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3}, 0.5, 2.5}}}, {.inputs = {{{2, 3}, 0.5, 2.5}}, .params = {2}}}};
const Op kVander{.name = "vander",
                 .doc = "The powers of the elements of a vector as columns, the highest first.",
                 .inputs = {{"x"}},
                 .params = {kCount, {"increasing", ParamKind::boolean, false}},
                 .compose = vander_compose,
                 .family = OpFamily::linear_algebra,
                 .examples = {{.inputs = {{{3}, 0.5, 2.5}}},
                              {.inputs = {{{3}, 0.5, 2.5}}, .params = {4, true}},
                              {.inputs = {{{3, 3}}}, .error = "vander: x must have 1 dim"}}};

// --- diagonal, trapezoid ---

Operands linalg_diagonal_compose(const Call& call) {
  return {diagonal(call.input(0), call.integer(0), int(call.integer(1)), int(call.integer(2)))};
}
const Op kLinalgDiagonal{
    .name = "linalg.diagonal",
    .doc = "A view of the diagonal of the last two dims (dim1 and dim2), as the last dim.",
    .inputs = {{"A"}},
    .params = {{"offset", ParamKind::integer, 0}, {"dim1", ParamKind::dim, -2}, {"dim2", ParamKind::dim, -1}},
    .compose = linalg_diagonal_compose,
    .family = OpFamily::view,
    .flops = kMovesNothing,
    .examples = {{.inputs = {{{2, 3, 3}}}}, {.inputs = {{{3, 4}}}, .params = {1}}}};

// The areas between neighbours along dim: (y_i + y_i+1) / 2 times their distance.
Tensor areas(const Call& call, int dim) {
  const Tensor& y = call.input(0);
  const int64_t n = y.size(dim);
  const int64_t count = std::max<int64_t>(n - 1, 0);
  const Tensor middle = (narrow(y, dim, n - count, count) + narrow(y, dim, 0, count)) * 0.5;
  if (!call.has(1)) return middle * call.real(0);
  Tensor x = call.input(1);
  // A vector x lies along dim.
  if (x.ndim() == 1 && y.ndim() > 1) {
    if (x.size(0) != n)
      fail(call.op->name, ": x of ", x.size(0), " elements does not fit dim ", dim + 1, " of shape ",
           y.shape());
    for (int d = dim + 1; d < y.ndim(); ++d) x = unsqueeze(x, -1);
  }
  const int along = x.ndim() - (y.ndim() - dim);
  if (along < 0 || x.size(along) != n)
    fail(call.op->name, ": x of shape ", x.shape(), " does not fit dim ", dim + 1, " of y of shape ",
         y.shape());
  return middle * (narrow(x, along, n - count, count) - narrow(x, along, 0, count));
}
int trapezoid_dim(const Call& call) {
  if (call.input(0).dtype() == DType::boolean)
    fail(call.op->name, ": y must hold numbers (got bool); convert it with to()");
  if (call.input(0).ndim() == 0) fail(call.op->name, ": y must have at least 1 dim (got shape [])");
  if (call.has(1) && call.input(1).ndim() == 0)
    fail(call.op->name, ": x must have at least 1 dim (got shape [])");
  return normalize_dim(call.op->name, call.integer(1), call.input(0).shape());
}
Operands trapezoid_compose(const Call& call) {
  const int dim = trapezoid_dim(call);
  const Tensor& y = call.input(0);
  // With equal distances: the sum of all elements, minus half of the two ends.
  if (!call.has(1) && y.size(dim) > 0) {
    const Tensor ends = select(y, dim, 0) + select(y, dim, -1);
    return {(sum(y, {dim - y.ndim()}) - ends * 0.5) * call.real(0)};
  }
  const Tensor parts = areas(call, dim);
  return {sum(parts, {dim - call.input(0).ndim()})};
}
Operands cumulative_trapezoid_compose(const Call& call) {
  const int dim = trapezoid_dim(call);
  return {cumsum(areas(call, dim), dim - call.input(0).ndim())};
}
std::vector<OpExample> trapezoid_examples() {
  return {{.inputs = {{{3, 4}}, {.kind = ExampleOperand::Kind::absent}}, .types = OpExample::Types::number},
          {.inputs = {{{3, 4}}, {{3}}}, .params = {1.0, 0}, .types = OpExample::Types::number},
          {.inputs = {{{3}}, {{2}}}, .error = "of shape [2] does not fit dim 1 of y of shape [3]"}};
}
const std::vector<ParamSpec> kTrapezoidParams = {{"dx", ParamKind::real, 1.0}, {"dim", ParamKind::dim, -1}};
const Op kTrapezoid{
    .name = "trapezoid",
    .doc = "The integral of y along dim by the trapezoidal rule, at the points x or at distances dx.",
    .inputs = {{"y"}, {"x", true}},
    .params = kTrapezoidParams,
    .compose = trapezoid_compose,
    .family = OpFamily::reduction,
    .examples = trapezoid_examples()};
const Op kTrapz{.name = "trapz",
                .doc = "The integral of y along dim by the trapezoidal rule: trapezoid.",
                .inputs = {{"y"}, {"x", true}},
                .params = kTrapezoidParams,
                .compose = trapezoid_compose,
                .family = OpFamily::reduction,
                .examples = trapezoid_examples()};
const Op kCumulativeTrapezoid{.name = "cumulative_trapezoid",
                              .doc = "The running integral of y along dim by the trapezoidal rule.",
                              .inputs = {{"y"}, {"x", true}},
                              .params = kTrapezoidParams,
                              .compose = cumulative_trapezoid_compose,
                              .family = OpFamily::reduction,
                              .examples = trapezoid_examples()};

// --- matmul under its second name ---

Operands linalg_matmul_compose(const Call& call) { return {matmul(call.input(0), call.input(1))}; }
const Op kMatmul{.name = "linalg.matmul",
                 .doc = "The matrix product of input and other: matmul.",
                 .inputs = {{"input"}, {"other"}},
                 .compose = linalg_matmul_compose,
                 .family = OpFamily::linear_algebra,
                 .examples = {{.inputs = {{{2, 3}}, {{3, 4}}}, .types = OpExample::Types::number}}};

}  // namespace

std::span<const Op* const> linalg_product_ops() {
  static constexpr const Op* ops[] = {&kMatmul,
                                      &kMultiDot,
                                      &kChainMatmul,
                                      &kMatrixPower,
                                      &kPlainMatrixPower,
                                      &kMatrixExp,
                                      &kPlainMatrixExp,
                                      &kKron,
                                      &kLinalgCross,
                                      &kCross,
                                      &kVdot,
                                      &kVecdot,
                                      &kInner,
                                      &kAddmv,
                                      &kAddr,
                                      &kLinalgVander,
                                      &kVander,
                                      &kLinalgDiagonal,
                                      &kTrapezoid,
                                      &kTrapz,
                                      &kCumulativeTrapezoid};
  return ops;
}

}  // namespace lunagrad
