// scaled_dot_product_attention: A. Vaswani et al., "Attention is all you need" (2017), in tiles
// (ops/nn/cpu/attention.h). The op is a composition that checks the operands, draws for dropout, and converts
// 16-bit operands to f32 if the device has no kernel for them. It calls a hidden record, which keeps the
// log-sum-exp of each query's scores. The gradient recomputes the weights from the log-sum-exp, and the
// dropout from the draw.
#include "runtime/ops/nn/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/nn/grouped_attention.h"

namespace lunagrad {
namespace {

enum AttentionOperand { kQuery, kKey, kValue, kMask };
// Parameters of the hidden records. With `inner_heads` the result and the gradients of query, key and value
// are laid out [..., rows, heads, features]: operands that are transposed views of one matrix have that
// layout, so that no copy is needed.
enum AttentionParam { kCausal, kScale, kSoftcap, kInnerHeads };
enum AttentionArgument { kSeed, kStream, kDropout };

constexpr double kAttentionGrain = 1e6;  // floating-point operations, 20 µs
constexpr int64_t kLeastItems =
    16;  // least number of work items of a backward pass, if there are enough keys

Shape batch_of(const Tensor& x) { return Shape(std::span(x.shape().begin(), size_t(x.ndim() - 2))); }

// --- operands as heads ---

Tensor same_memory(const Tensor& x, const Shape& shape, const Strides& strides) {
  return Tensor(x.storage_ref(), LayoutRef(new Layout(shape, strides)), x.offset(), x.dtype());
}

// [..., rows, heads, features] as [..., heads, rows, features].
Tensor swapped(const Tensor& x) {
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int n = x.ndim();
  std::swap(shape[n - 3], shape[n - 2]);
  std::swap(strides[n - 3], strides[n - 2]);
  return same_memory(x, shape, strides);
}

Tensor with_unit_stride(const Tensor& x) {
  return x.strides().back() == 1 || x.size(-1) == 1 ? x : in_order(x);
}

// The matrices of a [batch…, rows, columns].
template <class T>
class Heads {
 public:
  Heads() = default;
  explicit Heads(const Tensor& x) : memory_(x), batch_(batch_of(x)) {
    for (int d = 0; d < batch_.size(); ++d) strides_.push_back(x.strides()[d]);
    step_ = x.strides()[x.ndim() - 2];
  }
  RowsOf<T> operator()(int64_t head) const {
    if (!memory_.defined()) return {};
    return {static_cast<T*>(memory_.raw()) + offset(head), step_};
  }
  int64_t offset(int64_t head) const {
    int64_t at = 0;
    for (int d = batch_.size() - 1; d >= 0; --d) {
      at += head % batch_[d] * strides_[d];
      head /= batch_[d];
    }
    return at;
  }

 private:
  Tensor memory_;
  Shape batch_;
  Strides strides_;
  int64_t step_ = 0;
};

// The mask expanded to all queries of all heads; its rows have unit stride.
Tensor spread_mask(const Tensor& mask, const Shape& scores) {
  Shape own = mask.shape();
  if (own.empty()) own = {1};
  own[own.size() - 1] = scores.back();
  const Tensor rows = in_order(same_memory(mask, own, broadcast_strides(mask.shape(), mask.strides(), own)));
  return same_memory(rows, scores, broadcast_strides(own, rows.strides(), scores));
}

Shape scores_shape(const Call& call, int first = kQuery) {
  Shape shape = batch_of(call.input(first + kQuery));
  shape.push_back(call.input(first + kQuery).size(-2));
  shape.push_back(call.input(first + kKey).size(-2));
  return shape;
}

// What the kernels of a call share. Query, key, value and mask are the operands from `first` on.
template <class T>
struct Problem {
  AttentionPlan plan;
  int64_t heads;
  Heads<const T> q, k, v, bias;
  Heads<const uint8_t> allowed;

  Problem(const Call& call, int first) {
    const auto operand = [&](AttentionOperand i) { return with_unit_stride(call.input(first + i)); };
    const Tensor query = operand(kQuery), key = operand(kKey), value = operand(kValue);
    plan = {.queries = query.size(-2),
            .keys = key.size(-2),
            .features = query.size(-1),
            .value_features = value.size(-1),
            .causal = call.flag(kCausal),
            .scale = call.real(kScale),
            .softcap = call.real(kSoftcap),
            .dropout = call.args[kDropout].f,
            .draw = {call.args[kSeed].u, call.args[kStream].u}};
    heads = numel(batch_of(query));
    q = Heads<const T>(query);
    k = Heads<const T>(key);
    v = Heads<const T>(value);
    if (!call.has(first + kMask)) return;
    const Tensor mask = spread_mask(call.input(first + kMask), scores_shape(call, first));
    if (mask.dtype() == DType::boolean)
      allowed = Heads<const uint8_t>(mask);
    else
      bias = Heads<const T>(mask);
  }

