// A measure of two rows is one pass over both, and its gradient is another. The kernels read 16-bit numbers
// as they are and compute in f32; measures of 16-bit rows are f32, or distances that are rounded. A gradient
// has the shape of its operand: where the operand repeats, it is added up at once.
#include "runtime/ops/loss/row_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/loss/row_differences.h"
#include "runtime/ops/nn/unit.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 20000;  // elements
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Parameters of distances, and of cosines. The gradients have the flags of x1 and x2 behind them.
constexpr int kPowerAt = 0, kShiftAt = 1, kDistanceDimAt = 2, kRoundedAt = 3;
constexpr int kEpsAt = 0, kAddedAt = 1, kCosineDimAt = 2;

// --- shapes ---

// The shape of both operands together.
Shape whole_shape(const Call& call, int first) {
  const Tensor &a = call.input(first), &b = call.input(first + 1);
  if (!is_floating(a.dtype()) || a.dtype() != b.dtype())
    fail(call.op->name, ": operands of one floating type are needed (got ", a.dtype(), " and ", b.dtype(),
         ")");
  if (a.ndim() != b.ndim() || a.ndim() == 0)
    fail(call.op->name, ": operands with as many dims are needed (got shapes ", a.shape(), " and ", b.shape(),
         ")");
  return broadcast_shapes(call.op->name, a.shape(), b.shape());
}
int checked_dim(const Call& call, int first, int dim_at) {
  const int dim = normalize_dim(call.op->name, call.integer(dim_at), whole_shape(call, first));
  const Tensor &a = call.input(first), &b = call.input(first + 1);
  if (a.shape()[dim] != b.shape()[dim])
    fail(call.op->name, ": rows of one size are needed (got shapes ", a.shape(), " and ", b.shape(), ")");
  return dim;
}
Shape row_shape(const Call& call, int first, int dim_at) {
  Shape rows = whole_shape(call, first);
  rows[checked_dim(call, first, dim_at)] = 1;
  return rows;
}
void distance_shape(Call& call) {
  const double p = call.real(kPowerAt);
  if (!(p >= 0)) fail(call.op->name, ": p must be at least 0 (got ", p, ")");
  const Shape rows = row_shape(call, 0, kDistanceDimAt);
  if (std::isinf(p) && call.input(0).size(int(call.integer(kDistanceDimAt))) == 0 && numel(rows) > 0)
    fail(call.op->name, ": rows without elements have no largest difference");
  const DType type = call.input(0).dtype();
  call.emit(rows, call.flag(kRoundedAt) ? type : accumulate_type(type));
}
void cosine_shape(Call& call) {
  const Shape rows = row_shape(call, 0, kCosineDimAt);
  const DType type = accumulate_type(call.input(0).dtype());
  call.emit(rows, type);
  Shape lengths = rows;
  lengths.insert(0, 2);
  call.emit(lengths, type);
}
template <int dim_at>
void gradient_shape(Call& call) {
  const Shape rows = row_shape(call, 1, dim_at);
  const DType own = call.input(1).dtype();
  const bool is_rounded = dim_at == kDistanceDimAt && call.input(0).dtype() == own;
  const DType type = is_rounded ? own : accumulate_type(own);
  for (size_t i = 0; i < call.in.size(); ++i)
    if (i != 1 && i != 2 && call.has(int(i)) && call.input(int(i)).dtype() != type)
      fail(call.op->name, ": ", call.op->inputs[i].name, " must be ", type, " (got ",
           call.input(int(i)).dtype(), ")");
  if (!(call.input(0).shape() == rows && call.input(3).shape() == rows))
    fail(call.op->name, ": grad and result must have the shape ", rows, " (got ", call.input(0).shape(),
         " and ", call.input(3).shape(), ")");
  if (call.in.size() > 4) {
    Shape lengths = rows;
    lengths.insert(0, 2);
    if (!(call.input(4).shape() == lengths))
      fail(call.op->name, ": lengths must have the shape ", lengths, " (got ", call.input(4).shape(), ")");
  }
  for (int i = 0; i < 2; ++i)
    call.emit(call.flag(dim_at + 1 + i) ? call.input(1 + i).shape() : Shape{0}, call.input(1).dtype());
}

