#include "runtime/deferral/groups.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/core/row_reduction.h"

namespace lunagrad {
namespace {

using Mask = uint32_t;  // a bit for each open unit
// open units: groups wait for further members, other calls wait with the groups that they need
constexpr int kMostOpen = 32;
constexpr uint32_t kPatience = 8;     // calls until an idle unit is closed: results that wait take memory
constexpr size_t kMostMembers = 40;   // of a group
constexpr size_t kMostOperands = 16;  // operands of a group's members that are in memory

template <class F>
void for_reads(const Call& call, F&& f) {
  for (const Tensor& x : call.in)
    if (in_memory(x)) f(x.storage().place);
}
// Calls f with the memory that the call writes: its results, or all operands if the op writes its inputs.
template <class F>
void for_writes(const Call& call, F&& f) {
  for (const Tensor& y : call.out) f(y.storage().place);
  if (call.op->writes_inputs) for_reads(call, f);
}

// Whether operand x, expanded to `shape`, repeats one element of the result y along each row of `columns`
// elements.
bool repeats_along_rows(const Tensor& x, const Tensor& y, const Shape& shape, int64_t columns) {
  if (x.storage_ref() != y.storage_ref() || x.offset() != y.offset() || x.dtype() != y.dtype()) return false;
  int64_t within = 1, rows = 1;  // elements in the dims seen so far
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    const int own = d - shape.size() + x.ndim();
    const int64_t stride = own >= 0 && x.shape()[own] != 1 ? x.strides()[own] : 0;
    if (stride != (within < columns ? 0 : rows)) return false;
    (within < columns ? within : rows) *= shape[d];
  }
  return within == columns && rows == y.numel();
}

// The index space of a group: the elements of `shape`, in rows if the group has row reductions.
struct Space {
  Shape shape;
  bool any_shape = false;  // members may have other shapes with as many elements in the same order
  int64_t count = 0;
  int64_t columns = 0;  // elements of a row; 0: no row reductions yet
  // Whether y has one element per row. Values of divided rows are complete only when the group ends, so they
  // do not count.
  bool is_row(const Tensor& y) const {
    return columns && columns <= kLongestRow && y.numel() * columns == count;
  }
};

bool has_shape(const Space& space, const Shape& shape) { return space.any_shape || space.shape == shape; }

// The space of two groups joined; count 0: they do not fit. Elements of one may be row values of the other.
Space common_space(const Space& a, const Space& b) {
  if (a.count < b.count) return common_space(b, a);
  if (a.count == b.count) {
    const bool fit = has_shape(a, b.shape) && (!a.columns || !b.columns || a.columns == b.columns);
    return fit ? Space{a.shape, a.any_shape, a.count, std::max(a.columns, b.columns)} : Space{};
  }
  const bool rows = a.columns && a.columns <= kLongestRow && !b.columns && b.count * a.columns == a.count;
  return rows ? a : Space{};
}

// Whether operand x is the result y of a member, in the order in which the member `of` reads it in this
// space.
bool reads_result(const Tensor& x, const Tensor& y, const Call& of, const Space& space) {
  const Tensor& result = of.output();
  if (y.numel() == std::max(result.numel(), x.numel())) return same_elements_in_order(x, y);
  return space.is_row(y) && result.numel() == space.count &&
         repeats_along_rows(x, y, result.shape(), space.columns);
}

// Why a call of a reduction or row kernel is not a member of a group. Null: another op, or it writes in
// place.
const char* why_no_rows(const QueuedCall& queued) {
  const Call& call = queued.call;
  if (queued.in_place || (!operands_with_rows(*call.op) && call.op->family != OpFamily::reduction))
    return nullptr;
  const RowReduction reduction = row_reduction(call);
  if (!reduction) return "its operands hold no whole rows, one after the other";
  if (call.output().numel() == 0) return "it makes sums over rows alone";
  if (reduction.by_kernel() && !queued.device->is_cpu())
    return "groups on this device have no kernel for its rows";
  return "its rows are few and long, or groups have no kernel for its type";
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
    for (uint32_t i = 0; i < calls_.size(); ++i) {
      close_idle(i);
      if (needed_[i]) place(i);
    }
    for (int unit; (unit = oldest(in_use_)) >= 0;) close(unit);
    find_stored();
    return std::move(plan_);
  }

