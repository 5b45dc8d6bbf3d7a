#include "runtime/row_fold.h"

#include <algorithm>

namespace lunagrad {
namespace {

struct Known {
  const Op* op;
  RowFold::Kind kind;
  int dims_at;  // the parameter with the dims
};

const Known* find_known(const Op& op) {
  using Kind = RowFold::Kind;
  static const Known all[] = {
      {find_op("sum"), Kind::sum, 0},           {find_op("mean"), Kind::sum, 0},
      {find_op("prod"), Kind::product, 0},      {find_op("amax"), Kind::largest, 0},
      {find_op("amin"), Kind::smallest, 0},     {find_op("var"), Kind::moments, 0},
      {find_op("std"), Kind::moments, 0},       {find_op("_norm"), Kind::squares, 1},
      {find_op("softmax"), Kind::map, 0},       {find_op("log_softmax"), Kind::map, 0},
      {find_op("_softmax_grad"), Kind::map, 0}, {find_op("_log_softmax_grad"), Kind::map, 0},
  };
  for (const Known& known : all)
    if (known.op == &op) return &known;
  return nullptr;
}

uint32_t mask_of(const Call& call, int at) {
  const Value& dims = call.params[size_t(at)];
  const Shape& shape = call.input(0).shape();
  if (dims.kind == Value::Kind::integer) return dim_mask(call.op->name, std::span(&dims.i, 1), shape);
  return dim_mask(call.op->name, dims.list, shape);
}

// Parameters of var and std, as in ops/reduce.cpp.
double degrees_of_freedom(const Call& call, int64_t count) {
  constexpr int kUnbiasedAt = 1, kCorrectionAt = 3;
  const Value& unbiased = call.params[kUnbiasedAt];
  const int64_t correction = unbiased.present() ? int64_t(unbiased.b) : call.integer(kCorrectionAt);
  return std::max(0.0, double(count) - double(correction));
}

}  // namespace

RowFold row_fold(const Call& call) {
  RowFold fold;
  if (call.op->family != OpFamily::reduction && call.op->family != OpFamily::normalization) return fold;
  const Known* const known = find_known(*call.op);
  if (!known) return fold;
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype()) || x.numel() == 0) return fold;
  for (const Tensor& operand : call.in)
    if (operand.is_number() || !operand.is_contiguous() || !(operand.shape() == x.shape()) ||
        operand.dtype() != x.dtype())
      return fold;
  const uint32_t mask = mask_of(call, known->dims_at);
  fold.rows = fold.columns = 1;
  bool inner = true;  // no kept dim of more than one element lies inside
  for (int d = x.ndim() - 1; d >= 0; --d) {
    const int64_t size = x.shape()[d];
    if (size == 1) continue;
    const bool folded = mask >> d & 1;
    if (folded && !inner) return {};
    inner = inner && folded;
    (folded ? fold.columns : fold.rows) *= size;
  }
  fold.kind = known->kind;
  if (fold.kind == RowFold::Kind::moments) {
    fold.divisor = degrees_of_freedom(call, fold.columns);
    fold.root = call.op->name[0] == 's';
  } else if (fold.kind == RowFold::Kind::squares) {
    const double p = call.real(0);
    if (p != 1 && p != 2) return {};
    fold.root = p == 2;
    if (p == 1) fold.kind = RowFold::Kind::magnitudes;
  } else if (call.op->name[0] == 'm') {
    fold.divisor = double(fold.columns);
  }
  return fold;
}

RowGroup::RowGroup(const CallGroup& group) {
  members.resize(group.members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const Call& call = *group.members[i].call;
    const RowFold& fold = members[i].fold = row_fold(call);
    if (fold) columns = fold.columns, divided = fold.divided();
    count = std::max(count, fold ? fold.rows * fold.columns : call.output().numel());
  }
  for (size_t i = 0; i < members.size(); ++i) {
    Member& member = members[i];
    member.row = columns && group.members[i].call->output().numel() * columns == count;
    for (const int from : group.members[i].from)
      if (from >= 0) {
        const Member& read = members[size_t(from)];
        const bool follows = read.fold.maps() || (read.row && !member.row);
        member.stage = std::max(member.stage, read.stage + follows);
      }
    for (const int from : group.members[i].from)
      if (from >= 0)
        members[size_t(from)].outlasts |= member.fold || members[size_t(from)].stage != member.stage;
    stages = std::max(stages, member.stage + 1);
  }
}

}  // namespace lunagrad
