// Why there is a NaN or Inf: the op that made it with the figures of its operands, or the steps in which the
// weights grew until they overflowed.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "ui/inspect/why_writer.h"

namespace lunagrad {
namespace {

// The largest exponent of f32, and of f16.
constexpr double kExpF32 = 88.7, kExpF16 = 11;
constexpr double kHuge = 1e15;
constexpr size_t kLookBack = 20;  // measured steps that are searched for growing weights
constexpr double kGrew = 10;      // times the norm, over these steps

bool logarithm(std::string_view op) { return op_among(op, {"log", "log2", "log10", "logit", "log1p"}); }
bool exponential(std::string_view op) { return op_among(op, {"exp", "exp2", "expm1", "sinh", "cosh"}); }

// The cause in the words of the op; "" when the figures name none. `first`, `second`: of the operands, or
// null.
std::string cause_in_value(const NodeInfo& node, const Summary* first, const Summary* second,
                           const Summary& result) {
  const bool half = !node.outputs.empty() && node.outputs[0].dtype == "f16";
  const std::string_view op = node.op;
  if (first) {
    if (logarithm(op) && first->min < (op == "log1p" ? -1 : 0))
      return "It takes the logarithm of a negative number.";
    if (logarithm(op) && first->zeros > 0 && op != "log1p") return "It takes the logarithm of 0.";
    if (op_among(op, {"sqrt", "rsqrt"}) && first->min < 0) return "It takes the root of a negative number.";
    if (op_among(op, {"rsqrt", "reciprocal"}) && first->zeros > 0) return "It divides by 0.";
    if (exponential(op) && first->max > (half ? kExpF16 : kExpF32))
      return "The exponential overflows: its largest operand is " + why_figure(first->max) + ".";
    if (op_among(op, {"asin", "acos", "atanh"}) && first->largest() >= 1)
      return "The function ends at -1 and 1.";
    if (op_among(op, {"pow"}) && first->min < 0 && result.nans > 0)
      return "It takes a negative number to a fractional power.";
    if (op_among(op, {"pow"}) && first->zeros > 0 && result.infs > 0)
      return "It takes 0 to a negative power.";
  }
  if (op_among(op, {"div"}) && second && second->zeros > 0)
    return result.nans > 0 ? "It divides 0 by 0." : "It divides by 0.";
  if (first && second && first->infs > 0 && second->infs > 0 && op_among(op, {"add", "sub"}))
    return "Inf - Inf is NaN.";
  if (op_among(op, {"mul"}) && ((first && first->infs > 0) || (second && second->infs > 0)) &&
      result.nans > 0)
    return "0 * Inf is NaN.";
  if (op_among(op, {"softmax", "log_softmax", "scaled_dot_product_attention"}) && result.nans > 0)
    return "A row whose elements are all -Inf, as of a mask, gives NaN.";
  if (op_among(op, {"var", "std", "mean"}) && result.nans > 0)
    return "A mean of no elements, or a variance of one, is NaN.";
  const double most = std::max(first ? first->largest() : 0, second ? second->largest() : 0);
  if (half && result.infs > 0) return "f16 ends at 65504.";
  if (most > kHuge)
    return "Its operands are huge, up to " + why_figure(most) + ": the training has diverged.";
  return {};
}

// The cause of a gradient that the op's derivative made. `read`: the operand, or null.
std::string cause_in_gradient(std::string_view op, const Summary* read) {
  if (op_among(op, {"sqrt", "norm", "vector_norm", "std", "pow"}) && read && read->zeros > 0)
    return "Its derivative at 0 is infinite.";
  if (op_among(op, {"log", "log2", "log10", "reciprocal", "div", "rsqrt"}))
    return "Its derivative divides by a number that is 0, or so small that the result overflows.";
  if (op_among(op, {"asin", "acos", "atanh", "acosh"}) && read && read->largest() >= 1)
    return "Its derivative is infinite at the end of its domain.";
  if (op_among(op, {"abs", "hypot"}) && read && read->zeros > 0) return "Its derivative at 0 is not defined.";
  return {};
}

std::string kind_of(const Summary& s) { return s.nans > 0 ? "NaN" : "Inf"; }

std::string share_of(const Summary& s) {
  return std::to_string(s.nans + s.infs) + " of its " + std::to_string(s.count) + " elements";
}

}  // namespace

// The session's own finding: it read the values while the step ran, so it knows more than figures.
void WhyWriter::found_not_finite() {
  if (!facts_.not_finite) return;
  const WhyNotFinite& found = *facts_.not_finite;
  const int node = tape_.find(found.node);
  if (node >= 0)
    say_of(node, found.headline + ".");
  else
    say_at(found.place, found.step, found.headline + ".");
  std::istringstream lines(found.explanation);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin != line.npos) say_at(found.place, -1, line.substr(begin));
  }
  // The weights that grew most explain operands that are huge.
  const ParameterStatistics* grew = nullptr;
  double most = kGrew;
  for (auto step = facts_.steps.rbegin(); step != facts_.steps.rend(); ++step) {
    if ((*step)->step > found.step) continue;
    const auto index = size_t(facts_.steps.rend() - step - 1);
    const StepStatistics& early = *facts_.steps[index > kLookBack ? index - kLookBack : 0];
    for (const ParameterStatistics& p : (*step)->parameters) {
      const ParameterStatistics* const then = parameter_at(early, p.name);
      const double grown = !p.weight.finite()              ? HUGE_VAL
                           : then && then->weight.norm > 0 ? p.weight.norm / then->weight.norm
                                                           : 0;
      if (grown > most) most = grown, grew = &p;
    }
    break;
  }
  if (grew) return diverged(grew->name);
  if (found.explanation.empty())
    say("Which op made it is not recorded. Run again to the first NaN repeats the run and pauses there.");
}

