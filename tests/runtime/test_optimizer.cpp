// The fused optimizer steps against the formulas of PyTorch's documentation in double precision.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/core/random.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
namespace {

Tensor uniform_values(const Shape& shape, uint64_t stream, DType dtype) {
  std::vector<double> values(static_cast<size_t>(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 2 * uniform_f32(philox(3, stream, i)[0]) - 1;
  return to(Tensor::from<double>(values, shape), dtype);
}

struct Lists {
  TensorList params, grads, first, second, third;
};

// Sizes that fill no vector, one, and many, and more than one range of a parallel loop.
Lists make_lists(DType dtype) {
  const NoGrad off;
  Lists lists;
  uint64_t stream = 0;
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{0}, Shape{17, 5}, Shape{300, 257}}) {
    lists.params.push_back(uniform_values(shape, stream++, dtype));
    lists.grads.push_back(uniform_values(shape, stream++, dtype));
    for (TensorList* state : {&lists.first, &lists.second, &lists.third})
      state->push_back(to(zeros_like(lists.params.back()), dtype));
  }
  return lists;
}

using Column = std::vector<double>;

double tolerance(DType dtype) {
  return dtype == DType::f64 ? 1e-13 : dtype == DType::f32 ? 2e-6 : dtype == DType::f16 ? 1e-3 : 8e-3;
}

// The value after rounding to the dtype of the state: 16-bit states are rounded at each step.
double held(DType dtype, double value) {
  return dtype == DType::f16    ? double(float(Half(float(value))))
         : dtype == DType::bf16 ? double(float(BFloat16(float(value))))
                                : value;
}

void check_column(const Tensor& got, const Column& expected, DType dtype) {
  const Column values = got.to_vector<double>();
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - expected[i]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  CHECK(worst <= tolerance(dtype));
}

TEST_CASE("sgd_step follows the formula, with momentum, dampening, Nesterov, weight decay and maximize") {
  const SgdOptions variants[] = {{.lr = 0.1},
                                 {.lr = 0.1, .weight_decay = 0.3},
                                 {.lr = 0.1, .momentum = 0.9},
                                 {.lr = 0.1, .momentum = 0.9, .dampening = 0.4, .weight_decay = 0.1},
                                 {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true},
                                 {.lr = 0.1, .momentum = 0.5, .maximize = true}};
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (SgdOptions o : variants) {
      const Lists lists = make_lists(dtype);
      std::vector<Column> p, b(lists.params.size());
      for (const Tensor& x : lists.params) p.push_back(x.to_vector<double>());
      for (o.step = 1; o.step <= 3; ++o.step) {
        sgd_step(lists.params, lists.grads, o.momentum != 0 ? lists.first : TensorList(), o);
        for (size_t t = 0; t < p.size(); ++t) {
          const Column g0 = lists.grads[t].to_vector<double>();
          b[t].resize(p[t].size());
          for (size_t i = 0; i < p[t].size(); ++i) {
            double g = (o.maximize ? -g0[i] : g0[i]) + o.weight_decay * p[t][i];
            if (o.momentum != 0) {
              const double buffer = o.step == 1 ? g : o.momentum * b[t][i] + (1 - o.dampening) * g;
              g = o.nesterov ? g + o.momentum * buffer : buffer;
              b[t][i] = held(dtype, buffer);
            }
            p[t][i] = held(dtype, p[t][i] - o.lr * g);
          }
        }
      }
      for (size_t t = 0; t < p.size(); ++t) check_column(lists.params[t], p[t], dtype);
    }
}

TEST_CASE("adam_step follows the formula, as Adam, as AdamW, with amsgrad and with maximize") {
  const AdamOptions variants[] = {{.lr = 0.01},
                                  {.lr = 0.01, .weight_decay = 0.2},
                                  {.lr = 0.01, .weight_decay = 0.2, .decoupled = true},
                                  {.lr = 0.01, .beta1 = 0.5, .beta2 = 0.8, .eps = 0.1, .maximize = true}};
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const bool amsgrad : {false, true})
      for (AdamOptions o : variants) {
        if (is_16bit_float(dtype) && o.eps < 1e-3) o.eps = 1e-3;
        const Lists lists = make_lists(dtype);
        std::vector<Column> p, m(lists.params.size()), v = m, most = m;
        for (const Tensor& x : lists.params) p.push_back(x.to_vector<double>());
        for (o.step = 1; o.step <= 3; ++o.step) {
          adam_step(lists.params, lists.grads, lists.first, lists.second,
                    amsgrad ? lists.third : TensorList(), o);
          for (size_t t = 0; t < p.size(); ++t) {
            const Column g0 = lists.grads[t].to_vector<double>();
            for (Column* c : {&m[t], &v[t], &most[t]}) c->resize(p[t].size());
            for (size_t i = 0; i < p[t].size(); ++i) {
              double g = o.maximize ? -g0[i] : g0[i];
              if (o.decoupled)
                p[t][i] *= 1 - o.lr * o.weight_decay;
              else
                g += o.weight_decay * p[t][i];
              const double mean = o.beta1 * m[t][i] + (1 - o.beta1) * g;
              const double square = o.beta2 * v[t][i] + (1 - o.beta2) * g * g;
              const double largest = std::max(most[t][i], square), time = double(o.step);
              p[t][i] = held(dtype, p[t][i] - o.lr / (1 - std::pow(o.beta1, time)) * mean /
                                                  (std::sqrt(amsgrad ? largest : square) /
                                                       std::sqrt(1 - std::pow(o.beta2, time)) +
                                                   o.eps));
              m[t][i] = held(dtype, mean);
              v[t][i] = held(dtype, square);
              most[t][i] = held(dtype, largest);
            }
          }
        }
        for (size_t t = 0; t < p.size(); ++t) {
          check_column(lists.params[t], p[t], dtype);
          check_column(lists.first[t], m[t], dtype);
          check_column(lists.second[t], v[t], dtype);
        }
      }
}

