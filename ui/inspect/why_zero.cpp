// Why a gradient is 0, and why values are 0: follows the zeros to the op that stops the gradient, then to
// what makes that op stop it.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/core/op.h"
#include "ui/inspect/why_writer.h"

namespace lunagrad {
namespace {

bool in_family(const NodeInfo& node, OpFamily family) {
  const Op* const op = find_op(node.op);
  return op && op->family == family;
}

bool is_rectifier(const NodeInfo& node) {
  return op_among(node.op, {"relu", "relu6"}) || activation_of(node) == "relu";
}

bool saturates(std::string_view op) {
  return op_among(op, {"sigmoid", "tanh", "softmax", "log_softmax", "softmin", "erf", "softsign",
                       "log_sigmoid", "hardsigmoid", "gelu", "silu"});
}

bool limits(std::string_view op) {
  return op_among(op, {"clamp", "clip", "hardtanh", "relu6", "hardsigmoid", "clamp_min", "clamp_max"});
}

bool rounds(std::string_view op) {
  return op_among(op, {"floor", "ceil", "round", "trunc", "sign", "heaviside", "floor_divide"});
}

bool selects(std::string_view op) {
  return op_among(op, {"max", "min", "amax", "amin", "max_pool1d", "max_pool2d", "max_pool3d", "median",
                       "kthvalue", "topk", "sort", "maximum", "minimum", "cummax", "cummin"});
}

bool picks(std::string_view op) {
  return op_among(op, {"index", "gather", "index_select", "select", "slice", "narrow", "take", "embedding",
                       "masked_select", "diagonal", "tril", "triu", "unbind", "split", "chunk"});
}

bool hides(std::string_view op) {
  return op_among(op, {"where", "masked_fill", "dropout", "scatter", "index_put", "masked_scatter"});
}

// Ops whose result is a product, so that a zero operand stops the gradient of the others.
bool multiplies(const NodeInfo& node) {
  return op_among(node.op, {"mul", "affine", "addcmul", "dot", "outer"}) ||
         in_family(node, OpFamily::linear_algebra);
}

// The size of the dim of a softmax; -1: not known.
int64_t softmax_size(const NodeInfo& node) {
  if (node.outputs.empty()) return -1;
  const std::vector<int64_t>& shape = node.outputs[0].shape;
  const std::string printed = attribute(node, "dim");
  const int64_t dim = std::strtoll(printed.c_str(), nullptr, 10), rank = int64_t(shape.size());
  const int64_t at = dim < 0 ? rank + dim : dim - 1;
  return dim != 0 && at >= 0 && at < rank ? shape[size_t(at)] : -1;
}

}  // namespace

void WhyWriter::zero_gradient(int node) {
  if (!tape_.gradient(node)) return unreached_node(node);
  if (!visit(node, Side::gradient)) return;
  const Summary& own = *tape_.gradient(node);
  if (!all_zero(&own))
    return say_of(node, "In the shown step the gradient of " + words(node) + " is not 0: its norm is " +
                            why_figure(own.norm) + ". Show a step in which it is 0, and ask again.");
  const std::string all = own.count == 1 ? "" : " in all of its " + std::to_string(own.count) + " elements";
  say_of(node, "The gradient of " + words(node) + " is 0" + all + ".");
  // Goes to the reader next to the loss whose gradient is 0: what reads it stops the gradient.
  int at = node;
  for (size_t guard = 0; guard < tape_.nodes().size(); ++guard) {
    int zero = -1, stops = -1, others = 0, unreached = -1;
    for (const int reader : tape_.readers(at)) {
      const Summary* const gradient = tape_.gradient(reader);
      if (!gradient) {
        unreached = reader;
      } else if (all_zero(gradient)) {
        zero = reader;
      } else {
        others += stops >= 0;
        if (stops < 0) stops = reader;
      }
    }
    if (stops < 0 && zero >= 0) {
      at = zero;
      continue;
    }
    if (at != node && visit(at, Side::gradient))
      say_of(at, "It comes from " + words(at) + ", whose gradient is 0, too.");
    if (stops >= 0) {
      stop_of_gradient(stops, at);
      if (others > 0)
        say("Each of its " + std::to_string(others + 1) + " readers passes on nothing; this is the first.");
      return;
    }
    if (unreached >= 0) return unreached_node(at);
    return say_of(at, tape_.is_root(at)
                          ? "It is the root of the backward pass, which began with a gradient of 0."
                          : "Nothing on the tape reads it, so the loss does not depend on it.");
  }
}

// `reader` gets a gradient and passes none on to `node`, which it reads.
void WhyWriter::stop_of_gradient(int reader, int node) {
  const NodeInfo& at = tape_[reader];
  const Summary *value = tape_.value(reader), *input = tape_.value(node);
  if (is_rectifier(at) && value && value->zeros > 0) return dead_rectifier(reader);
  if (!visit(reader, Side::gradient)) return;
  if (rounds(at.op))
    return say_of(reader, words(reader) + " stops it: the derivative of " + at.op +
                              " is 0 everywhere, since it gives steps. Round only what needs no gradient, or "
                              "add the difference as a constant: x + (x:round() - x):detach().");
  if (stop_by_activation(reader, node)) return;
  if (in_family(at, OpFamily::loss) || tape_.is_root(reader)) {
    const auto target = tape_[node].outputs.empty() ? std::vector<int64_t>() : tape_[node].outputs[0].shape;
    if (op_among(at.op, {"cross_entropy", "nll_loss"}) && target.size() == 2 && target[1] == 1)
      return say_of(reader, words(reader) +
                                " has a single class, so its loss is always 0. With one output, use "
                                "binary_cross_entropy_with_logits.");
    if (value && value->largest() < 1e-12)
      return say_of(reader,
                    words(reader) + " is 0: there is nothing left to learn, or every target is ignored.");
    if (in_family(at, OpFamily::loss))
      return say_of(reader, words(reader) + " passes on nothing, while its value is " +
                                (value ? why_figure(value->mean) : "not known") +
                                ". Targets are not on the tape: the Data panel shows them.");
  }
  if (stop_by_product(reader, node)) return;
  if (hides(at.op)) {
    if (const std::string p = attribute(at, "p"); !p.empty())
      return say_of(reader, words(reader) + " drops every element: its p is " + p + ".");
    return say_of(reader, words(reader) +
                              " hides every element of it. Its mask needs no gradient, so its values "
                              "are not recorded: select the node and look at the operand.");
  }
  if (selects(at.op))
    return say_of(reader, words(reader) +
                              " passes the gradient to the elements that it chooses, and chooses none "
                              "of these.");
  if (picks(at.op)) return say_of(reader, words(reader) + " reads other elements, and none of these.");
  if (in_family(at, OpFamily::normalization))
    return say_of(reader,
                  words(reader) + " removes what is common to its elements: " +
                      (all_zero(value) ? "each group that it normalizes has a single element, or equal "
                                         "elements, and gives 0."
                                       : "a shift of all of them changes nothing after it."));
  std::string sentence = words(reader) + " gets a gradient and passes on 0. Why is not recorded";
  if (input) sentence += "; what it reads goes " + why_range(*input);
  say_of(reader, sentence + ". Check gradient in the Inspector compares it with differences.");
}

bool WhyWriter::stop_by_activation(int reader, int node) {
  const NodeInfo& at = tape_[reader];
  const std::string fused = activation_of(at), op = fused.empty() ? at.op : fused;
  const Summary *value = tape_.value(reader), *input = fused.empty() ? tape_.value(node) : nullptr;
  const std::string results = value ? ": its results go " + why_range(*value) : "";
  const std::string reads = input ? " Its input goes " + why_range(*input) + "." : "";
  if (limits(op)) {
    say_of(reader,
           words(reader) + " cuts every element off" + results + ", where its derivative is 0." + reads);
    return true;
  }
  if (!saturates(op)) return false;
  if (op_among(op, {"softmax", "log_softmax"}) && fused.empty() && softmax_size(at) == 1) {
    say_of(reader, words(reader) + " is taken over a dim of size 1, so its result is always " +
                       (op_among(op, {"softmax"}) ? "1." : "0.") + " Another dim is meant, or a sigmoid.");
    return true;
  }
  say_of(reader, words(reader) + " is saturated" + results + ", where its derivative is 0." + reads);
  if (fused.empty()) negative_affine(node, nullptr);
  return true;
}

bool WhyWriter::stop_by_product(int reader, int node) {
  const NodeInfo& at = tape_[reader];
  if (!multiplies(at)) return false;
  const uint64_t id = tape_[node].id;
  // A bias is added: the other operands do not stop its gradient.
  if (const int bias = operand(reader, "bias"); bias >= 0 && at.inputs[size_t(bias)].node == id) {
    say_of(reader, words(reader) + " gives its bias the sum of its gradient over the batch, which is 0.");
    return true;
  }
  std::string unknown;
  for (size_t i = 0; i < at.inputs.size(); ++i) {
    const OperandInfo& other = at.inputs[i];
    if (other.node == id || other.dtype.empty() || role_of(at, i) == "bias") continue;
    const int made_by = tape_.input(reader, i);
    const std::string name = other.name.empty() ? "its other operand" : "its operand '" + other.name + "'";
    if (made_by >= 0 && all_zero(tape_.value(made_by))) {
      say_of(reader, words(reader) + " multiplies by " + name + ", " + words(made_by) + ", which is 0.");
      zero_value(made_by);
      return true;
    }
    if (made_by < 0 || !tape_.value(made_by)) unknown = name;
  }
  if (unknown.empty()) return false;
  say_of(reader, words(reader) + " multiplies by " + unknown +
                     ", which needs no gradient, so its values are not recorded. It is 0 wherever a gradient "
                     "arrives, as a mask can be: select the node and look at the operand.");
  return true;
}

// Why the result of this node is 0 in each element.
void WhyWriter::zero_value(int node) {
  const NodeInfo& at = tape_[node];
  if (at.op == "leaf") {
    if (!visit(node, Side::value)) return;
    const std::string name = parameter_name(node);
    say_of(node, name + " is 0 in each element.");
    return since(name, [](const ParameterStatistics& p) { return p.weight.zeros == p.weight.count; });
  }
  if (is_rectifier(at)) return dead_rectifier(node);
  if (!visit(node, Side::value)) return;
  for (size_t i = 0; i < at.inputs.size(); ++i) {
    const int made_by = tape_.input(node, i);
    if (made_by < 0 || role_of(at, i) == "bias" || !all_zero(tape_.value(made_by))) continue;
    say_of(node, words(node) + " is 0, as it reads " + words(made_by) + ", which is 0.");
    return zero_value(made_by);
  }
  say_of(node, words(node) + " gives only zeros; what it reads is not 0, or not recorded.");
}

void WhyWriter::dead_rectifier(int node) {
  if (!visit(node, Side::value)) return;
  const Summary* const value = tape_.value(node);
  const NodeInfo& at = tape_[node];
  if (!value) {
    say_of(node, words(node) + " gives zeros; its values in the shown step are not known.");
  } else {
    const double share = value->count > 0 ? 100 * double(value->zeros) / double(value->count) : 0;
    say_of(node,
           all_zero(value)
               ? words(node) + " gives only zeros, where its derivative is 0, so nothing before it learns."
               : words(node) + " gives " + why_figure(share) + " % zeros, which pass no gradient on.");
  }
  if (!activation_of(at).empty()) return negative_affine(node, nullptr);
  const int reads = at.inputs.empty() ? -1 : tape_.input(node, 0);
  if (reads < 0) return say("What it reads is not on the tape: it needs no gradient.");
  negative_value(reads, "Its input");
}

// Why a node gives nothing above 0. `what` begins the sentence about its values.
void WhyWriter::negative_value(int node, const std::string& what) {
  if (tape_[node].op != "leaf" && !visit(node, Side::value)) return;
  const Summary* const value = tape_.value(node);
  if (value)
    say_of(node, what + " goes " + why_range(*value) + ": " + words(node) + ".");
  else
    say_of(node, what + " is " + words(node) + ", whose values are not known.");
  if (tape_[node].op == "leaf") {
    const std::string name = parameter_name(node);
    return since(name, [](const ParameterStatistics& p) { return p.weight.max <= 0; });
  }
  negative_affine(node, value);
}

// Names the operand that moves the result of a layer. `value`: its result without an activation, or null.
void WhyWriter::negative_affine(int node, const Summary* value) {
  const NodeInfo& at = tape_[node];
  if (at.op == "leaf") return;
  for (size_t i = 0; i < at.inputs.size(); ++i)
    if (const int made_by = tape_.input(node, i);
        made_by >= 0 && role_of(at, i) == "input" && all_zero(tape_.value(made_by)))
      return zero_value(made_by);
  const int bias_at = operand(node, "bias");
  const int bias = bias_at < 0 ? -1 : tape_.input(node, size_t(bias_at));
  const Summary* const shift = bias < 0 ? nullptr : tape_.value(bias);
  // The mean of the result is the bias's where the weights add nothing on the average.
  const bool shifts =
      shift && shift->mean != 0 &&
      (value ? shift->mean * value->mean > 0 && std::abs(shift->mean) > 0.5 * std::abs(value->mean)
             : std::abs(shift->mean) > 3);
  if (shifts) {
    const std::string name = parameter_name(bias);
    const double half = shift->mean / 2;
    say_of(bias, name + " is about " + why_figure(shift->mean) + " (" + why_range(*shift) + ").");
    return since(name, [half](const ParameterStatistics& p) {
      return half < 0 ? p.weight.mean < half : p.weight.mean > half;
    });
  }
  const int weight_at = operand(node, "weight");
  const int weight = weight_at < 0 ? -1 : tape_.input(node, size_t(weight_at));
  const Summary* const factor = weight < 0 ? nullptr : tape_.value(weight);
  if (!factor) {
    if (!at.inputs.empty())
      say_of(node, "Which of its operands makes it so is not recorded: select it and look at them.");
    return;
  }
  const std::string name = parameter_name(weight);
  std::string sentence = name + " goes " + why_range(*factor) + ", and the bias ";
  sentence += shift ? "goes " + why_range(*shift) : bias_at < 0 ? "does not exist" : "is not known";
  say_of(weight, sentence + ". The figures do not tell which of the weights and inputs makes it so.");
  const double half = factor->norm / 2;
  // Weights that have doubled since they were measured first tell when it happened.
  since(name, [half](const ParameterStatistics& p) { return p.weight.norm > half; });
}

}  // namespace lunagrad
