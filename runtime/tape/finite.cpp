#include "runtime/tape/finite.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "runtime/core/primitives.h"
#include "runtime/cpu/parallel.h"

namespace lunagrad {
namespace {

thread_local FiniteWatch* finite_watch = nullptr;
thread_local RootWatch* root_watch = nullptr;

// Switches the guard off while a check runs its own ops.
class Unguarded {
 public:
  Unguarded() : previous_(std::exchange(context().guard, Guard::off)) {}
  ~Unguarded() { context().guard = previous_; }
  Unguarded(const Unguarded&) = delete;

 private:
  Guard previous_;
};

// NaN and Inf are the values whose exponent bits are all 1.
template <class Bits>
bool has_exponent_of_ones(const void* data, int64_t count, Bits mask) {
  constexpr int64_t kPiece = 1 << 16;
  std::atomic<bool> found{false};
  parallel_for(count, kPiece, [&](int64_t begin, int64_t end) {
    const Bits* const values = static_cast<const Bits*>(data);
    if (found.load(std::memory_order_relaxed)) return;
    Bits any = 0;
    for (int64_t i = begin; i < end; ++i) any |= Bits((values[i] & mask) == mask);
    if (any) found.store(true, std::memory_order_relaxed);
  });
  return found.load();
}

bool finite_on_cpu(const Tensor& given) {
  const Tensor x = contiguous(given);
  switch (x.dtype()) {
    case DType::f16:
      return !has_exponent_of_ones<uint16_t>(x.raw(), x.numel(), 0x7c00);
    case DType::bf16:
      return !has_exponent_of_ones<uint16_t>(x.raw(), x.numel(), 0x7f80);
    case DType::f32:
      return !has_exponent_of_ones<uint32_t>(x.raw(), x.numel(), 0x7f800000);
    case DType::c64:
      return !has_exponent_of_ones<uint32_t>(x.raw(), 2 * x.numel(), 0x7f800000);
    case DType::c128:
      return !has_exponent_of_ones<uint64_t>(x.raw(), 2 * x.numel(), 0x7ff0000000000000);
    default:
      return !has_exponent_of_ones<uint64_t>(x.raw(), x.numel(), 0x7ff0000000000000);
  }
}

bool is_looked_at(const Tensor& x) { return x.defined() && is_differentiable(x.dtype()) && x.numel() > 0; }

// "[2, 1]": positions count from 1, as in scripts.
std::string place_of(int64_t index, const Shape& shape) {
  std::string place;
  for (int d = shape.size() - 1; d >= 0; --d) {
    place = std::to_string(index % shape[d] + 1) + (place.empty() ? "" : ", ") + place;
    index /= shape[d];
  }
  return "[" + place + "]";
}

// "2 NaN, 1 Inf and 3 -Inf"
std::string counted(const Contents& c) {
  const std::pair<int64_t, const char*> kinds[] = {
      {c.nans, " NaN"}, {c.infs - c.negative_infs, " Inf"}, {c.negative_infs, " -Inf"}};
  std::string line;
  int left =
      int(std::count_if(std::begin(kinds), std::end(kinds), [](const auto& k) { return k.first > 0; }));
  for (const auto& [count, name] : kinds) {
    if (count == 0) continue;
    --left;
    line += text(count, name, left > 1 ? ", " : left == 1 ? " and " : "");
  }
  return line;
}

// The value of the only element.
const char* name_of_bad(const Contents& c) { return c.nans ? "NaN" : c.negative_infs ? "-Inf" : "Inf"; }

struct Named {
  std::string name;
  Tensor value;
  Contents contents;
};

std::string message_of(const std::string& what, const Tensor& bad, const Contents& contents,
                       const std::vector<Named>& operands, const std::string& advice) {
  std::string message =
      text(what, bad.shape().empty() ? ", a scalar: " : text(" of shape ", bad.shape(), ": "));
  if (contents.count == 1)
    message += name_of_bad(contents);
  else
    message += text(counted(contents), " among ", contents.count, " elements, the first at ",
                    place_of(contents.first_bad, bad.shape()));
  for (const Named& operand : operands)
    message += text("\n  ", operand.name, ": ", describe_contents(operand.value, operand.contents));
  if (!advice.empty()) message += "\n  " + advice;
  return message;
}

void report(const char* op, const Node* node, const Call* call, const std::string& what, const Tensor& bad,
            const Contents& contents, const std::vector<Named>& operands, const std::string& advice) {
  const std::string message = message_of(what, bad, contents, operands, advice);
  const SourceLine line = node ? node->line : context().line;
  if (finite_watch && !finite_watch->raises({message, op, bad, line, node, call})) return;
  throw Error(message, ErrorKind::numeric);
}

// A parameter that is not finite (the -Inf of masked_fill): the user intends such a result.
bool asks_for_it(const Call& call) {
  for (const Value& value : call.params)
    if (value.kind == Value::Kind::real && !std::isfinite(value.f)) return true;
  return false;
}

// Whether `result` must be reported: any NaN, or an Inf when no operand had one.
bool is_new(const Contents& result, bool inf_before) {
  return result.nans > 0 || (result.infs > 0 && !inf_before);
}

std::vector<Named> name_operands(const Op& op, const Operands& in) {
  std::vector<Named> operands;
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].defined()) operands.push_back({input_name(op, i), in[i], contents_of(in[i])});
  return operands;
}

