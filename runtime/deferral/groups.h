#pragma once
// Plans deferred calls: which are needed, which are computed together, and in which order. Elementwise calls
// form a group when each reads a result of another and all results have one shape; the group then passes over
// memory once. Row reductions (row_reduction.h) may be members too: their values, and results computed from
// the values, have one element for each row, and the group is computed row after row. A member may have sums
// over rows besides its first result, which are complete when the group ends. Every member computes and
// rounds as it does alone, so the bits are the same. Pure functions of the calls; one thread.
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/deferral/queued_call.h"

namespace lunagrad {

// One call, or a group of calls that are computed together. Indices of calls, ascending.
using Unit = std::span<const uint32_t>;

struct Plan {
  std::vector<uint32_t> order;  // the calls, unit by unit, in the order of computing
  std::vector<uint32_t> ends;   // for each unit: its end in `order`
  size_t units() const { return ends.size(); }
  Unit unit(size_t i) const {
    const uint32_t begin = i ? ends[i - 1] : 0;
    return Unit(order).subspan(begin, ends[i] - begin);
  }
  std::vector<uint8_t> stored;         // for each call: whether its first result gets memory
  std::vector<const char*> why_alone;  // for each call: why it joined no group though its op could; else null
  size_t dropped = 0;                  // calls whose results are not needed
  uint64_t bytes_saved = 0;            // bytes of results that get no memory
};

// `alive`: for each storage (Storage::place), whether handles outside the queue refer to it.
Plan plan_calls(std::span<const QueuedCall>, const std::vector<uint8_t>& alive);

// Whether a group is worth computing together. On the CPU, results of few elements stay in the first-level
// cache anyway, and preparing a group takes longer than the calls.
bool gains_together(Unit, std::span<const QueuedCall>);

// The group for Device::run_group, with the member that makes each operand.
CallGroup group_of(Unit, std::span<const QueuedCall>, const Plan&);

// Whether operand x has the elements of the result y in the same order.
bool same_elements_in_order(const Tensor& x, const Tensor& y);

// Whether the call writes into the memory of an operand.
bool writes_in_place(const Call&);

}  // namespace lunagrad
