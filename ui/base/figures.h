#pragma once
// Times, bytes and counts as short text with a unit. Pure; any thread.
#include <cstdint>
#include <string>

namespace lunagrad {

std::string duration_figure(double ns);            // "1.25 ms": three digits
std::string bytes_figure(double bytes);            // "3.0 MiB"
std::string rate_figure(double flops_per_second);  // "12.5 GFLOP/s"
std::string count_figure(int64_t count);           // "12,345"

}  // namespace lunagrad
