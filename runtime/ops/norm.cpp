// Normalisation. layer_norm: Ba, Kiros, Hinton, "Layer normalization", 2016.
#include "runtime/cpu/norm.h"

#include <algorithm>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 8192;  // elements

// Rows of the dims that are normalised over, one after the other.
struct Rows {
  int64_t count = 1, size = 1;
  Rows(const Shape& shape, int normalized) {
    for (int d = 0; d < shape.size(); ++d) (d < shape.size() - normalized ? count : size) *= shape[d];
  }
  int64_t grain() const { return std::max<int64_t>(1, kGrain / std::max<int64_t>(size, 1)); }
};

void layer_norm_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Dims& normalized = call.list(0);
  require_floating(call);
  bool fits = !normalized.empty() && normalized.size() <= x.ndim();
  for (int d = 0; fits && d < normalized.size(); ++d)
    fits = normalized[d] == x.size(x.ndim() - normalized.size() + d);
  if (!fits)
    fail("layer_norm: normalized_shape ", normalized, " is not what the shape of the input, ", x.shape(),
         ", ends with");
  for (int i = 1; i <= 2; ++i)
    if (call.has(i) && !(call.input(i).shape() == normalized))
      fail("layer_norm: ", call.op->inputs[size_t(i)].name, " has shape ", call.input(i).shape(),
           " where normalized_shape is ", normalized);
  call.emit(x.shape(), x.dtype());
}

void layer_norm_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const Tensor weight = call.has(1) ? in_order(call.input(1)) : Tensor();
  const Tensor bias = call.has(2) ? in_order(call.input(2)) : Tensor();
  const Rows rows(x.shape(), call.list(0).size());
  const auto run = [&]<class T>() {
    const T* const in = x.data<T>();
    const T* const w = weight.defined() ? weight.data<T>() : nullptr;
    const T* const b = bias.defined() ? bias.data<T>() : nullptr;
    T* const out = call.output().data<T>();
    parallel_for(rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        layer_norm_row(rows.size, in + r * rows.size, w, b, call.real(1), out + r * rows.size);
    });
  };
  x.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}

// Outputs: gradients of input, weight and bias; those that are not wanted are empty.
void layer_norm_grad_shape(Call& call) {
  const Tensor& x = call.input(1);
  const auto emit = [&](bool wanted, const Shape& shape) { call.emit(wanted ? shape : Shape{0}, x.dtype()); };
  emit(call.flag(2), x.shape());
  emit(call.flag(3), call.list(0));
  emit(call.flag(4), call.list(0));
}

template <class T>
void layer_norm_grad(const Call& call) {
  const Tensor g = in_order(call.input(0)), x = in_order(call.input(1));
  const Tensor weight = call.has(2) ? in_order(call.input(2)) : Tensor();
  const Rows rows(x.shape(), call.list(0).size());
  const int64_t n = rows.size;
  const bool sums = call.flag(3) || call.flag(4);

  // Sums over rows are taken block by block and then added up in order, so that threads do not change them.
  int64_t blocks = std::clamp<int64_t>(rows.count / rows.grain(), 1, 4 * thread_count());
  if (sums) blocks = std::clamp<int64_t>(blocks, 1, std::max<int64_t>(1, rows.count / 16));
  const int64_t per_block = (rows.count + blocks - 1) / blocks;
  const Tensor partial = Tensor::empty(sums ? Shape{blocks, 2, n} : Shape{0}, x.dtype());
  const auto wanted = [&](int output, T* data) { return call.flag(2 + output) ? data : nullptr; };
  T* const dx = wanted(0, call.output(0).data<T>());
  const T* const w = weight.defined() ? weight.data<T>() : nullptr;

  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      T* const dweight = wanted(1, partial.data<T>() + block * 2 * n);
      T* const dbias = wanted(2, partial.data<T>() + (block * 2 + 1) * n);
      if (dweight) std::fill_n(dweight, n, T(0));
      if (dbias) std::fill_n(dbias, n, T(0));
      for (int64_t r = block * per_block; r < std::min(rows.count, (block + 1) * per_block); ++r) {
        if (r % 1024 == 1023) context().check_stop();
        layer_norm_grad_row(n, g.data<T>() + r * n, x.data<T>() + r * n, w, call.real(1),
                            dx ? dx + r * n : nullptr, dweight, dbias);
      }
    }
  });
  for (int output = 1; output <= 2; ++output) {
    T* const sum = wanted(output, call.output(output).data<T>());
    if (!sum) continue;
    parallel_for(n, std::max<int64_t>(64, kGrain / blocks), [&](int64_t begin, int64_t end) {
      std::fill(sum + begin, sum + end, T(0));
      for (int64_t block = 0; block < blocks; ++block) {
        const T* const part = partial.data<T>() + (block * 2 + output - 1) * n;
        for (int64_t i = begin; i < end; ++i) sum[i] += part[i];
      }
    });
  }
}
void layer_norm_grad_cpu(const Call& call) {
  call.input(1).dtype() == DType::f64 ? layer_norm_grad<double>(call) : layer_norm_grad<float>(call);
}

const Op kLayerNormGrad{.name = "_layer_norm_grad",
                        .doc = "The gradients of layer_norm from that of its result.",
                        .inputs = {{"grad"}, {"input"}, {"weight", true}},
                        .params = {{"normalized_shape", ParamKind::integers, {}},
                                   {"eps", ParamKind::real, {}},
                                   {"input_wanted", ParamKind::boolean, true},
                                   {"weight_wanted", ParamKind::boolean, true},
                                   {"bias_wanted", ParamKind::boolean, true}},
                        .shape = layer_norm_grad_shape,
                        .cpu = layer_norm_grad_cpu,
                        .half_through_f32 = true};

void layer_norm_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  const Operands gradients = apply(kLayerNormGrad, {b.grad(), b.input(0), b.input(1)},
                                   {b.list(0), b.real(1), b.needs(0), b.needs(1), b.needs(2)});
  for (int i = 0; i < 3; ++i)
    if (b.needs(i)) b.set(i, gradients[size_t(i)]);
}

Operands layer_norm_compose(const Call& call) {
  const Tensor& x = call.input(0);
  Dims dims;
  for (int d = x.ndim() - call.list(0).size(); d < x.ndim(); ++d) dims.push_back(d);
  const Tensor centred = x - mean(x, dims, true);
  Tensor y = centred * rsqrt(mean(centred * centred, dims, true) + call.real(1));
  if (call.has(1)) y = y * call.input(1);
  if (call.has(2)) y = y + call.input(2);
  return {y};
}

const Op kLayerNorm{.name = "layer_norm",
                    .doc = "(x - mean) / sqrt(variance + eps) over the last dims, times weight plus bias.",
                    .inputs = {{"input"}, {"weight", true}, {"bias", true}},
                    .params = {{"normalized_shape", ParamKind::integers, {}}, {"eps", ParamKind::real, 1e-5}},
                    .shape = layer_norm_shape,
                    .cpu = layer_norm_cpu,
                    .vjp = layer_norm_vjp,
                    .reads = {{.inputs = 7}},
                    .compose = layer_norm_compose,
                    .half_through_f32 = true};

}  // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  return apply1(kLayerNorm, {x, weight, bias}, {normalized_shape, eps});
}

std::span<const Op* const> norm_ops() {
  static constexpr const Op* ops[] = {&kLayerNorm, &kLayerNormGrad};
  return ops;
}

}  // namespace lunagrad