// --- rows on the CPU ---

// The rows of a tensor along a dim, which may repeat, as numbers of type T.
template <class T>
class RowsOf {
 public:
  RowsOf(const Tensor& x, const Shape& rows, int dim)
      : x_(x), size_(x.shape()[dim]), step_(x.strides()[dim]), shape_(rows) {
    steps_ = broadcast_strides(x.shape(), x.strides(), whole(rows, dim));
  }
  // Row i: in the tensor itself if its elements are adjacent numbers of type T, else copied into `room`.
  const T* row(int64_t i, T* room) const {
    const char* const first = place(i);
    if (in_place()) return reinterpret_cast<const T*>(first);
    copy_strided(room, dtype_of<T>(), {1}, first, x_.dtype(), {step_}, {size_});
    return room;
  }
  bool in_place() const { return x_.dtype() == dtype_of<T>() && step_ == 1; }
  int64_t room() const { return in_place() ? 0 : size_; }  // elements
  // Where row i is computed: in the tensor or in `room`. store() then brings it from there to the tensor.
  T* target(int64_t i, T* room) const { return in_place() ? reinterpret_cast<T*>(place(i)) : room; }
  void store(int64_t i, const T* from) const {
    if (from == static_cast<const void*>(place(i))) return;
    copy_strided(place(i), x_.dtype(), {step_}, from, dtype_of<T>(), {1}, {size_});
  }

 private:
  template <class U>
  static constexpr DType dtype_of() {
    return sizeof(U) == 8 ? DType::f64 : DType::f32;
  }
  Shape whole(Shape rows, int dim) const {
    rows[dim] = size_;
    return rows;
  }
  char* place(int64_t i) const {
    int64_t at = 0;
    for (int d = shape_.size() - 1; d >= 0; --d) {
      at += i % shape_[d] * steps_[d];
      i /= shape_[d];
    }
    return static_cast<char*>(x_.raw()) + at * int64_t(item_size(x_.dtype()));
  }

  Tensor x_;
  int64_t size_, step_;
  Shape shape_;
  Strides steps_;
};

// Two rows, each times a power of two that keeps its squares in range, and the lengths of these rows.
template <class T>
struct Directions {
  Directions(const T* x1, const T* x2, int64_t n, double eps, bool added) : row{x1, x2} {
    add_up(n);
    for (int i = 0; i < 2; ++i)
      if (sizeof(T) == 8 && !power_in_range(squares[i])) bring_into_range(i, n);
    if (shift[0] != 0 || shift[1] != 0) add_up(n);
    int removed = 0;
    for (int i = 0; i < 2; ++i) {
      const double own = std::sqrt(squares[i]), lower = std::ldexp(eps, (added ? -2 : -1) * shift[i]);
      length[i] = added ? std::sqrt(squares[i] + lower) : own;
      least[i] = !added && own <= lower;
      if (least[i] || std::isinf(lower)) {  // eps decides, and divides the row itself
        length[i] = added ? std::sqrt(eps) : eps;
        removed += shift[i];
        shift[i] = 0;
        row[i] = i == 0 ? x1 : x2;
      }
    }
    cosine = std::ldexp(products / std::max(length[0], length[1]) / std::min(length[0], length[1]), removed);
    if (std::isnan(length[0] + length[1])) cosine = length[0] + length[1];
  }
  // g times the gradient of the cosine by row i.
  void slopes(int i, double g, int64_t n, T* out) const {
    const double factor = g / length[i], other = factor / length[1 - i],
                 own = least[i] ? 0 : factor * cosine / length[i];
    const T *const x = row[i], *const y = row[1 - i];
    const double up = std::ldexp(1.0, -shift[i] / 2), rest = std::ldexp(1.0, -shift[i] - -shift[i] / 2);
    for (int64_t k = 0; k < n; ++k) {
      const double slope = other * double(y[k]) - own * double(x[k]);
      out[k] = shift[i] == 0 ? T(slope) : T(slope * up * rest);
    }
  }
  double true_length(int i) const { return std::ldexp(length[i], shift[i]); }

