// matmul and linear. The shaders take any strides, so f32 operands are not copied. Matrix units multiply
// 16-bit floats, and f32 if the matmul precision allows it. Other products use f32 arithmetic. Complex and
// integer products: matmul_types.h.
#include "gpu/ops/products/matmul.h"

#include <algorithm>
#include <utility>

#include "gpu/ops/copy.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/products/matmul_types.h"
#include "gpu/ops/products/product.h"
#include "gpu/ops/products/unit_operand.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/variant.h"
#include "runtime/core/error.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct MatmulArguments {
  uint64_t a, b, c, bias;
  int64_t a_row, a_column, b_row, b_column, bias_step;
  uint32_t m, n, k;
  uint32_t row_tiles, column_tiles;
  uint32_t splits, split;
  uint32_t batches;
  uint32_t batch_dims;
  uint32_t batch_size[8];
  int64_t batch_step[2][8];
  uint64_t a_largest, b_largest;
  uint64_t tail;
  uint32_t whole_tiles;
};
static_assert(offsetof(MatmulArguments, batch_step) == 144);

struct PartArguments {
  uint64_t c, parts, bias;
  int64_t bias_step;
  uint64_t part_bytes;
  uint32_t part_count;
  uint32_t results, row;
};
static_assert(offsetof(PartArguments, results) == 44);

using shaders::Matmul, shaders::MatmulCooperative, shaders::MatmulParts, shaders::MatmulTail;

// Names of the variants in a profile. "ragged": tiles reach beyond the matrices, so each access is checked.
std::string variant(const ShaderCode&, Constants constants) {
  const Matmul c = Matmul::of_values(constants);
  return text("f32 ", c.bm, 'x', c.bn, 'x', c.bk, c.even ? "" : ", ragged",
              ending_name(c.has_bias, c.activation));
}
std::string unit_variant(const ShaderCode& code, Constants constants) {
  const MatmulCooperative c = MatmulCooperative::of_values(constants);
  return text(c.scaled ? "scaled " : "", code.bfloat ? "bf16 " : "f16 ", c.bm, 'x', c.bn, 'x', c.bk,
              c.whole ? "" : ", ragged", ending_name(c.has_bias, c.activation));
}
std::string part_variant(const ShaderCode&, Constants constants) {
  const MatmulParts c = MatmulParts::of_values(constants);
  return dtype_name(DType(c.out_type)) + ending_name(c.has_bias, c.activation);
}

// The end of split-K: C = epilogue(sum of parts over dim 0), parts [n, elements of C].
void end_product(const Tensor& c, int64_t columns, const Tensor& parts, const Ending& end,
                 Recorder& recorder) {
  constexpr uint32_t kWorthSharing = 8, kMostSharing = 32;           // parts, and invocations, per result
  const uint32_t busy = kGroupSize * recorder.rates.busy_groups(2);  // invocations
  Launch launch(recorder);
  PartArguments arguments{};
  arguments.c = launch.writes(c);
  arguments.parts = launch.reads(parts);
  if (end.bias.defined()) {
    arguments.bias = launch.reads(end.bias);
    arguments.bias_step = end.bias.strides()[0];
  }
  const bool vector = columns % 4 == 0 && moves_in_fours(c.dtype(), arguments.c);
  arguments.part_bytes = uint64_t(c.numel()) * 4;
  arguments.part_count = uint32_t(parts.size(0));
  arguments.results = uint32_t(c.numel() / (vector ? 4 : 1));
  arguments.row = uint32_t(columns / (vector ? 4 : 1));
  uint32_t along = 1;
  while (along < kMostSharing && along * kWorthSharing <= arguments.part_count &&
         arguments.results * along < busy)
    along *= 2;
  static const ShaderCode code = with_variant(find_shader("matmul_parts"), part_variant);
  launch.run(code,
             MatmulParts{.along = along,
                         .out_type = uint32_t(c.dtype()),
                         .has_bias = end.bias.defined(),
                         .vector = vector,
                         .activation = uint32_t(end.activation)}
                 .values(),
             {groups_for(uint64_t(arguments.results) * along, recorder)}, bytes_of(arguments));
}

