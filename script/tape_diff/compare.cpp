#include "script/tape_diff/compare.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "runtime/core/error.h"
#include "script/run/record.h"
#include "script/tape_diff/compare_graphs.h"
#include "script/tape_diff/read.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

// What a name means: a file, or a run with or without a step.
struct Named {
  std::string file;
  std::optional<RunTapes> run;
  std::optional<int64_t> step;

  bool is_open() const { return run && !step; }  // whether the step is still to be chosen
  TapeGraph read(const RepeatTape& repeat) const {
    if (!run) return read_tape_file(file);
    return run->keeps(*step) ? run->tape(*step) : run->repeated_tape(*step, repeat(run->folder(), *step));
  }
};

Named find_tape(const std::string& asked, const std::string& runs) {
  Named named;
  std::error_code ignored;
  if (fs::is_directory(asked, ignored)) {
    named.run.emplace(asked);
  } else if (fs::path(asked).filename() == "tape.jsonl") {
    named.run.emplace(fs::path(asked).parent_path().string());
  } else if (fs::exists(asked, ignored)) {
    named.file = asked;
  } else if (const size_t colon = asked.rfind(':'); colon != asked.npos) {
    const std::string run = asked.substr(0, colon), step = asked.substr(colon + 1);
    if (run.empty())
      fail_as(ErrorKind::file, "'", asked, "': names no run; RUN:STEP names a run and its step");
    named.run.emplace(fs::is_directory(run, ignored) ? run : find_run(run, runs));
    int64_t number = -1;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
    if (error == std::errc() && end == step.data() + step.size() && number >= 0)
      named.step = number;
    else
      fail_as(ErrorKind::file, "'", asked, "': '", step,
              "' is no step; RUN:STEP names one by its number, of ", named.run->steps_text());
  } else if (fs::path(asked).has_extension()) {
    fail_as(ErrorKind::file, asked, ": no such file");
  } else {
    named.run.emplace(find_run(asked, runs));
  }
  return named;
}

TapeDiff compare_open_runs(Named& a, Named& b, const TapeDiffOptions& options, const RepeatTape& repeat) {
  const std::vector<int64_t> left = a.run->steps(), right = b.run->steps();
  std::vector<int64_t> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(common));
  if (common.empty())
    fail_as(ErrorKind::file, a.run->folder(), " and ", b.run->folder(),
            ": they keep no tape of the same step, but tapes of steps ", a.run->steps_text(), " and of ",
            b.run->steps_text(), "; RUN:STEP names one of each");
  for (const int64_t step : common) {
    a.step = b.step = step;
    TapeDiff diff = compare_tapes(a.read(repeat), b.read(repeat), options);
    if (diff.equal() && step != common.back()) continue;
    if (common.size() > 1)
      diff.notes.push_back(diff.equal()
                               ? text("the tapes of all ", common.size(), " common steps are equal")
                               : text("step ", step, " is the first kept step that differs; common are ",
                                      common.size(), ", up to step ", common.back()));
    return diff;
  }
  return {};  // not reached: the loop returns at the last step
}

TapeDiff compare(Named& a, Named& b, const TapeDiffOptions& options, const RepeatTape& repeat) {
  if (a.is_open() && b.is_open()) return compare_open_runs(a, b, options, repeat);
  for (Named* const named : {&a, &b}) {
    if (!named->is_open()) continue;
    const std::optional<int64_t> wanted = named == &a ? b.step : a.step;
    named->step = wanted ? *wanted : named->run->steps().back();
  }
  TapeGraph left = a.read(repeat);
  return compare_tapes(std::move(left), b.read(repeat), options);
}

}  // namespace

TapeDiff compare_tapes(const std::string& first, const std::string& second, const std::string& runs,
                       const TapeDiffOptions& options, const RepeatTape& repeat) {
  Named a = find_tape(first, runs), b = find_tape(second, runs);
  TapeDiff diff = compare(a, b, options, repeat);
  std::set<std::string> damage;
  for (const Named* const named : {&a, &b})
    if (named->run) damage.insert(named->run->damage());
  for (const std::string& sentence : damage)
    if (!sentence.empty()) diff.notes.push_back(sentence);
  return diff;
}

}  // namespace lunagrad
