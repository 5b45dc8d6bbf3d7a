#include "runtime/deferral/groups.h"

#include <algorithm>

#include "runtime/row_fold.h"

namespace lunagrad {
namespace {

constexpr int kMostOpen = 16;        // groups that wait for further members
constexpr size_t kMostMembers = 32;  // of a group
constexpr size_t kMostOperands = 24;

template <class F>
void for_reads(const Call& call, F&& f) {
  for (const Tensor& x : call.in)
    if (in_memory(x)) f(x.storage().place);
}
// Memory that the call writes: that of its results, or all operands if the op writes its inputs.
template <class F>
void for_writes(const Call& call, F&& f) {
  for (const Tensor& y : call.out) f(y.storage().place);
  if (call.op->writes_inputs) for_reads(call, f);
}

// Whether operand x, expanded to `shape`, gives all elements of a row of `columns` elements the row's element
// of the result y.
bool repeats_along_rows(const Tensor& x, const Tensor& y, const Shape& shape, int64_t columns) {
  if (x.storage_ref() != y.storage_ref() || x.offset() != y.offset() || x.dtype() != y.dtype()) return false;
  int64_t within = 1, rows = 1;  // elements in the dims that were seen
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    const int own = d - shape.size() + x.ndim();
    const int64_t stride = own >= 0 && x.shape()[own] != 1 ? x.strides()[own] : 0;
    if (stride != (within < columns ? 0 : rows)) return false;
    (within < columns ? within : rows) *= shape[d];
  }
  return within == columns && rows == y.numel();
}

// The elements that a group computes: those of `shape`, in rows if it has folds.
struct Space {
  Shape shape;
  int64_t count = 0;
  int64_t columns = 0;  // of a row; 0: there are no folds yet
  bool is_row(const Tensor& y) const { return columns && y.numel() * columns == count; }
};

// Whether operand x is the result y of a member, as the member `of` reads it in this space.
bool reads_result(const Tensor& x, const Tensor& y, const Call& of, const Space& space) {
  const Tensor& result = of.output();
  if (y.numel() == std::max(result.numel(), x.numel())) return same_elements_in_order(x, y);
  return space.is_row(y) && result.numel() == space.count &&
         repeats_along_rows(x, y, result.shape(), space.columns);
}

class Planner {
 public:
  Planner(std::span<const QueuedCall> calls, const std::vector<uint8_t>& alive)
      : calls_(calls), alive_(alive), readers_(alive.size()), writers_(alive.size()), uses_(alive.size()) {}

  Plan plan() {
    plan_.why_alone.resize(calls_.size());
    plan_.order.reserve(calls_.size());
    plan_.ends.reserve(calls_.size());
    find_needed();
    for (uint32_t i = 0; i < calls_.size(); ++i)
      if (needed_[i]) place(i);
    for (int group = 0; group < kMostOpen; ++group)
      if (open_[group].in_use) waiting_.push_back(group);
    std::sort(waiting_.begin(), waiting_.end(),
              [&](int a, int b) { return open_[a].calls[0] < open_[b].calls[0]; });
    for (const int group : waiting_) close(group);
    find_stored();
    return std::move(plan_);
  }

 private:
  struct Open {
    Small<uint32_t, 8> calls;
    Space space;
    size_t operands = 0;
    bool in_use = false;
  };

  // A call is needed when something outside reads what it writes, or a needed call does.
  void find_needed() {
    needed_.assign(calls_.size(), 0);
    std::vector<uint8_t> wanted(alive_);
    for (size_t i = calls_.size(); i-- > 0;) {
      const Call& call = calls_[i].call;
      for_writes(call, [&](uint32_t at) { needed_[i] |= wanted[at]; });
      if (!needed_[i]) {
        ++plan_.dropped;
        continue;
      }
      for_reads(call, [&](uint32_t at) { wanted[at] = 1, ++uses_[at]; });
    }
  }

  void emit(Unit unit) {
    plan_.order.insert(plan_.order.end(), unit.begin(), unit.end());
    plan_.ends.push_back(uint32_t(plan_.order.size()));
  }

  // Closes the open groups that `mask` names, the oldest first.
  void close_all(uint32_t mask) {
    while (mask) {
      int oldest = -1;
      for (int group = 0; group < kMostOpen; ++group)
        if (mask >> group & 1 && (oldest < 0 || open_[group].calls[0] < open_[oldest].calls[0]))
          oldest = group;
      close(oldest);
      mask &= ~(1u << oldest);
    }
  }

  void close(int group) {
    Open& its = open_[group];
    for (const uint32_t i : its.calls) {
      for_reads(calls_[i].call, [&](uint32_t at) { readers_[at] &= ~(1u << group); });
      for_writes(calls_[i].call, [&](uint32_t at) { writers_[at] &= ~(1u << group); });
    }
    emit({its.calls.data(), its.calls.size()});
    its.calls.clear();
    its.operands = 0;
    its.in_use = false;
  }

  // The open groups that must be computed before the call.
  uint32_t before(const Call& call) const {
    uint32_t mask = 0;
    for_reads(call, [&](uint32_t at) { mask |= writers_[at]; });
    for_writes(call, [&](uint32_t at) { mask |= writers_[at] | readers_[at]; });
    return mask;
  }