// Adds up the parts of the last tiles of C.
void add_tail(const ProductTile& tile, MatmulArguments arguments, const Tensor& tail, const Tensor& c,
              const Tensor& bias, Activation activation, Recorder& recorder) {
  Launch launch(recorder);
  arguments.tail = launch.reads(tail);
  arguments.c = launch.writes(c);
  if (bias.defined()) arguments.bias = launch.reads(bias);
  const uint64_t fours = uint64_t(tail.size(0)) / arguments.splits * tile.bm * tile.bn / 4;
  launch.run(
      MatmulTail{
          .bm = tile.bm, .bn = tile.bn, .has_bias = bias.defined(), .activation = uint32_t(activation)},
      {group_count(fours / kGroupSize + 1, recorder)}, bytes_of(arguments));
}

// Records the product p of two tensors. Returns c, or the parts [parts, elements of C] if k is split. Removes
// from `end` the steps that this dispatch computes.
Tensor launch_product(const Product& p, const Tensor& given_a, const Tensor& given_b, Ending& end,
                      const Tensor& c, Recorder& recorder) {
  ProductSide left = left_side(p), right = right_side(p);
  UnitOperand a{given_a, {}}, b{given_b, {}};
  if (p.on_units()) {
    a = unit_operand(given_a, left, p, recorder);
    b = unit_operand(given_b, right, p, recorder);
  }
  const auto [chosen, parts] = plan_of(p, recorder.physical, recorder.rates, recorder.products);
  const ProductTile& tile = *chosen;
  Launch launch(recorder);
  MatmulArguments arguments{};
  const uint32_t length = std::max(1u, uint32_t(p.k));
  const ProductTail divided =
      parts > 1 ? ProductTail{0, parts} : tail_of(p, tile, recorder.physical, recorder.rates);
  arguments.split = ((length + divided.parts - 1) / divided.parts + tile.bk - 1) / tile.bk * tile.bk;
  arguments.splits = (length + arguments.split - 1) / arguments.split;
  arguments.row_tiles = uint32_t((p.m + tile.bm - 1) / tile.bm);
  arguments.column_tiles = uint32_t((p.n + tile.bn - 1) / tile.bn);
  arguments.batches = uint32_t(numel(p.batch));
  const uint32_t all_tiles = arguments.row_tiles * arguments.column_tiles * arguments.batches;
  arguments.whole_tiles = arguments.splits == 1 ? all_tiles : divided.whole_tiles;
  const uint32_t tail_tiles = all_tiles - arguments.whole_tiles,
                 tiles = arguments.whole_tiles + tail_tiles * arguments.splits;
  const bool whole = parts == 1 || arguments.splits == 1, biased = end.bias.defined() && whole;
  arguments.a = launch.reads(a.tensor);
  arguments.b = launch.reads(b.tensor);
  const bool ends = whole && (p.on_units() || ends_within(end.activation, tile.own_m * tile.own_n));
  const Activation activation = ends ? std::exchange(end.activation, Activation::none) : Activation::none;
  const Tensor made =
      whole ? c : Tensor::empty({int64_t(arguments.splits), c.numel()}, DType::f32, c.device());
  arguments.c = launch.writes(made);
  Tensor tail;
  if (whole && tail_tiles > 0) {
    tail = Tensor::empty({int64_t(tail_tiles) * arguments.splits, tile.bm, tile.bn}, DType::f32, c.device());
    arguments.tail = launch.writes(tail);
  }
  if (biased) {
    arguments.bias = launch.reads(end.bias);
    arguments.bias_step = end.bias.strides()[0];
  }
  if (p.scaled()) {
    arguments.a_largest = launch.reads(a.largest);
    arguments.b_largest = launch.reads(b.largest);
  }
  arguments.a_row = left.along_k ? left.far_step : left.close_step;
  arguments.a_column = left.along_k ? left.close_step : left.far_step;
  arguments.b_row = right.along_k ? right.close_step : right.far_step;
  arguments.b_column = right.along_k ? right.far_step : right.close_step;
  arguments.m = uint32_t(p.m);
  arguments.n = uint32_t(p.n);
  arguments.k = uint32_t(p.k);
  arguments.batch_dims = uint32_t(p.batch.size());
  for (int d = 0; d < p.batch.size(); ++d) {
    arguments.batch_size[d] = uint32_t(p.batch[d]);
    arguments.batch_step[0][d] = left.batch[d];
    arguments.batch_step[1][d] = right.batch[d];
  }
  const double share = p.on_units() ? recorder.rates.f32 / recorder.rates.matrix_units : 1;
  launch.multiplies(double(c.numel()) * double(p.k) * share);
  const bool ragged_k = p.k % tile.bk != 0 || p.k == 0;  // without k, no load is inside
  const bool even = p.m % tile.bm == 0 && p.n % tile.bn == 0 && !ragged_k;
  if (p.on_units()) {
    static const ShaderCode half_code = with_variant(find_shader("matmul_cooperative"), unit_variant);
    static const ShaderCode bfloat_code = with_variant(half_code, unit_variant, true);
    const uint32_t subgroup = recorder.physical.subgroup_size;
    const uint32_t threads = tile.bm / tile.own_m * (tile.bn / tile.own_n) * subgroup;
    launch.run_in_turns(p.unit_type == DType::f16 ? half_code : bfloat_code,
                        MatmulCooperative{.local_size_x = threads,
                                          .bm = tile.bm,
                                          .bn = tile.bn,
                                          .bk = tile.bk,
                                          .wm = tile.own_m,
                                          .wn = tile.own_n,
                                          .a_column_major = !left.along_k,
                                          .b_row_major = !right.along_k,
                                          .has_bias = biased,
                                          .threads = threads,
                                          .scaled = p.scaled(),
                                          .out_type = uint32_t(made.dtype()),
                                          .subgroup = subgroup,
                                          .m = MatrixUnits::kSide,
                                          .n = MatrixUnits::kSide,
                                          .k = MatrixUnits::kSide,
                                          .whole = even,
                                          .ragged_k = ragged_k,
                                          .activation = uint32_t(activation)}
                            .values(),
                        tiles, bytes_of(arguments));
  } else {
    static const ShaderCode code = with_variant(find_shader("matmul"), variant);
    const uint32_t threads = tile.bm / tile.own_m * (tile.bn / tile.own_n);
    launch.run_in_turns(code,
                        Matmul{.local_size_x = threads,
                               .bm = tile.bm,
                               .bn = tile.bn,
                               .bk = tile.bk,
                               .tm = tile.own_m,
                               .tn = tile.own_n,
                               .a_column_major = !left.along_k,
                               .b_row_major = !right.along_k,
                               .has_bias = biased,
                               .threads = threads,
                               .a_vector = lies_in_runs(4, left, arguments.a, 4),
                               .b_vector = lies_in_runs(4, right, arguments.b, 4),
                               .even = even,
                               .ragged_k = ragged_k,
                               .activation = uint32_t(activation)}
                            .values(),
                        tiles, bytes_of(arguments));
  }
  if (tail.defined())
    add_tail(tile, arguments, tail, made, biased ? end.bias : Tensor(), activation, recorder);
  return made;
}

