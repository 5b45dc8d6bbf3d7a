#include "script/view/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "runtime/core/trace.h"
#include "script/view/json.h"

namespace lunagrad {
namespace {

void add_rows(std::vector<ProfileRow>& all, const std::vector<ProfileRow>& more) {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < all.size(); ++i) places.emplace(all[i].name, i);
  for (const ProfileRow& row : more) {
    const auto [found, fresh] = places.try_emplace(row.name, all.size());
    if (fresh) {
      all.push_back(row);
      continue;
    }
    ProfileRow& sum = all[found->second];
    sum.calls += row.calls;
    for (size_t i = 0; i < kProfilePhases; ++i) sum.self_ns[i] += row.self_ns[i];
    sum.total_ns += row.total_ns;
    sum.bytes += row.bytes;
    sum.flops += row.flops;
    sum.flops_ns += row.flops_ns;
    sum.device_ns += row.device_ns;
    sum.fallbacks += row.fallbacks;
  }
}

constexpr double kMicrosecond = 1e3;
constexpr int kProcess = 1;
enum Lane { kPhases = 1, kOperations = 2, kOthers = 3 };

Json lane_name(int lane, const std::string& name) {
  return {{"ph", "M"}, {"pid", kProcess}, {"tid", lane}, {"name", "thread_name"}, {"args", {{"name", name}}}};
}

Json block(int lane, const std::string& name, const char* category, double start_ns, double length_ns) {
  return {{"ph", "X"},
          {"pid", kProcess},
          {"tid", lane},
          {"name", name},
          {"cat", category},
          {"ts", start_ns / kMicrosecond},
          {"dur", length_ns / kMicrosecond}};
}

}  // namespace

const char* profile_phase_name(ProfilePhase phase) {
  constexpr const char* names[] = {"forward", "backward", "optimizer"};
  return names[size_t(phase)];
}

const char* memory_part_name(MemoryPart part) {
  constexpr const char* names[] = {"weights", "optimizer", "gradients", "saved", "held", "temporary"};
  return names[size_t(part)];
}

const char* work_name(Worker kind) {
  constexpr const char* names[] = {"loop", "batch", "copy"};
  return names[size_t(kind)];
}

double MemorySample::sum() const {
  double all = 0;
  for (const double part : bytes) all += part;
  return all;
}

void add_profile(ProfileTables& tables, const StepProfile& step) {
  ++tables.steps;
  tables.length_ns += step.length_ns;
  tables.forward_ns += step.forward_ns;
  tables.backward_ns += step.backward_ns;
  tables.walk_ns += step.walk_ns;
  tables.optimizer_ns += step.optimizer_ns;
  tables.waiting_ns += step.waiting_ns;
  tables.script_ns += step.script_ns;
  add_rows(tables.ops, step.ops);
  add_rows(tables.lines, step.lines);
  add_rows(tables.modules, step.modules);
}

void sort_profile(ProfileTables& tables) {
  for (auto* rows : {&tables.ops, &tables.lines, &tables.modules})
    std::stable_sort(rows->begin(), rows->end(),
                     [](const ProfileRow& a, const ProfileRow& b) { return a.self() > b.self(); });
}

ProfileTables merge_profiles(std::span<const std::shared_ptr<const StepProfile>> steps) {
  ProfileTables tables;
  for (const auto& step : steps) add_profile(tables, *step);
  sort_profile(tables);
  return tables;
}

