#include "script/cli/bench/ops.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/core/dtype_names.h"
#include "runtime/core/trace.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "script/cli/base/progress.h"
#include "script/cli/bench/rows.h"

namespace lunagrad {
namespace {

constexpr double kContiguousGoal = 0.7, kTransposedGoal = 0.3;  // fractions of the speed of memcpy
// Elements of operands that fit the cache, to time an op without memory traffic.
constexpr int64_t kInCache = 1 << 14;
constexpr int kExitUsage = 2;

// Seconds. One thread is timed by its processor time, which other programs do not affect; several threads are
// timed by wall-clock time.
double now() {
  timespec time;
  clock_gettime(thread_count() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

template <class F>
double time_of(F&& f) {
  const double start = now();
  f();
  return now() - start;
}

// Copies `elements` f32 elements by memcpy, split over the threads: the reference for the speed of ops.
class Memcpy {
 public:
  explicit Memcpy(int64_t elements) : from_(full({elements}, 1.0)), to_(full({elements}, 0.0)) {}

  void operator()() const {
    char *to = static_cast<char*>(to_.raw()), *from = static_cast<char*>(from_.raw());
    parallel_for(int64_t(from_.nbytes()), 1 << 20, [&](int64_t begin, int64_t end) {
      std::memcpy(to + begin, from + begin, size_t(end - begin));
    });
  }
  double bytes() const { return 2 * double(from_.nbytes()); }  // bytes read and written

 private:
  Tensor from_, to_;
};

// The best times of an op and of a copy, in seconds. They are called alternately, so that both see the same
// load, at least three times and until `budget` seconds are spent, but not after a whole second.
struct Times {
  double op = INFINITY, copy = INFINITY;
};
template <class F>
Times best_times(F&& f, const Memcpy* copy, double budget) {
  f();
  Times best;
  double spent = 0;
  for (int i = 0; i < 1000 && (i < 3 || spent < budget) && spent < 1; ++i) {
    const double took = time_of(f);
    best.op = std::min(best.op, took);
    spent += took;
    if (copy) best.copy = std::min(best.copy, time_of(*copy));
  }
  return best;
}

// A row with its operands, ready to run.
class Bench {
 public:
  Bench(const BenchRow& row, DType dtype, bool transposed) : call_(bench_call(row, dtype, transposed)) {}

  void operator()() {
    Call call = call_;
    run(call);
    outputs_ = std::move(call.out);
  }

  // Counts the ops that a call runs and their FLOPs. A composition runs several ops. Views are not counted.
  struct Count : Trace {
    int operations = 0;
    double flops = 0;
    void ran(const Call& call, uint64_t) override {
      operations += call.aliases == 0;
      flops += call_flops(call);
    }
    void fell_back(const Call&, const char*) override {}
  };
  Count count() {
    Count count;
    context().trace = &count;
    (*this)();
    context().trace = nullptr;
    return count;
  }

  // Bytes of the operands and results of the last call, without the intermediate values of a composition.
  double bytes() const {
    Call done = call_;
    done.out = outputs_;
    return call_bytes(done);
  }
  double elements() const {
    int64_t most = 1;
    for (const Operands* tensors : {&call_.in, &outputs_})
      for (const Tensor& x : *tensors) most = std::max(most, x.defined() ? x.numel() : 0);
    return double(most);
  }

 private:
  Call call_;
  Operands outputs_;
};

bool can_be_transposed(const BenchRow& row) {
  return std::any_of(row.inputs.begin(), row.inputs.end(),
                     [](const BenchInput& x) { return x.shape.size() >= 2; });
}

struct Result {
  const BenchRow* row;
  int threads;
  bool transposed;
  double seconds, bytes, elements;
  double share = 0;     // fraction of memcpy's bytes per second
  double in_cache = 0;  // seconds per element on one thread; 0: not measured
  int operations = 1;   // ops that the call runs
  double flops = 0;

  bool counts_flops() const { return row->scale == BenchScale::arithmetic; }
  double bytes_per_second() const { return bytes / seconds; }
  bool falls_short() const {
    return !counts_flops() && share < (transposed ? kTransposedGoal : kContiguousGoal);
  }
};

// Times one row; empty if the op does not support the dtype.
std::optional<Result> measure(const BenchRow& row, DType dtype, int threads, bool transposed,
                              const Memcpy* copy, double budget) {
  try {
    set_thread_count(threads);
    Bench bench(row, dtype, transposed);
    const Times times = best_times(bench, copy, budget);
    Result result{&row, threads, transposed, times.op, bench.bytes(), bench.elements()};
    const Bench::Count count = bench.count();
    result.operations = count.operations;
    result.flops = count.flops;
    if (copy) result.share = result.bytes_per_second() / (copy->bytes() / times.copy);
    return result;
  } catch (const Error&) {
    return {};
  }
}

std::string formatted(const char* format, auto... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

// Why an op is slower than memcpy: its row's note, or a cause derived from its times.
std::string reason(const Result& r) {
  if (!r.row->note.empty()) return r.row->note;
  const double each = r.seconds / r.elements * r.threads, memory = each * r.share;
  const std::string cause = r.operations > 1          ? text("a composition of ", r.operations, " operations")
                            : r.in_cache > 0.7 * each ? "compute-bound"
                            : r.transposed            ? "reads columns"
                            : r.in_cache + memory > 0.8 * each ? "arithmetic and memory add up"
                                                               : "passes through memory more than once";
  return cause + formatted(": %.2f ns per element and thread, %.2f in the cache, %.2f for memcpy", each * 1e9,
                           r.in_cache * 1e9, memory * 1e9);
}

std::string cell(const Result& r) {
  if (r.counts_flops()) return formatted(" %8.1f GFLOP/s", r.flops / r.seconds / 1e9);
  return formatted(" %9.1f (%3.0f %%)", r.bytes_per_second() / 1e9, 100 * r.share);
}

nlohmann::json as_json(const Result& r) {
  nlohmann::json line{{"op", r.row->op->name},
                      {"variant", r.row->variant},
                      {"threads", r.threads},
                      {"layout", r.transposed ? "transposed" : "contiguous"},
                      {"seconds", r.seconds}};
  if (r.counts_flops()) {
    line["gflop_per_s"] = r.flops / r.seconds / 1e9;
  } else {
    line["gb_per_s"] = r.bytes_per_second() / 1e9;
    line["share_of_memcpy"] = r.share;
    if (r.falls_short()) line["reason"] = reason(r);
  }
  return line;
}

void print_memcpy(const Memcpy& copy, const std::vector<int>& threads, double budget, bool json) {
  std::string head = formatted("%-40s", "GB/s (share of memcpy)"), line = formatted("%-40s", "memcpy");
  for (const int count : threads) {
    set_thread_count(count);
    const double speed = copy.bytes() / best_times(copy, nullptr, budget).op / 1e9;
    if (json)
      std::cout << nlohmann::json{{"op", "memcpy"}, {"threads", count}, {"gb_per_s", speed}}.dump() << "\n";
    head += formatted(" %16s %16s", text(count, " thread", count > 1 ? "s" : "").c_str(), "transposed");
    line += formatted(" %9.1f        %16s", speed, "");
  }
  if (!json) std::cout << head << "\n" << line << "\n";
}

void print_short(const std::vector<Result>& short_ones) {
  if (short_ones.empty()) return;
  std::cout << formatted("\nBelow %.0f %% of memcpy, or %.0f %% transposed:\n", 100 * kContiguousGoal,
                         100 * kTransposedGoal);
  for (const Result& r : short_ones)
    std::cout << formatted("  %-38s %d %-10s %3.0f %%  ", r.row->name().c_str(), r.threads,
                           r.transposed ? "transposed" : "", 100 * r.share)
              << reason(r) << "\n";
}

}  // namespace

int bench_ops(const std::vector<std::string>& names, const BenchOptions& options) {
  const std::optional<DType> dtype = dtype_from_name(options.dtype);
  if (!dtype) {
    std::cerr << "lunagrad bench: unknown dtype '" << options.dtype << "'\n";
    return kExitUsage;
  }
  for (const std::string& name : names)
    if (!find_op(name)) {
      std::cerr << "lunagrad bench: no op is called '" << name << "'\n";
      return kExitUsage;
    }
  Context own;
  const UseContext use(own);
  const NoGrad off;
  const int all_threads = thread_count();
  std::vector<int> threads = options.threads;
  if (threads.empty()) threads = all_threads > 1 ? std::vector<int>{1, all_threads} : std::vector<int>{1};

  const std::vector<BenchRow> rows = bench_rows(options.size), small_rows = bench_rows(kInCache);
  const auto wanted = [&](const BenchRow& row) {
    return names.empty() || std::find(names.begin(), names.end(), row.op->name) != names.end();
  };
  const double budget = std::min(0.1, double(options.size) * 1e-8);
  const Memcpy copy(options.size);
  print_memcpy(copy, threads, 5 * budget, options.json);
  std::vector<Result> short_ones;
  for (size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& row = rows[i];
    if (!wanted(row)) continue;
    show_count(i, rows.size(), row.name());
    std::string line = formatted("%-40s", row.name().c_str());
    for (const int count : threads)
      for (const bool transposed : {false, true}) {
        std::optional<Result> result;
        if (!transposed || can_be_transposed(row))
          result = measure(row, *dtype, count, transposed, &copy, budget);
        line += result ? cell(*result) : formatted(" %16s", "");
        if (!result) continue;
        if (result->falls_short()) {
          if (const auto small = measure(small_rows[i], *dtype, 1, transposed, nullptr, budget / 10))
            result->in_cache = small->seconds / small->elements;
          short_ones.push_back(*result);
        }
        if (options.json) std::cout << as_json(*result).dump() << std::endl;
      }
    show_count(rows.size(), rows.size(), "");
    if (!options.json) std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << std::endl;
  }
  set_thread_count(all_threads);
  if (options.json) return 0;
  print_short(short_ones);
  const std::vector<const Op*> without = ops_without_bench(rows);
  if (names.empty() && !without.empty()) {
    std::cout << "\nNot measured:";
    for (const Op* op : without) std::cout << " " << op->name;
    std::cout << "\n";
  }
  return 0;
}

}  // namespace lunagrad
