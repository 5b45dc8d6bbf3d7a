// `lunagrad bench`: times the workloads of lua/lunagrad/bench, every operation, or a GPU's matrix products.
#include <memory>

#include "script/cli/base/runner.h"
#include "script/cli/bench/ops.h"
#include "script/cli/command/all.h"
#include "script/cli/command/tune.h"

namespace lunagrad {
namespace {

struct BenchRequest {
  std::vector<std::string> names;
  BenchOptions ops;
  std::string dtype, device;
  bool every_op = false, tune = false;
};

int bench(BenchRequest request) {
  if (!request.dtype.empty()) request.ops.dtype = request.dtype;
  if (request.every_op) return bench_ops(request.names, request.ops);
  if (request.tune) return tune_products(request.device);
  RunRequest workloads;
  workloads.options.device = request.device;
  return run_code("require('lunagrad.bench').run{...}", request.names, workloads);
}

}  // namespace

Action add_bench(Program& program) {
  const auto request = std::make_shared<BenchRequest>();
  CLI::App& command =
      add_command(program, "bench", "measure workloads, all or those named; with --ops every operation");
  add_arguments(command, "workloads", request->names, "names of workloads, or of operations after --ops");
  add_flag(command, "--ops", request->every_op, "the speed of each operation compared with memcpy");
  add_option(command, "--size", request->ops.size, {1024, int64_t(1) << 30},
             "number of elements of the operands (default 2^24)");
  add_option(command, "--dtype", request->dtype, "dtype of the operands (default f32)");
  add_list(command, "--threads", request->ops.threads, {1, 256}, "thread counts (default 1 and all)");
  add_option(command, "--device", request->device, "run the GPU workloads, or --tune, on this device");
  add_flag(command, "--tune", request->tune,
           "find the fastest plans for a GPU's matrix products and keep them");
  add_flag(command, "--json", request->ops.json, "one JSON object per line");
  for (const char* name : {"--size", "--dtype", "--threads", "--json"}) add_need(command, name, "--ops");
  add_exclusion(command, "--device", "--ops");
  add_exclusion(command, "--tune", "--ops");
  add_exclusion(command, "--tune", "workloads");
  return [=] { return bench(*request); };
}

}  // namespace lunagrad
