#include "ui/tape/op_family.h"

#include <algorithm>
#include <array>

#include "runtime/op.h"

namespace lunagrad {
namespace {

template <size_t N>
bool one_of(std::string_view op, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

}  // namespace

OpFamily op_family(std::string_view op) {
  constexpr std::array<std::string_view, 9> linear_algebra = {"matmul", "mm",    "bmm",     "mv",   "dot",
                                                              "linear", "addmm", "baddbmm", "outer"};
  constexpr std::array<std::string_view, 14> reductions = {"sum", "mean", "prod",   "var",      "std",
                                                           "max", "min",  "amax",   "amin",     "norm",
                                                           "all", "any",  "cumsum", "logsumexp"};
  constexpr std::array<std::string_view, 7> normalizations = {
      "layer_norm", "batch_norm", "group_norm", "rms_norm", "softmax", "softmin", "log_softmax"};
  constexpr std::array<std::string_view, 25> views = {
      "reshape",    "view",       "flatten", "squeeze",   "unsqueeze", "transpose",    "t",
      "permute",    "expand",     "narrow",  "select",    "slice",     "cat",          "stack",
      "cast",       "clone",      "pad",     "embedding", "gather",    "index_select", "diagonal",
      "contiguous", "as_strided", "copy",    "to"};
  while (op.starts_with('_')) op.remove_prefix(1);
  if (op == "leaf") return OpFamily::leaf;
  if (one_of(op, linear_algebra) || op.starts_with("conv")) return OpFamily::linear_algebra;
  if (op.find("_loss") != op.npos || op.starts_with("cross_entropy") ||
      op.starts_with("binary_cross_entropy"))
    return OpFamily::loss;
  if (one_of(op, reductions) || op.find("pool") != op.npos) return OpFamily::reduction;
  if (one_of(op, normalizations)) return OpFamily::normalization;
  if (one_of(op, views)) return OpFamily::view;
  const Op* record = find_op(op);
  if (record && record->elementwise >= 0) return OpFamily::elementwise;
  return OpFamily::other;
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
      break;
  }
  return "other ops";
}

const char* op_doc(std::string_view op) {
  const Op* record = find_op(op);
  return record && record->doc ? record->doc : "";
}

}  // namespace lunagrad
