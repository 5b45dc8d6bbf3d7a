// A search that found no owner says no more than it has searched.
#include <doctest/doctest.h>

#include "ui/panels/profile/owner_words.h"

using namespace lunagrad;

namespace {

LeakReport searched(int64_t step, int64_t looks = 1) {
  LeakReport report;
  report.step = report.steps = step;
  report.looks = looks;
  report.threshold = kLeakThreshold;
  return report;
}

std::string headline(const LeakReport& report) { return words_without_owners(&report, false).headline; }

}  // namespace

TEST_CASE("nothing is said to outlive its step only after a search that would have found it") {
  CHECK(words_without_owners(nullptr, false).headline == "Not searched yet");
  CHECK(words_without_owners(nullptr, true).headline == "Not searched yet");
  CHECK(headline(searched(0)) == "No step has ended");
  CHECK(headline(searched(3)) == "Too early to tell");
  LeakReport part = searched(200);
  part.complete = false;
  CHECK(headline(part) == "Searched in part");
  LeakReport ended = searched(200);
  ended.locals = false;
  CHECK(headline(ended) == "Searched without local variables");

  const OwnerWords once = [] {
    const LeakReport report = searched(1200);
    return words_without_owners(&report, false);
  }();
  CHECK(once.headline == "Nothing outlives its step");
  CHECK(once.sentence.starts_with("Searched once, after step 1,200. "));
  CHECK(once.sentence.find("tensors of together 1.0 MiB") != std::string::npos);
  const LeakReport often = searched(1200, 24);
  CHECK(words_without_owners(&often, true)
            .sentence.starts_with("Searched 24 times, the last time after step 1,200"));
}