 private:
  struct Open {
    Small<uint32_t, 8> calls;
    Space space;
    size_t operands = 0;
    bool joins = false;  // further calls may become members
  };

  static Mask bit(int unit) { return Mask(1) << unit; }

  // A call is needed when its result is read outside the queue or by another needed call.
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

  // The open unit in `mask` whose first call is the oldest; -1: none.
  int oldest(Mask mask) const {
    int best = -1;
    for (; mask; mask &= mask - 1) {
      const int unit = std::countr_zero(mask);
      if (best < 0 || first_[unit] < first_[best]) best = unit;
    }
    return best;
  }

  // Closes the units that got no new member for kPatience calls.
  void close_idle(uint32_t now) {
    for (Mask rest = in_use_; rest; rest &= rest - 1) {
      const int unit = std::countr_zero(rest);
      if (in_use_ & bit(unit) && open_[unit].calls.back() + kPatience < now) close(unit);
    }
  }

  void close(int unit) {
    Open& its = open_[unit];
    for (int needed; (needed = oldest(needs_[unit])) >= 0;) close(needed);
    const Mask others = ~bit(unit);
    for (const uint32_t i : its.calls) {
      for_reads(calls_[i].call, [&](uint32_t at) { readers_[at] &= others; });
      for_writes(calls_[i].call, [&](uint32_t at) { writers_[at] &= others; });
    }
    in_use_ &= others;
    for (Mask& needs : needs_) needs &= others;
    emit({its.calls.data(), its.calls.size()});
    its.calls.clear();
    its.operands = 0;
    its.joins = false;
  }

  // The open units that write the call's operands, or read or write the memory that it writes.
  Mask direct_needs(const Call& call) const {
    Mask mask = 0;
    for_reads(call, [&](uint32_t at) { mask |= writers_[at]; });
    for_writes(call, [&](uint32_t at) { mask |= writers_[at] | readers_[at]; });
    return mask;
  }
  Mask with_needs(Mask mask) const {
    Mask all = mask;
    for (; mask; mask &= mask - 1) all |= needs_[std::countr_zero(mask)];
    return all;
  }
  void add_needs(int unit, Mask more) {
    needs_[unit] |= more;
    for (Mask& needs : needs_)
      if (needs & bit(unit)) needs |= needs_[unit];
  }

  // The open units that make the call's operands, or for a row reduction the operands with rows.
  Mask makers_of(const Call& call, const RowReduction& reduction) const {
    Mask makers = 0;
    for (size_t k = 0; k < call.in.size(); ++k)
      if (in_memory(call.in[k]) && (!reduction || reduction.whole >> k & 1))
        makers |= writers_[call.in[k].storage().place];
    return makers;
  }

  // The open group that the call joins: the newest group that makes an operand of the call and can take it.
  // -1: none; `why` says why the newest cannot.
  int group_to_join(const Call& call, const RowReduction& reduction, const char*& why) const {
    why = "no other elementwise call joins it";
    Mask makers = makers_of(call, reduction);
    const char* first = nullptr;
    while (makers) {
      int newest = std::countr_zero(makers);
      for (Mask rest = makers; rest; rest &= rest - 1) {
        const int unit = std::countr_zero(rest);
        if (open_[unit].calls.back() > open_[newest].calls.back()) newest = unit;
      }
      makers &= ~bit(newest);
      if (!open_[newest].joins) continue;
      const char* const refusal = why_not(call, reduction, newest);
      if (!refusal) return newest;
      if (!first) why = first = refusal;
    }
    return -1;
  }

