#pragma once
// Programs with deferred calls, compared with the same programs run call by call.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "tests/support/same_bits.h"

namespace lunagrad::tests {

// The results of f, deferred and computed at the end, and the report.
template <class F>
std::pair<TensorList, QueueReport> deferred(F&& f) {
  CallQueue queue;
  const DeferCalls defer(&queue);
  TensorList results = f();
  queue.compute();
  return {std::move(results), *queue.report()};
}

inline void check_equal(const TensorList& got, const TensorList& expected, const QueueReport& report) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("value ", i, " of ", got.size(), "\n", explain(report));
    CHECK(same_bits(got[i], expected[i]));
  }
}

// Reductions and maps of rows that were computed in groups.
inline size_t reduces_in_groups(const QueueReport& report) {
  return size_t(std::count_if(report.calls.begin(), report.calls.end(), [](const QueueReport::Done& done) {
    const OpFamily family = done.op->family;
    return done.why == nullptr &&
           (family == OpFamily::reduction || family == OpFamily::normalization || family == OpFamily::loss);
  }));
}

// Calls of the op that were computed in groups.
inline size_t in_groups(const QueueReport& report, std::string_view op) {
  return size_t(std::count_if(report.calls.begin(), report.calls.end(), [&](const QueueReport::Done& done) {
    return done.why == nullptr && done.op->name == op;
  }));
}

}  // namespace lunagrad::tests
