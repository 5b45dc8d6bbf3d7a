#pragma once
// Two checks of one node of a tape, which run its call again: whether its gradient is correct, and whether
// two devices compute the same result. Plain values; any thread may hold a copy.
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace lunagrad {

// Compares the gradients of the call with central differences, in f64. The loss is the sum of the outputs'
// elements, with fixed weights.
struct GradientCheck {
  struct Input {
    std::string name;
    std::vector<int64_t> shape;
    int64_t count = 0, checked = 0;  // elements; of a large input a subset is checked
    // Checked elements without a derivative: any value between the two one-sided slopes is correct.
    int64_t kinks = 0;
    bool ok = true;
    double worst = 0;         // largest error, relative to max(1, the largest difference quotient)
    std::vector<int64_t> at;  // index of that element, from 0
    double gradient = 0, difference = 0;
    bool imaginary = false;  // `gradient` and `difference` are for the imaginary part
  };
  bool ran = false;
  std::string reason;  // why it could not be checked
  bool ok = false;
  double tolerance = 1e-6;
  std::vector<Input> inputs;
  double seconds = 0;
};

// Compares the outputs of the call on the CPU with its outputs on another device.
struct DeviceComparison {
  struct Output {
    std::string name;
    std::vector<int64_t> shape;
    std::string dtype;
    double largest = 0;       // largest |cpu - other|; infinite when only one of them is NaN
    double relative = 0;      // relative to the largest magnitude of the output
    std::vector<int64_t> at;  // index of the element with the largest difference, from 0
    double cpu = 0, other = 0;
    int64_t different = 0, count = 0;  // elements
    int64_t cell_rows = 0, cell_columns = 0;
    // The largest error in each cell of a map of the output, row-major. The columns lie along the last dim.
    std::vector<double> errors;
  };
  bool ran = false;
  std::string reason;  // why it did not run: "no Vulkan device: …"
  std::string device;  // the other device: name and description
  std::vector<Output> outputs;
  double cpu_seconds = 0, other_seconds = 0;
};

}  // namespace lunagrad
