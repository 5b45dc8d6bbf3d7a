#pragma once
// How a leg ended: a file in results/ with the name of the leg's claim, written before the leg moves to
// done/. Only the result of the claim in done/ counts. Any thread. Errors are of kind file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "script/sweep/legs.h"

namespace lunagrad::sweep {

enum class Ending { finished, rung, failed };  // the script ended; it waits at a rung; it ended with an error

struct Result {
  Ending ending = Ending::finished;
  std::optional<double> value;  // the best value of the sweep's metric so far; empty: no finite one
  int64_t value_step = 0;       // the step of that value
  int64_t steps = 0;
  std::string error;  // one line, if the script failed
  int exit_code = 0;
};

// The legs that have files in results/, damaged or not.
std::vector<Leg> legs_with_results(const std::string& sweep);
std::string path_of_result(const std::string& sweep, const Leg&);
void write_result(const std::string& sweep, const Leg&, const Result&);
Result read_result(const std::string& sweep, const Leg&);

}  // namespace lunagrad::sweep
