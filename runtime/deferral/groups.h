#pragma once
// Plans calls that were put off: which are needed, which are computed together, and in which order.
// Elementwise calls form a group when each reads a result of another and all results have one shape;
// the group then passes over memory once. Folds of rows (row_fold.h) may be members too: their values, and
// what is computed of these, have one element for each row, and the group is computed row after row. A member
// may have sums over rows beside its first result, which are there when the group ends. Every
// member computes and rounds as it does alone, so the bits are the same. Pure functions of the calls; one
// thread.
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/deferral/queued_call.h"

namespace lunagrad {

// What is computed together: one call, or a group. Indices of calls, ascending.
using Unit = std::span<const uint32_t>;

struct Plan {
  std::vector<uint32_t> order;  // the calls, unit by unit, in the order of computing
  std::vector<uint32_t> ends;   // of each unit, in `order`
  size_t units() const { return ends.size(); }
  Unit unit(size_t i) const {
    const uint32_t begin = i ? ends[i - 1] : 0;
    return Unit(order).subspan(begin, ends[i] - begin);
  }
  std::vector<uint8_t> stored;         // of each call: whether its first result gets memory
  std::vector<const char*> why_alone;  // of each call that might have joined a group and did not; else null
  size_t dropped = 0;                  // calls whose results nobody reads
  uint64_t bytes_saved = 0;            // of results that get no memory
};

// `alive`: of each storage (Storage::place), whether something outside of the queue refers to it.
Plan plan_calls(std::span<const QueuedCall>, const std::vector<uint8_t>& alive);

// Whether a group gains by being computed together. On the CPU, calls on few elements meet them in the first
// cache anyway, and a group takes longer to prepare than they take.
bool gains_together(Unit, std::span<const QueuedCall>);

// The operands of a member that are results of earlier members, for Device::run_group.
CallGroup group_of(Unit, std::span<const QueuedCall>, const Plan&);

// Whether operand x has the elements of the result y in the same order.
bool same_elements_in_order(const Tensor& x, const Tensor& y);

// Whether the call writes into the memory of an operand.
bool writes_in_place(const Call&);

}  // namespace lunagrad
