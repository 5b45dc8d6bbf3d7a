#pragma once
// A parameter of a sweep and the values that it takes: the points of a grid, or what is drawn for each trial.
// Pure; any thread. Errors of wrong texts are of kind value.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad::sweep {

struct Axis {
  std::string name;
  std::string given;                // the text behind "name="
  bool grid = false;                // all combinations of grids are tried; else each trial draws a value
  std::vector<std::string> values;  // of a grid, or the choices of a draw; empty: numbers are drawn
  double low = 0, high = 0;         // of drawn numbers, both included
  bool log = false;                 // their logarithm is uniform
  bool integer = false;
};

// "width=8,32,128" or "depth=1..4" (whole numbers).
Axis parse_grid(const std::string& text);
// "dropout=0..0.5", "lr=1e-5..1e-1:log", "width=8..256:int", "width=8..256:log:int", "optimizer=sgd,adam".
Axis parse_random(const std::string& text);

// The value that a trial draws, as text. It depends on the seed, the trial and the axis' name alone, so that
// another axis changes nothing. Real numbers have six significant digits.
std::string draw(const Axis&, uint64_t seed, uint64_t trial);

}  // namespace lunagrad::sweep