void check_result(const Call& call, const std::vector<Named>& operands, const Tensor& y, size_t number,
                  size_t count, const char* what) {
  const Op& op = *call.op;
  const Contents contents = contents_of(y);
  bool inf_before = false;
  Suspect suspect{op.name, false, {}, contents, y.dtype()};
  for (const Named& operand : operands) {
    inf_before |= operand.contents.infs > 0;
    suspect.operands.push_back(operand.contents);
  }
  if (!is_new(contents, inf_before)) return;
  report(op.name, nullptr, &call, text(op.name, ": ", what, count > 1 ? text(' ', number + 1) : ""), y,
         contents, operands, hint(suspect));
}

bool is_view(const Call& call) { return call.aliases != 0; }

Tensor value_of(const Operand& operand) {
  return Tensor(operand.saved, operand.layout, operand.offset, operand.dtype);
}

}  // namespace

void set_finite_watch(FiniteWatch* watch) { finite_watch = watch; }
RootWatch* set_root_watch(RootWatch* watch) { return std::exchange(root_watch, watch); }

void tell_root(const Tensor& root) {
  if (root_watch) root_watch->root(root);
}

std::string explain_result(const Op& op, const Operands& in, const Tensor& value) {
  const std::vector<Named> operands = name_operands(op, in);
  Suspect suspect{op.name, false, {}, contents_of(value), value.dtype()};
  for (const Named& operand : operands) suspect.operands.push_back(operand.contents);
  const std::string advice = operands.size() == in.size() ? hint(suspect) : std::string();
  return message_of(text(op.name, ": its result"), value, suspect.result, operands, advice);
}

// For complex tensors: the statistics of the absolute values.
Contents contents_of(const Tensor& x) {
  const Unguarded off;
  Contents c;
  c.count = x.numel();
  if (is_complex(x.dtype())) return contents_of(abs(x.detach()));
  if (!is_floating(x.dtype())) return c;
  double sum = 0;
  int64_t finite = 0, i = 0;
  for (const double value : x.detach().to_vector<double>()) {
    if (std::isfinite(value)) {
      c.min = finite ? std::min(c.min, value) : value;
      c.max = finite ? std::max(c.max, value) : value;
      c.zeros += value == 0;
      sum += value;
      ++finite;
    } else {
      std::isnan(value) ? ++c.nans : ++c.infs;
      c.negative_infs += std::isinf(value) && value < 0;
      if (c.first_bad < 0) c.first_bad = i;
    }
    ++i;
  }
  c.mean = finite ? sum / double(finite) : 0;
  return c;
}

std::string describe_contents(const Tensor& x, const Contents& c) {
  std::string line = text(x.dtype(), ' ');
  line += x.shape().empty() ? "scalar" : text(x.shape());
  if (!is_differentiable(x.dtype()) || c.count == 0) return line;
  if (c.count == 1)
    return line + (is_complex(x.dtype()) ? ", absolute value " : ", ") +
           (c.finite() ? text(c.min) : name_of_bad(c));
  if (is_complex(x.dtype())) line += ", absolute values";
  if (c.nans + c.infs < c.count) line += text(" from ", c.min, " to ", c.max, ", mean ", c.mean);
  if (!c.finite()) line += ", " + counted(c);
  return line;
}

bool all_finite(const TensorList& tensors) {
  const Unguarded off;
  const NoGrad no_tape;
  Tensor flag;  // whether all tensors of one device so far are finite
  for (const Tensor& x : tensors) {
    if (!is_looked_at(x)) continue;
    if (x.device().is_cpu()) {
      if (!finite_on_cpu(x)) return false;
    } else {
      const Tensor one = all(isfinite(x), {}, false);
      if (flag.defined() && &flag.device() != &one.device()) {
        if (flag.item() == 0) return false;
        flag = Tensor();
      }
      flag = flag.defined() ? logical_and(flag, one) : one;
    }
  }
  return !flag.defined() || flag.item() != 0;
}

