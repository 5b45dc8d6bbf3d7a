// Matrix products. The BLAS takes transposed operands with a flag. It takes batches, and views whose rows or
// columns are not adjacent, without a copy.
#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/elementwise/activation.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/half_ops.h"
#include "runtime/ops/products/cpu/bf16_product.h"
#include "runtime/ops/products/cpu/blas.h"
#include "runtime/ops/products/plus_scaled.h"

namespace lunagrad {
namespace {

// An operand as a batch of matrices: a vector is a row on the left and a column on the right.
struct Side {
  Shape batch;
  Strides batch_strides;
  int64_t rows, columns, row_stride, column_stride;
};

Side side_of(const Tensor& x, bool left) {
  const Shape& shape = x.shape();
  const Strides& strides = x.strides();
  const int n = x.ndim();
  if (n == 1) {
    if (left) return {{}, {}, 1, shape[0], 0, strides[0]};
    return {{}, {}, shape[0], 1, strides[0], 0};
  }
  Side side{{}, {}, shape[n - 2], shape[n - 1], strides[n - 2], strides[n - 1]};
  for (int d = 0; d < n - 2; ++d) {
    side.batch.push_back(shape[d]);
    side.batch_strides.push_back(strides[d]);
  }
  return side;
}

// The BLAS takes a matrix with unit stride in one direction and rows (columns) that do not overlap.
bool fits_blas(const Side& s) {
  if (s.rows <= 1) return s.column_stride >= 1 || s.columns <= 1;
  if (s.columns <= 1) return s.row_stride >= 1;
  return (s.column_stride == 1 && s.row_stride >= s.columns) ||
         (s.row_stride == 1 && s.column_stride >= s.rows);
}

template <class T>
blas::Matrix<T> blas_matrix(const T* data, const Side& s) {
  if (s.rows <= 1) {
    if (s.column_stride == 1 || s.columns <= 1) return {data, std::max<int64_t>(s.columns, 1), false};
    return {data, s.column_stride, true};
  }
  if (s.columns <= 1) {
    if (s.row_stride == 1) return {data, s.rows, true};
    return {data, s.row_stride, false};
  }
  if (s.column_stride == 1 && s.row_stride >= s.columns) return {data, s.row_stride, false};
  return {data, s.column_stride, true};
}

// Strides of the matrices of `side` over the common batch shape; 0 along dims where all items share a matrix.
Dims spread(const Side& side, const Shape& batch) {
  Dims strides(batch.size(), 0);
  const int shift = batch.size() - side.batch.size();
  for (int d = 0; d < side.batch.size(); ++d)
    strides[d + shift] = side.batch[d] == 1 ? 0 : side.batch_strides[d];
  return strides;
}

Shape batch_of(const Shape& shape) {
  Shape batch;
  for (int d = 0; d < shape.size() - 2; ++d) batch.push_back(shape[d]);
  return batch;
}

// A batch of matrices times one matrix is a single product if the rows of the batch have one common stride.
bool merge_batch(Side& left, const Side& right, Shape& batch) {
  if (!right.batch.empty() || batch.empty()) return false;
  Side merged = left;
  merged.batch = merged.batch_strides = {};
  for (int d = batch.size() - 1; d >= 0; --d) {
    if (batch[d] == 1) continue;
    if (merged.rows == 1)  // the stride of a single row is arbitrary
      merged.row_stride = left.batch_strides[d];
    else if (left.batch_strides[d] != merged.row_stride * merged.rows)
      return false;
    merged.rows *= batch[d];
  }
  if (!fits_blas(merged)) return false;
  left = merged;
  batch = {};
  return true;
}

Bf16Matrix bf16_matrix(const Tensor& x, const Side& s) {
  return {x.data<BFloat16>(), s.row_stride, s.column_stride};
}

// C = A B for integers, which the BLAS lacks; sums wrap around.
template <class T>
void multiply_integers(int64_t items, const Shape& batch, const Side& a, const Dims& a_steps, const T* a_data,
                       const Side& b, const Dims& b_steps, const T* b_data, T* c) {
  using Accumulate = uint64_t;
  const int64_t m = a.rows, k = a.columns, n = b.columns;
  const int64_t grain = std::max<int64_t>(1, 40000 / std::max<int64_t>(1, k * n));
  parallel_for(items * m, grain, [&](int64_t begin, int64_t end) {
    std::vector<Accumulate> row(static_cast<size_t>(n));
    for (int64_t at = begin; at < end; ++at) {
      int64_t item = at / m;
      const T* left = a_data + at % m * a.row_stride;
      const T* right = b_data;
      for (int d = batch.size() - 1; d >= 0; --d) {
        left += item % batch[d] * a_steps[d];
        right += item % batch[d] * b_steps[d];
        item /= batch[d];
      }
      std::fill(row.begin(), row.end(), Accumulate(0));
      for (int64_t x = 0; x < k; ++x) {
        const Accumulate factor = Accumulate(left[x * a.column_stride]);
        const T* values = right + x * b.row_stride;
        for (int64_t j = 0; j < n; ++j) row[size_t(j)] += factor * Accumulate(values[j * b.column_stride]);
      }
      for (int64_t j = 0; j < n; ++j) c[at * n + j] = T(row[size_t(j)]);
    }
  });
}

void matmul_shape(Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  require_same_dtype(call);
  if (a.dtype() == DType::boolean) fail("matmul: bool tensors cannot be multiplied; convert them with to()");
  if (a.ndim() == 0 || b.ndim() == 0)
    fail("matmul: both operands need at least 1 dim (got shapes ", a.shape(), " and ", b.shape(), ")");
  const int64_t inner = a.size(-1), other = b.size(b.ndim() == 1 ? 0 : b.ndim() - 2);
  if (inner != other)
    fail("matmul: shapes ", a.shape(), " and ", b.shape(), " do not fit: the last dim of the first is ",
         inner, ", the ", b.ndim() == 1 ? "only" : "second last", " dim of the second is ", other);
  Shape shape = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
  if (a.ndim() > 1) shape.push_back(a.size(-2));
  if (b.ndim() > 1) shape.push_back(b.size(-1));
  call.emit(shape, a.dtype());
}

void matmul_cpu(const Call& call) {
  Tensor a = call.input(0), b = call.input(1);
  const Tensor& c = call.output();
  Side left = side_of(a, true), right = side_of(b, false);
  const bool narrow = a.dtype() == DType::bf16;
  if (is_differentiable(a.dtype()) && !narrow) {
    if (!fits_blas(left)) a = in_order(a), left = side_of(a, true);
    if (!fits_blas(right)) b = in_order(b), right = side_of(b, false);
  }
  Shape batch;
  if (!left.batch.empty() || !right.batch.empty()) {
    batch = broadcast_shapes("matmul", left.batch, right.batch);
    merge_batch(left, right, batch);
  }
  const Dims a_steps = spread(left, batch), b_steps = spread(right, batch);
  if (narrow)
    return multiply({left.rows, right.columns, left.columns, bf16_matrix(a, left), bf16_matrix(b, right),
                     c.data<BFloat16>(), nullptr, batch, a_steps, b_steps},
                    *bf16_kernel());
  visit_any_dtype(a.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_v<T>) {
      blas::multiply<T>({left.rows, right.columns, left.columns, blas_matrix(a.data<T>(), left),
                         blas_matrix(b.data<T>(), right), c.data<T>(), nullptr, batch, a_steps, b_steps});
    } else if constexpr (std::is_integral_v<T>) {
      multiply_integers(numel(batch), batch, left, a_steps, a.data<T>(), right, b_steps, b.data<T>(),
                        c.data<T>());
    }
  });
}

