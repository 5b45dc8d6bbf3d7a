#pragma once
// Two checks of one node of a tape, made by running its call again: whether its gradient is correct, and
// whether two devices compute the same result. Plain values; any thread may hold a copy.
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace lunagrad {

// The gradient of the call in f64, contracted with fixed weights, against central differences.
struct GradientCheck {
  struct Input {
    std::string name;
    std::vector<int64_t> shape;
    int64_t count = 0, checked = 0;  // elements; of a large input a subset is checked
    int64_t kinks = 0;  // checked elements where the function has no derivative: any value between the two
                        // one-sided slopes is correct
    bool ok = true;
    double worst = 0;         // largest error, relative to max(1, the largest difference quotient)
    std::vector<int64_t> at;  // its index, from 0
    double gradient = 0, difference = 0;
    bool imaginary = false;  // the imaginary part of that element is meant
  };
  bool ran = false;
  std::string reason;  // why it could not be checked
  bool ok = false;
  double tolerance = 1e-6;
  std::vector<Input> inputs;
  double seconds = 0;
};

struct DeviceComparison {
  struct Output {
    std::string name;
    std::vector<int64_t> shape;
    std::string dtype;
    double largest = 0;       // |cpu - other|; infinite where only one of them is NaN
    double relative = 0;      // relative to the largest magnitude of the output
    std::vector<int64_t> at;  // index of the largest, from 0
    double cpu = 0, other = 0;
    int64_t different = 0, count = 0;  // elements
    int64_t cell_rows = 0, cell_columns = 0;
    std::vector<double>
        errors;  // a map of the output, one row per row of its last dim: the largest error of each cell
  };
  bool ran = false;
  std::string reason;  // why not: "no Vulkan device: …"
  std::string device;  // the other one
  std::vector<Output> outputs;
  double cpu_seconds = 0, other_seconds = 0;
};

}  // namespace lunagrad
