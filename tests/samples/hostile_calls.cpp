#include "tests/samples/hostile_calls.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad::tests {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kIntegers[] = {0, 1, -1, 3, kMost, kLeast, int64_t(1) << 40, int64_t(1) << 20};
constexpr double kReals[] = {0, -1, 1e300, NAN, INFINITY, -INFINITY};

// Shapes in place of `shape`.
std::vector<Shape> hostile_shapes(const Shape& shape) {
  std::vector<Shape> shapes = {{}, {0}, {1}};
  for (int d = 0; d < shape.size(); ++d) {
    shapes.push_back(shape);
    shapes.back()[d] = 0;
    if (shape[d] == 1) continue;
    shapes.push_back(shape);
    shapes.back()[d] = 1;
  }
  shapes.push_back(Shape(shape.size(), 1));
  return shapes;
}

std::vector<std::vector<SampleInput>> hostile_operands(const std::vector<SampleInput>& inputs) {
  std::vector<std::vector<SampleInput>> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == Kind::absent) continue;
    for (const Shape& shape : hostile_shapes(inputs[i].shape)) {
      all.push_back(inputs);
      all.back()[i].shape = shape;
    }
  }
  // All operands alike, and each without the elements of its first or last dim.
  const auto change_all = [&](auto&& shape_of) {
    all.push_back(inputs);
    for (SampleInput& input : all.back()) input.shape = shape_of(input.shape);
  };
  change_all([](const Shape&) { return Shape{}; });
  change_all([](const Shape&) { return Shape{0}; });
  change_all([](const Shape&) { return Shape{1}; });
  change_all([](const Shape& shape) { return Shape(shape.size(), 1); });
  change_all([](const Shape& shape) { return Shape(shape.size(), 0); });
  for (const int at : {0, -1})
    change_all([at](const Shape& given) {
      Shape shape = given;
      if (!shape.empty()) shape[at < 0 ? shape.size() - 1 : 0] = 0;
      return shape;
    });
  return all;
}

std::vector<Value> hostile_values(const ParamSpec& spec, const Value& given) {
  std::vector<Value> values;
  const auto add_lists = [&](const Dims& list) {
    for (int i = 0; i < list.size(); ++i)
      for (const int64_t number : kIntegers) {
        Dims changed = list;
        changed[i] = number;
        values.push_back(changed);
      }
    for (const int64_t number : kIntegers) {
      values.push_back(Dims{number});
      values.push_back(Dims{number, number});
      values.push_back(Dims(list.size(), number));
    }
    values.push_back(Dims{});
    values.push_back(Dims(kMaxDims, 2));
  };
  switch (spec.kind) {
    case ParamKind::boolean:
      return {true, false};
    case ParamKind::integer:
    case ParamKind::dim:
    case ParamKind::position:
      values.assign(std::begin(kIntegers), std::end(kIntegers));
      return values;
    case ParamKind::number:
      values.assign(std::begin(kIntegers), std::end(kIntegers));
      values.insert(values.end(), std::begin(kReals), std::end(kReals));
      values.push_back(true);
      return values;
    case ParamKind::real:
      values.assign(std::begin(kReals), std::end(kReals));
      return values;
    case ParamKind::integers:
    case ParamKind::dims:
      add_lists(given.kind == Value::Kind::list ? given.list : Dims{1});
      return values;
    case ParamKind::choice:
      for (size_t i = 0; i < spec.choices.size(); ++i) values.push_back(int64_t(i));
      return values;
    case ParamKind::dtype:
      for (int i = 0; i < kDTypeCount; ++i) values.push_back(DType(i));
      return values;
    case ParamKind::text:
      for (const char* word : {"", "i", "ij,jk->ik", "...", "->", "ii->i", ",", "i,i,i->"})
        values.push_back(int64_t(intern(word)));
      return values;
  }
  return values;
}

void for_calls_of(const Op& op, const Sample& sample, bool thorough,
                  const std::function<void(const HostileCall&)>& visit) {
  const Values params = complete(op, sample.params);
  std::vector<std::vector<SampleInput>> operands = hostile_operands(sample.inputs);
  for (const auto& inputs : operands) visit({&op, inputs, params});
  if (thorough)
    operands.push_back(sample.inputs);
  else
    operands = {sample.inputs};
  for (size_t p = 0; p < op.params.size(); ++p)
    for (const Value& value : hostile_values(op.params[p], params[p]))
      for (const auto& inputs : operands) {
        Values changed = params;
        changed[p] = value;
        visit({&op, inputs, changed, true});
      }
}

