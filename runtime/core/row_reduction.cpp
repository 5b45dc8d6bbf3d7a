#include "runtime/core/row_reduction.h"

#include <algorithm>

namespace lunagrad {
namespace {

// What a parameter says about the rows to reduce.
enum class Form : uint8_t {
  dims,     // the dims to reduce
  ending,   // the sizes of the last dims, which are reduced
  groups,   // the number of rows that the second dim, with all dims after it, is divided into
  classes,  // nothing: classes lie along the second dim, or the only one
  all       // nothing: all elements are one row
};

struct Known {
  const Op* op;
  RowReduction::Kind kind;
  int param = 0;
  uint32_t whole = 1;  // as in RowReduction
  Form form = Form::dims;
};

const Known* find_known(const Op& op) {
  using Kind = RowReduction::Kind;
  static const Known all[] = {
      {find_op("sum"), Kind::sum},
      {find_op("mean"), Kind::sum},
      {find_op("prod"), Kind::product},
      {find_op("amax"), Kind::largest},
      {find_op("amin"), Kind::smallest},
      {find_op("var"), Kind::moments},
      {find_op("std"), Kind::moments},
      {find_op("_norm"), Kind::squares, 1},
      {find_op("_logsumexp"), Kind::value},
      {find_op("_cumsum"), Kind::map},
      {find_op("softmax"), Kind::map},
      {find_op("log_softmax"), Kind::map},
      {find_op("_softmax_grad"), Kind::map, 0, 3},
      {find_op("_log_softmax_grad"), Kind::map, 0, 3},
      {find_op("layer_norm"), Kind::map, 0, 1, Form::ending},
      {find_op("rms_norm"), Kind::map, 0, 1, Form::ending},
      {find_op("group_norm"), Kind::map, 0, 1, Form::groups},
      {find_op("_layer_norm_grad"), Kind::map, 0, 3, Form::ending},
      {find_op("_rms_norm_grad"), Kind::map, 0, 3, Form::ending},
      {find_op("_group_norm_grad"), Kind::map, 0, 3, Form::groups},
      {find_op("_cross_entropy_grad"), Kind::map, 0, 2, Form::classes},
      {find_op("mse_loss"), Kind::value, 0, 3, Form::all},
      {find_op("_reduced_loss"), Kind::value, 0, 3, Form::all},
  };
  for (const Known& known : all)
    if (known.op == &op) return &known;
  return nullptr;
}

// Finds the rows of x to reduce. Returns false when there are none, or when a kept dim lies inside a reduced
// dim.
bool find_rows(const Call& call, const Known& known, const Tensor& x, RowReduction& reduction) {
  if (known.form == Form::all) {
    reduction.rows = 1;
    reduction.columns = x.numel();
    reduction.in_parts = true;
    return call.output().numel() == 1;  // without a reduction the op has a loss per element
  }
  const Value& param = call.params[size_t(known.param)];
  if (known.form == Form::groups) {
    reduction.rows = x.size(0) * param.i;
    reduction.columns = x.numel() / reduction.rows;
    return true;
  }
  uint32_t mask = 0;
  if (known.form == Form::classes)
    mask = x.ndim() > 1 ? 2 : 1;
  else if (known.form == Form::ending)
    mask = ((1u << param.list.size()) - 1) << (x.ndim() - param.list.size());
  else if (param.kind == Value::Kind::integer)
    mask = dim_mask(call.op->name, std::span(&param.i, 1), x.shape());
  else
    mask = dim_mask(call.op->name, param.list, x.shape());
  reduction.rows = reduction.columns = 1;
  bool inner = true;  // no kept dim of more than one element lies further in
  for (int d = x.ndim() - 1; d >= 0; --d) {
    const int64_t size = x.shape()[d];
    if (size == 1) continue;
    const bool reduced = mask >> d & 1;
    if (reduced && !inner) return false;
    inner = inner && reduced;
    (reduced ? reduction.columns : reduction.rows) *= size;
  }
  return true;
}

// Whether all operands are contiguous tensors, and those with the elements of all rows have x's dtype and
// shape.
bool operands_fit(const Call& call, uint32_t whole, const Tensor& x) {
  for (size_t k = 0; k < call.in.size(); ++k) {
    const Tensor& operand = call.in[k];
    const bool has_rows = whole >> k & 1;
    if (!operand.defined() && !has_rows) continue;
    if (operand.is_number() || !operand.is_contiguous()) return false;
    if (has_rows && (operand.dtype() != x.dtype() || !(operand.shape() == x.shape()))) return false;
  }
  return true;
}

// Reads the parameters of var and std, as ops/reductions/reduce.cpp does.
double degrees_of_freedom(const Call& call, int64_t count) {
  constexpr int kUnbiasedAt = 1, kCorrectionAt = 3;
  const Value& unbiased = call.params[kUnbiasedAt];
  const int64_t correction = unbiased.present() ? int64_t(unbiased.b) : call.integer(kCorrectionAt);
  return std::max(0.0, double(count) - double(correction));
}

}  // namespace

uint32_t operands_with_rows(const Op& op) {
  const Known* const known = find_known(op);
  return known ? known->whole : 0;
}

RowReduction row_reduction(const Call& call) {
  RowReduction reduction;
  const OpFamily family = call.op->family;
  if (family != OpFamily::reduction && family != OpFamily::normalization && family != OpFamily::loss)
    return reduction;
  const Known* const known = find_known(*call.op);
  if (!known) return reduction;
  reduction.whole = known->whole;
  const Tensor& x = whole_operand(call, reduction);
  if (!is_floating(x.dtype()) || x.numel() == 0 || !operands_fit(call, reduction.whole, x)) return reduction;
  if (!find_rows(call, *known, x, reduction)) return {};
  reduction.kind = known->kind;
  if (reduction.kind == RowReduction::Kind::moments) {
    reduction.divisor = degrees_of_freedom(call, reduction.columns);
    reduction.root = call.op->name[0] == 's';
  } else if (reduction.kind == RowReduction::Kind::squares) {
    const double p = call.real(0);
    if (p != 1 && p != 2) return {};
    reduction.root = p == 2;
    if (p == 1) reduction.kind = RowReduction::Kind::magnitudes;
  } else if (reduction.kind == RowReduction::Kind::sum && call.op->name[0] == 'm') {
    reduction.divisor = double(reduction.columns);
  }
  return reduction;
}

RowGroup::RowGroup(const CallGroup& group) {
  members.resize(group.members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const Call& call = *group.members[i].call;
    const RowReduction& reduction = members[i].reduction = row_reduction(call);
    if (reduction) columns = reduction.columns, divided = reduction.divided();
    count = std::max(count, reduction ? reduction.rows * reduction.columns : call.output().numel());
  }
  for (size_t i = 0; i < members.size(); ++i) {
    Member& member = members[i];
    member.row = columns && group.members[i].call->output().numel() * columns == count;
    for (const int from : group.members[i].from)
      if (from >= 0) {
        const Member& read = members[size_t(from)];
        const bool follows = read.reduction.maps() || (read.row && !member.row);
        member.stage = std::max(member.stage, read.stage + follows);
      }
    for (const int from : group.members[i].from)
      if (from >= 0)
        members[size_t(from)].outlasts |= member.reduction || members[size_t(from)].stage != member.stage;
    stages = std::max(stages, member.stage + 1);
  }
}

}  // namespace lunagrad
