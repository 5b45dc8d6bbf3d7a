// batch_norm: Ioffe, Szegedy, "Batch normalization", 2015. In training each channel is normalized by its own
// mean and variance, which also update the running statistics; otherwise by the running statistics. The
// result has the input's type. Inputs of 16 bits are computed in f32 and have f32 statistics and weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/range.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/into_range.h"
#include "runtime/ops/nn/channel_norm_operands.h"
#include "runtime/ops/nn/cpu/channel_norm.h"

namespace lunagrad {
namespace {

constexpr int64_t kBatchNormGrain = 8192;  // elements

// The input as batch x channels x size.
struct Channels {
  int64_t batch, count, size = 1;
  explicit Channels(const Shape& x) : batch(x[0]), count(x[1]) {
    for (int d = 2; d < x.size(); ++d) size *= x[d];
  }
  int64_t of_each() const { return batch * size; }
  int64_t at(int64_t item, int64_t channel) const { return (item * count + channel) * size; }
  // Calls f(first, end) on ranges of channels, on all threads.
  template <class F>
  void for_channels(F&& f) const {
    const int64_t least = size == 1 ? 64 : 1;
    parallel_for(count, std::max(least, kBatchNormGrain / std::max<int64_t>(of_each(), 1)), f);
  }
};

template <class T>
std::vector<T> values_of(const Tensor& x, int64_t count, T absent) {
  std::vector<T> values(size_t(count), absent);
  if (x.defined()) std::copy_n(in_order(x).data<T>(), count, values.begin());
  return values;
}

void copy_converted(const Tensor& from, Tensor to) {
  copy_strided(to.raw(), to.dtype(), to.strides(), from.raw(), from.dtype(), from.strides(), from.shape());
}

// Runs a kernel on f32 copies of the 16-bit operands and results.
void in_f32(const Call& call, void (*kernel)(const Call&)) {
  Call upcast = call;
  for (Tensor& x : upcast.in) {
    if (!x.defined() || !is_16bit_float(x.dtype())) continue;
    const Tensor given = std::exchange(x, Tensor::empty(x.shape(), DType::f32));
    copy_converted(given, x);
  }
  for (Tensor& y : upcast.out)
    if (is_16bit_float(y.dtype())) y = Tensor::empty(y.shape(), DType::f32);
  kernel(upcast);
  for (size_t i = 0; i < call.out.size(); ++i)
    if (is_16bit_float(call.out[i].dtype())) copy_converted(upcast.out[i], call.out[i]);
}

template <class F>
void with_type_of(const Tensor& x, F&& f) {
  x.dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

// --- y = (x - mean) / sqrt(var + eps) w + b ---

template <class T>
void write_normalized(const Channels& c, int64_t first, int64_t end, const T* x, const T* mean,
                      const T* scale, const T* shift, T* y) {
  for (int64_t item = 0; item < c.batch; ++item) {
    if (c.size == 1) {
      const int64_t at = c.at(item, first);
      normalize_stretch(true, end - first, x + at, mean + first, scale + first, shift + first, y + at);
      continue;
    }
    for (int64_t k = first; k < end; ++k) {
      const int64_t at = c.at(item, k);
      normalize_stretch(false, c.size, x + at, mean + k, scale + k, shift + k, y + at);
    }
  }
}

// Outputs: y, and for each channel the mean, the biased variance and 1 / sqrt(variance + eps). The last is an
// output of its own because the variance may be infinite, or 0, where its root is not.
void train_shape(Call& call) {
  const Tensor& x = call.input(0);
  call.emit(x.shape(), x.dtype());
  for (int i = 0; i < 3; ++i) call.emit({x.size(1)}, accumulate_type(x.dtype()));
}

// A channel whose squares are out of range (cpu/range.h).
template <class T>
struct ScaledChannel {
  const Channels& c;
  int64_t channel;
  double factor;

  // Calls f(index of an element) for all elements of the channel.
  template <class F>
  void for_elements(F&& f) const {
    for (int64_t item = 0; item < c.batch; ++item)
      for (int64_t i = 0; i < c.size; ++i) f(c.at(item, channel) + i);
  }
  // The mean, the variance, and 1 / sqrt(variance + eps).
  std::array<double, 3> moments(const T* x, double eps) const {
    const double n = double(c.of_each());
    double sum = 0, squares = 0;
    for_elements([&](int64_t i) { sum += double(x[i]) * factor; });
    const double mean = sum / n;
    for_elements([&](int64_t i) {
      const double away = double(x[i]) * factor - mean;
      squares += away * away;
    });
    const double variance = squares / n;
    return {mean / factor, variance / factor / factor,
            1 / std::sqrt(variance + eps * factor * factor) * factor};
  }
};

void train_cpu(const Call& call) {
  if (is_16bit_float(call.input(0).dtype())) return in_f32(call, train_cpu);
  const Tensor x = in_order(call.input(0));
  const Channels c(x.shape());
  with_type_of(x, [&]<class T>() {
    std::vector<T> scale = values_of<T>(call.has(1) ? call.input(1) : Tensor(), c.count, 1);
    const std::vector<T> shift = values_of<T>(call.has(2) ? call.input(2) : Tensor(), c.count, 0);
    const T* const in = x.data<T>();
    T* const mean = call.output(1).data<T>();
    T* const var = call.output(2).data<T>();
    T* const rstd = call.output(3).data<T>();
    c.for_channels([&](int64_t first, int64_t end) {
      const int64_t n = end - first;
      std::vector<double> sums(size_t(2 * n), 0.0);
      double* const squares = sums.data() + n;
      if (c.size == 1) sum_columns(c.batch, n, c.count, in + first, sums.data());
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t item = 0; c.size > 1 && item < c.batch; ++item)
          sums[size_t(k)] += sum_stretch(c.size, in + c.at(item, first + k));
        mean[first + k] = T(sums[size_t(k)] / double(c.of_each()));
      }
      if (c.size == 1) squares_columns(c.batch, n, c.count, in + first, mean + first, squares);
      const double count = double(c.of_each()), eps = call.real(0);
      bool in_range = true;
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t item = 0; c.size > 1 && item < c.batch; ++item)
          squares[k] += squares_stretch(c.size, in + c.at(item, first + k), mean[first + k]);
        const double variance = squares[k] / count, square = variance + eps;
        const T r = T(1 / std::sqrt(square));
        var[first + k] = T(variance);
        rstd[first + k] = r;
        scale[size_t(first + k)] *= r;
        in_range = in_range & SquareRange<T>::holds(square);
      }
      if (!in_range) {
        const std::vector<T> weight = values_of<T>(call.has(1) ? call.input(1) : Tensor(), c.count, 1);
        for (int64_t k = 0; k < n; ++k) {
          const double square = squares[k] / count + eps;
          if (SquareRange<T>::holds(square)) continue;
          const ScaledChannel<T> scaled{c, first + k, double(SquareRange<T>::factor(square))};
          const std::array<double, 3> moments = scaled.moments(in, eps);
          mean[first + k] = T(moments[0]);
          var[first + k] = T(moments[1]);
          rstd[first + k] = T(moments[2]);
          scale[size_t(first + k)] = weight[size_t(first + k)] * rstd[first + k];
        }
      }
      write_normalized(c, first, end, in, mean, scale.data(), shift.data(), call.output().data<T>());
    });
  });
}

