#include "script/time/probe_file.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/input_file.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"

namespace lunagrad {
namespace {

std::string file_in(const std::string& run_folder) { return run_folder + "/probes.jsonl"; }

double number_in(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return INFINITY;
  return value == "-Infinity" ? -INFINITY : NAN;
}

}  // namespace

void append_probe(const std::string& run_folder, const ProbeRows& rows) {
  Json line = {{"name", rows.name}, {"expression", rows.expression}};
  line["file"] = path_text(rows.place.file);
  line["line"] = rows.place.line;
  line["rows"] = Json::array();
  for (const auto& [step, value] : rows.values) line["rows"].push_back({step, json_number(value)});
  const std::string path = file_in(run_folder);
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << checked_text(line) + "\n" << std::flush;
  if (!out) fail_as(ErrorKind::file, path, ": ", std::strerror(errno ? errno : EIO));
}

std::vector<ProbeRows> read_probes(const std::string& run_folder) {
  std::vector<ProbeRows> probes;
  std::error_code ignored;
  if (!std::filesystem::exists(file_in(run_folder), ignored)) return probes;
  std::istringstream in(read_regular_file(file_in(run_folder)));
  for (std::string text; std::getline(in, text);) {
    if (is_damaged(text)) continue;
    const Json line = read_json<Json>(text);
    try {
      ProbeRows rows{line.at("name"),
                     line.at("expression"),
                     {path_of_text(line.at("file").get<std::string>()), line.at("line")},
                     {}};
      for (const Json& row : line.at("rows")) rows.values.emplace_back(row.at(0), number_in(row.at(1)));
      probes.push_back(std::move(rows));
    } catch (const Json::exception&) {
      continue;
    }
  }
  return probes;
}

}  // namespace lunagrad
