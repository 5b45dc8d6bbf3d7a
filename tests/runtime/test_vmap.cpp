// vmap of every op: its batching rule, composition or loop against a call for each sample, with gradients;
// and the gradient of every op for a batch of seeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "runtime/vmap/levels.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

constexpr int64_t kSamples = 3;

class Level {
 public:
  explicit Level(int64_t size) : id_(enter_batch(size, Randomness::error)) {}
  ~Level() { leave_batch(id_); }
  Level(const Level&) = delete;
  BatchLevel level() const { return active_levels().back(); }

 private:
  uint64_t id_;
};

double typed_distance(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return INFINITY;
  const std::vector<double> x = numbers_of(a), y = numbers_of(b);
  double largest = 1e-3, worst = 0;
  for (const double value : y)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
    const double error = std::abs(x[i] - y[i]) / largest;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

// The names of ops that ran once for each sample.
class Loops final : public Trace {
 public:
  Loops() { context().trace = this; }
  ~Loops() override { context().trace = nullptr; }
  Loops(const Loops&) = delete;
  void ran(const Call&, uint64_t) override {}
  void fell_back(const Call& call, const char* reason) override {
    if (std::string(reason).find("vmap") != std::string::npos) names.insert(call.op->name);
  }
  std::set<std::string> names;
};

// Random numbers are tested in tests/lua/test_func.lua.
bool is_drawn(const Sample& sample) {
  const bool attention = sample.op == "scaled_dot_product_attention";
  return find_op(sample.op)->random || sample.op == "dropout" || sample.op == "rand_like" ||
         sample.op == "randn_like" || (attention && !sample.params.empty() && sample.params[0].f > 0);
}

// Cases that vmap refuses: results whose shape depends on the values, and running statistics that all samples
// share.
bool is_refused(const std::string& message) {
  return message.find("depends on the values") != std::string::npos ||
         message.find("all samples share") != std::string::npos;
}

Operands call(const Op& op, const Sample& sample, const TensorList& in) {
  return apply(op, Operands(in), complete(op, sample.params));
}

// Which operands are batched: each alone, and all together.
std::vector<uint32_t> choices(const TensorList& in) {
  std::vector<uint32_t> list;
  uint32_t all = 0;
  for (size_t i = 0; i < in.size() && i < 32; ++i)
    if (in[i].defined()) list.push_back(1u << i), all |= 1u << i;
  if (list.size() > 1) list.push_back(all);
  return list;
}

struct Batched {
  TensorList leaves;  // batched ones are [kSamples, ...]
  uint32_t chosen;
};

Batched make_leaves(const Sample& sample, const TensorList& in, uint32_t chosen) {
  Batched made{{}, chosen};
  for (size_t i = 0; i < in.size(); ++i) {
    Tensor x = in[i];
    if (chosen >> i & 1) {
      TensorList each;
      for (int64_t n = 0; n < kSamples; ++n)
        each.push_back(make_input(sample.inputs[i], i + 100 * uint64_t(n)));
      x = stack(each, 0);
    }
    if (is_trained(x)) x = x.detach().requires_grad_();
    made.leaves.push_back(x);
  }
  return made;
}

// The outputs stacked, or none when the shapes differ between samples.
TensorList looped(const Op& op, const Sample& sample, const Batched& batch) {
  std::vector<TensorList> results;
  for (int64_t n = 0; n < kSamples; ++n) {
    TensorList in = batch.leaves;
    for (size_t i = 0; i < in.size(); ++i)
      if (batch.chosen >> i & 1) in[i] = select(in[i], 0, n);
    const Operands out = call(op, sample, in);
    results.resize(out.size());
    for (size_t i = 0; i < out.size(); ++i) results[i].push_back(out[i]);
  }
  TensorList stacked;
  for (const TensorList& list : results) {
    for (const Tensor& y : list)
      if (!(y.shape() == list[0].shape())) return {};
    stacked.push_back(stack(list, 0));
  }
  return stacked;
}

TensorList mapped(const Op& op, const Sample& sample, const Batched& batch) {
  const Level level(kSamples);
  TensorList in = batch.leaves;
  for (size_t i = 0; i < in.size(); ++i)
    if (batch.chosen >> i & 1) in[i] = into_level(in[i], level.level());
  TensorList out;
  for (const Tensor& y : call(op, sample, in)) out.push_back(out_of_levels(y, {level.level()}));
  return out;
}

TensorList gradients_of(const Sample& sample, const TensorList& outputs, const TensorList& leaves) {
  TensorList trained;
  for (const Tensor& x : leaves)
    if (is_trained(x)) trained.push_back(x);
  const Tensor loss = weighted_loss(sample, Operands(outputs));
  if (!loss.defined() || trained.empty()) return {};
  GradOptions options;
  options.allow_unused = true;
  return grad({loss}, trained, {}, options);
}

}  // namespace

