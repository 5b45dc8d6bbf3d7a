#include "runtime/deferral/report.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/core/context.h"
#include "runtime/deferral/groups.h"

namespace lunagrad {
namespace {

const char* why_apart(const QueuedCall& queued) {
  if (writes_in_place(queued.call)) return "it writes into an operand";
  if (queued.call.op->elementwise < 0) return "not an elementwise op";
  return "groups have no kernel for its types or strides";
}

// The bytes that the call writes.
uint64_t bytes_of(const Call& call) {
  uint64_t bytes = 0;
  for (const Tensor& y : call.out) bytes += y.nbytes();
  if (call.op->writes_inputs)
    for (const Tensor& x : call.in)
      if (in_memory(x)) bytes += x.nbytes();
  return bytes;
}

uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15u; }

uint64_t hash_of(const QueueReport::Done& call) {
  uint64_t hash = mixed(uint64_t(reinterpret_cast<uintptr_t>(call.op)), call.line.file);
  hash = mixed(hash, uint64_t(call.line.line) << 2 | uint64_t(call.backward) << 1 | call.stored);
  return mixed(hash, uint64_t(reinterpret_cast<uintptr_t>(call.why)));
}

}  // namespace

void QueueReport::add(const QueuedCall& queued, bool in_group, bool is_stored, uint64_t unit_ticks,
                      const char* why) {
  if (queued.activation.op) {  // a product and its activation: a group in which the product is not stored
    const uint64_t bytes = bytes_of(queued.call);
    calls.push_back({queued.call.op, queued.line, queued.backward, false, units, queued.result, bytes,
                     unit_ticks, nullptr});
    calls.push_back({queued.activation.op, queued.activation.line, queued.backward, true, units,
                     queued.activation.result, bytes, unit_ticks, nullptr});
    bytes_saved += bytes;
    return;
  }
  const char* const reason = in_group ? nullptr : why ? why : why_apart(queued);
  const uint64_t bytes = is_stored ? bytes_of(queued.call) : queued.call.output().nbytes();
  calls.push_back({queued.call.op, queued.line, queued.backward, is_stored, units, queued.result, bytes,
                   unit_ticks, reason});
}

void QueueReport::add_at_once(const Call& call, const char* why) {
  const Context& ctx = context();
  calls.push_back({call.op, ctx.line, ctx.differentiating != nullptr, true, units++,
                   call.out.empty() ? 0 : call.out[0].id(), bytes_of(call), 0, why});
  ++at_once;
}

PlanRows rows_of(const QueueReport& report) {
  PlanRows rows;
  std::unordered_map<uint64_t, size_t> places;  // rows by the hash of a unit
  const std::vector<QueueReport::Done>& calls = report.calls;
  for (size_t begin = 0, end; begin < calls.size(); begin = end) {
    uint64_t hash = 0, bytes = 0;
    for (end = begin; end < calls.size() && calls[end].unit == calls[begin].unit; ++end) {
      hash = mixed(hash, hash_of(calls[end]));
      if (calls[begin].why || !calls[end].stored) bytes += calls[end].bytes;
    }
    std::vector<PlanRow>& side = calls[begin].why ? rows.alone : rows.groups;
    const auto [place, fresh] = places.try_emplace(hash, side.size());
    if (fresh) {
      PlanRow& row = side.emplace_back();
      for (size_t i = begin; i < end; ++i) row.members.push_back(&calls[i]);
    }
    PlanRow& row = side[place->second];
    row.units.push_back(calls[begin].unit);
    row.bytes += bytes;
  }
  for (std::vector<PlanRow>* const side : {&rows.groups, &rows.alone})
    std::stable_sort(side->begin(), side->end(),
                     [](const PlanRow& a, const PlanRow& b) { return a.bytes > b.bytes; });
  return rows;
}

}  // namespace lunagrad