// A product with a vector reads each matrix element once. It is computed as a reduction of the products of
// the matrix and the expanded vector; tiles would be mostly empty.
bool is_of_vector(const Product& p) {
  return (p.m == 1 || p.n == 1) && p.k > 1 && p.batch.size() < kMaxDims - 1;
}
void multiply_vector(const Product& p, const Tensor& a, const Tensor& b, const Ending& end, const Tensor& c,
                     Recorder& recorder) {
  const bool by_column = p.n == 1;  // b is the vector
  Shape shape = p.batch;
  Strides left = p.a_batch, right = p.b_batch;
  shape.push_back(by_column ? p.m : p.n);
  left.push_back(by_column ? p.a_row : 0);
  right.push_back(by_column ? 0 : p.b_column);
  shape.push_back(p.k);
  left.push_back(p.a_column);
  right.push_back(p.b_row);
  const Tensor rows = window(a, shape, left), columns = window(b, shape, right);
  const bool ends = end.bias.defined() || end.activation != Activation::none;
  const Tensor sums = ends ? Tensor::empty({1, c.numel()}, DType::f32, c.device()) : c;
  DimReduction work = float_reduction({.map = shaders::Reduce::kTimes}, by_column ? rows : columns,
                                      1u << (shape.size() - 1), sums);
  work.other = by_column ? &columns : &rows;
  reduce_dims(work, recorder);
  if (ends) end_product(c, p.n, sums, end, recorder);
}

// A product of a column and a row has one term for each element.
void multiply_outer(const Tensor& a, const Tensor& b, bool transposed, const Tensor& c, Recorder& recorder) {
  Call call;
  call.op = find_op("mul");
  call.in = {a.ndim() == 1 ? unsqueeze(a, 0) : a, b.ndim() == 1 ? unsqueeze(b, 1)
                                                  : transposed  ? transpose(b, -2, -1)
                                                                : b};
  const Shape shape = broadcast_shapes("matmul", call.input(0).shape(), call.input(1).shape());
  call.out.push_back(window(c, shape, contiguous_strides(shape)));
  find_kernel(*call.op)->run(call, recorder);
}

}  // namespace

