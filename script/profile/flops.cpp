// Floating point operations by formula: a product and a sum are two. Of the gradients the kernels that do the
// same work.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "runtime/op.h"
#include "script/profile/watch.h"

namespace lunagrad {
namespace {

double elements(const Tensor& x) { return double(x.numel()); }

double product(const Call& call) {
  const Tensor& left = call.in[0];
  return left.ndim() == 0 ? 0 : 2 * elements(call.out[0]) * double(left.size(-1));
}

double added_product(const Call& call) { return 2 * elements(call.in[0]) * double(call.in[1].size(-1)); }

double convolution(const Call& call) {
  const Tensor& weight = call.in[1];
  return 2 * elements(call.out[0]) * elements(weight) / std::max(1.0, double(weight.size(0)));
}

double to_input(const Call& call) {
  const Tensor& weight = call.in[1];
  return 2 * elements(call.in[0]) * elements(weight) / std::max(1.0, double(weight.size(0)));
}

double to_weight(const Call& call) {
  const Tensor& weight = call.out[0];
  return 2 * elements(call.in[1]) * elements(weight) / std::max(1.0, double(weight.size(0)));
}

double attention(const Call& call) { return 4 * elements(call.in[0]) * double(call.in[1].size(-2)); }
double attention_gradient(const Call& call) { return 2.5 * attention(call); }

double of_results(const Call& call) { return elements(call.out[0]); }
double of_operand(const Call& call) { return elements(call.in[0]); }

constexpr FlopRule kElementwise{of_results, "1 for each element of the result"};
constexpr FlopRule kReduction{of_operand, "1 for each element of the operand"};

struct Named {
  std::string_view op;
  FlopRule rule;
};

constexpr Named kRules[] = {
    {"matmul", {product, "2 x elements of the result x length of the inner dim"}},
    {"linear", {product, "2 x elements of the result x input features"}},
    {"_add_product", {added_product, "2 x elements of the sum x length of the inner dim"}},
    {"conv1d", {convolution, "2 x elements of the result x elements of one filter"}},
    {"conv2d", {convolution, "2 x elements of the result x elements of one filter"}},
    {"conv3d", {convolution, "2 x elements of the result x elements of one filter"}},
    {"_conv1d_grad_input",
     {to_input, "as the convolution: 2 x elements of its result x elements of one filter"}},
    {"_conv2d_grad_input",
     {to_input, "as the convolution: 2 x elements of its result x elements of one filter"}},
    {"_conv3d_grad_input",
     {to_input, "as the convolution: 2 x elements of its result x elements of one filter"}},
    {"_conv1d_grad_weight",
     {to_weight, "as the convolution: 2 x elements of its result x elements of one filter"}},
    {"_conv2d_grad_weight",
     {to_weight, "as the convolution: 2 x elements of its result x elements of one filter"}},
    {"_conv3d_grad_weight",
     {to_weight, "as the convolution: 2 x elements of its result x elements of one filter"}},
    {"_attention", {attention, "4 x elements of the query x length of the keys, masked or not"}},
    {"_attention_grad",
     {attention_gradient, "10 x elements of the query x length of the keys, masked or not"}},
    {"sum", kReduction},
    {"mean", kReduction},
    {"amax", kReduction},
    {"amin", kReduction},
};

}  // namespace

const FlopRule* flop_rule(const Op& op) {
  if (op.elementwise >= 0) return &kElementwise;
  static const std::unordered_map<const Op*, const FlopRule*> rules = [] {
    std::unordered_map<const Op*, const FlopRule*> found;
    for (const Named& named : kRules)
      if (const Op* const its = find_op(named.op)) found.emplace(its, &named.rule);
    return found;
  }();
  const auto found = rules.find(&op);
  return found == rules.end() ? nullptr : found->second;
}

}  // namespace lunagrad