  const T* row[2];
  double length[2], cosine;

 private:
  void add_up(int64_t n) {
    constexpr int64_t kParts = 4;
    double sums[3][kParts] = {};
    const T *const x = row[0], *const y = row[1];
    int64_t i = 0;
    for (; i + kParts <= n; i += kParts)
      for (int64_t k = 0; k < kParts; ++k) {
        const double a = double(x[i + k]), b = double(y[i + k]);
        sums[0][k] += a * b, sums[1][k] += a * a, sums[2][k] += b * b;
      }
    for (; i < n; ++i) {
      const double a = double(x[i]), b = double(y[i]);
      sums[0][0] += a * b, sums[1][0] += a * a, sums[2][0] += b * b;
    }
    const auto total = [](const double* s) { return (s[0] + s[1]) + (s[2] + s[3]); };
    products = total(sums[0]), squares[0] = total(sums[1]), squares[1] = total(sums[2]);
  }
  void bring_into_range(int i, int64_t n) {
    double most = 0;
    for (int64_t k = 0; k < n; ++k) most = std::max(most, std::abs(double(row[i][k])));
    if (most == 0 || std::isinf(most)) return;
    shift[i] = std::ilogb(most);
    scaled[i].resize(size_t(n));
    for (int64_t k = 0; k < n; ++k) scaled[i][size_t(k)] = T(std::ldexp(double(row[i][k]), -shift[i]));
    row[i] = scaled[i].data();
  }

  std::vector<T> scaled[2];
  double products = 0, squares[2] = {};
  int shift[2] = {};
  bool least[2] = {};  // the length is eps
};

template <class F>
void with_computed_type(const Tensor& x, F&& f) {
  x.dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}
// f with the type of results and of their gradients.
template <class F>
void with_measured_type(const Tensor& y, F&& f) {
  visit_any_dtype(y.dtype(), [&]<class R>() {
    if constexpr (sizeof(R) == 2 || std::is_floating_point_v<R>) f.template operator()<R>();
  });
}
template <class T, class F>
void for_row_pairs(const Call& call, int dim, F&& f) {
  const Tensor& y = call.output();
  const RowsOf<T> x1(call.input(0), y.shape(), dim), x2(call.input(1), y.shape(), dim);
  const int64_t n = call.input(0).shape()[dim];
  parallel_for(y.numel(), iterations_in(kGrain, n), [&](int64_t begin, int64_t end) {
    const Workspace<T> rooms(x1.room() + x2.room());
    for (int64_t i = begin; i < end; ++i)
      f(i, x1.row(i, rooms.data()), x2.row(i, rooms.data() + x1.room()), n);
  });
}
void distance_cpu(const Call& call) {
  const double p = call.real(kPowerAt), shift = call.real(kShiftAt);
  with_computed_type(call.input(0), [&]<class T>() {
    with_measured_type(call.output(), [&]<class R>() {
      R* const out = call.output().data<R>();
      for_row_pairs<T>(call, int(call.integer(kDistanceDimAt)),
                       [&](int64_t i, const T* x1, const T* x2, int64_t n) {
                         out[i] = convert<R>(T(norm_of<T>({x1, x2, n, T(shift)}, p)));
                       });
    });
  });
}
void cosine_cpu(const Call& call) {
  const double eps = call.real(kEpsAt);
  const bool added = call.flag(kAddedAt);
  with_computed_type(call.input(0), [&]<class T>() {
    T *const out = call.output(0).data<T>(), *const lengths = call.output(1).data<T>();
    const int64_t rows = call.output().numel();
    for_row_pairs<T>(call, int(call.integer(kCosineDimAt)),
                     [&](int64_t i, const T* x1, const T* x2, int64_t n) {
                       const Directions<T> both(x1, x2, n, eps, added);
                       out[i] = T(both.cosine);
                       lengths[i] = T(both.true_length(0)), lengths[rows + i] = T(both.true_length(1));
                     });
  });
}

