#pragma once
// The name of an op for people. An op that begins with an underscore is internal: a kernel of a public op, a
// form of it for other arguments, or its gradient. Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// The public op that a script calls: "cross_entropy" for _cross_entropy, "scaled_dot_product_attention" for
// _attention, "gradient of softmax" for _softmax_grad. Other names are returned unchanged.
std::string public_op_name(std::string_view op);

}  // namespace lunagrad
