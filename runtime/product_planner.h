#pragma once
// How a device shares out the work of a matrix product. One that has several ways, and can be told which to
// take, is a ProductPlanner beside being a Device; `lunagrad bench --tune` measures them. Functions lock
// where they must.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/op.h"

namespace lunagrad {

// The tile of the result that a work group computes, and in how many parts the terms are summed apart.
struct ProductPlan {
  uint32_t rows = 0, columns = 0, parts = 1;
  bool operator==(const ProductPlan&) const = default;
};

// Calls are of matmul, on tensors of the device; the context's matmul_precision counts.
class ProductPlanner {
 public:
  virtual ~ProductPlanner() = default;
  // What is worth a try, first what the device takes by itself. Empty: its kernels do not take the operands
  // as they are.
  virtual std::vector<ProductPlan> possible_plans(const Call&) = 0;
  // What such a product gets now. possible_plans() is not empty.
  virtual ProductPlan plan_of(const Call&) = 0;
  // From now on, for products of equal sizes, layouts and types: one of possible_plans(), or null for the
  // device's own.
  virtual void set_plan(const Call&, const ProductPlan*) = 0;
  // Keeps on disk what was set. The file; empty when nothing can be kept.
  virtual std::string keep_plans() = 0;
  virtual bool computes_on_cpu() const = 0;  // a driver without a GPU, to whom large products are long
  // Measures how fast the device is, uses that from then on for products without a plan, and keeps it on
  // disk. Takes seconds. The result in words.
  virtual std::string measure_rates() = 0;
};

}  // namespace lunagrad