namespace {

constexpr int kRankProcess = 100;  // process id of rank 0; the other ranks follow

Json of_process(int process, Json event) {
  event["pid"] = process;
  return event;
}

// Adds two lanes for each rank: its script, and its transfers.
void add_ranks(Json& events, const RankProfile& ranks) {
  enum { kScript = 1, kTransfers = 2 };
  for (size_t r = 0; r < ranks.all.size(); ++r) {
    const int process = kRankProcess + int(r);
    events.push_back({{"ph", "M"},
                      {"pid", process},
                      {"name", "process_name"},
                      {"args", {{"name", "rank " + std::to_string(r)}}}});
    events.push_back(of_process(process, lane_name(kScript, "script")));
    events.push_back(of_process(process, lane_name(kTransfers, "transfers")));
  }
  for (const auto& step : ranks.steps)
    for (const RankLane& lane : step->lanes) {
      const int process = kRankProcess + lane.rank;
      for (const RankLane::Block& part : lane.blocks)
        events.push_back(of_process(process, block(kScript, rank_time_name(part.time), "rank",
                                                   step->begin_ns + part.start_ns, part.length_ns)));
      for (const RankTransfer& transfer : lane.transfers) {
        Json event =
            of_process(process, block(kTransfers, transfer.op, "transfer", step->begin_ns + transfer.met_ns,
                                      transfer.end_ns - transfer.met_ns));
        event["args"] = {{"what", transfer.label},
                         {"bytes", transfer.bytes},
                         {"waited_us", (transfer.met_ns - transfer.begun_ns) / kMicrosecond},
                         {"step", step->step}};
        if (transfer.place.line > 0)
          event["args"]["line"] = transfer.place.file + ":" + std::to_string(transfer.place.line);
        if (transfer.pair) {  // blocks of a lane must not overlap
          Json end = event;
          event["ph"] = "b", end["ph"] = "e";
          event["id"] = end["id"] = events.size();
          end["ts"] = (step->begin_ns + transfer.end_ns) / kMicrosecond;
          events.push_back(std::move(end));
        }
        events.push_back(std::move(event));
      }
    }
}

}  // namespace

std::string trace_json(const ProfileView& view, const RankProfile* ranks) {
  Json events = Json::array();
  events.push_back(
      {{"ph", "M"}, {"pid", kProcess}, {"name", "process_name"}, {"args", {{"name", "lunagrad"}}}});
  events.push_back(lane_name(kPhases, "steps"));
  events.push_back(lane_name(kOperations, "script"));
  std::vector<std::string> lanes;  // lane i has the number kOthers + i
  for (const auto& step : view.steps) {
    events.push_back(
        block(kPhases, "step " + std::to_string(step->step), "step", step->begin_ns, step->length_ns));
    for (const StepProfile::Stretch& pass : step->passes)
      events.push_back(block(kPhases, "backward", "pass", step->begin_ns + pass.start_ns, pass.length_ns));
    for (const StepProfile::Stretch& wait : step->waits)
      events.push_back(block(kOperations, kWaiting, "wait", step->begin_ns + wait.start_ns, wait.length_ns));
    for (const ProfileSpan& span : step->spans) {
      Json event = block(kOperations, step->names[span.op], profile_phase_name(span.phase),
                         step->begin_ns + span.start_ns, span.length_ns);
      Json args = {{"shape", span.shape}};
      if (span.place.line > 0) args["line"] = span.place.file + ":" + std::to_string(span.place.line);
      if (!step->names[span.module].empty()) args["module"] = step->names[span.module];
      if (span.fell_back) args["ran_on"] = "cpu";
      event["args"] = std::move(args);
      events.push_back(std::move(event));
    }
    for (const ProfileLane& lane : step->lanes) {
      const auto found = std::find(lanes.begin(), lanes.end(), lane.name);
      const int number = kOthers + int(found - lanes.begin());
      if (found == lanes.end()) {
        lanes.push_back(lane.name);
        events.push_back(lane_name(number, lane.name));
      }
      for (const ProfileLane::Block& work : lane.blocks) {
        const bool for_call = work.span >= 0;
        Json event =
            block(number, for_call ? step->names[step->spans[size_t(work.span)].op] : work_name(lane.kind),
                  lane.kind == Worker::device ? "device" : "thread", step->begin_ns + work.start_ns,
                  work.length_ns);
        if (work.kernel) event["args"] = {{"kernel", interned(work.kernel)}};
        events.push_back(std::move(event));
      }
    }
    for (const MemorySample& sample : step->memory) {
      Json parts;
      for (size_t i = 0; i < kMemoryParts; ++i) parts[memory_part_name(MemoryPart(i))] = sample.bytes[i];
      events.push_back({{"ph", "C"},
                        {"pid", kProcess},
                        {"name", "memory in bytes"},
                        {"ts", (step->begin_ns + sample.at_ns) / kMicrosecond},
                        {"args", std::move(parts)}});
    }
  }
  if (ranks) add_ranks(events, *ranks);
  const Json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lunagrad
