#include "script/sweep/plan.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"
#include "script/run/sweep.h"
#include "script/sweep/legs.h"
#include "script/trust/inside.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostTrials = 10000;
constexpr int kVersion = 1;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in || fs::is_directory(path)) fail_as(ErrorKind::file, path, ": cannot be read");
  return content.str();
}

Json to_json(const Plan& plan) {
  Json json = {{"lunagrad_sweep", kVersion},
               {"script", path_text(plan.script)},
               {"script_hash", plan.script_hash},
               {"directory", path_text(plan.directory)},
               {"arguments", path_texts(plan.arguments)},
               {"seed", plan.seed},
               {"metric", plan.metric},
               {"maximize", plan.maximize},
               {"device", plan.device},
               {"threads", plan.threads},
               {"guard", plan.guard},
               {"checkpoint_every", plan.checkpoint_every}};
  if (plan.steps) json["steps"] = *plan.steps;
  if (plan.asha) json["asha"] = {{"eta", plan.eta}, {"smallest", plan.smallest}, {"legs", plan.legs}};
  json["set"] = Json::object();
  for (const auto& [name, value] : plan.set) json["set"][name] = path_text(value);
  json["axes"] = Json::array();
  for (const Axis& axis : plan.axes)
    json["axes"].push_back({{"name", axis.name}, {axis.grid ? "grid" : "random", axis.given}});
  json["trials"] = plan.trials;
  return json;
}

Plan from_json(const Json& json) {
  Plan plan;
  if (json.at("lunagrad_sweep") != kVersion) fail("it is of another version");
  plan.script = path_of_text(json.at("script").get<std::string>());
  plan.script_hash = json.at("script_hash");
  plan.directory = path_of_text(json.at("directory").get<std::string>());
  for (const Json& argument : json.at("arguments"))
    plan.arguments.push_back(path_of_text(argument.get<std::string>()));
  plan.seed = json.at("seed");
  plan.metric = json.at("metric");
  plan.maximize = json.at("maximize");
  plan.device = json.at("device");
  plan.threads = json.at("threads");
  plan.guard = json.at("guard");
  plan.checkpoint_every = json.at("checkpoint_every");
  if (json.contains("steps")) plan.steps = json["steps"].get<int64_t>();
  if (json.contains("asha")) {
    plan.asha = true;
    plan.eta = json["asha"].at("eta");
    plan.smallest = json["asha"].at("smallest");
    plan.legs = json["asha"].at("legs");
    if (plan.eta < 2 || plan.smallest < 1 || plan.legs < 2 || plan.legs > 62)
      fail("its halving is impossible");
  }
  for (const auto& [name, value] : json.at("set").items())
    plan.set[name] = path_of_text(value.get<std::string>());
  for (const Json& axis : json.at("axes")) {
    const std::string name = axis.at("name");
    plan.axes.push_back(axis.contains("grid")
                            ? parse_grid(name + "=" + axis["grid"].get<std::string>())
                            : parse_random(name + "=" + axis.at("random").get<std::string>()));
  }
  plan.trials = json.at("trials");
  for (const auto& values : plan.trials)
    if (values.size() != plan.axes.size())
      fail("a trial has another number of values than there are parameters");
  return plan;
}

void check_names(const Plan& plan) {
  std::set<std::string> names;
  for (const auto& [name, value] : plan.set) names.insert(name);
  for (const Axis& axis : plan.axes)
    if (!names.insert(axis.name).second) fail("'", axis.name, "' is given twice; once is enough");
  if (plan.axes.empty())
    fail("no parameter is swept; --grid NAME=VALUES or --random NAME=LOW..HIGH names one");
}

}  // namespace

std::optional<int64_t> Plan::last_step(int leg) const {
  if (leg + 1 >= legs) return std::nullopt;
  int64_t step = smallest;
  for (int i = 0; i < leg; ++i) step *= eta;
  return step;
}