void eval_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }

void eval_cpu(const Call& call) {
  if (is_16bit_float(call.input(0).dtype())) return in_f32(call, eval_cpu);
  const Tensor x = in_order(call.input(0));
  const Channels c(x.shape());
  with_type_of(x, [&]<class T>() {
    std::vector<T> scale = values_of<T>(call.has(3) ? call.input(3) : Tensor(), c.count, 1);
    const std::vector<T> shift = values_of<T>(call.has(4) ? call.input(4) : Tensor(), c.count, 0);
    const std::vector<T> mean = values_of<T>(call.input(1), c.count, 0);
    const std::vector<T> var = values_of<T>(call.input(2), c.count, 0);
    for (size_t k = 0; k < scale.size(); ++k) scale[k] *= T(1 / std::sqrt(double(var[k]) + call.real(0)));
    c.for_channels([&](int64_t first, int64_t end) {
      write_normalized(c, first, end, x.data<T>(), mean.data(), scale.data(), shift.data(),
                       call.output().data<T>());
    });
  });
}

// --- gradients, with r = 1 / sqrt(var + eps) and m elements in each channel:
//   db = sum g,  dw = r sum g (x - mean)
//   dx = w r g, in training less w r (db + (x - mean) r dw) / m ---

enum BatchNormGradParam { kBatchNormEps, kTraining, kBatchNormInputWanted };