  AttentionHead<T> head(int64_t i) const { return {q(i), k(i), v(i), allowed(i), bias(i), i}; }
  int64_t key_blocks() const { return (plan.keys + kAttentionKeys - 1) / kAttentionKeys; }
  // The least number of work items for a thread, out of `count` equal ones. All items together compute
  // `products` products of queries and keys.
  int64_t grain(double products, int64_t count) const {
    const double all = double(heads) * double(plan.queries) * double(plan.keys) *
                       double(plan.features + plan.value_features) * products;
    return std::max<int64_t>(1, int64_t(kAttentionGrain * double(count) / std::max(all, 1.0)));
  }
};

template <class F>
void with_operand_type(const Call& call, F&& f) {
  call.input(1).dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

// --- forward. Outputs: the result, and the log-sum-exp of each query ---

Shape laid_out(Shape shape, bool inner_heads) {
  if (inner_heads) std::swap(shape[shape.size() - 3], shape[shape.size() - 2]);
  return shape;
}

void attention_shape(Call& call) {
  const Tensor& q = call.input(kQuery);
  Shape shape = q.shape();
  shape[shape.size() - 1] = call.input(kValue).size(-1);
  call.emit(laid_out(shape, call.flag(kInnerHeads)), q.dtype());
  shape.erase(shape.size() - 1);
  call.emit(shape, accumulate_type(q.dtype()));
}

void attention_cpu(const Call& call) {
  with_operand_type(call, [&]<class T>() {
    const Problem<T> problem(call, 0);
    const AttentionPlan& plan = problem.plan;
    const Heads<T> out(call.flag(kInnerHeads) ? swapped(call.output()) : call.output());
    T* const lse = call.output(1).data<T>();
    const int64_t blocks = (plan.queries + kAttentionQueries - 1) / kAttentionQueries;
    const int64_t items = problem.heads * blocks;
    parallel_for(items, problem.grain(2, items), [&](int64_t begin, int64_t end) {
      const Workspace<T> memory(attention_memory(plan));
      int64_t packed = -1;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t head = i / blocks;
        attention_rows(plan, problem.head(head), packed == head, i % blocks * kAttentionQueries, out(head),
                       lse + head * plan.queries, memory.data());
        packed = head;
      }
    });
  });
}

// --- gradients ---

// inputs of the gradients
constexpr int kOutGrad = 0, kOperands = 1, kForwardOut = 5, kLse = 6, kLseGrad = 7;
constexpr int kWanted =
    kInnerHeads + 1;  // the first of three flags: whether the gradients of query, key and value are wanted

const std::vector<InputSpec>& grad_inputs() {
  static const std::vector<InputSpec> inputs = {
      {"grad"}, {"query"}, {"key"}, {"value"}, {"attn_mask", true}, {"out"}, {"lse"}, {"lse_grad", true}};
  return inputs;
}

// The results of the forward pass and their gradients.
template <class T>
struct Results {
  Heads<const T> out, d_out;
  const T* lse;
  Tensor d_lse;
  int64_t queries;
  explicit Results(const Call& call)
      : lse(call.input(kLse).data<T>()), queries(call.input(kOperands).size(-2)) {
    const auto rows = [&](int i) {
      return with_unit_stride(call.flag(kInnerHeads) ? swapped(call.input(i)) : call.input(i));
    };
    out = Heads<const T>(rows(kForwardOut));
    d_out = Heads<const T>(rows(kOutGrad));
    if (call.has(kLseGrad)) d_lse = in_order(call.input(kLseGrad));
  }
  AttentionResult<T> of(int64_t head) const {
    return {out(head), d_out(head), lse + head * queries,
            d_lse.defined() ? d_lse.data<T>() + head * queries : nullptr};
  }
};

void attention_grad_shape(Call& call) {
  for (int i = 0; i < 3; ++i) {
    const Tensor& x = call.input(kOperands + i);
    call.emit(call.flag(kWanted + i) ? laid_out(x.shape(), call.flag(kInnerHeads)) : Shape{0}, x.dtype());
  }
}

template <class T>
void grad_of(const Call& call) {
  const Problem<T> problem(call, kOperands);
  const Results<T> results(call);
  const AttentionPlan& plan = problem.plan;
  Heads<T> wanted[3];
  for (int i = 0; i < 3; ++i)
    if (call.flag(kWanted + i))
      wanted[i] = Heads<T>(call.flag(kInnerHeads) ? swapped(call.output(i)) : call.output(i));

  // If there are few heads, each is split into parts by its keys. Every part but the first has its own sum
  // for the gradient of the queries; these sums are added in order.
  const int64_t blocks = problem.key_blocks();
  const int64_t parts =
      std::clamp<int64_t>(kLeastItems / std::max<int64_t>(problem.heads, 1), 1, std::max<int64_t>(blocks, 1));
  const bool dq = call.flag(kWanted);
  const Tensor more = Tensor::empty(
      dq && parts > 1 ? Shape{parts - 1, problem.heads, plan.queries, plan.features} : Shape{0, 1, 1, 1},
      dtype_of<T>);
  const Heads<T> other_dq(more);
  const int64_t items = problem.heads * parts;
  parallel_for(items, problem.grain(5, items), [&](int64_t begin, int64_t end) {
    const Workspace<T> memory(attention_grad_memory(plan));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t number = i / parts, part = i % parts;
      const AttentionHead<T> head = problem.head(number);
      const AttentionGrads<T> grads{wanted[kKey](number), wanted[kValue](number), {}, dq};
      attention_grad_begin(plan, head, results.of(number), memory.data());
      for (int64_t block = part * blocks / parts; block < (part + 1) * blocks / parts; ++block) {
        context().check_stop();
        attention_grad_keys(plan, head, block * kAttentionKeys, grads, memory.data());
      }
      if (dq)
        attention_grad_end(plan,
                           part ? other_dq((part - 1) * problem.heads + number) : wanted[kQuery](number),
                           memory.data());
    }
  });
  if (!dq || parts == 1) return;
  parallel_for(problem.heads * plan.queries,
               std::max<int64_t>(1, 8192 / (parts * std::max<int64_t>(plan.features, 1))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t head = i / plan.queries, row = i % plan.queries;
                   T* const sum = wanted[kQuery](head)[row];
                   for (int64_t part = 0; part < parts - 1; ++part) {
                     const T* const from = other_dq(part * problem.heads + head)[row];
                     for (int64_t f = 0; f < plan.features; ++f) sum[f] += from[f];
                   }
                 }
               });
}
void attention_grad_cpu(const Call& call) {
  with_operand_type(call, [&]<class T>() { grad_of<T>(call); });
}