// --- gradients that are products ---

void add_product_shape(Call& call) { call.in[0].storage().mark_written(call.op->name); }
void add_product_cpu(const Call& call) {
  const Tensor& sum = call.input(0);
  Tensor a = call.input(1), b = call.input(2);
  Side left = side_of(a, true), right = side_of(b, false);
  if (!fits_blas(left)) a = in_order(a), left = side_of(a, true);
  if (!fits_blas(right)) b = in_order(b), right = side_of(b, false);
  visit_any_dtype(sum.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_v<T>)
      blas::multiply<T>({.m = left.rows,
                         .n = right.columns,
                         .k = left.columns,
                         .a = blas_matrix(a.data<T>(), left),
                         .b = blas_matrix(b.data<T>(), right),
                         .c = sum.data<T>(),
                         .add = true});
  });
}
double product_flops(const Call& call) {
  const Tensor& left = call.input(0);
  return left.ndim() == 0 ? 0 : 2 * elements(call.out[0]) * double(left.size(-1));
}
double add_product_flops(const Call& call) {
  return 2 * elements(call.in[0]) * double(call.input(1).size(-1));
}
// The sum is read and written.
double add_product_bytes(const Call& call) {
  return 2 * double(call.input(0).nbytes()) + double(call.input(1).nbytes()) + double(call.input(2).nbytes());
}
const Op kAddProduct{.name = "_add_product",
                     .doc = "Adds the product of two matrices to a third, in place.",
                     .inputs = {{"sum"}, {"input"}, {"other"}},
                     .shape = add_product_shape,
                     .cpu = add_product_cpu,
                     .writes_inputs = true,
                     .complex = true,
                     .family = OpFamily::linear_algebra,
                     .flops = {add_product_flops, "2 x elements of the sum x length of the inner dim"},
                     .bytes = add_product_bytes};