TEST_CASE("a step writes through parameters that are views, and marks the storage as written") {
  const Tensor memory = ones({4, 6});
  Tensor param, grad, mean, square;
  {
    const NoGrad off;
    param = transpose(memory, 0, 1);
    grad = expand(ones({1}), {6, 4});
    mean = zeros({6, 4});
    square = zeros({6, 4});
  }
  const uint32_t before = memory.storage().version, grad_before = grad.storage().version;
  adam_step({param}, {grad}, {mean}, {square}, {}, {.lr = 0.5});
  for (const double value : memory.to_vector<double>()) CHECK(value == doctest::Approx(0.5));
  CHECK(memory.storage().version > before);
  CHECK(std::string(memory.storage().last_writer) == "_adam_step");
  CHECK(grad.storage().version == grad_before);
}

TEST_CASE("a step may change a leaf that requires grad, and a graph that saved it detects the change") {
  Tensor w = ones({3}).requires_grad_();
  const Tensor loss = sum(w * w);
  backward(loss, {}, {.retain_graph = true});
  sgd_step({w}, {w.grad()}, {}, {.lr = 0.25});
  CHECK(w.to_vector<double>() == std::vector<double>{0.5, 0.5, 0.5});
  CHECK(w.requires_grad());
  CHECK_THROWS_AS(backward(loss), Error);
}

TEST_CASE("clip_grad_norm_ returns the norm before clipping and scales only larger norms") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double p_values[] = {2, 1, 3, INFINITY};
    for (const double p : p_values)
      for (const double share : {0.25, 4.0}) {
        const Lists lists = make_lists(dtype);
        double norm = 0;
        std::vector<Column> before;
        for (const Tensor& g : lists.grads) {
          before.push_back(g.to_vector<double>());
          for (const double x : before.back())
            norm = std::isinf(p) ? std::max(norm, std::abs(x)) : norm + std::pow(std::abs(x), p);
        }
        if (!std::isinf(p)) norm = std::pow(norm, 1 / p);
        const Tensor got = clip_grad_norm_(lists.grads, norm * share, p);
        CHECK(got.item() == doctest::Approx(norm).epsilon(1e-6));
        const double factor = std::min(1.0, norm * share / (norm + 1e-6));
        for (size_t t = 0; t < before.size(); ++t) {
          for (double& x : before[t]) x *= factor;
          check_column(lists.grads[t], before[t], dtype);
        }
      }
  }
  const Tensor bad = Tensor::from<float>(std::vector<float>{1, NAN}, {2});
  CHECK(std::isnan(clip_grad_norm_({bad}, 1).item()));
  CHECK(clip_grad_norm_({}, 1).item() == 0);
}

TEST_CASE("optimizer steps reject operands that do not fit") {
  const Tensor p = ones({3}), g = ones({3}), s = zeros({3}), q = zeros({3});
  CHECK_THROWS_WITH(sgd_step({p}, {ones({2})}, {}, {}),
                    "_sgd_step: gradient 1 is f32 [2] where the parameter is f32 [3]");
  CHECK_THROWS_WITH(adam_step({p}, {g}, {s}, {to(q, DType::f64)}, {}, {}),
                    "_adam_step: second state 1 is f64 [3] where the parameter is f32 [3]");
  CHECK_THROWS_WITH(adam_step({p}, {g}, {s}, {}, {}, {}),
                    "_adam_step: 1 parameters but 0 tensors in another list");
  CHECK_THROWS_WITH(adam_step({p}, {g}, {s}, {q}, {}, {.step = 0}), "_adam_step: steps count from 1 (got 0)");
  CHECK_THROWS_WITH(sgd_step({to(p, DType::i64)}, {g}, {}, {}),
                    "_sgd_step: parameter 1 has type i64; only floating and complex types can be trained");
}

}  // namespace
}  // namespace lunagrad