void WhyWriter::not_finite_value(int node) {
  // Goes against the data to a node whose operands are finite, or not on the tape.
  int at = node;
  for (size_t guard = 0; guard < tape_.nodes().size(); ++guard) {
    int before = -1;
    for (size_t i = 0; i < tape_[at].inputs.size() && before < 0; ++i)
      if (const int made_by = tape_.input(at, i); made_by >= 0 && any_not_finite(tape_.value(made_by)))
        before = made_by;
    if (before < 0) break;
    at = before;
  }
  const Summary& value = *tape_.value(node);
  if (at != node || tape_[node].op == "leaf")
    say_of(node, words(node) + " is " + kind_of(value) + " in " + share_of(value) + ".");
  if (!visit(at, Side::value)) return;
  if (tape_[at].op == "leaf") {
    if (at != node) say_of(at, "It comes from " + words(at) + ", whose values are not finite.");
    return diverged(parameter_name(at));
  }
  not_finite_op(at);
}

void WhyWriter::not_finite_op(int node) {
  const NodeInfo& at = tape_[node];
  const Summary& value = *tape_.value(node);
  say_of(node, words(node) + " makes the first " + kind_of(value) + ", in " + share_of(value) + ".");
  const int first_at = tape_.input(node, 0), second_at = tape_.input(node, 1);
  const Summary* const first = first_at < 0 ? nullptr : tape_.value(first_at);
  const Summary* const second = second_at < 0 ? nullptr : tape_.value(second_at);
  if (const std::string cause = cause_in_value(at, first, second, value); !cause.empty()) say_of(node, cause);
  bool all_known = true;
  for (size_t i = 0; i < at.inputs.size(); ++i) {
    const OperandInfo& operand = at.inputs[i];
    if (operand.dtype.empty()) continue;
    const int made_by = tape_.input(node, i);
    const Summary* const read = made_by < 0 ? nullptr : tape_.value(made_by);
    const std::string name = "Its operand '" + operand.name + "'";
    if (read)
      say_of(made_by, name + " goes " + why_range(*read) + ", with " + std::to_string(read->zeros) +
                          " zeros: " + words(made_by) + ".");
    all_known &= read != nullptr;
  }
  if (!all_known)
    say_of(node, "Operands that need no gradient are not recorded: select it and look at them.");
  // A large operand is a consequence of large weights.
  for (size_t i = 0; i < at.inputs.size(); ++i)
    if (const int leaf = tape_.input(node, i); leaf >= 0 && tape_[leaf].op == "leaf")
      if (const Summary* const weight = tape_.value(leaf); weight && weight->largest() > 1e6)
        return diverged(parameter_name(leaf));
}