// The rows of the whole shape that one row of an operand stands for.
struct Repeats {
  Repeats(const Shape& own_rows, const Shape& rows) : own(own_rows), all(rows) {
    for (int d = 0; d < rows.size(); ++d) count *= own[d] == rows[d] ? 1 : rows[d];
  }
  // Row number `repeat` of those that the operand's row i stands for.
  int64_t row(int64_t i, int64_t repeat) const {
    int64_t at = 0, step = 1;
    for (int d = all.size() - 1; d >= 0; --d) {
      const bool repeats = own[d] != all[d];
      int64_t& rest = repeats ? repeat : i;
      at += rest % all[d] * step;
      rest /= all[d];
      step *= all[d];
    }
    return at;
  }
  Shape own, all;
  int64_t count = 1;
};

// slopes(row, x1, x2, out1, out2) computes the gradients of a pair of rows; a null `out` is not wanted.
template <class T, class Slopes>
void add_slopes(const Call& call, int dim, const Slopes& slopes) {
  constexpr int64_t kMostBlocks = 64, kLeastRepeats = 64;
  const Tensor &a = call.input(1), &b = call.input(2);
  const Shape& rows = call.input(0).shape();
  const int64_t n = a.shape()[dim];
  const RowsOf<T> x1(a, rows, dim), x2(b, rows, dim);
  const bool wanted[] = {call.output(0).numel() > 0, call.output(1).numel() > 0};
  Shape own[] = {a.shape(), b.shape()};
  for (Shape& shape : own) shape[dim] = 1;
  if (own[0] == rows && own[1] == rows) {
    const RowsOf<T> out1(wanted[0] ? call.output(0) : a, rows, dim),
        out2(wanted[1] ? call.output(1) : b, rows, dim);
    return parallel_for(numel(rows), iterations_in(kGrain, n), [&](int64_t begin, int64_t end) {
      const Workspace<T> memory(x1.room() + x2.room() + out1.room() + out2.room());
      T *const second_room = memory.data() + x1.room(), *const first_out = second_room + x2.room(),
               *const second_out = first_out + out1.room();
      for (int64_t i = begin; i < end; ++i) {
        T *const first = wanted[0] ? out1.target(i, first_out) : nullptr, *const second =
                                                                              wanted[1]
                                                                                  ? out2.target(i, second_out)
                                                                                  : nullptr;
        slopes(i, x1.row(i, memory.data()), x2.row(i, second_room), first, second);
        if (first) out1.store(i, first);
        if (second) out2.store(i, second);
      }
    });
  }
  for (int side = 0; side < 2; ++side) {
    if (!wanted[side]) continue;
    const Repeats repeats(own[side], rows);
    const RowsOf<T> out(call.output(side), own[side], dim);
    const int64_t count = numel(own[side]);
    // The sums of blocks of repeats are added in order. The blocks depend on the shapes alone.
    const int64_t blocks = std::clamp<int64_t>(
        std::min(kMostBlocks / std::max<int64_t>(1, count), repeats.count / kLeastRepeats), 1, kMostBlocks);
    const int64_t block = (repeats.count + blocks - 1) / blocks;
    const Workspace<double> all_sums(blocks == 1 ? 1 : blocks * count * n);
    parallel_for(count * blocks, iterations_in(kGrain, n * block), [&](int64_t begin, int64_t end) {
      const Workspace<T> memory(x1.room() + x2.room() + n);
      const Workspace<double> own_sums(n);
      T *const room = memory.data(), *const second_room = room + x1.room(),
               *const slope = second_room + x2.room();
      for (int64_t item = begin; item < end; ++item) {
        const int64_t i = item / blocks, first = item % blocks * block;
        double* const sums = blocks == 1 ? own_sums.data() : all_sums.data() + item * n;
        std::fill(sums, sums + n, 0.0);
        for (int64_t r = first; r < std::min(first + block, repeats.count); ++r) {
          const int64_t row = repeats.row(i, r);
          slopes(row, x1.row(row, room), x2.row(row, second_room), side == 0 ? slope : nullptr,
                 side == 1 ? slope : nullptr);
          for (int64_t k = 0; k < n; ++k) sums[k] += double(slope[k]);
        }
        if (blocks > 1) continue;
        for (int64_t k = 0; k < n; ++k) slope[k] = T(sums[k]);
        out.store(i, slope);
      }
    });
    if (blocks == 1) continue;
    const Workspace<T> total(n);
    for (int64_t i = 0; i < count; ++i) {
      double* const sums = all_sums.data() + i * blocks * n;
      for (int64_t part = 1; part < blocks; ++part)
        for (int64_t k = 0; k < n; ++k) sums[k] += sums[part * n + k];
      for (int64_t k = 0; k < n; ++k) total.data()[k] = T(sums[k]);
      out.store(i, total.data());
    }
  }
}
void distance_grad_cpu(const Call& call) {
  const Tensor g = in_order(call.input(0)), y = in_order(call.input(3));
  const int dim = int(call.integer(kDistanceDimAt));
  const int64_t n = call.input(1).shape()[dim];
  const double p = call.real(kPowerAt), shift = call.real(kShiftAt);
  with_computed_type(call.input(1), [&]<class T>() {
    with_measured_type(y, [&]<class R>() {
      add_slopes<T>(call, dim, [&](int64_t row, const T* x1, const T* x2, T* first, T* second) {
        T* const slopes = first ? first : second;
        const Differences<T> apart{x1, x2, n, T(shift)};
        // Rounded distances are computed again: the largest difference equals its distance.
        const double distance =
            sizeof(R) == 2 ? double(T(norm_of(apart, p))) : double(convert<T>(y.data<R>()[row]));
        norm_slopes<T>(apart, p, distance, double(convert<T>(g.data<R>()[row])), slopes);
        if (second)
          for (int64_t k = 0; k < n; ++k) second[k] = -slopes[k];
      });
    });
  });
}
void cosine_grad_cpu(const Call& call) {
  const Tensor g = in_order(call.input(0));
  const int dim = int(call.integer(kCosineDimAt));
  const int64_t n = call.input(1).shape()[dim];
  const double eps = call.real(kEpsAt);
  const bool added = call.flag(kAddedAt);
  with_computed_type(call.input(1), [&]<class T>() {
    add_slopes<T>(call, dim, [&](int64_t row, const T* x1, const T* x2, T* first, T* second) {
      const Directions<T> both(x1, x2, n, eps, added);
      if (first) both.slopes(0, double(g.data<T>()[row]), n, first);
      if (second) both.slopes(1, double(g.data<T>()[row]), n, second);
    });
  });
}

