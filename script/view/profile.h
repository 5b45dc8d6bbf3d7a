#pragma once
// What a viewer sees of where a script's time and memory go. Immutable once made; any thread may read it.
//
// Times are of the script's thread: an operation of a device that works on its own (Vulkan) counts from the
// call until it is handed over. What the device itself needed for it is told beside that where it has a
// clock, and so is what other threads did: the lanes. A step that is measured ends when the device has done
// its work. Time within a pause, or for what the window asks, is left out.
//
// Memory is that of the default device. The sum at each point is what its allocator says; the parts are told
// by:
//   weights    tensors at the ends of the tape: what wants a gradient and was made by no operation
//   gradients  what these hold in .grad, from the moment when the walk adds it
//   saved      what operations of this step made and the tape holds for backward, until the walk lets go of
//   it optimizer  what an optimizer's step reads and writes beside parameters and gradients held       the
//   rest, where it is least: data sets, buffers, what the script keeps from step to step temporary  what is
//   there beside all these
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

enum class ProfilePhase : uint8_t { forward, backward, optimizer };
inline constexpr size_t kProfilePhases = 3;
const char* profile_phase_name(ProfilePhase);

enum class MemoryPart : uint8_t { weights, optimizer, gradients, saved, held, temporary };
inline constexpr size_t kMemoryParts = 6;
const char* memory_part_name(MemoryPart);

// A line of one of the tables: an operation, a source line, or a module.
struct ProfileRow {
  std::string name;   // "matmul", "train.lua:12", "net.fc1"; "" for what runs outside of modules
  SourcePlace place;  // of a source line
  int64_t calls = 0;
  std::array<double, kProfilePhases> self_ns{};  // without the operations that it calls
  double total_ns = 0;                           // with them; of a module with the modules inside
  double bytes = 0;                              // of operands and results, once each
  double flops = 0;                              // of the calls that have a formula
  double flops_ns = 0;                           // the time of those, the device's where it is known
  double device_ns = 0;                          // that a device needed for its calls, beside the script
  int64_t fallbacks = 0;                         // calls that ran on the CPU since the device lacks them
  std::string formula;  // of an operation: how its FLOP are counted, "" when they are not

  double self() const { return self_ns[0] + self_ns[1] + self_ns[2]; }
  double flops_per_second() const { return flops_ns > 0 ? flops / flops_ns * 1e9 : 0; }
};

// One call of an operation.
struct ProfileSpan {
  uint32_t op = 0, module = 0;  // of StepProfile::names
  SourcePlace place;
  std::string shape;  // of its first result
  ProfilePhase phase = ProfilePhase::forward;
  uint8_t depth = 0;  // how many operations it was called from
  bool fell_back = false;
  double start_ns = 0, length_ns = 0;  // from the step's start
};

// What else worked in a step: a thread of the pool, a worker of a data loader, a device.
enum class Worker : uint8_t { pool, loader, device };
struct ProfileLane {
  std::string name;  // "pool 1", "loader 1", "vulkan"
  Worker kind = Worker::pool;
  struct Block {
    double start_ns, length_ns;  // from the step's start
    int32_t span;                // the one of StepProfile::spans that it worked for, -1: none
    uint32_t kernel;             // of a device: what ran, interned (trace.h); else 0
  };
  std::vector<Block> blocks;  // by start; they do not overlap
  double busy_ns = 0;
};

inline constexpr const char* kWaiting = "waiting for the device";  // how a viewer names it

const char* work_name(Worker);  // of what was done for no call: "copy", "batch"

struct MemorySample {
  double at_ns = 0;
  std::array<double, kMemoryParts> bytes{};
  double sum() const;
};

// One step that was measured.
struct StepProfile {
  int64_t step = 0;
  double begin_ns = 0;   // since measuring began
  double length_ns = 0;  // = forward + backward + optimizer + waiting + script
  double forward_ns = 0, backward_ns = 0, optimizer_ns = 0;  // backward with the walk itself
  double walk_ns = 0;                                        // of backward: the walk without operations
  double waiting_ns = 0;  // between operations, until the device has a value
  double script_ns = 0;   // Lua, and all that is no operation
  struct Stretch {
    double start_ns, length_ns;
  };
  std::vector<Stretch> passes, waits;  // of backward; for the device
  std::vector<std::string> names;
  std::vector<ProfileSpan> spans;  // by the time at which they ended
  int64_t more_spans = 0;          // that the timeline leaves out; the tables have them
  std::vector<ProfileLane> lanes;  // beside the script's thread
  std::vector<MemorySample> memory;
  size_t peak = 0;  // of the samples, the one with the largest sum
  std::vector<ProfileRow> ops, lines, modules;
};

struct ProfileTables {
  int64_t steps = 0;
  double length_ns = 0, forward_ns = 0, backward_ns = 0, walk_ns = 0, optimizer_ns = 0, waiting_ns = 0,
         script_ns = 0;
  std::vector<ProfileRow> ops, lines, modules;  // those with most time of their own first
};

struct ProfileFallback {
  std::string op, reason;
  int64_t calls = 0;
};

struct ProfileView {
  int64_t measured = 0, passed_over = 0;  // steps; some are passed over so that measuring costs little
  std::string device;
  ProfileTables all;                                      // since the reset
  std::vector<std::shared_ptr<const StepProfile>> steps;  // the last few, the latest at the end
  std::vector<ProfileFallback> fallbacks;
};

// The tables of some steps together.
ProfileTables merge_profiles(std::span<const std::shared_ptr<const StepProfile>>);
void add_profile(ProfileTables&, const StepProfile&);
void sort_profile(ProfileTables&);

// The steps as Chrome's trace events, which Perfetto reads: https://ui.perfetto.dev.
std::string trace_json(const ProfileView&);

}  // namespace lunagrad
