#pragma once
// The profile of a script: where time (nanoseconds) and memory (bytes) go. Immutable once made; any thread
// may read it.
//
// Times are of the script's thread: an op on an asynchronous device (Vulkan) counts from the call until it is
// submitted. The device's own time, where it has a clock, and the work of other threads are separate: the
// lanes. A measured step ends when the device has finished its work. Pauses and the requests of the window do
// not count.
//
// Memory is the default device's memory. The sum of a sample is the number of bytes in use by the allocator.
// Its parts are:
//
// - weights: leaves that require a gradient
//
// - gradients: the .grad of these leaves, from the moment when the backward pass adds it
//
// - saved: results of this step's ops that the tape keeps for backward, until the pass releases them
//
// - optimizer: tensors that an optimizer's step reads and writes, other than parameters and gradients
//
// - held: data sets, buffers and other tensors that the script keeps from step to step: within the step the
//   smallest value of the sum minus the parts above
//
// - temporary: the sum minus all other parts
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "script/view/rank_profile.h"
#include "script/view/source_place.h"

namespace lunagrad {

enum class ProfilePhase : uint8_t { forward, backward, optimizer };
inline constexpr size_t kProfilePhases = 3;
const char* profile_phase_name(ProfilePhase);

enum class MemoryPart : uint8_t { weights, optimizer, gradients, saved, held, temporary };
inline constexpr size_t kMemoryParts = 6;
const char* memory_part_name(MemoryPart);

// A row of one of the tables: an op, a source line, or a module.
struct ProfileRow {
  std::string name;   // "matmul", "train.lua:12", "net.fc1"; "" for ops outside of modules
  SourcePlace place;  // of a row for a source line
  int64_t calls = 0;
  std::array<double, kProfilePhases> self_ns{};  // without the ops that an op calls
  double total_ns = 0;                           // including called ops; for a module, including submodules
  double bytes = 0;                              // of operands and results, each counted once
  double flops = 0;                              // of the calls with a formula
  double flops_ns = 0;    // time of the calls with a formula, on the device's clock where there is one
  double device_ns = 0;   // on the device's own clock
  int64_t fallbacks = 0;  // calls that ran on the CPU because the device has no kernel
  std::string formula;    // of an op: the formula of its FLOPs; "" when it has none

  double self() const { return self_ns[0] + self_ns[1] + self_ns[2]; }
  double flops_per_second() const { return flops_ns > 0 ? flops / flops_ns * 1e9 : 0; }
};

// One call of an operation.
struct ProfileSpan {
  uint32_t op = 0, module = 0;  // indices into StepProfile::names
  SourcePlace place;
  std::string shape;  // of the first result
  ProfilePhase phase = ProfilePhase::forward;
  uint8_t depth = 0;  // number of enclosing ops
  bool fell_back = false;
  double start_ns = 0, length_ns = 0;  // from the step's start
};

// Work outside of the script's thread: a thread of the pool, a data loader's worker, a device.
enum class Worker : uint8_t { pool, loader, device };
struct ProfileLane {
  std::string name;  // "pool 1", "loader 1", "vulkan"
  Worker kind = Worker::pool;
  struct Block {
    double start_ns, length_ns;  // from the step's start
    int32_t span;                // index into StepProfile::spans of the call that caused the work; -1: none
    uint32_t kernel;             // for a device: the kernel's name, interned (trace.h); else 0
  };
  std::vector<Block> blocks;  // ordered by start; they do not overlap
  double busy_ns = 0;
};

inline constexpr const char* kWaiting = "waiting for the device";  // label of StepProfile::waits

const char* work_name(Worker);  // label of work that belongs to no call: "loop", "batch", "copy"

struct MemorySample {
  double at_ns = 0;
  std::array<double, kMemoryParts> bytes{};
  double sum() const;
};

// One measured step.
struct StepProfile {
  int64_t step = 0;
  double begin_ns = 0;   // since measuring began
  double length_ns = 0;  // = forward + backward + optimizer + waiting + script
  double forward_ns = 0, backward_ns = 0, optimizer_ns = 0;  // backward includes walk_ns
  double walk_ns = 0;                                        // of backward: the time between ops
  double waiting_ns = 0;                                     // waits for device values, between ops
  double script_ns = 0;                                      // Lua and everything else that is not an op
  struct Stretch {
    double start_ns, length_ns;
  };
  std::vector<Stretch> passes, waits;  // backward passes; waits for the device
  std::vector<std::string> names;
  std::vector<ProfileSpan> spans;  // ordered by the time at which they ended
  int64_t more_spans = 0;          // calls that the timeline leaves out; the tables count them
  std::vector<ProfileLane> lanes;  // other threads and the device
  std::vector<MemorySample> memory;
  size_t peak = 0;  // index of the sample with the largest sum
  std::vector<ProfileRow> ops, lines, modules;
};

struct ProfileTables {
  int64_t steps = 0;
  double length_ns = 0, forward_ns = 0, backward_ns = 0, walk_ns = 0, optimizer_ns = 0, waiting_ns = 0,
         script_ns = 0;
  std::vector<ProfileRow> ops, lines, modules;  // by their own time, largest first
};

struct ProfileFallback {
  std::string op, reason;
  int64_t calls = 0;
};

struct ProfileView {
  int64_t measured = 0, passed_over = 0;  // steps; some are skipped, to limit the cost
  std::string device;
  ProfileTables all;                                      // since reset_profile()
  std::vector<std::shared_ptr<const StepProfile>> steps;  // the last few, oldest first
  std::vector<ProfileFallback> fallbacks;
};

// The sum of the tables of several steps.
ProfileTables merge_profiles(std::span<const std::shared_ptr<const StepProfile>>);
void add_profile(ProfileTables&, const StepProfile&);
void sort_profile(ProfileTables&);

// The steps as Chrome trace events (JSON), which Perfetto reads: https://ui.perfetto.dev.
// The ranks of a run are further processes.
std::string trace_json(const ProfileView&, const RankProfile* ranks = nullptr);

}  // namespace lunagrad