// The products of attention and of its gradients, each 2 x queries x keys x features, as PyTorch counts them
// (torch/utils/flop_counter.py, sdpa_flop_count). A causal mask does not change the count.
double score_products(const Call& call, int first, double features) {
  const Shape scores = scores_shape(call, first);
  return 2 * double(numel(scores)) * features;
}
double key_features(const Call& call, int first) { return double(call.input(first + kKey).size(-1)); }
double value_features(const Call& call, int first) { return double(call.input(first + kValue).size(-1)); }
// q k^T and P v
double attention_flops(const Call& call) {
  return score_products(call, kQuery, key_features(call, kQuery) + value_features(call, kQuery));
}
// The scores again, dP = g v^T, dq = dS k, dk = dS^T q and dv = P^T g.
double attention_grad_flops(const Call& call) {
  const double e = key_features(call, kOperands), v = value_features(call, kOperands);
  return score_products(
      call, kOperands,
      e * (1 + call.flag(kWanted) + call.flag(kWanted + 1)) + v * (1 + call.flag(kWanted + 2)));
}
// The scores again, and dP = g v^T.
double mask_grad_flops(const Call& call) {
  return score_products(call, kOperands, key_features(call, kOperands) + value_features(call, kOperands));
}

const Op kAttentionGrad{
    .name = "_attention_grad",
    .doc = "The gradients of attention's query, key and value.",
    .inputs = grad_inputs(),
    .params = {{"is_causal", ParamKind::boolean, {}},
               {"scale", ParamKind::real, {}},
               {"softcap", ParamKind::real, {}},
               {"inner_heads", ParamKind::boolean, {}},
               {"query_wanted", ParamKind::boolean, true},
               {"key_wanted", ParamKind::boolean, true},
               {"value_wanted", ParamKind::boolean, true}},
    .shape = attention_grad_shape,
    .cpu = attention_grad_cpu,
    .family = OpFamily::linear_algebra,
    .flops = {attention_grad_flops,
              "2 x queries of all heads x keys x features, summed over 5 products, masked or not"}};