// A B. The product of a column and a row has no sums; there GEMM is slower than an elementwise product.
Tensor product(const Tensor& a, const Tensor& b) { return a.size(-1) == 1 ? a * b : matmul(a, b); }

// Sets the gradient of an input to A B. If possible, A B is added in place to the gradient that has arrived
// for the same tensor.
void set_product(Backward& back, int input, const Tensor& a, const Tensor& b) {
  const bool plain =
      a.ndim() == 2 && b.ndim() == 2 && back.shape(input).size() == 2 && !is_16bit_float(a.dtype());
  if (const Tensor sum = plain ? running_sum(back, input) : Tensor(); sum.defined()) {
    Call call;
    call.op = &kAddProduct;
    call.in = {sum, a, b};
    if (sum.device().supports(call)) {
      return run(call);
    }
  }
  back.set(input, product(a, b));
}

// The gradient of the left operand is G B^T, of the right one A^T G; vectors count as matrices.
void matmul_vjp(Backward& back) {
  const bool left_vector = back.shape(0).size() == 1, right_vector = back.shape(1).size() == 1;
  Tensor g = back.grad();
  if (right_vector) g = unsqueeze(g, -1);
  if (left_vector) g = unsqueeze(g, -2);
  if (back.needs(0)) {
    const Tensor b = right_vector ? unsqueeze(back.input(1), -1) : back.input(1);
    if (left_vector)
      back.set(0, squeeze(product(g, transpose(b, -2, -1)), -2));
    else
      set_product(back, 0, g, transpose(b, -2, -1));
  }
  if (back.needs(1)) {
    const Tensor a = left_vector ? unsqueeze(back.input(0), 0) : back.input(0);
    // One matrix for the whole batch: the product sums over the batch.
    const bool one = back.shape(1).size() <= 2 && a.ndim() > 2;
    const Tensor left = one ? t(flatten(a, 0, -2)) : transpose(a, -2, -1);
    const Tensor right = one ? flatten(g, 0, -2) : g;
    if (right_vector)
      back.set(1, squeeze(product(left, right), -1));
    else
      set_product(back, 1, left, right);
  }
}

const Op kMatmul{.name = "matmul",
                 .doc = "The matrix product of the last two dims; further dims are batches and broadcast.",
                 .inputs = {{"input"}, {"other"}},
                 .shape = matmul_shape,
                 .cpu = matmul_cpu,
                 .vjp = matmul_vjp,
                 .reads = {{.inputs = 2}, {.inputs = 1}},
                 .half_through_f32 = true,
                 .complex = true,
                 .family = OpFamily::linear_algebra,
                 .autocast = AutocastPolicy::lower_precision,
                 .flops = {product_flops, "2 x elements of the result x length of the inner dim"}};

// --- linear ---

void linear_shape(Call& call) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  is_complex(x.dtype()) ? require_same_dtype(call) : require_floating(call);
  if (weight.ndim() != 2) fail("linear: weight must have 2 dims (got shape ", weight.shape(), ")");
  if (x.ndim() == 0 || x.size(-1) != weight.size(1))
    fail("linear: input of shape ", x.shape(), " does not fit weight of shape ", weight.shape(),
         ": the last dim of the input must be ", weight.size(1));
  if (call.has(2) && !(call.input(2).shape() == Shape{weight.size(0)}))
    fail("linear: bias has shape ", call.input(2).shape(), " where weight of shape ", weight.shape(),
         " needs [", weight.size(0), "]");
  Shape shape = x.shape();
  shape[shape.size() - 1] = weight.size(0);
  call.emit(shape, x.dtype());
}

