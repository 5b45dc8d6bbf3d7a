#pragma once
// A parameter of a sweep and its values: the points of a grid, or values drawn for each trial. Pure; any
// thread. Errors in the texts are of kind value.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad::sweep {

struct Axis {
  std::string name;
  std::string given;                // the text after "name="
  bool grid = false;                // all combinations of grids are tried; otherwise each trial draws a value
  std::vector<std::string> values;  // values of a grid, or choices of a draw; empty: numbers are drawn
  double low = 0, high = 0;         // bounds of drawn numbers, both included
  bool log = false;                 // the logarithm of drawn numbers is uniform
  bool integer = false;
};

// "width=8,32,128" or "depth=1..4" (whole numbers).
Axis parse_grid(const std::string& text);
// "dropout=0..0.5", "lr=1e-5..1e-1:log", "width=8..256:int", "width=8..256:log:int", "optimizer=sgd,adam".
Axis parse_random(const std::string& text);

// The value that a trial draws, as text. It depends only on the seed, the trial and the axis' name, so that
// adding an axis changes no other values. Real numbers have six significant digits.
std::string draw(const Axis&, uint64_t seed, uint64_t trial);

}  // namespace lunagrad::sweep