// --- the same from differences and directions, as a reference, for ONNX and for higher derivatives ---

Tensor computed(const Tensor& x) { return to(x, accumulate_type(x.dtype())); }
Operands distance_compose(const Call& call) {
  const Tensor apart = computed(call.input(0)) - computed(call.input(1)) + call.real(kShiftAt);
  const Tensor y = norm(apart, call.real(kPowerAt), {call.integer(kDistanceDimAt)}, true);
  return {call.flag(kRoundedAt) ? to(y, call.input(0).dtype()) : y};
}
// x / sqrt(|x|^2 + eps) along dim, and the divisor. No square of a sum overflows.
Operands unit_with_added(const Tensor& x, int dim, double eps) {
  const double size = double(x.size(dim));
  const Tensor rows = transpose(x, dim, -1), length = norm(x, 2, {dim}, true);
  return {transpose(rms_norm(rows, {x.size(dim)}, {}, eps / size), dim, -1) / std::sqrt(size),
          sqrt(square(length) + eps)};
}
Operands cosine_compose(const Call& call) {
  static const Op& unit_op = *find_op("_unit");
  const int dim = int(call.integer(kCosineDimAt));
  const double eps = call.real(kEpsAt);
  const auto unit_of = [&](const Tensor& x) {
    const Tensor v = computed(x);
    return call.flag(kAddedAt) && v.size(dim) > 0 ? unit_with_added(v, dim, eps)
                                                  : apply(unit_op, {v}, {dim, eps});
  };
  const Operands first = unit_of(call.input(0)), second = unit_of(call.input(1));
  const Tensor cosine = sum(first[0] * second[0], {dim}, true);
  return {cosine, stack({expand(first[1], cosine.shape()), expand(second[1], cosine.shape())}, 0)};
}