void linear_cpu(const Call& call) {
  Tensor x = call.input(0), weight = call.input(1);
  const Tensor bias = call.has(2) ? in_order(call.input(2)) : Tensor();
  Side left = side_of(x, true);
  Shape batch = left.batch;
  Side right = side_of(weight, false);
  if (!fits_blas(right)) weight = in_order(weight), right = side_of(weight, false);
  std::swap(right.rows, right.columns);
  std::swap(right.row_stride, right.column_stride);
  if (!fits_blas(left) || (!batch.empty() && !merge_batch(left, right, batch))) {
    x = in_order(x);
    left = side_of(x, true);
    batch = left.batch;
    merge_batch(left, right, batch);
  }
  if (x.dtype() == DType::bf16)
    return multiply({.m = left.rows,
                     .n = right.columns,
                     .k = left.columns,
                     .a = bf16_matrix(x, left),
                     .b = bf16_matrix(weight, right),
                     .c = call.output().data<BFloat16>(),
                     .bias = bias.defined() ? bias.data<BFloat16>() : nullptr},
                    *bf16_kernel());
  visit_any_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_v<T>)
      blas::multiply<T>({.m = left.rows,
                         .n = right.columns,
                         .k = left.columns,
                         .a = blas_matrix(x.data<T>(), left),
                         .b = blas_matrix(weight.data<T>(), right),
                         .c = call.output().data<T>(),
                         .bias = bias.defined() ? bias.data<T>() : nullptr,
                         .activation = activation_kernel(activation_of(call.params), x.dtype())});
  });
}

void linear_vjp(Backward& b) {
  const Tensor g = gradient_before_activation(b);
  const bool vector = b.shape(0).size() == 1;
  if (b.needs(0)) set_product(b, 0, g, b.input(1));
  if (!b.needs(1) && !b.needs(2)) return;
  const auto rows = [&](const Tensor& x) {
    return vector ? unsqueeze(x, 0) : x.ndim() == 2 ? x : flatten(x, 0, -2);
  };
  const Tensor g_rows = rows(g);
  if (b.needs(1)) set_product(b, 1, t(g_rows), rows(b.input(0)));
  if (b.needs(2)) b.set(2, sum(g_rows, {0}));
}

Operands linear_compose(const Call& call) {
  if (has_activation(call))
    return {activate(linear(call.input(0), call.input(1), call.has(2) ? call.input(2) : Tensor()),
                     activation_of(call.params))};
  const Tensor product = matmul(call.input(0), t(call.input(1)));
  return {call.has(2) ? add(product, call.input(2)) : product};
}

const Op kLinear{
    .name = "linear",
    .doc = "input weight^T + bias, where weight is [out, in]; then the activation, if there is one.",
    .inputs = {{"input"}, {"weight"}, {"bias", true}},
    .params = {activation_param()},
    .shape = linear_shape,
    .cpu = linear_cpu,
    .vjp = linear_vjp,
    .reads = {{.inputs = 2, .outputs = 1}, {.inputs = 1, .outputs = 1}, {.outputs = 1}},
    .reads_outputs = has_activation,
    .compose = linear_compose,
    .composed = activates_apart,
    .half_through_f32 = true,
    .complex = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::lower_precision,
    .flops = {product_flops, "2 x elements of the result x input features"}};

// --- products under other names: matmul with a fixed number of dims ---

void require_dims(const Call& call, std::initializer_list<int> dims) {
  size_t i = 0;
  for (const int wanted : dims) {
    if (call.in[i].ndim() != wanted)
      fail(call.op->name, ": ", call.op->inputs[i].name, " must have ", wanted,
           wanted == 1 ? " dim" : " dims", " (got shape ", call.in[i].shape(), ")");
    ++i;
  }
}

Operands mm_compose(const Call& call) {
  require_dims(call, {2, 2});
  return {matmul(call.input(0), call.input(1))};
}
const Op kMm{.name = "mm",
             .doc = "The product of the matrices input and mat2.",
             .inputs = {{"input"}, {"mat2"}},
             .compose = mm_compose,
             .family = OpFamily::linear_algebra,
             .autocast = AutocastPolicy::lower_precision};

Operands bmm_compose(const Call& call) {
  require_dims(call, {3, 3});
  if (call.input(0).size(0) != call.input(1).size(0))
    fail("bmm: batches differ: ", call.input(0).size(0), " and ", call.input(1).size(0));
  return {matmul(call.input(0), call.input(1))};
}
const Op kBmm{.name = "bmm",
              .doc = "The products of two batches of matrices of equal length.",
              .inputs = {{"input"}, {"mat2"}},
              .compose = bmm_compose,
              .family = OpFamily::linear_algebra,
              .autocast = AutocastPolicy::lower_precision};

