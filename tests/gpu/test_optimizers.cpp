// One step of every optimizer, and the clipping of gradients, on the Vulkan device against the CPU.
#include <bit>

#include "runtime/optimizer/rules.h"
#include "tests/gpu/compare.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

struct Step {
  Rule rule;
  size_t states;
  std::vector<NamedNumber> numbers;
};

// Sizes around a block's, one of them transposed, one without elements.
TensorList make_list(Device& device, DType type, uint64_t stream, double low, double high) {
  TensorList list;
  for (const Shape& shape : {Shape{1024}, Shape{3, 5}, Shape{}, Shape{0, 4}, Shape{70, 33}, Shape{1025}})
    list.push_back(to(to(random(shape, stream + list.size(), low, high), type), device));
  list[4] = transpose(list[4], 0, 1);
  return list;
}

// One step on the device against the same step on the CPU, in every floating type.
void check_step(Rule rule, size_t states, const Arguments& arguments) {
  const RuleTraits& traits = rule_traits(rule);
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    TensorList lists[2];
    for (const bool there : {false, true}) {
      Device& device = there ? gpu() : cpu_device();
      lists[there] = make_list(device, type, 10, -1, 1);
      for (size_t list = 0; list <= states; ++list)
        // Second moments are not negative, and larger than the square of a mean.
        for (const Tensor& x :
             make_list(device, type, 20 + 10 * list, list == 0 ? -1 : 1.5, list == 0 ? 1 : 2.5))
          lists[there].push_back(x);
      if (rule_states(rule, arguments) >> 2 & 1 && rule == Rule::rmsprop)  // the mean, last
        for (size_t i = lists[there].size() - 6; i < lists[there].size(); ++i)
          copy_(lists[there][i], lists[there][i] * 0.25);
      const Fallbacks fallbacks;
      optimizer_step(rule, Operands(lists[there]), arguments);
      CHECK_MESSAGE(fallbacks.ops.empty(), std::string(traits.op_name));
    }
    const double bound = type == DType::f32 ? 2e-6 : type == DType::f16 ? 1e-3 : 8e-3;
    for (size_t i = 0; i < lists[0].size(); ++i)
      CHECK_MESSAGE(distance(lists[1][i], lists[0][i]) < bound, std::string(traits.op_name)
                                                                    << " with " << states << " states, "
                                                                    << type << ", tensor " << i);
  }
}

TEST_CASE(
    "one step of every optimizer is the CPU's, in every floating type, in one dispatch without the CPU") {
  const NoGrad off;
  const NamedNumber beta1{"beta1", 0.9}, beta2{"beta2", 0.99}, eps{"eps", 1e-8}, large_eps{"eps", 1e-2},
      decay{"weight_decay", 0.1}, coupled{"decay", 0.1}, decoupled{"decay", -0.1}, lr{"lr", 0.01},
      maximize{"maximize", 1}, minimize{"maximize", 0}, amsgrad{"amsgrad", 1}, no_amsgrad{"amsgrad", 0},
      third{"step", 3}, alpha{"alpha", 0.9}, momentum{"momentum", 0.5}, no_momentum{"momentum", 0},
      centered{"centered", 1}, plain{"centered", 0}, rate{"rate", 0.02};
  const std::vector<Step> steps = {
      {Rule::sgd,
       0,
       {{"lr", 0.1},
        no_momentum,
        {"dampening", 0},
        {"weight_decay", 0.01},
        {"first_step", 1},
        {"nesterov", 0},
        maximize}},
      {Rule::sgd,
       1,
       {{"lr", 0.1},
        {"momentum", 0.9},
        {"dampening", 0.2},
        {"weight_decay", 0.01},
        {"first_step", 0},
        {"nesterov", 1},
        minimize}},
      {Rule::adam, 2, {lr, beta1, beta2, eps, decay, third, minimize, no_amsgrad}},
      {Rule::adam, 3, {lr, beta1, beta2, eps, decay, third, maximize, amsgrad}},
      {Rule::adamw, 2, {lr, beta1, beta2, eps, decay, third, minimize, no_amsgrad}},
      {Rule::nadam,
       2,
       {beta1, beta2, eps, coupled, {"gradient_rate", 0.02}, {"mean_rate", 0.01}, {"root", 0.2}, minimize}},
      {Rule::radam, 2, {beta1, beta2, eps, decoupled, rate, {"adaptive", 1}, maximize}},
      {Rule::radam, 2, {beta1, beta2, eps, coupled, rate, {"adaptive", 0}, minimize}},
      {Rule::adamax, 2, {beta1, beta2, eps, decay, rate, minimize}},
      {Rule::rmsprop, 1, {lr, alpha, eps, decay, minimize, no_momentum, plain}},
      {Rule::rmsprop, 2, {lr, alpha, eps, decay, minimize, momentum, plain}},
      {Rule::rmsprop, 2, {lr, alpha, large_eps, decay, minimize, no_momentum, centered}},
      {Rule::rmsprop, 3, {lr, alpha, large_eps, decay, maximize, momentum, centered}},
      {Rule::adagrad, 1, {{"rate", 0.01}, eps, decay, minimize}},
      {Rule::adadelta, 2, {{"lr", 0.1}, {"rho", 0.9}, {"eps", 1e-6}, decay, minimize}},
      {Rule::lion, 1, {lr, beta1, beta2, decay, minimize}},
      {Rule::ema, 0, {{"decay", 0.99}}}};
  for (const Step& step : steps) {
    const Arguments arguments = rule_arguments(step.rule, step.numbers);
    REQUIRE(size_t(std::popcount(rule_states(step.rule, arguments))) == step.states);
    check_step(step.rule, step.states, arguments);
  }
}

