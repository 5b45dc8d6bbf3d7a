#pragma once
// Numbers, durations, sizes and rates as short text with a unit: the one place that formats them for people.
// Pure functions; any thread.
#include <cstdint>
#include <string>

namespace lunagrad {

std::string duration_figure(double ns);            // "1.25 ms": three digits
std::string run_time_figure(double seconds);       // "12.3 s", "2:05 min", "1:02 h"
std::string clock_figure(double seconds);          // "2:05", "1:02:05"; whole seconds, rounded down
std::string bytes_figure(double bytes);            // "512 B", "3.0 MiB"
std::string mebibytes_figure(size_t bytes);        // "3.0 MiB", "512 MiB": always this unit, to compare sizes
std::string rate_figure(double flops_per_second);  // "12.5 GFLOP/s"
std::string count_figure(int64_t count);           // "12,345"

std::string number_figure(double value, int digits = 4);  // "%.4g": significant digits
// The shortest text that reads back as the same double, never with a decimal comma. general_number() switches
// to an exponent where "%g" does ("100000"), shortest_number() where the exponent is shorter ("1e+05").
std::string shortest_number(double value);
std::string general_number(double value);

}  // namespace lunagrad