// For a channel whose squares are out of range. With x^ = (x - mean) r no step leaves the range:
//   db = sum g,  dw = sum g x^,  dx = w r (g - (db + x^ dw) / m) in training
template <class T>
void scaled_gradient(const ScaledChannel<T>& channel, const T* g, const T* x, T mean, double r, double w,
                     bool training, T* dweight, T* dbias, T* dx) {
  const double count = training ? double(channel.c.of_each()) : INFINITY;
  const auto normalized = [&](int64_t i) { return (double(x[i]) - double(mean)) * r; };
  double db = 0, dw = 0;
  channel.for_elements([&](int64_t i) {
    db += double(g[i]);
    dw += double(g[i]) * normalized(i);
  });
  *dbias = T(db);
  *dweight = T(dw);
  if (!dx) return;
  channel.for_elements(
      [&](int64_t i) { dx[i] = T(w * r * (double(g[i]) - (db + normalized(i) * dw) / count)); });
}

void batch_norm_grad_shape(Call& call) {
  const Tensor& x = call.input(1);
  call.emit(call.flag(kBatchNormInputWanted) ? x.shape() : Shape{0}, x.dtype());
  for (int i = 0; i < 2; ++i) call.emit({x.size(1)}, accumulate_type(x.dtype()));
}

void batch_norm_grad_cpu(const Call& call) {
  if (is_16bit_float(call.input(1).dtype())) return in_f32(call, batch_norm_grad_cpu);
  const Tensor g = in_order(call.input(0)), x = in_order(call.input(1));
  const Channels c(x.shape());
  with_type_of(x, [&]<class T>() {
    const std::vector<T> mean = values_of<T>(call.input(2), c.count, 0);
    const std::vector<T> var = values_of<T>(call.input(3), c.count, 0);
    const std::vector<T> rstd = values_of<T>(call.has(5) ? call.input(5) : Tensor(), c.count, 0);
    const std::vector<T> weight = values_of<T>(call.has(4) ? call.input(4) : Tensor(), c.count, 1);
    std::vector<T> a(weight.size()), b(a.size()), rest(a.size());
    const T *const in = x.data<T>(), *const from = g.data<T>();
    T* const dx = call.flag(kBatchNormInputWanted) ? call.output(0).data<T>() : nullptr;
    T* const dweight = call.output(1).data<T>();
    T* const dbias = call.output(2).data<T>();
    c.for_channels([&](int64_t first, int64_t end) {
      const int64_t n = end - first;
      std::vector<double> sums(size_t(2 * n), 0.0);
      if (c.size == 1)
        dot_columns(c.batch, n, c.count, from + first, in + first, mean.data() + first, sums.data(),
                    sums.data() + n);
      for (int64_t k = first; k < end; ++k) {
        double dots[2] = {sums[size_t(k - first)], sums[size_t(n + k - first)]};
        for (int64_t item = 0; c.size > 1 && item < c.batch; ++item)
          dot_stretch(c.size, from + c.at(item, k), in + c.at(item, k), mean[size_t(k)], dots);
        const double r = 1 / std::sqrt(double(var[size_t(k)]) + call.real(kBatchNormEps)),
                     w = double(weight[size_t(k)]);
        const double share = call.flag(kTraining) ? w * r / double(c.of_each()) : 0;
        dweight[k] = T(r * dots[1]);
        dbias[k] = T(dots[0]);
        a[size_t(k)] = T(w * r);
        b[size_t(k)] = T(-share * r * r * dots[1]);
        rest[size_t(k)] = T(-share * dots[0]);
      }
      for (int64_t item = 0; dx && item < c.batch; ++item) {
        const auto write = [&](bool across, int64_t k, int64_t length) {
          const int64_t at = c.at(item, k);
          normalize_grad_stretch(across, length, from + at, in + at, mean.data() + k, a.data() + k,
                                 b.data() + k, rest.data() + k, dx + at);
        };
        if (c.size == 1) write(true, first, n);
        for (int64_t k = first; c.size > 1 && k < end; ++k) write(false, k, c.size);
      }
      for (int64_t k = first; k < end; ++k) {
        const double square = double(var[size_t(k)]) + call.real(kBatchNormEps);
        if (SquareRange<T>::holds(square)) continue;
        const double r = call.has(5) ? double(rstd[size_t(k)]) : 1 / std::sqrt(square);
        scaled_gradient<T>({c, k, 1}, from, in, mean[size_t(k)], r, double(weight[size_t(k)]),
                           call.flag(kTraining), dweight + k, dbias + k, dx);
      }
    });
  });
}

