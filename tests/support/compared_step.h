#pragma once
// Captures a step of C++ calls and compares it with another side, as a session does with a step of a script.
// For one thread.
#include <functional>
#include <string>

#include "script/compare/pass_comparer.h"
#include "script/inspect/tape_watch.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad::tests {

class ComparedStep final : public Trace {
 public:
  // Runs the backward pass from the result of `loss`; captures the calls.
  explicit ComparedStep(const std::function<Tensor()>& loss) {
    const RestoreContext restore;
    watch_.watch(true);
    watch_.set_budget(size_t(1) << 40);
    watch_.seek(1);
    watch_.begin_step({.step = 1, .in_steps = true});
    context().trace = this;
    context().capture = &watch_;
    if (const Tensor root = loss(); root.defined()) backward(root);
    watch_.step_over();
  }

  std::vector<ComparedNode> compare(const Side& other, bool narrows = false,
                                    std::function<void(const ComparedNode&)> begins = {}) {
    const WithoutListeners aside;
    std::vector<ComparedNode> rows;
    std::unordered_set<uint64_t> seen;
    const std::shared_ptr<StepValues> values = watch_.values(-1);
    for (size_t i = 0; i < values->passes().size(); ++i) {
      const PassQuery query{*values,
                            i,
                            other,
                            narrows,
                            1,
                            [] {},
                            [&](const ComparedNode& row) {
                              if (begins) begins(row);
                            }};
      PassComparer(query).run(seen, rows);
    }
    return rows;
  }

  void ran(const Call& call, uint64_t) override { watch_.ran(call); }
  void fell_back(const Call&, const char*) override {}

 private:
  TapeWatch watch_;
};

inline std::string name_of(const ComparedNode& row) {
  return row.op + (row.backward ? " backward" : " forward");
}

// The rows that are wrong by themselves, with the numbers: for messages.
inline std::string accused(const std::vector<ComparedNode>& rows) {
  std::string list;
  for (const ComparedNode& row : rows)
    if (row.verdict == Verdict::wrong) {
      const TensorError& worst = row.tensors[row.worst];
      list += text(name_of(row), ": ", worst.name, " differs by ", worst.error, ", allowed ", worst.allowed,
                   " (", worst.reference, " and ", worst.other, ")\n");
    }
  return list;
}

}  // namespace lunagrad::tests