TEST_CASE("every rule takes the CPU's step with its samples, for all flags and all sets of states") {
  const NoGrad off;
  for (int i = 0; i < kRuleCount; ++i) {
    const Rule rule = Rule(i);
    const Arguments sample = sample_arguments(rule);
    const auto numbers = rule_traits(rule).numbers;
    // Flags, and numbers whose value 0 changes which states exist.
    std::vector<std::pair<size_t, double>> switches;
    for (size_t k = 0; k < numbers.size(); ++k) {
      Arguments changed = sample;
      changed[k].f = numbers[k].kind == RuleNumber::Kind::flag;
      if (changed[k].f == 1 || rule_states(rule, changed) != rule_states(rule, sample))
        switches.emplace_back(k, changed[k].f);
    }
    for (uint32_t chosen = 0; chosen < 1u << switches.size(); ++chosen) {
      Arguments arguments = sample;
      for (size_t k = 0; k < switches.size(); ++k)
        if (chosen >> k & 1) arguments[switches[k].first].f = switches[k].second;
      check_step(rule, size_t(std::popcount(rule_states(rule, arguments))), arguments);
    }
  }
}

TEST_CASE("gradients are clipped as on the CPU: every norm, huge, tiny and bad values") {
  const NoGrad off;
  for (const double power : {2.0, 1.0, 3.5, double(INFINITY)})
    for (const double size : {1.0, 1e30, 1e-25})
      for (const double bad : {0.0, double(NAN), double(INFINITY)})
        for (const double limit : {0.5, 1e35}) {
          Tensor norms[2];
          TensorList lists[2];
          for (const bool there : {false, true}) {
            TensorList list = make_list(cpu_device(), DType::f32, 10, -1, 1);
            for (Tensor& x : list) x = x * size;
            if (bad != 0) list[0].data<float>()[77] = float(bad);
            for (Tensor& x : list) x = there ? to(x, gpu()) : x;
            const Fallbacks fallbacks;
            norms[there] = clip_grad_norm_(list, limit, power);
            CHECK(fallbacks.ops.empty());
            lists[there] = list;
          }
          CAPTURE(power);
          CAPTURE(size);
          CAPTURE(bad);
          CAPTURE(limit);
          const double got = norms[1].item(), expected = norms[0].item();
          CHECK((std::isfinite(expected) ? std::abs(got - expected) <= 4e-5 * expected
                 : std::isnan(expected)  ? std::isnan(got)
                                         : got == expected));
          for (size_t i = 0; i < lists[0].size(); ++i) {
            const double largest = 1e-3 / std::max(1e-38, size);  // distance() is relative to at least 1e-3
            CHECK(distance(lists[1][i] * largest, lists[0][i] * largest) < 4e-5);
          }
        }
}

TEST_CASE("gradients of several types, and of more tensors than one dispatch takes, have one norm") {
  const NoGrad off;
  for (const double limit : {0.5, 1e9}) {
    TensorList here, there;
    for (int i = 0; i < 4200; ++i)
      for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::c64})
        if (type == DType::f32 || i < 3)
          here.push_back(to(random({int64_t(i < 3 ? 5000 : 2)}, uint64_t(i)), type));
    for (const Tensor& x : here) there.push_back(to(x, gpu()));
    const Tensor expected = clip_grad_norm_(here, limit, 2);
    const Fallbacks fallbacks;
    CHECK(distance(clip_grad_norm_(there, limit, 2), expected) < 1e-6);
    CHECK(fallbacks.ops.empty());
    int wrong = 0;
    for (size_t i = 0; i < here.size(); ++i)
      wrong += distance(there[i], here[i]) > (here[i].dtype() == DType::bf16 ? 8e-3 : 1e-3);
    CHECK(wrong == 0);
  }
  TensorList empty = {zeros({0, 3}, DType::f32, gpu())};
  const Fallbacks fallbacks;
  CHECK(clip_grad_norm_(empty, 1, 2).item() == 0);
  CHECK(fallbacks.ops.empty());
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