void run_guarded(Call& call) {
  const Operands operands = call.in;
  {
    const Unguarded inside;
    run(call);
  }
  const Op& op = *call.op;
  const std::string_view name = op.name;
  if (asks_for_it(call) || is_view(call) || operands.empty() || name.ends_with("_like")) return;
  if (op.writes_inputs) {
    for (size_t i = 0; i < operands.size(); ++i)
      if (is_looked_at(operands[i]) && !all_finite({operands[i]}))
        check_result(call, {}, operands[i], i, operands.size(), "its step left in tensor");
    return;
  }
  for (size_t i = 0; i < call.out.size(); ++i)
    if (is_looked_at(call.out[i]) && !all_finite({call.out[i]}))
      check_result(call, name_operands(op, operands), call.out[i], i, call.out.size(), "its result");
}

void check_written(const Call& call, const Contents& before) {
  const Tensor& x = call.output();
  if (asks_for_it(call) || !is_looked_at(x) || all_finite({x})) return;
  std::vector<Named> operands = name_operands(*call.op, call.in);
  operands[0].contents = before;
  check_result(call, operands, x, 0, 1, "what it wrote in place");
}

void check_gradients(const Node& node, const Small<Tensor, 1>& arrived, const std::vector<bool>& needs,
                     const std::vector<Tensor>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!needs[i] || !is_looked_at(results[i]) || all_finite({results[i]})) continue;
    const Contents contents = contents_of(results[i]);
    std::vector<Named> operands;
    bool inf_before = false;
    for (const Tensor& gradient : arrived)
      if (gradient.defined()) {
        operands.push_back({"arriving gradient", gradient, contents_of(gradient)});
        inf_before |= operands.back().contents.infs > 0;
      }
    if (!is_new(contents, inf_before)) continue;
    Suspect suspect{node.label(), true, {}, contents, results[i].dtype()};
    for (const Named& gradient : operands) suspect.operands.push_back(gradient.contents);
    const auto add = [&](const std::string& name, const Operand& operand) {
      suspect.saved.emplace_back();
      if (!operand.saved) return;
      const Tensor value = value_of(operand);
      suspect.saved.back() = contents_of(value);
      operands.push_back({name, value, suspect.saved.back()});
    };
    for (size_t k = 0; k < node.in.size(); ++k) add(input_name(*node.op, k), node.in[k]);
    for (const Operand& out : node.out) add("result", out);
    report(node.label(), &node, nullptr,
           text("backward of ", node.label(), made_at(node.line), ": the gradient of its input ", i + 1,
                " ('", input_name(*node.op, i), "')"),
           results[i], contents, operands, hint(suspect));
  }
}

void check_loss(const Tensor& root) {
  if (context().guard != Guard::step || all_finite({root})) return;
  const Contents contents = contents_of(root);
  std::string message =
      text("backward: ", root.numel() == 1 ? "the loss is " : "the tensor holds ", counted(contents),
           ", made by ", root.node()->label(), made_at(root.node()->line));
  const std::vector<Node*> nodes = nodes_of(root);
  const auto bad = [](const Operand& operand) { return operand.saved && !all_finite({value_of(operand)}); };
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = **it;
    const Node* culprit = nullptr;
    for (const Operand& in : node.in)
      if (!culprit && bad(in)) culprit = in.node ? in.node.get() : &node;
    for (const Operand& out : node.out)
      if (!culprit && bad(out)) culprit = &node;
    if (!culprit) continue;
    message += text("\n  the earliest value on the tape that is not finite belongs to ", culprit->label(),
                    made_at(culprit->line));
    break;
  }
  throw Error(message + "\n  --guard op, or lg.run.assert_finite(\"op\"), finds the op that made it",
              ErrorKind::numeric);
}

void check_leaves(const std::vector<Node*>& leaves) {
  if (context().guard != Guard::step) return;
  TensorList gradients;
  for (const Node* leaf : leaves) gradients.push_back(leaf->grad);
  if (all_finite(gradients)) return;
  for (const Node* leaf : leaves) {
    if (all_finite({leaf->grad})) continue;
    const std::string& name = interned(leaf->name);
    fail_as(ErrorKind::numeric, "backward: the gradient of ", name.empty() ? "a leaf" : name,
            made_at(leaf->line), " of shape ", leaf->grad.shape(), " holds ",
            counted(contents_of(leaf->grad)),
            "\n  --guard op, or lg.run.assert_finite(\"op\"), finds the op that made it");
  }
}

}  // namespace lunagrad