// --- gradients ---

void set_slopes(Backward& b, const Op& op, Operands in, Values params) {
  params.push_back(b.needs(0)), params.push_back(b.needs(1));
  const Operands slopes = apply(op, std::move(in), std::move(params));
  for (int i = 0; i < 2; ++i)
    if (b.needs(i)) b.set(i, slopes[size_t(i)]);
}
extern const Op kRowDistanceGrad, kRowCosineGrad;
void distance_vjp(Backward& b) {
  if (b.real(kPowerAt) == 0) {
    for (int i = 0; i < 2; ++i)
      if (b.needs(i)) b.set(i, zeros(b.shape(i), b.dtype(i), b.device()));
    return;
  }
  if (b.create_graph()) return differentiate_composition(b);
  set_slopes(b, kRowDistanceGrad, {b.grad(), b.input(0), b.input(1), b.output()},
             {b.real(kPowerAt), b.real(kShiftAt), b.integer(kDistanceDimAt)});
}
void cosine_vjp(Backward& b) {
  if (b.create_graph() || b.has_grad(1)) return differentiate_composition(b);
  set_slopes(b, kRowCosineGrad, {b.grad(0), b.input(0), b.input(1), b.output(0), b.output(1)},
             b.node().attributes->params);
}

template <int dim_at, int each>
double flops_of(const Call& call) {
  return each * elements(call.out[0]) * double(call.input(0).shape()[int(call.integer(dim_at))]);
}
template <int dim_at, int each>
double grad_flops_of(const Call& call) {
  return each * elements(call.in[0]) * double(call.input(1).shape()[int(call.integer(dim_at))]);
}
const ParamSpec kDim{"dim", ParamKind::dim, {}}, kX1Wanted{"x1_wanted", ParamKind::boolean, true},
    kX2Wanted{"x2_wanted", ParamKind::boolean, true}, kAdded{"added", ParamKind::boolean, false};

const Op kRowDistance{
    .name = "_row_distance",
    .doc = "The p-norm of x1 - x2 + eps along dim.",
    .inputs = {{"x1"}, {"x2"}},
    .params = {{"p", ParamKind::real, 2.0},
               {"eps", ParamKind::real, 1e-6},
               kDim,
               {"rounded", ParamKind::boolean, false}},
    .shape = distance_shape,
    .cpu = distance_cpu,
    .vjp = distance_vjp,
    .reads = {{.inputs = 3, .outputs = 1}},
    .compose = distance_compose,
    .family = OpFamily::reduction,
    .flops = {flops_of<kDistanceDimAt, 4>, "4 for each pair of elements"},
    .examples = {
        {.inputs = {{{4, 3}}, {{4, 3}}}, .params = {2.0, 1e-6, 1}, .types = kFloating},
        {.inputs = {{{4, 3}}, {{4, 3}}}, .params = {2.0, 1e-6, 1, true}, .types = kFloating},
        {.inputs = {{{2, 3, 4}}, {{2, 3, 1}}}, .params = {3.0, 1e-3, 1}, .types = kFloating},
        {.inputs = {{{3, 1, 5}}, {{1, 4, 5}}}, .params = {1.5, 1e-2, 2}, .types = kFloating},
        {.inputs = {{{3, 1, 2}}, {{1, 1, 2}}}, .params = {1.0, 0.0, 2}, .types = kFloating},
        {.inputs = {{{5, 4}}, {{5, 4}}}, .params = {kInfinity, 0.0, 0}, .types = kFloating},
        {.inputs = {{{4, 3}}, {{4, 2}}}, .params = {2.0, 0.0, 1}, .error = "_row_distance"},
        {.inputs = {{{4, 3}}, {{4, 3}}}, .params = {-1.0, 0.0, 1}, .error = "p must be at least 0"}}};
