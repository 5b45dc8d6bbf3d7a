#include "ui/tape/op_family.h"

#include "runtime/core/op_name.h"

namespace lunagrad {

OpFamily op_family(std::string_view op) {
  if (op == "leaf") return OpFamily::leaf;
  const Op* const record = find_op(op);
  return record && record->family != OpFamily::unset ? record->family : OpFamily::other;
}

const char* op_family_name(OpFamily family) {
  switch (family) {
    case OpFamily::view:
      return "views and indexing";
    case OpFamily::linear_algebra:
      return "linear algebra";
    case OpFamily::elementwise:
      return "elementwise";
    case OpFamily::reduction:
      return "reductions and pooling";
    case OpFamily::normalization:
      return "normalization";
    case OpFamily::leaf:
      return "parameters and inputs";
    case OpFamily::loss:
      return "losses";
    case OpFamily::other:
    case OpFamily::unset:
      break;
  }
  return "other ops";
}

std::string differentiates(const NodeInfo& node) {
  return node.gradient_op.empty() ? "" : "gradient of " + public_op_name(node.gradient_op) + " at ";
}

const char* op_doc(std::string_view op) {
  const Op* record = find_op(op);
  return record && record->doc ? record->doc : "";
}

}  // namespace lunagrad