void choose_trials(Plan& plan, std::optional<int64_t> asked) {
  check_names(plan);
  int64_t points = 1;
  bool draws = false;
  for (const Axis& axis : plan.axes) {
    draws |= !axis.grid;
    if (axis.grid) points *= int64_t(axis.values.size());
    if (points > kMostTrials)
      fail("the grid has more than ", kMostTrials, " points; use fewer values, or draw some with --random");
  }
  if (!draws && asked && *asked != points)
    fail("--trials ", *asked, ": the grid has ", points, " points, each of which is a trial; leave it out");
  if (draws && !asked) fail("--trials N is missing: how often values are drawn");
  const int64_t count = asked.value_or(points);
  if (count < 1 || count > kMostTrials) fail("--trials ", count, ": 1 to ", kMostTrials, " expected");
  if (count < points)
    fail("--trials ", count, ": the grid alone has ", points, " points; ask for at least as many");
  plan.trials.clear();
  for (int64_t trial = 0; trial < count; ++trial) {
    std::vector<std::string> values(plan.axes.size());
    int64_t point = trial % points;
    for (size_t i = plan.axes.size(); i-- > 0;) {  // the last grid changes fastest
      const Axis& axis = plan.axes[i];
      if (axis.grid) {
        values[i] = axis.values[size_t(point % int64_t(axis.values.size()))];
        point /= int64_t(axis.values.size());
      } else {
        values[i] = draw(axis, plan.seed, uint64_t(trial));
      }
    }
    plan.trials.push_back(std::move(values));
  }
  plan.legs = 1;
  if (!plan.asha) return;
  for (int64_t promoted = count / plan.eta; promoted > 0; promoted /= plan.eta) ++plan.legs;
  if (plan.legs == 1)
    fail("--eta ", plan.eta, ": of ", count,
         " trials none would be promoted; use more trials or a smaller eta");
  if (double(plan.smallest) * std::pow(double(plan.eta), plan.legs) > 0x1p62)
    fail("--smallest ", plan.smallest, ": the last rung would lie beyond 2^62 steps");
}

std::string hash_of_file(const std::string& path) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : read_text(path)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

void make_sweep(const std::string& wanted, const Plan& plan) {
  std::error_code error;
  const std::string folder = fs::absolute(wanted).lexically_normal().string();
  if (is_sweep(folder))
    fail_as(ErrorKind::file, wanted, ": holds a sweep already; sweep join ", wanted, " works on it");
  if (fs::exists(folder, error) && !fs::is_empty(folder, error))
    fail_as(ErrorKind::file, wanted, ": exists and is not empty; name a new folder");
  fs::path whole = folder;
  if (!whole.has_filename()) whole = whole.parent_path();
  // Made under another name and then renamed, so that no worker sees a half-made folder.
  const fs::path draft = whole.parent_path() / text(".new-", std::random_device{}());
  try {
    for (const char* part : {"trials", "results", "workers"}) fs::create_directories(draft / part);
    for (const char* part : {kWaiting, kRunning, kDone}) fs::create_directories(draft / part);
    for (size_t trial = 0; trial < plan.trials.size(); ++trial)
      for (int leg = 0; leg < plan.legs; ++leg)
        if (!std::ofstream(draft / kWaiting / Leg{int64_t(trial) + 1, leg, 0, "new"}.name()))
          fail("a file of trial ", trial + 1, " cannot be written");
    write_file((draft / "script.lua").string(), read_file(plan.script));
    Json json = to_json(plan);
    if (const auto trust_key = TrustKey::make()) json["mark"] = trust_key->mark("sweep", "", json_text(json));
    write_file((draft / "sweep.json").string(), checked_text(json, 1) + "\n");
    fs::rename(draft, whole);
  } catch (const std::exception& failure) {
    fs::remove_all(draft, error);
    fail_as(ErrorKind::file, wanted, ": no sweep was made: ", failure.what());
  }
}

Plan read_plan(const std::string& folder) {
  if (!is_sweep(folder))
    fail_as(ErrorKind::file, folder,
            ": not the folder of a sweep, it has no sweep.json; sweep new makes one");
  const std::string path = folder + "/sweep.json";
  try {
    const std::string text = read_text(path);
    if (is_damaged(text)) fail("it is damaged: its checksum is another one");
    return from_json(parse_json<Json>(text, "its text"));
  } catch (const std::exception& failure) {
    fail_as(ErrorKind::file, path, ": cannot be used: ", failure.what());
  }
}

RunOrigin origin_of_sweep(const std::string& folder) {
  const std::string content = read_text(file_inside(folder, "sweep.json", folder));
  Json json = read_json<Json>(content);
  RunOrigin origin;
  const Json mark = json.is_object() && json.contains("mark") ? json["mark"] : Json();
  if (json.is_object()) {
    erase_checksum(json);
    json.erase("mark");
  }
  const auto trust_key = TrustKey::find(origin.why);
  origin.own = trust_key && mark == trust_key->mark("sweep", "", json_text(json));
  if (!origin.own && origin.why.empty())
    origin.why = mark.is_string() ? "sweep.json has the mark of another user, or was changed"
                                  : "it has no mark of this user: another user or machine, or an earlier "
                                    "version, made it";
  std::error_code ignored;
  const Plan plan = read_plan(folder);
  if (fs::is_regular_file(plan.script, ignored))
    origin.content = sha256_of(content + sha256_of(read_text(plan.script)));
  return origin;
}

void check_script(const Plan& plan, const std::string& script) {
  if (hash_of_file(script) == plan.script_hash) return;
  fail_as(
      ErrorKind::file, script,
      ": changed since the sweep was made, its trials would not compare; make a new sweep, or put back the "
      "copy in the sweep's folder, script.lua");
}

}  // namespace lunagrad::sweep