  // Why the call cannot join the open group. Null: it can.
  const char* why_not(const Call& call, const RowReduction& reduction, int unit) const {
    const Open& group = open_[unit];
    if (&calls_[group.calls[0]].call.output().device() != &call.output().device())
      return "its operand is on another device";
    if (const char* const misfit = why_other_space(call, reduction, group.space)) return misfit;
    if (group.calls.size() >= kMostMembers || group.operands + new_operands(call) > kMostOperands)
      return "the group is full";
    Space space = group.space;
    if (reduction) space.columns = reduction.columns;
    if (!reads_in_order(call, reduction, unit, space)) return "it reads its operand in another order";
    if (needs_beside(call, bit(unit)) & bit(unit)) return "another operand is made from its group's results";
    return nullptr;
  }

  // Whether the call reads the members' results in the order in which this space computes them. Operands
  // without rows must be in memory before the group runs.
  bool reads_in_order(const Call& call, const RowReduction& reduction, int unit, const Space& space) const {
    const auto fits = [&](const Tensor& x) {
      return std::any_of(open_[unit].calls.begin(), open_[unit].calls.end(),
                         [&](uint32_t i) { return reads_result(x, calls_[i].call.output(), call, space); });
    };
    for (size_t k = 0; k < call.in.size(); ++k) {
      const Tensor& x = call.in[k];
      if (!in_memory(x) || !(writers_[x.storage().place] & bit(unit))) continue;
      if ((reduction && !(reduction.whole >> k & 1)) || !fits(x)) return false;
    }
    return true;
  }

  // The number of the call's operands that no open unit makes.
  size_t new_operands(const Call& call) const {
    size_t count = 0;
    for_reads(call, [&](uint32_t at) { count += !writers_[at]; });
    return count;
  }

  // The open units that must be computed before the call, except `members`: the units of the call's own
  // group.
  Mask needs_beside(const Call& call, Mask members) const {
    return with_needs(direct_needs(call) & ~members);
  }

  // Merges other open groups that make operands of the call into its group.
  void merge_makers(const Call& call, const RowReduction& reduction, int unit) {
    Mask makers = makers_of(call, reduction);
    for (makers &= ~bit(unit); makers; makers &= makers - 1) {
      const int other = std::countr_zero(makers);
      if (open_[other].joins && can_merge(call, reduction, unit, other)) merge(unit, other);
    }
  }
  bool can_merge(const Call& call, const RowReduction& reduction, int unit, int other) const {
    const Open &a = open_[unit], &b = open_[other];
    const Mask both = bit(unit) | bit(other);
    if ((needs_[unit] | needs_[other]) & both || needs_beside(call, both) & both) return false;
    if (a.calls.size() + b.calls.size() >= kMostMembers || a.operands + b.operands > kMostOperands)
      return false;
    if (&calls_[a.calls[0]].call.output().device() != &calls_[b.calls[0]].call.output().device())
      return false;
    const Space space = common_space(a.space, b.space);
    return space.count && !why_other_space(call, reduction, space) &&
           reads_in_order(call, reduction, unit, space) && reads_in_order(call, reduction, other, space);
  }
  void merge(int unit, int other) {
    Open &its = open_[unit], &gone = open_[other];
    its.space = common_space(its.space, gone.space);
    its.operands += gone.operands;
    for (const uint32_t i : gone.calls) {
      its.calls.push_back(i);
      for_reads(calls_[i].call, [&](uint32_t at) { move_bit(readers_[at], other, unit); });
      for_writes(calls_[i].call, [&](uint32_t at) { move_bit(writers_[at], other, unit); });
    }
    std::sort(its.calls.begin(), its.calls.end());
    first_[unit] = its.calls[0];
    for (Mask& needs : needs_) move_bit(needs, other, unit);
    add_needs(unit, std::exchange(needs_[other], 0));
    in_use_ &= ~bit(other);
    gone.calls.clear();
    gone.operands = 0;
    gone.joins = false;
  }
  static void move_bit(Mask& mask, int from, int to) {
    if (mask & bit(from)) mask = (mask & ~bit(from)) | bit(to);
  }

