#include "script/cli/bench/device_ops.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <ostream>
#include <set>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/trace.h"
#include "script/cli/bench/rows.h"

namespace lunagrad {
namespace {

constexpr int64_t kElements = 1024;
constexpr std::array kTypes = {DType::f32, DType::f16, DType::bf16,    DType::f64, DType::i64,
                               DType::i32, DType::u8,  DType::boolean, DType::c64};

// Records whether an op fell back to the CPU.
struct Fallbacks : Trace {
  bool any = false;
  void ran(const Call&, uint64_t) override {}
  void fell_back(const Call&, const char*) override { any = true; }
};

// Tries the op on the device: '+' it runs there, 'c' it runs on the CPU, '.' it is not defined for the dtype.
char try_on(Device& device, const BenchRow& row, DType dtype) {
  Context own;
  own.device = &device;
  const UseContext use(own);
  const NoGrad off;
  try {
    Call call = bench_call(row, dtype);
    Fallbacks fallbacks;
    own.trace = &fallbacks;
    run(call);
    device.sync();
    return fallbacks.any ? 'c' : '+';
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory || error.kind() == ErrorKind::device) throw;
    return '.';
  }
}

// The first row of each public op, in the order of bench_rows().
std::vector<BenchRow> rows_of_ops() {
  std::vector<BenchRow> rows;
  std::set<const Op*> seen;
  for (BenchRow& row : bench_rows(kElements))
    if (!row.op->hidden() && seen.insert(row.op).second) rows.push_back(std::move(row));
  return rows;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

void print_device_ops(std::ostream& out) {
  constexpr size_t kNameWidth = 38, kTypeWidth = 5;
  const bool on_terminal = isatty(STDERR_FILENO);
  const auto all = devices();
  const std::vector<BenchRow> rows = rows_of_ops();
  std::string heads = padded("", kNameWidth),
              types = padded("+ there, c on the CPU, . no meaning", kNameWidth);
  types.resize(kNameWidth, ' ');
  for (const auto& device : all) {
    heads += padded(std::string(device->name()), kTypeWidth * kTypes.size() + 2);
    for (const DType type : kTypes) types += padded(dtype_name(type), kTypeWidth);
    types += "  ";
  }
  out << heads << '\n' << types << '\n';
  std::vector<int> native(all.size()), known(all.size());  // ops in f32, by device
  for (size_t i = 0; i < rows.size(); ++i) {
    if (on_terminal) std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", i + 1, rows.size(), rows[i].op->name);
    std::string line = padded(rows[i].op->name, kNameWidth);
    for (size_t d = 0; d < all.size(); ++d) {
      for (const DType type : kTypes) {
        const char cell = try_on(*all[d], rows[i], type);
        native[d] += type == DType::f32 && cell == '+';
        known[d] += type == DType::f32 && cell != '.';
        line += padded(std::string(1, cell), kTypeWidth);
      }
      line += "  ";
    }
    if (on_terminal) std::fputs("\r\033[K", stderr);
    out << line.substr(0, line.find_last_not_of(' ') + 1) << std::endl;
  }
  for (size_t d = 0; d < all.size(); ++d)
    out << all[d]->name() << ": " << native[d] << " of " << known[d] << " operations in f32 run there"
        << (native[d] < known[d] ? ", the others on the CPU" : "") << '\n';
}

}  // namespace lunagrad