double batch_norm_grad_flops(const Call& call) {
  const int input = call.flag(kBatchNormInputWanted) ? (call.flag(kTraining) ? 5 : 1) : 0;
  return (4 + input) * elements(call.in[1]);
}
const Op kBatchNormGrad{
    .name = "_batch_norm_grad",
    .doc = "The gradients of batch_norm's input, weight and bias from its result's gradient.",
    .inputs = {{"grad"}, {"input"}, {"mean"}, {"var"}, {"weight", true}, {"rstd", true}},
    .params = {{"eps", ParamKind::real, {}},
               {"training", ParamKind::boolean, {}},
               {"input_wanted", ParamKind::boolean, true}},
    .shape = batch_norm_grad_shape,
    .cpu = batch_norm_grad_cpu,
    .family = OpFamily::normalization,
    .flops = {batch_norm_grad_flops,
              "4 for each element (two sums), and for the gradient of the input 5 in training, else 1"}};

void train_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  const Tensor weight = b.has(1) ? b.input(1) : Tensor();
  const Operands gradients =
      apply(kBatchNormGrad, {b.grad(), b.input(0), b.output(1), b.output(2), weight, b.output(3)},
            {b.real(0), true, b.needs(0)});
  for (int i = 0; i < 3; ++i)
    if (b.needs(i)) b.set(i, gradients[size_t(i)]);
}

// The running statistics get gradients, too, if they require them.
void eval_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  const Tensor weight = b.has(3) ? b.input(3) : Tensor();
  const Tensor mean = b.input(1), var = b.input(2);
  const Operands gradients =
      apply(kBatchNormGrad, {b.grad(), b.input(0), mean, var, weight}, {b.real(0), false, b.needs(0)});
  const Tensor &dweight = gradients[1], &dbias = gradients[2];
  if (b.needs(0)) b.set(0, gradients[0]);
  const auto weighed = [&](const Tensor& x) { return weight.defined() ? x * weight : x; };
  if (b.needs(1)) b.set(1, weighed(dbias * rsqrt(var + b.real(0))) * -1.0);
  if (b.needs(2)) b.set(2, weighed(dweight / (var + b.real(0))) * -0.5);
  if (b.needs(3)) b.set(3, dweight);
  if (b.needs(4)) b.set(4, dbias);
}

// Reshapes a vector with an element for each channel so that it broadcasts with x.
Tensor over_channels(const Tensor& vector, const Tensor& x) {
  Shape shape(x.ndim(), 1);
  shape[1] = x.size(1);
  return reshape(vector, shape);
}

// centred * scale * weight + bias in one pass; scale is 1 / sqrt(variance + eps).
Tensor scaled(const Tensor& centred, Tensor scale, const Call& call, int weight, int bias) {
  if (call.has(weight)) scale = scale * over_channels(call.input(weight), centred);
  return call.has(bias) ? addcmul(over_channels(call.input(bias), centred), centred, scale) : centred * scale;
}

Operands train_compose(const Call& call) {
  const DType type = call.input(0).dtype();
  const Tensor x = to(call.input(0), accumulate_type(type));
  Dims dims{0};
  for (int d = 2; d < x.ndim(); ++d) dims.push_back(d);
  const double eps = call.real(0);
  const Tensor factor = factor_into_range(x, dims, eps);
  const Tensor near = x * factor, average = mean(near, dims, true), centred = near - average;
  const Tensor variance = mean(centred * centred, dims, true);
  const Tensor rstd = rsqrt(variance + factor * eps * factor);
  const Shape channels{x.size(1)};
  return {to(scaled(centred, rstd, call, 1, 2), type), reshape(average / factor, channels),
          reshape(variance / factor / factor, channels), reshape(rstd * factor, channels)};
}

Operands eval_compose(const Call& call) {
  const DType type = call.input(0).dtype();
  const Tensor x = to(call.input(0), accumulate_type(type));
  const Tensor scale = rsqrt(over_channels(call.input(2), x) + call.real(0));
  return {to(scaled(x - over_channels(call.input(1), x), scale, call, 3, 4), type)};
}

double train_flops(const Call& call) { return (5 + call.has(1) + call.has(2)) * elements(call.in[0]); }
double eval_flops(const Call& call) { return (2 + call.has(3) + call.has(4)) * elements(call.in[0]); }

const Op kBatchNormTrain{
    .name = "_batch_norm_train",
    .doc = "batch_norm by the statistics of the batch, and these: mean, biased variance, 1 / deviation.",
    .inputs = {{"input"}, {"weight", true}, {"bias", true}},
    .params = {{"eps", ParamKind::real, 1e-5}},
    .shape = train_shape,
    .cpu = train_cpu,
    .vjp = train_vjp,
    .reads = {{.inputs = 7, .outputs = 14}},
    .compose = train_compose,
    .family = OpFamily::normalization,
    .flops = {train_flops,
              "5 for each element of the result (mean, difference, square and its sum, product), "
              "and 1 each for weight and bias"}};
