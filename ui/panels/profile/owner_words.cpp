#include "ui/panels/profile/owner_words.h"

#include "runtime/core/figures.h"
#include "ui/base/counted.h"

namespace lunagrad {
namespace {

std::string searched(const LeakReport& report) {
  const std::string last = "after step " + count_figure(report.step);
  if (report.looks < 2) return "Searched once, " + last;
  return "Searched " + counted(report.looks, "time") + ", the last time " + last;
}

}  // namespace

OwnerWords words_without_owners(const LeakReport* report, bool watching) {
  if (!report && watching) return {"Not searched yet", "The search begins at the end of the next step."};
  if (!report)
    return {"Not searched yet",
            "Find owners lists the variables that keep graphs and tensors alive beyond their step."};
  if (report->step == 0)
    return {
        "No step has ended",
        "A search tells what outlives the step that made it. lg.run.steps or an optimizer makes the steps."};
  if (!report->complete)
    return {"Searched in part", searched(*report) +
                                    ". The script holds more objects than one search visits; "
                                    "nothing that outlives its step was found in this part."};
  if (!report->locals)
    return {"Searched without local variables",
            searched(*report) +
                ". The script had ended, and its local variables were gone. Search at a pause, "
                "or at every step of the next run."};
  if (report->step <= kLeakSteps)
    return {"Too early to tell",
            searched(*report) + ". What outlives a step shows after " + counted(kLeakSteps, "step") + "."};
  return {"Nothing outlives its step",
          searched(*report) + ". No variable held a graph, a parameter, or tensors of together " +
              bytes_figure(double(report->threshold)) + " that an earlier step had made."};
}

}  // namespace lunagrad