Operands mv_compose(const Call& call) {
  require_dims(call, {2, 1});
  return {matmul(call.input(0), call.input(1))};
}
const Op kMv{.name = "mv",
             .doc = "The product of the matrix input and the vector vec.",
             .inputs = {{"input"}, {"vec"}},
             .compose = mv_compose,
             .family = OpFamily::linear_algebra,
             .autocast = AutocastPolicy::lower_precision};

Operands dot_compose(const Call& call) {
  require_dims(call, {1, 1});
  return {matmul(call.input(0), call.input(1))};
}
const Op kDot{.name = "dot",
              .doc = "The sum of the products of the elements of two vectors.",
              .inputs = {{"input"}, {"other"}},
              .compose = dot_compose,
              .family = OpFamily::linear_algebra};

Operands addmm_compose(const Call& call) {
  if (call.input(1).ndim() != 2 || call.input(2).ndim() != 2)
    fail("addmm: mat1 and mat2 must have 2 dims (got shapes ", call.input(1).shape(), " and ",
         call.input(2).shape(), ")");
  const double beta = call.real(0), alpha = call.real(1);
  Tensor product = matmul(call.input(1), call.input(2));
  if (!broadcasts_to(call.input(0).shape(), product.shape()))
    fail("addmm: input of shape ", call.input(0).shape(), " does not broadcast to the product's ",
         product.shape());
  if (alpha != 1) product = product * alpha;
  return {plus_scaled(call.input(0), beta, product)};
}
const Op kAddmm{.name = "addmm",
                .doc = "beta input + alpha (mat1 @ mat2).",
                .inputs = {{"input"}, {"mat1"}, {"mat2"}},
                .params = {{"beta", ParamKind::real, 1.0}, {"alpha", ParamKind::real, 1.0}},
                .compose = addmm_compose,
                .in_place = InPlaceForm::writes,
                .family = OpFamily::linear_algebra,
                .autocast = AutocastPolicy::lower_precision};

Operands baddbmm_compose(const Call& call) {
  const Tensor &input = call.input(0), &a = call.input(1), &b = call.input(2);
  if (a.ndim() != 3 || b.ndim() != 3 || a.size(0) != b.size(0))
    fail("baddbmm: batch1 and batch2 must be equally long batches of matrices (got shapes ", a.shape(),
         " and ", b.shape(), ")");
  const double beta = call.real(0), alpha = call.real(1);
  Tensor product = matmul(a, b);
  if (!broadcasts_to(input.shape(), product.shape()))
    fail("baddbmm: input of shape ", input.shape(), " does not broadcast to the product's ", product.shape());
  if (alpha != 1) product = product * alpha;
  return {plus_scaled(input, beta, product)};
}
const Op kBaddbmm{.name = "baddbmm",
                  .doc = "beta input + alpha (batch1 @ batch2).",
                  .inputs = {{"input"}, {"batch1"}, {"batch2"}},
                  .params = {{"beta", ParamKind::real, 1.0}, {"alpha", ParamKind::real, 1.0}},
                  .compose = baddbmm_compose,
                  .in_place = InPlaceForm::writes,
                  .family = OpFamily::linear_algebra,
                  .autocast = AutocastPolicy::lower_precision};

Operands addbmm_compose(const Call& call) {
  const Tensor &input = call.input(0), &a = call.input(1), &b = call.input(2);
  if (a.ndim() != 3 || b.ndim() != 3 || a.size(0) != b.size(0))
    fail("addbmm: batch1 and batch2 must be equally long batches of matrices (got shapes ", a.shape(),
         " and ", b.shape(), ")");
  const Tensor total = sum(matmul(a, b), {0}) * call.real(1);
  if (!broadcasts_to(input.shape(), total.shape()))
    fail("addbmm: input of shape ", input.shape(), " does not broadcast to the sum's ", total.shape());
  return {plus_scaled(input, call.real(0), total)};
}
const Op kAddbmm{.name = "addbmm",
                 .doc = "beta input + alpha times the sum of the products of batch1 and batch2.",
                 .inputs = {{"input"}, {"batch1"}, {"batch2"}},
                 .params = {{"beta", ParamKind::real, 1.0}, {"alpha", ParamKind::real, 1.0}},
                 .compose = addbmm_compose,
                 .in_place = InPlaceForm::writes,
                 .family = OpFamily::linear_algebra,
                 .autocast = AutocastPolicy::lower_precision,
                 .examples = {{.inputs = {{{2, 4}}, {{3, 2, 3}}, {{3, 3, 4}}},
                               .params = {0.5, 2.0},
                               .types = OpExample::Types::number},
                              {.inputs = {{{2, 4}}, {{3, 2, 3}}, {{2, 3, 4}}},
                               .error = "addbmm: batch1 and batch2 must be equally long"}}};