  // The open group that the call may join: the newest that makes an operand of it, if all operands from that
  // group are results in the same order. -1: none, and why not.
  int group_to_join(const Call& call, const RowFold& fold, uint32_t makers, const char*& why) const {
    why = "no group makes an operand of it";
    int best = -1;
    for (int group = 0; group < kMostOpen; ++group) {
      if (!(makers >> group & 1)) continue;
      if (best < 0 || open_[group].calls.back() > open_[best].calls.back()) best = group;
    }
    if (best < 0) return -1;
    const Open& group = open_[best];
    why = "its operand is on another device";
    if (&calls_[group.calls[0]].call.output().device() != &call.output().device()) return -1;
    if ((why = misfit(call, fold, group.space))) return -1;
    why = "the group is full";
    if (group.calls.size() >= kMostMembers || group.operands + call.in.size() > kMostOperands) return -1;
    why = "it reads its operand in another order";
    Space space = group.space;
    if (fold) space.columns = fold.columns;
    for (const Tensor& x : call.in) {
      if (!in_memory(x) || !(writers_[x.storage().place] >> best & 1)) continue;
      const bool fits = std::any_of(group.calls.begin(), group.calls.end(), [&](uint32_t i) {
        return reads_result(x, calls_[i].call.output(), call, space);
      });
      if (!fits) return -1;
    }
    return best;
  }

  // Why the space is not one of the call. Null: it is.
  static const char* misfit(const Call& call, const RowFold& fold, const Space& space) {
    const Tensor& y = call.output();
    if (fold) {
      if (call.input(0).numel() != space.count) return "it folds a tensor of another shape than its group's";
      if (space.columns && space.columns != fold.columns) return "it folds rows of another length than its group";
      return nullptr;
    }
    const bool fits = y.numel() == space.count ? y.shape() == space.shape : space.is_row(y);
    return fits ? nullptr : "its result has another shape than its operand";
  }

  void place(uint32_t i) {
    const Call& call = calls_[i].call;
    const uint32_t earlier = before(call);
    if (!calls_[i].fuses) {
      close_all(earlier);
      emit({&i, 1});
      return;
    }
    uint32_t makers = 0;
    for_reads(call, [&](uint32_t at) { makers |= writers_[at]; });
    const RowFold fold = row_fold(call);
    int group = group_to_join(call, fold, makers, plan_.why_alone[i]);
    close_all(group < 0 ? earlier : earlier & ~(1u << group));
    if (group < 0) {
      group = free_group();
      const Tensor& whole = fold ? call.input(0) : call.output();
      open_[group].space = {whole.shape(), whole.numel()};
      open_[group].in_use = true;
    }
    Open& its = open_[group];
    if (fold) its.space.columns = fold.columns;
    its.calls.push_back(i);
    its.operands += call.in.size();
    for_reads(call, [&](uint32_t at) { readers_[at] |= 1u << group; });
    for_writes(call, [&](uint32_t at) { writers_[at] |= 1u << group; });
  }

  int free_group() {
    for (int group = 0; group < kMostOpen; ++group)
      if (!open_[group].in_use) return group;
    int oldest = 0;
    for (int group = 1; group < kMostOpen; ++group)
      if (open_[group].calls.back() < open_[oldest].calls.back()) oldest = group;
    close(oldest);
    return oldest;
  }

  // A result gets memory unless all its readers are members of its group.
  void find_stored() {
    plan_.stored.assign(calls_.size(), 1);
    for (size_t u = 0; u < plan_.units(); ++u) {
      const Unit unit = plan_.unit(u);
      if (unit.size() < 2) continue;
      for (const uint32_t i : unit) for_reads(calls_[i].call, [&](uint32_t at) { --uses_[at]; });
      for (const uint32_t i : unit) {
        const Tensor& y = calls_[i].call.output();
        const uint32_t at = y.storage().place;
        if (alive_[at] || uses_[at] != 0) continue;
        plan_.stored[i] = 0;
        plan_.bytes_saved += y.nbytes();
      }
      for (const uint32_t i : unit) for_reads(calls_[i].call, [&](uint32_t at) { ++uses_[at]; });
    }
  }

  std::span<const QueuedCall> calls_;
  const std::vector<uint8_t>& alive_;
  std::vector<uint8_t> needed_;
  std::vector<uint32_t> readers_, writers_;  // of each storage: bits of the open groups that read (write) it
  std::vector<uint32_t> uses_;               // of each storage: how often needed calls read it
  Open open_[kMostOpen];
  std::vector<int> waiting_;
  Plan plan_;
};

}  // namespace

bool same_elements_in_order(const Tensor& x, const Tensor& y) {
  return x.storage_ref() == y.storage_ref() && x.offset() == y.offset() && x.dtype() == y.dtype() &&
         x.numel() == y.numel() && x.is_contiguous();
}

bool writes_in_place(const Call& call) {
  if (call.op->writes_inputs) return true;
  return std::any_of(call.out.begin(), call.out.end(), [&](const Tensor& y) {
    return std::any_of(call.in.begin(), call.in.end(),
                       [&](const Tensor& x) { return x.defined() && x.storage_ref() == y.storage_ref(); });
  });
}

Plan plan_calls(std::span<const QueuedCall> calls, const std::vector<uint8_t>& alive) {
  return Planner(calls, alive).plan();
}

CallGroup group_of(Unit unit, std::span<const QueuedCall> calls, const Plan& plan) {
  CallGroup group;
  Space space;
  for (const uint32_t i : unit) {
    const Call& call = calls[i].call;
    const RowFold fold = row_fold(call);
    if (fold) space.columns = fold.columns;
    space.count = std::max(space.count, fold ? call.input(0).numel() : call.output().numel());
  }
  for (const uint32_t i : unit) {
    CallGroup::Member member{&calls[i].call, {}, plan.stored[i] != 0};
    member.from.fill(-1);
    for (size_t k = 0; k < member.call->in.size(); ++k) {
      const Tensor& x = member.call->in[k];
      if (!in_memory(x)) continue;
      for (size_t m = 0; m < group.members.size(); ++m)
        if (reads_result(x, group.members[m].call->output(), *member.call, space)) member.from[k] = int(m);
    }
    group.members.push_back(member);
  }
  return group;
}

}  // namespace lunagrad