// The gradient has the size of a mask for all queries and keys. Heads that share a mask add to it one after
// the other; threads work on different blocks of keys.
void mask_grad_shape(Call& call) {
  const Tensor& mask = call.input(kOperands + kMask);
  const Shape scores = scores_shape(call, kOperands);
  Shape shape = mask.ndim() > 2 ? batch_of(mask) : Shape{};
  shape.push_back(scores[scores.size() - 2]);
  shape.push_back(scores.back());
  call.emit(shape, mask.dtype());
}

void mask_grad_cpu(const Call& call) {
  with_operand_type(call, [&]<class T>() {
    const Problem<T> problem(call, kOperands);
    const Results<T> results(call);
    const AttentionPlan& plan = problem.plan;
    const Tensor& out = call.output();
    std::fill_n(out.data<T>(), out.numel(), T(0));
    const Heads<T> sums(spread_mask(out, scores_shape(call, kOperands)));
    const int64_t size = plan.queries * plan.keys, blocks = problem.key_blocks();
    parallel_for(out.numel() / std::max<int64_t>(size, 1) * blocks, 1, [&](int64_t begin, int64_t end) {
      const Workspace<T> memory(attention_grad_memory(plan));
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t number = 0; number < problem.heads; ++number) {
          if (sums.offset(number) != i / blocks * size) continue;
          context().check_stop();
          const AttentionHead<T> head = problem.head(number);
          attention_grad_begin(plan, head, results.of(number), memory.data());
          attention_grad_keys(plan, head, i % blocks * kAttentionKeys, {{}, {}, sums(number), false},
                              memory.data());
        }
      }
    });
  });
}

const Op kMaskGrad{
    .name = "_attention_mask_grad",
    .doc = "The gradient of attention's additive mask.",
    .inputs = grad_inputs(),
    .params = {{"is_causal", ParamKind::boolean, {}},
               {"scale", ParamKind::real, {}},
               {"softcap", ParamKind::real, {}},
               {"inner_heads", ParamKind::boolean, {}}},
    .shape = mask_grad_shape,
    .cpu = mask_grad_cpu,
    .family = OpFamily::linear_algebra,
    .flops = {
        mask_grad_flops,
        "2 x queries of all heads x keys x (features of the key + features of the value), masked or not"}};

void attention_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  Call call;
  call.in = {b.grad(),
             b.input(kQuery),
             b.input(kKey),
             b.input(kValue),
             b.has(kMask) ? b.input(kMask) : Tensor(),
             b.output(0),
             b.output(1),
             b.has_grad(1) ? b.grad(1) : Tensor()};
  call.params = b.node().attributes->params;
  call.args = b.args();
  if (b.needs(kMask)) {
    Call mask = call;
    mask.op = &kMaskGrad;
    run(mask);
    b.set(kMask, mask.output());
  }
  if (!b.needs(kQuery) && !b.needs(kKey) && !b.needs(kValue)) return;
  call.op = &kAttentionGrad;
  for (const int i : {kQuery, kKey, kValue}) call.params.push_back(b.needs(i));
  run(call);
  for (const int i : {kQuery, kKey, kValue})
    if (b.needs(i)) b.set(i, b.flag(kInnerHeads) ? transpose(call.output(i), -3, -2) : call.output(i));
}

// --- the same in tensor ops ---

// The dropout factors of the weights, from the random words that the kernels use.
Tensor drop_factors(const Call& call, const Shape& scores, DType dtype, Device& device) {
  Shape shape = scores;
  shape[shape.size() - 1] = (scores.back() + 3) / 4 * 4;
  Call mask;
  mask.op = find_op("_dropout");
  mask.in = {ones(shape, dtype, device)};
  mask.args = call.args;
  run(mask);
  return narrow(mask.output(), -1, 0, scores.back());
}

// Device kernels need feature counts that are multiples of 4. Padding with zeros does not change a score.
Operands attention_in_fours(Call call) {
  const int64_t features = call.input(kValue).size(-1);
  for (const int i : {kQuery, kKey, kValue}) {
    Tensor& x = call.in[size_t(i)];
    if (const int64_t missing = -x.size(-1) & 3) x = pad(x, {0, missing});
  }
  call.out.clear();
  run(call);
  return {narrow(call.output(), -1, 0, features), call.output(1)};
}