Operands outer_compose(const Call& call) {
  require_dims(call, {1, 1});
  return {mul(unsqueeze(call.input(0), 1), call.input(1))};
}
const Op kOuter{
    .name = "outer",
    .doc = "The products of each element of the vector input with each element of the vector vec2.",
    .inputs = {{"input"}, {"vec2"}},
    .compose = outer_compose,
    .family = OpFamily::linear_algebra};

Operands trace_compose(const Call& call) {
  require_dims(call, {2});
  return {sum(diagonal(call.input(0)))};
}
const Op kTrace{.name = "trace",
                .doc = "The sum of the diagonal of a matrix.",
                .inputs = {{"input"}},
                .compose = trace_compose,
                .family = OpFamily::linear_algebra};

// W x2 for each output and each feature of x1, then the dot product with x1.
Operands bilinear_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1), &weight = call.input(2);
  const auto batch = [](const Tensor& x) {
    Shape shape = x.shape();
    if (!shape.empty()) shape.erase(shape.size() - 1);
    return shape;
  };
  if (a.ndim() < 1 || b.ndim() < 1 || !(batch(a) == batch(b)))
    fail("bilinear: inputs have shapes ", a.shape(), " and ", b.shape(),
         "; all but the last dims must be the same");
  if (weight.ndim() != 3 || weight.size(1) != a.size(-1) || weight.size(2) != b.size(-1))
    fail("bilinear: inputs of shapes ", a.shape(), " and ", b.shape(), " need a weight [out, ", a.size(-1),
         ", ", b.size(-1), "] (got shape ", weight.shape(), ")");
  const int64_t out = weight.size(0);
  if (call.has(3) && !(call.input(3).shape() == Shape{out}))
    fail("bilinear: bias has shape ", call.input(3).shape(), " where ", out, " outputs need [", out, "]");
  Shape shape = batch(a);
  shape.push_back(out);
  shape.push_back(a.size(-1));
  const Tensor products = linear(b, reshape(weight, {out * a.size(-1), b.size(-1)}));
  const Tensor y = squeeze(matmul(reshape(products, shape), unsqueeze(a, -1)), -1);
  return {call.has(3) ? y + call.input(3) : y};
}
const Op kBilinear{
    .name = "bilinear",
    .doc =
        "input1 weight[o] input2 + bias[o] over the last dims, for each output o of weight [out, in1, in2].",
    .inputs = {{"input1"}, {"input2"}, {"weight"}, {"bias", true}},
    .compose = bilinear_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{.shape = {4, 3}}, {.shape = {4, 2}}, {.shape = {5, 3, 2}}, {.shape = {5}}},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {2, 2, 3}},
                             {.shape = {2, 2, 2}},
                             {.shape = {1, 3, 2}},
                             {.kind = ExampleOperand::Kind::absent}},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {4, 3}},
                             {.shape = {4, 2}},
                             {.shape = {5, 2, 2}},
                             {.kind = ExampleOperand::Kind::absent}},
                  .error = "need a weight [out, 3, 2]"}}};

}  // namespace

bool is_bf16_product(const Call& call) { return call.op == &kMatmul || call.op == &kLinear; }

Tensor outer(const Tensor& a, const Tensor& b) { return apply1(kOuter, {a, b}); }
Tensor trace(const Tensor& x) { return apply1(kTrace, {x}); }
Tensor plus_scaled(const Tensor& input, double beta, const Tensor& product) {
  if (beta != 0) return add(beta == 1 ? input : input * beta, product);
  if (!input.requires_grad()) return product;
  const Tensor never = full({}, false, DType::boolean, input.device());
  return add(where(never, input, Tensor::number(0.0)), product);
}

Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha) {
  return apply1(kBaddbmm, {input, a, b}, {beta, alpha});
}
Tensor matmul(const Tensor& a, const Tensor& b) { return apply1(kMatmul, {a, b}); }
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  return apply1(kLinear, {x, weight, bias}, {int64_t(activation)});
}

std::span<const Op* const> matmul_ops() {
  static const Op* const ops[] = {&kMatmul, &kAddProduct, &kLinear, &kMm,    &kBmm,   &kMv,      &kDot,
                                  &kAddmm,  &kBaddbmm,    &kAddbmm, &kOuter, &kTrace, &kBilinear};
  return ops;
}

}  // namespace lunagrad