  // Why the call does not fit the space. Null: it fits.
  static const char* why_other_space(const Call& call, const RowReduction& reduction, const Space& space) {
    const Tensor& y = call.output();
    if (reduction) {
      if (reduction.rows * reduction.columns != space.count)
        return "it reduces a tensor of another shape than its group's";
      if (space.columns && space.columns != reduction.columns)
        return "it reduces rows of another length than its group";
      return nullptr;
    }
    const bool fits = y.numel() == space.count ? has_shape(space, y.shape()) : space.is_row(y);
    return fits ? nullptr : "its result has another shape than its operand";
  }

  void place(uint32_t i) {
    const Call& call = calls_[i].call;
    if (!calls_[i].fuses) {
      plan_.why_alone[i] = why_no_rows(calls_[i]);
      if (!direct_needs(call)) return emit({&i, 1});
      return add(open_unit(), i);
    }
    const RowReduction reduction = row_reduction(call);
    int unit = group_to_join(call, reduction, plan_.why_alone[i]);
    if (unit < 0) {
      unit = open_unit();
      const Tensor& whole = reduction ? whole_operand(call, reduction) : call.output();
      open_[unit].space = {whole.shape(), calls_[i].device->is_cpu(), whole.numel()};
      open_[unit].joins = true;
    } else {
      merge_makers(call, reduction, unit);
    }
    if (reduction) open_[unit].space.columns = reduction.columns;
    add(unit, i);
  }

  void add(int unit, uint32_t i) {
    const Call& call = calls_[i].call;
    Open& its = open_[unit];
    if (const Mask more = needs_beside(call, bit(unit))) add_needs(unit, more);
    if (its.calls.empty()) first_[unit] = i;
    its.calls.push_back(i);
    its.operands += new_operands(call);
    for_reads(call, [&](uint32_t at) { readers_[at] |= bit(unit); });
    for_writes(call, [&](uint32_t at) { writers_[at] |= bit(unit); });
  }

  // A free slot for a unit. If there is none, the unit that has waited longest for a new member is closed.
  int open_unit() {
    if (in_use_ == Mask(-1)) {
      int idle = 0;
      for (int unit = 1; unit < kMostOpen; ++unit)
        if (open_[unit].calls.back() < open_[idle].calls.back()) idle = unit;
      close(idle);
    }
    const int unit = std::countr_one(in_use_);
    in_use_ |= bit(unit);
    return unit;
  }

  // A result gets memory unless its readers are all members of its group.
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
  std::vector<Mask> readers_, writers_;  // for each storage: the open units that read (write) it
  std::vector<uint32_t> uses_;           // for each storage: the number of reads by needed calls
  Open open_[kMostOpen];
  uint32_t first_[kMostOpen];  // for each unit: its first call
  // for each unit: the open units that must be computed before it, also indirectly
  Mask needs_[kMostOpen] = {};
  Mask in_use_ = 0;
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

bool gains_together(Unit unit, std::span<const QueuedCall> calls) {
  constexpr int64_t kFew = 1024;
  if (!calls[unit.front()].device->is_cpu()) return true;
  const auto is_large = [](const Tensor& x) { return x.defined() && x.numel() >= kFew; };
  return std::any_of(unit.begin(), unit.end(), [&](uint32_t i) {
    const Call& call = calls[i].call;
    return is_large(call.output()) || std::any_of(call.in.begin(), call.in.end(), is_large);
  });
}

CallGroup group_of(Unit unit, std::span<const QueuedCall> calls, const Plan& plan) {
  CallGroup group;
  Space space;
  for (const uint32_t i : unit) {
    const Call& call = calls[i].call;
    const RowReduction reduction = row_reduction(call);
    if (reduction) space.columns = reduction.columns;
    space.count =
        std::max(space.count, reduction ? reduction.rows * reduction.columns : call.output().numel());
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