Operands attention_compose(const Call& call) {
  const Tensor &q = call.input(kQuery), &v = call.input(kValue);
  if (is_16bit_float(q.dtype())) {
    Call upcast = call;
    for (const int i : {kQuery, kKey, kValue}) upcast.in[size_t(i)] = to(call.input(i), DType::f32);
    const Operands made = attention_compose(upcast);
    return {to(made[0], q.dtype()), made[1]};
  }
  if (!q.device().is_cpu() && (q.size(-1) % 4 != 0 || v.size(-1) % 4 != 0)) return attention_in_fours(call);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor low = Tensor::number(-kInfinity), high = Tensor::number(kInfinity), zero = Tensor::number(0.0);
  const auto lay_out = [&](const Tensor& x) { return call.flag(kInnerHeads) ? transpose(x, -3, -2) : x; };
  Tensor scores = matmul(q * call.real(kScale), transpose(call.input(kKey), -2, -1));
  const Shape shape = scores.shape();
  const int64_t queries = shape[shape.size() - 2], keys = shape.back();
  Shape rows = shape;
  rows.erase(rows.size() - 1);
  if (keys == 0) return {lay_out(matmul(scores, v)), full(rows, kInfinity, q.dtype(), q.device())};
  if (const double cap = call.real(kSoftcap); cap > 0) scores = tanh(scores * (1 / cap)) * cap;
  if (call.has(kMask)) {
    const Tensor& mask = call.input(kMask);
    scores = mask.dtype() == DType::boolean ? where(mask, scores, low) : scores + mask;
  }
  if (call.flag(kCausal))
    scores = where(gt(tril(ones({queries, keys}, q.dtype(), q.device())), zero), scores, low);
  // Rows whose keys are all masked: their softmax would be 0 / 0.
  const Tensor blind = eq(amax(scores.detach(), {-1}, true), low);
  scores = where(blind, zero, scores);
  const Tensor lse = where(squeeze(blind, -1), high, logsumexp(scores, {-1}));
  Tensor weights = where(blind, zero, softmax(scores, -1));
  if (call.args[kDropout].f > 0) weights = weights * drop_factors(call, shape, q.dtype(), q.device());
  return {lay_out(matmul(weights, v)), lse};
}

const Op kAttention{
    .name = "_attention",
    .doc = "softmax(query key^T scale + attn_mask) value, and the log-sum-exp of the scores.",
    .inputs = {{"query"}, {"key"}, {"value"}, {"attn_mask", true}},
    .params = {{"is_causal", ParamKind::boolean, false},
               {"scale", ParamKind::real, 1.0},
               {"softcap", ParamKind::real, 0.0},
               {"inner_heads", ParamKind::boolean, false}},
    .shape = attention_shape,
    .cpu = attention_cpu,
    .vjp = attention_vjp,
    .reads = {{.inputs = 15, .outputs = 3}},
    .compose = attention_compose,
    .family = OpFamily::linear_algebra,
    .flops = {
        attention_flops,
        "2 x queries of all heads x keys x (features of the key + features of the value), masked or not"}};

// --- the op ---

enum PublicParam { kDropoutP, kIsCausal, kGivenScale, kGivenSoftcap };

// The common batch of the operands, after all checks.
Shape check_attention(const Call& call) {
  const char* const name = call.op->name;
  const Tensor &q = call.input(kQuery), &k = call.input(kKey), &v = call.input(kValue);
  for (const int i : {kQuery, kKey, kValue}) {
    const Tensor& x = call.input(i);
    if (!is_floating(x.dtype()) || x.dtype() != q.dtype())
      fail(name, ": query, key and value must have one floating type (got ", q.dtype(), ", ", k.dtype(),
           " and ", v.dtype(), ")");
    if (x.ndim() < 2)
      fail(name, ": ", call.op->inputs[size_t(i)].name, " needs at least 2 dims (got shape ", x.shape(), ")");
  }
  if (q.size(-1) != k.size(-1) || k.size(-2) != v.size(-2))
    fail(name, ": query ", q.shape(), ", key ", k.shape(), " and value ", v.shape(),
         " do not fit: query and key need equal last dims, key and value equal second last dims");
  const Shape batch = broadcast_shapes(name, broadcast_shapes(name, batch_of(q), batch_of(k)), batch_of(v));
  if (call.has(kMask)) {
    const Tensor& mask = call.input(kMask);
    Shape scores = batch;
    scores.push_back(q.size(-2));
    scores.push_back(k.size(-2));
    if (mask.dtype() != DType::boolean && !is_floating(mask.dtype()))
      fail(name, ": attn_mask must be bool (true takes part) or floating (is added), got ", mask.dtype());
    if (!broadcasts_to(mask.shape(), scores))
      fail(name, ": attn_mask of shape ", mask.shape(), " does not broadcast to the scores' ", scores);
  }
  if (const double p = call.real(kDropoutP); !(p >= 0 && p <= 1))
    fail(name, ": dropout_p must lie in [0, 1] (got ", p, ")");
  if (const Value& cap = call.params[kGivenSoftcap]; cap.present() && !(cap.f >= 0 && std::isfinite(cap.f)))
    fail(name, ": softcap must be a finite number of at least 0 (got ", cap.f, ")");
  return batch;
}