TEST_CASE("vmap of every op equals the loop, and so do its gradients") {
  const Loops loops;
  std::set<std::string> seen;
  for (const Sample& sample : samples()) {
    const Op& op = *find_op(sample.op);
    if (is_drawn(sample) || op.writes_inputs || sample.inputs.empty()) continue;
    TensorList in;
    for (size_t i = 0; i < sample.inputs.size(); ++i) in.push_back(make_input(sample.inputs[i], i));
    for (const uint32_t chosen : choices(in)) {
      CAPTURE(name_of(sample));
      CAPTURE(chosen);
      const Batched batch = make_leaves(sample, in, chosen);
      const TensorList expected = looped(op, sample, batch);
      if (expected.empty()) continue;
      TensorList found;
      try {
        found = mapped(op, sample, batch);
      } catch (const Error& error) {
        if (!is_refused(error.what())) FAIL_CHECK(std::string(error.what()));
        continue;
      }
      seen.insert(sample.op);
      REQUIRE(found.size() == expected.size());
      bool same = true;
      for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].dtype() == expected[i].dtype());
        CHECK(typed_distance(found[i], expected[i]) < 1e-11);
        same &= found[i].shape() == expected[i].shape();
      }
      if (!same) continue;
      const TensorList a = gradients_of(sample, found, batch.leaves);
      const TensorList b = gradients_of(sample, expected, batch.leaves);
      REQUIRE(a.size() == b.size());
      for (size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].defined() == b[i].defined());
        if (a[i].defined() && b[i].defined()) CHECK(typed_distance(a[i], b[i]) < 1e-10);
      }
    }
  }
  CHECK(seen.size() > 200);
  for (const char* const name : {"matmul",
                                 "linear",
                                 "conv1d",
                                 "conv2d",
                                 "conv3d",
                                 "conv_transpose1d",
                                 "conv_transpose2d",
                                 "max_pool2d",
                                 "avg_pool2d",
                                 "layer_norm",
                                 "group_norm",
                                 "_batch_norm_train",
                                 "softmax",
                                 "log_softmax",
                                 "sum",
                                 "mean",
                                 "var",
                                 "amax",
                                 "_max",
                                 "argmax",
                                 "_cumsum",
                                 "sort",
                                 "topk",
                                 "gather",
                                 "scatter",
                                 "scatter_add",
                                 "_scatter_reduce",
                                 "_flat_positions",
                                 "index_select",
                                 "cat",
                                 "select",
                                 "slice",
                                 "permute",
                                 "transpose",
                                 "expand",
                                 "view",
                                 "mse_loss",
                                 "_cross_entropy",
                                 "_attention",
                                 "where",
                                 "add"})
    CHECK_MESSAGE(!loops.names.contains(name), name << " ran once for each sample");
}

TEST_CASE("the gradient of every op for a batch of seeds equals that for each seed") {
  for (const bool create_graph : {false, true}) {
    for (const Sample& sample : samples()) {
      const Op& op = *find_op(sample.op);
      if (is_drawn(sample) || op.writes_inputs || sample.inputs.empty()) continue;
      if (create_graph && !sample.second_order) continue;
      CAPTURE(name_of(sample));
      CAPTURE(create_graph);
      TensorList in, trained;
      for (size_t i = 0; i < sample.inputs.size(); ++i) {
        Tensor x = make_input(sample.inputs[i], i);
        if (is_trained(x)) trained.push_back(x.requires_grad_());
        in.push_back(x);
      }
      if (trained.empty()) continue;
      TensorList outputs;
      for (const Tensor& y : call(op, sample, in))
        if (y.requires_grad()) outputs.push_back(y);
      if (outputs.empty()) continue;
      TensorList seeds;
      for (size_t i = 0; i < outputs.size(); ++i) {
        const Shape shape = outputs[i].shape();
        SampleInput spec{{}, -1, 1, is_complex(outputs[i].dtype()) ? Kind::complex : Kind::real};
        spec.shape = shape;
        spec.shape.insert(0, kSamples);
        seeds.push_back(make_input(spec, 50 + i));
      }
      GradOptions options;
      options.retain_graph = options.allow_unused = true;
      options.create_graph = create_graph;
      TensorList found;
      {
        const Level level(kSamples);
        TensorList batched;
        for (const Tensor& seed : seeds) batched.push_back(into_level(seed, level.level()));
        for (const Tensor& g : grad(outputs, trained, batched, options))
          found.push_back(g.defined() ? out_of_levels(g, {level.level()}) : g);
      }
      std::vector<TensorList> each(trained.size());
      for (int64_t n = 0; n < kSamples; ++n) {
        TensorList one;
        for (const Tensor& seed : seeds) one.push_back(select(seed, 0, n));
        const TensorList gradients = grad(outputs, trained, one, options);
        for (size_t i = 0; i < trained.size(); ++i)
          if (gradients[i].defined()) each[i].push_back(gradients[i]);
      }
      for (size_t i = 0; i < trained.size(); ++i) {
        CHECK(found[i].defined() == !each[i].empty());
        if (found[i].defined() && !each[i].empty())
          CHECK(typed_distance(found[i], stack(each[i], 0)) < 1e-10);
      }
    }
  }
}

TEST_CASE("levels nest, and a tensor of a vmap that has ended is refused") {
  const Tensor x = Tensor::from<double>(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor escaped;
  {
    const Level outer(2);
    const Tensor row = into_level(x, outer.level());
    CHECK(row.shape() == Shape{3});
    const Level inner(3);
    const Tensor one = into_level(row, inner.level());
    CHECK(one.ndim() == 0);
    CHECK_THROWS_AS(one.item(), BatchedRead);
    const Tensor y = one * one;
    const Tensor by_inner = out_of_levels(y, {inner.level()});
    CHECK(by_inner.shape() == Shape{3});
    escaped = by_inner;
  }
  CHECK(batching_in_use > 0);
  CHECK_THROWS_WITH_AS(escaped + escaped, doctest::Contains("has ended"), Error);
  escaped = {};
  CHECK(batching_in_use == 0);
}

}  // namespace lunagrad::tests
