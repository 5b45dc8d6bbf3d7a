// Numbers, durations and sizes as short text.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/core/figures.h"

using namespace lunagrad;

TEST_CASE("figures have three digits and a unit") {
  CHECK(duration_figure(12) == "12 ns");
  CHECK(duration_figure(1234) == "1.23 µs");
  CHECK(duration_figure(99960) == "100 µs");
  CHECK(duration_figure(12.34e6) == "12.3 ms");
  CHECK(duration_figure(2e9) == "2.00 s");
  CHECK(bytes_figure(1000) == "1000 B");
  CHECK(bytes_figure(3 << 20) == "3.0 MiB");
  CHECK(bytes_figure(std::ldexp(1.5, 60)) == "1.5 EiB");
  CHECK(mebibytes_figure(size_t(3) << 20) == "3.0 MiB");
  CHECK(mebibytes_figure(size_t(2) << 30) == "2048 MiB");
  CHECK(rate_figure(12.34e9) == "12.3 GFLOP/s");
  CHECK(count_figure(0) == "0");
  CHECK(count_figure(1234567) == "1,234,567");
  CHECK(count_figure(-1234) == "-1,234");
}

TEST_CASE("run times switch from seconds to minutes and hours") {
  CHECK(run_time_figure(1.25) == "1.2 s");
  CHECK(run_time_figure(125) == "2:05 min");
  CHECK(run_time_figure(3725) == "1:02 h");
  CHECK_FALSE(run_time_figure(NAN).empty());
  CHECK(clock_figure(59.9) == "0:59");
  CHECK(clock_figure(125) == "2:05");
  CHECK(clock_figure(3725) == "1:02:05");
}

TEST_CASE("numbers are formatted with the fewest digits that read back") {
  CHECK(number_figure(1.0 / 3) == "0.3333");
  CHECK(number_figure(1.0 / 3, 9) == "0.333333333");
  CHECK(general_number(0.001) == "0.001");
  CHECK(general_number(1e-7) == "1e-07");
  CHECK(general_number(3) == "3");
  CHECK(general_number(100000) == "100000");
  CHECK(shortest_number(100000) == "1e+05");
  CHECK(shortest_number(0.1) == "0.1");
}