void WhyWriter::not_finite_gradient(int node) {
  // Goes towards the loss to a node whose readers have finite gradients.
  int at = node;
  for (size_t guard = 0; guard < tape_.nodes().size(); ++guard) {
    int after = -1;
    for (const int reader : tape_.readers(at))
      if (any_not_finite(tape_.gradient(reader))) after = after < 0 ? reader : after;
    if (after < 0) break;
    at = after;
  }
  const Summary& gradient = *tape_.gradient(node);
  say_of(node,
         "The gradient of " + words(node) + " is " + kind_of(gradient) + " in " + share_of(gradient) + ".");
  if (!visit(at, Side::gradient)) return;
  if (at != node) say_of(at, "It comes from " + words(at) + ", whose gradient is not finite either.");
  for (const int reader : tape_.readers(at)) {
    if (any_not_finite(tape_.value(reader))) return not_finite_value(reader);
    if (!tape_.gradient(reader)) continue;
    const Summary* const read = tape_.value(at);
    const std::string cause = cause_in_gradient(tape_[reader].op, read);
    std::string sentence = words(reader) + " gets a finite gradient and passes on " + kind_of(gradient) + ".";
    if (!cause.empty()) sentence += " " + cause;
    say_of(reader, sentence);
    if (read)
      say_of(at,
             "What it reads goes " + why_range(*read) + ", with " + std::to_string(read->zeros) + " zeros.");
    else
      say_of(reader, "The values that it reads are not recorded: select it and look at them.");
    return;
  }
  if (any_not_finite(tape_.value(at))) return not_finite_value(at);
  say_of(at, "The backward pass began with it: look at the gradient given to backward() and at hooks.");
}

// Weights that are not finite, or were on the way to it.
void WhyWriter::diverged(const std::string& parameter) {
  const StepStatistics *bad = nullptr, *good = nullptr;
  size_t good_at = 0;
  for (size_t i = facts_.steps.size(); i-- > 0;) {
    const ParameterStatistics* const p = parameter_at(*facts_.steps[i], parameter);
    if (!p) continue;
    const bool finite = p->weight.finite() && (!p->has_gradient || p->gradient.finite());
    if (finite) {
      good = facts_.steps[i].get();
      good_at = i;
      break;
    }
    bad = facts_.steps[i].get();
  }
  if (bad) {
    const ParameterStatistics& p = *parameter_at(*bad, parameter);
    const char* const part = p.has_gradient && !p.gradient.finite() ? "gradient" : "weights";
    say_at(p.updated_at, bad->step,
           std::string("The ") + part + " of " + parameter + " are not finite since step " +
               std::to_string(bad->step) +
               (good && bad->step - good->step > 1
                    ? ", or a step after " + std::to_string(good->step) + " that is not recorded."
                    : "."));
    if (good) changes_between(good->step, bad->step);
  }
  if (!good)
    return say("No measured step before it has finite values: the data or the first values have it.");
  const ParameterStatistics& last = *parameter_at(*good, parameter);
  const StepStatistics& early = *facts_.steps[good_at > kLookBack ? good_at - kLookBack : 0];
  const ParameterStatistics* const then = parameter_at(early, parameter);
  if (then && then->weight.finite() && then->weight.norm > 0 && early.step < good->step &&
      last.weight.norm > kGrew * then->weight.norm) {
    say_at({}, early.step,
           "Before that it grew: its norm was " + why_figure(then->weight.norm) + " in step " +
               std::to_string(early.step) + " and " + why_figure(last.weight.norm) + " in step " +
               std::to_string(good->step) + ". The training diverged.");
    return update_at(last, good->step);
  }
  say_at({}, good->step,
         "In step " + std::to_string(good->step) + " its norm was " + why_figure(last.weight.norm) +
             ", and it had not grown: a single step made it not finite.");
}

}  // namespace lunagrad