bool heads_are_inner(const Tensor& q) {
  const int n = q.ndim();
  return n >= 3 && q.size(-2) > 1 && q.size(-3) > 1 && q.strides()[n - 3] < q.strides()[n - 2];
}

// Whether the device has a kernel for the call; the CPU has none for 16-bit operands.
bool runs_on_device(const Call& call) {
  Device& device = call.device();
  if (device.is_cpu()) return false;
  Call laid_out = call;
  call.op->shape(laid_out);
  return device.supports(laid_out);
}

Operands public_compose(const Call& call) {
  const Shape batch = check_attention(call);
  const Tensor& query = call.input(kQuery);
  const bool narrow = is_16bit_float(query.dtype());
  const auto operand = [&](int i) {
    const Tensor& x = call.input(i);
    Shape shape = batch;
    shape.push_back(x.size(-2));
    shape.push_back(x.size(-1));
    return x.shape() == shape ? x : expand(x, shape);
  };
  Tensor mask = call.has(kMask) ? call.input(kMask) : Tensor();
  if (mask.defined() && mask.dtype() != DType::boolean) mask = to(mask, narrow ? DType::f32 : query.dtype());
  const double features = double(std::max<int64_t>(query.size(-1), 1));
  const Value& scale = call.params[kGivenScale];
  const bool inner = heads_are_inner(query);
  Call fused;
  fused.op = &kAttention;
  fused.in = {operand(kQuery), operand(kKey), operand(kValue), mask};
  fused.params = {call.flag(kIsCausal), scale.present() ? scale.f : 1 / std::sqrt(features),
                  call.params[kGivenSoftcap].present() ? call.real(kGivenSoftcap) : 0.0, inner};
  if (const double p = call.real(kDropoutP); p > 0) {
    const RandomDraw draw = context().generator.draw();
    fused.args[kSeed].u = draw.seed;
    fused.args[kStream].u = draw.stream;
    fused.args[kDropout].f = p;
  }
  if (narrow && !runs_on_device(fused))
    for (const int i : {kQuery, kKey, kValue}) fused.in[size_t(i)] = to(fused.in[size_t(i)], DType::f32);
  run(fused);
  const Tensor out = inner ? transpose(fused.output(), -3, -2) : fused.output();
  return {to(out, query.dtype())};
}

const Op kPublic{.name = "scaled_dot_product_attention",
                 .doc =
                     "softmax(query key^T scale + attn_mask) value over the last two dims; a query whose "
                     "keys are all masked gives 0.",
                 .inputs = {{"query"}, {"key"}, {"value"}, {"attn_mask", true}},
                 .params = {{"dropout_p", ParamKind::real, 0.0},
                            {"is_causal", ParamKind::boolean, false},
                            {.name = "scale", .kind = ParamKind::real, .optional = true},
                            {.name = "softcap", .kind = ParamKind::real, .optional = true}},
                 .compose = public_compose,
                 .family = OpFamily::linear_algebra,
                 .autocast = AutocastPolicy::lower_precision};

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  return apply1(kPublic, {query, key, value, options.attn_mask},
                {options.dropout_p, options.is_causal, options.scale ? Value(*options.scale) : Value(),
                 options.softcap});
}

std::span<const Op* const> attention_ops() {
  static const Op* const ops[] = {&kPublic, &kAttention, &kAttentionGrad, &kMaskGrad,
                                  &grouped_attention_op()};
  return ops;
}

}  // namespace lunagrad