const Op kRowDistanceGrad{
    .name = "_row_distance_grad",
    .doc = "The gradients of _row_distance from its result's gradient and its result.",
    .inputs = {{"grad"}, {"x1"}, {"x2"}, {"result"}},
    .params = {{"p", ParamKind::real, 2.0}, {"eps", ParamKind::real, 1e-6}, kDim, kX1Wanted, kX2Wanted},
    .shape = gradient_shape<kDistanceDimAt>,
    .cpu = distance_grad_cpu,
    .family = OpFamily::reduction,
    .flops = {grad_flops_of<kDistanceDimAt, 5>, "5 for each pair of elements"}};

const Op kRowCosine{
    .name = "_row_cosine",
    .doc =
        "x1 x2 / (|x1| |x2|) along dim and these divisors: norms of at least eps, or if added sqrt(|x|^2 + "
        "eps).",
    .inputs = {{"x1"}, {"x2"}},
    .params = {{"eps", ParamKind::real, 1e-8}, kAdded, kDim},
    .shape = cosine_shape,
    .cpu = cosine_cpu,
    .vjp = cosine_vjp,
    .reads = {{.inputs = 3, .outputs = 3}},
    .compose = cosine_compose,
    .family = OpFamily::reduction,
    .flops = {flops_of<kCosineDimAt, 6>, "6 for each pair of elements"},
    .examples = {{.inputs = {{{4, 3}}, {{4, 3}}}, .params = {1e-8, false, 1}, .types = kFloating},
                 {.inputs = {{{2, 3, 4}}, {{2, 3, 1}}}, .params = {1e-8, false, 1}, .types = kFloating},
                 {.inputs = {{{3, 1, 5}}, {{1, 4, 5}}}, .params = {1e-2, true, 2}, .types = kFloating},
                 {.inputs = {{{4, 3}}, {{4, 2}}}, .params = {0.0, false, 1}, .error = "_row_cosine"}}};
const Op kRowCosineGrad{.name = "_row_cosine_grad",
                        .doc = "The gradients of _row_cosine from its result's gradient and its results.",
                        .inputs = {{"grad"}, {"x1"}, {"x2"}, {"result"}, {"lengths"}},
                        .params = {{"eps", ParamKind::real, 1e-8}, kAdded, kDim, kX1Wanted, kX2Wanted},
                        .shape = gradient_shape<kCosineDimAt>,
                        .cpu = cosine_grad_cpu,
                        .family = OpFamily::reduction,
                        .flops = {grad_flops_of<kCosineDimAt, 8>, "8 for each pair of elements"}};

}  // namespace

Tensor row_distance(const Tensor& x1, const Tensor& x2, double p, double eps, int dim, bool rounded) {
  return apply1(kRowDistance, {x1, x2}, {p, eps, dim, rounded});
}
Tensor row_cosine(const Tensor& x1, const Tensor& x2, int dim, double eps, bool added) {
  return apply(kRowCosine, {x1, x2}, {eps, added, dim})[0];
}

std::span<const Op* const> row_measure_ops() {
  static const Op* const ops[] = {&kRowDistance, &kRowDistanceGrad, &kRowCosine, &kRowCosineGrad};
  return ops;
}

}  // namespace lunagrad
