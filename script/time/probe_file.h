#pragma once
// The values of probes in a run's folder: probes.jsonl, one probe per line, append only. Any thread, one at a
// time. Errors are of kind file.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct ProbeRows {
  std::string name, expression;
  SourcePlace place;  // line 0: the end of each step
  // step, value; a line that runs several times in a step has several entries
  std::vector<std::pair<int64_t, double>> values;
};

void append_probe(const std::string& run_folder, const ProbeRows&);
// All appended rows, in order; damaged or incomplete lines are left out.
std::vector<ProbeRows> read_probes(const std::string& run_folder);

}  // namespace lunagrad
