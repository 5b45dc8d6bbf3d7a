// Grouped-query attention (Ainslie and others, EMNLP 2023): each head of key and value serves several heads
// of the query. The form of scaled_dot_product_attention with enable_gqa.
#include "runtime/ops/nn/grouped_attention.h"

#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr int kEnableGqa = 4;

// Heads are the third last dim.
Tensor repeated(const Tensor& x, const char* name, int64_t heads) {
  const int64_t own = x.size(-3);
  if (own < 1 || heads % own != 0)
    fail("scaled_dot_product_attention: with enable_gqa the ", heads,
         " heads of query must be a multiple of the ", own, " of ", name);
  return own == heads ? x : repeat_interleave(x, heads / own, x.ndim() - 3);
}

Operands compose(const Call& call) {
  static const Op& op = *find_op("scaled_dot_product_attention");
  Operands in = call.in;
  if (call.flag(kEnableGqa)) {
    for (size_t i = 0; i < 3; ++i)
      if (in[i].ndim() < 3)
        fail("scaled_dot_product_attention: enable_gqa needs [.., heads, length, features] (got shape ",
             in[i].shape(), ")");
    in[1] = repeated(in[1], "key", in[0].size(-3));
    in[2] = repeated(in[2], "value", in[0].size(-3));
  }
  Values params;
  for (size_t i = 0; i < call.params.size(); ++i)
    if (i != kEnableGqa) params.push_back(call.params[i]);
  return apply(op, in, params);
}

const Op kGrouped{
    .name = "_grouped_attention",
    .doc =
        "softmax(query key^T scale + attn_mask) value over the last two dims; a query whose keys are "
        "all masked gives 0. With enable_gqa each head of key and value serves several of query.",
    .inputs = {{"query"}, {"key"}, {"value"}, {"attn_mask", true}},
    .params = {{"dropout_p", ParamKind::real, 0.0},
               {"is_causal", ParamKind::boolean, false},
               {.name = "scale", .kind = ParamKind::real, .optional = true},
               {.name = "softcap", .kind = ParamKind::real, .optional = true},
               {"enable_gqa", ParamKind::boolean, false}},
    .compose = compose,
    .family = OpFamily::linear_algebra,
    .order = {"query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa",
              "softcap"},
    .short_form = "scaled_dot_product_attention"};

}  // namespace

const Op& grouped_attention_op() { return kGrouped; }

}  // namespace lunagrad