void activate_in_place(const Tensor& x, Activation activation, Recorder& recorder) {
  Call call;
  call.op = find_op(activation_param().choices[size_t(activation)]);
  call.in = {x};
  call.out.push_back(x);
  find_kernel(*call.op)->run(call, recorder);
}

void multiply(const Tensor& a, const Tensor& b, bool transposed, const Ending& end, const Tensor& c,
              Recorder& recorder) {
  const NoGrad off;
  const Product p = product_of(a, b, transposed, recorder.physical);
  if (is_of_vector(p)) return multiply_vector(p, a, b, end, c, recorder);
  if (p.k == 1 && !end.bias.defined() && end.activation == Activation::none)
    return multiply_outer(a, b, transposed, c, recorder);
  if (p.converted()) {
    const Tensor product = Tensor::empty(c.shape(), DType::f32, c.device());
    multiply(to(a, DType::f32), to(b, DType::f32), transposed,
             {end.bias.defined() ? to(end.bias, DType::f32) : Tensor(), end.activation}, product, recorder);
    return copy(c, product, recorder);
  }
  Ending rest = end;
  const Tensor made = launch_product(p, a, b, rest, c, recorder);
  if (made.body() != c.body())
    end_product(c, p.n, made, rest, recorder);
  else if (rest.activation != Activation::none)
    activate_in_place(c, rest.activation, recorder);
}

Tensor multiply_in_parts(const Tensor& a, const Tensor& b, bool transposed, Recorder& recorder) {
  const NoGrad off;
  const Product p = product_of(a, b, transposed, recorder.physical);
  if (p.converted()) return multiply_in_parts(to(a, DType::f32), to(b, DType::f32), transposed, recorder);
  const Tensor whole = Tensor::empty({1, p.m, p.n}, DType::f32, a.device());
  Ending none;
  const Tensor made = launch_product(p, a, b, none, whole, recorder);
  return reshape(made, {made.size(0), p.m, p.n});
}

namespace {

bool supports(const Call& call) {
  const int64_t most_complex = most_elements() / 4;  // elements: they become four times as many floats
  for (const Tensor& x : call.in)
    if (x.defined() && (x.dtype() == DType::f64 || (is_complex(x.dtype()) && x.numel() >= most_complex)))
      return false;
  return indexable(call.output()) && call.input(0).size(-1) < most_elements();
}

// The operands for a slice of the result along a batch dim or along the rows. Slices of columns are not
// adjacent in the result, which kernels write in order.
bool slice_product(Call& call, int dim, int64_t first, int64_t size) {
  Tensor &a = call.in[0], &b = call.in[1];
  const bool has_rows = a.ndim() > 1, has_columns = b.ndim() > 1;
  const int dims = call.output().ndim(), batch_dims = dims - has_rows - has_columns;
  if (dim >= batch_dims + has_rows) return false;
  if (has_rows) a = slice_of(a, dim - (batch_dims - (a.ndim() - 2)), first, size);
  if (has_columns && dim < batch_dims) b = slice_of(b, dim - (batch_dims - (b.ndim() - 2)), first, size);
  return true;
}
bool slice_linear(Call& call, int dim, int64_t first, int64_t size) {
  if (dim >= call.output().ndim() - 1) return false;
  call.in[0] = slice_of(call.in[0], dim, first, size);
  return true;
}

void run_matmul(const Call& call, Recorder& recorder) {
  if (is_complex(call.output().dtype())) return run_complex_matmul(call, recorder);
  if (is_integral(call.output().dtype())) return run_integer_matmul(call, recorder);
  multiply(call.input(0), call.input(1), false, {}, call.output(), recorder);
}

// activation(x W^T + bias).
void run_linear(const Call& call, Recorder& recorder) {
  if (is_complex(call.output().dtype())) return run_complex_linear(call, recorder);
  multiply(call.input(0), call.input(1), true,
           {call.has(2) ? call.input(2) : Tensor(), activation_of(call.params)}, call.output(), recorder);
}

}  // namespace

std::vector<KernelEntry> matmul_kernels() {
  return {{find_op("matmul"), {supports, run_matmul, true, nullptr, slice_product}},
          {find_op("linear"), {supports, run_linear, true, nullptr, slice_linear}}};
}

}  // namespace lunagrad::gpu