Tensor operand(const SampleInput& spec, uint64_t stream) {
  if (spec.kind == Kind::absent) return {};
  const NoGrad off;
  const auto draw = [&](uint64_t from) {
    std::vector<float> values(size_t(numel(spec.shape)));
    for (size_t i = 0; i < values.size(); ++i) {
      const PhiloxBlock words = philox(7, from, i);
      values[i] = float(spec.low + (spec.high - spec.low) * uniform_f64(words[0], words[1]));
    }
    return Tensor::from<float>(values, spec.shape);
  };
  const Tensor reals = draw(stream);
  if (spec.kind == Kind::index) return to(floor(reals), DType::i64);
  if (spec.kind == Kind::complex) return complex(reals, draw(stream + 100));
  if (spec.kind == Kind::boolean) return gt(reals, Tensor::number((spec.low + spec.high) / 2));
  return reals;
}

// The sum of all elements of the outputs that require grad; of complex ones, of both parts.
Tensor total(const Operands& outputs) {
  Tensor loss;
  for (const Tensor& y : outputs) {
    if (!y.defined() || !y.requires_grad()) continue;
    const Tensor part = sum(is_complex(y.dtype()) ? view_as_real(y) : y);
    loss = loss.defined() ? loss + part : part;
  }
  return loss;
}

}  // namespace

std::string name_of(const HostileCall& call) {
  std::string name = name_of(Sample{.op = call.op->name, .inputs = call.inputs});
  name.pop_back();
  for (size_t i = 0; i < call.params.size(); ++i) {
    const Value& value = call.params[i];
    name += text(i ? ", " : "; ", call.op->params[i].name, " = ");
    switch (value.kind) {
      case Value::Kind::none:
        name += "-";
        break;
      case Value::Kind::real:
        name += text(value.f);
        break;
      case Value::Kind::list:
        name += text(value.list);
        break;
      default:
        name += text(value.kind == Value::Kind::boolean ? int64_t(value.b) : value.i);
    }
  }
  return name + ")";
}

void for_hostile_calls(bool thorough, const std::function<void(const HostileCall&)>& visit) {
  std::set<std::string> seen;  // one sample of each op, all if thorough
  for (const Sample& sample : samples()) {
    const Op* const op = find_op(sample.op);
    if (op->writes_inputs || (!seen.insert(sample.op).second && !thorough)) continue;
    for_calls_of(*op, sample, thorough, visit);
  }
}

TensorList operands_of(const HostileCall& call) {
  TensorList operands;
  for (size_t i = 0; i < call.inputs.size(); ++i) operands.push_back(operand(call.inputs[i], i));
  return operands;
}

HostileResult run_hostile(const HostileCall& call, const TensorList& operands) {
  constexpr int64_t kSmall = 1 << 12;  // elements of results that are differentiated
  TensorList inputs = operands;
  for (Tensor& x : inputs)
    if (x.defined() && is_differentiable(x.dtype())) x = x.detach().requires_grad_();
  context().generator.seed(11);
  HostileResult result;
  try {
    result.outputs = apply(*call.op, inputs, call.params);
  } catch (const Error& error) {
    result.error = error.what();
    return result;
  }
  for (const Tensor& y : result.outputs)
    if (y.defined() && y.numel() > kSmall) return result;
  try {
    const Tensor loss = total(result.outputs);
    if (!loss.defined()) return result;
    TensorList leaves;
    for (const Tensor& x : inputs)
      if (x.defined() && x.requires_grad()) leaves.push_back(x);
    GradOptions options;
    options.create_graph = options.allow_unused = true;
    result.gradients = grad({loss}, leaves, {}, options);
    Operands again;
    for (const Tensor& g : result.gradients)
      if (g.defined()) again.push_back(g);
    const Tensor second = total(again);
    if (second.defined()) backward(second);
  } catch (const Error& error) {
    result.gradient_error = error.what();
  }
  return result;
}

CallWatch::CallWatch(double patience) : patience_(patience), context_(context()) {
  if (pthread_getcpuclockid(pthread_self(), &clock_) != 0) std::abort();
  thread_ = std::thread([this] { watch(); });
}

CallWatch::~CallWatch() {
  ended_ = true;
  thread_.join();
}

void CallWatch::begin(const std::string& call) {
  const std::lock_guard lock(mutex_);
  call_ = call;
  ++number_;
  running_ = true;
}

bool CallWatch::end() {
  const std::lock_guard lock(mutex_);
  running_ = false;
  return !context_.stop_requested.exchange(false);
}

double CallWatch::processor_time() const {
  timespec now;
  clock_gettime(clock_, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void CallWatch::watch() {
  uint64_t seen = 0;
  double since = 0;
  while (!ended_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::lock_guard lock(mutex_);
    const double now = processor_time();
    if (!running_ || seen != number_) {
      seen = number_;
      since = now;
      continue;
    }
    if (now - since > patience_) context_.stop_requested = true;
    if (now - since < 2 * patience_) continue;
    std::fprintf(stderr, "this call does not stop: %s\n", call_.c_str());
    std::abort();
  }
}

}  // namespace lunagrad::tests