const Op kBatchNormEval{
    .name = "_batch_norm_eval",
    .doc = "batch_norm by given statistics.",
    .inputs = {{"input"}, {"mean"}, {"var"}, {"weight", true}, {"bias", true}},
    .params = {{"eps", ParamKind::real, 1e-5}},
    .shape = eval_shape,
    .cpu = eval_cpu,
    .vjp = eval_vjp,
    .reads = {{.inputs = 31}},
    .compose = eval_compose,
    .family = OpFamily::normalization,
    .flops = {eval_flops,
              "2 for each element of the result (difference, product), and 1 each for weight and bias"}};

// --- the op: checks, types, and the running statistics ---

void check_batch_norm(const Call& call) {
  const Tensor& x = call.input(kNormInput);
  if (!is_floating(x.dtype())) fail("batch_norm: a floating type is needed (got ", x.dtype(), ")");
  if (x.ndim() < 2) fail("batch_norm: the input must be [N, C, …] (got shape ", x.shape(), ")");
  for (int i = kRunningMean; i <= kNormBias; ++i)
    if (call.has(i) && (!(call.input(i).shape() == Shape{x.size(1)}) || !is_floating(call.input(i).dtype())))
      fail("batch_norm: ", call.op->inputs[size_t(i)].name, " must be a floating tensor of shape [",
           x.size(1), "], as the input has ", x.size(1), " channels (got ", call.input(i).dtype(),
           " of shape ", call.input(i).shape(), ")");
}

// running = (1 - momentum) running + momentum statistic
void move_running(const Tensor& running, const Tensor& statistic, double momentum) {
  static const Op* const lerp_op = find_op("lerp");
  apply_in_place(*lerp_op, {running, to(statistic, running.dtype()), Tensor::number(momentum)});
}

Operands batch_norm_compose(const Call& call) {
  check_batch_norm(call);
  const Tensor& x = call.input(kNormInput);
  const bool training = call.flag(0);
  const double momentum = call.real(1);
  const DType type = accumulate_type(x.dtype());
  const auto upcast = [&](int i) { return call.has(i) ? to(call.input(i), type) : Tensor(); };
  if (!training) {
    if (!call.has(kRunningMean) || !call.has(kRunningVar))
      fail("batch_norm: running_mean and running_var are needed when training is false");
    return {apply1(kBatchNormEval,
                   {x, upcast(kRunningMean), upcast(kRunningVar), upcast(kNormWeight), upcast(kNormBias)},
                   {call.params[2]})};
  }
  const int64_t count = x.size(1) ? x.numel() / x.size(1) : 0;
  if (count == 1)
    fail("batch_norm: in training each channel needs more than one value (got shape ", x.shape(), ")");
  const Operands results =
      apply(kBatchNormTrain, {x, upcast(kNormWeight), upcast(kNormBias)}, {call.params[2]});
  if (count > 0 && !(context().checkpoint && context().checkpoint->recomputing())) {
    const NoGrad off;
    if (call.has(kRunningMean)) move_running(call.input(kRunningMean), results[1], momentum);
    if (call.has(kRunningVar))
      move_running(call.input(kRunningVar), results[2] * (double(count) / double(count - 1)), momentum);
  }
  return {results[0]};
}

const Op kBatchNorm{
    .name = "batch_norm",
    .doc =
        "(input - mean) / sqrt(variance + eps) for each channel, times weight plus bias. Training uses the "
        "statistics of the batch and updates the running ones; else the running ones are used.",
    .inputs = {{"input"}, {"running_mean", true}, {"running_var", true}, {"weight", true}, {"bias", true}},
    .params = {{"training", ParamKind::boolean, false},
               {"momentum", ParamKind::real, 0.1},
               {"eps", ParamKind::real, 1e-5}},
    .compose = batch_norm_compose,
    .family = OpFamily::normalization};

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
  return apply1(kBatchNorm, {x, running_mean, running_var, weight, bias}, {training, momentum, eps});
}

std::span<const Op* const> batch_norm_ops() {
  static const Op* const ops[] = {&kBatchNorm, &kBatchNormTrain, &kBatchNormEval, &kBatchNormGrad};
  return ops;
}

}  // namespace lunagrad
