#pragma once
// The engine at the ends of its types: tests/reference/ends/*.json, which tests/reference/generate_ends.py
// makes and documents, against a device. What may differ is in tests/reference/ends/differences.json.
#include <set>
#include <string>
#include <vector>

#include "runtime/core/device.h"

namespace lunagrad::tests {

// An element with a wrong value.
struct EndsDifference {
  std::string call;      // "hypot f32 0": the op, the type, and the number of its case in that type
  std::string at;        // "output 0" or "gradient 1"
  std::string operands;  // of that element, where they have its shape; else the parameters
  size_t element = 0;
  double got = 0, exact = 0;
  std::string error;  // of the call as a whole
};

struct EndsReport {
  size_t cases = 0, elements = 0;
  std::set<std::string> ops;
  std::vector<EndsDifference> differences;  // that the table does not have
  std::vector<std::string>
      unused;  // rows of the table that do not differ any more on that device, or have no reason
};

// Every `apart`-th case of each file on the device. A device without f64 skips the cases of f64; one without
// subnormal numbers skips elements with a subnormal operand or result, or one near them. With
// LUNAGRAD_TEST_ALL=1 rows of the table that do not differ any more are reported. With
// LUNAGRAD_ENDS_TABLE=FILE all differences are written there, for tests/reference/ends/table.py.
EndsReport compare_ends(const std::string& source, Device&, size_t apart, bool has_f64, bool has_subnormals);

// Describes the report's differences: one line each, which can be copied to the table.
std::string describe(const EndsReport&);

// Public ops that have no case and are not in left_out.json, and superfluous names there.
std::vector<std::string> ops_without_ends(const std::string& source, const std::set<std::string>& covered);

}  // namespace lunagrad::tests
