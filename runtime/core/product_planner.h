#pragma once
// How a device divides the work of a matrix product. A Device whose plan can be chosen also implements
// ProductPlanner; `lunagrad bench --tune` measures the possible plans. Functions lock shared data.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad {

// The tile of the result that a workgroup computes, and the number of parts of split-K: the terms of each
// part are summed separately.
struct ProductPlan {
  uint32_t rows = 0, columns = 0, parts = 1;
  bool operator==(const ProductPlan&) const = default;
};

// Calls are matmul calls on tensors of the device. The context's matmul_precision applies.
class ProductPlanner {
 public:
  virtual ~ProductPlanner() = default;
  // Plans worth measuring, the device's own choice first. Empty: the kernels do not support the operands'
  // layout.
  virtual std::vector<ProductPlan> possible_plans(const Call&) = 0;
  // The plan that a product such as this call uses now. Requires that possible_plans() is not empty.
  virtual ProductPlan plan_of(const Call&) = 0;
  // Sets the plan for products of equal sizes, layouts and dtypes. The plan is one of possible_plans(); null:
  // the device's own choice.
  virtual void set_plan(const Call&, const ProductPlan*) = 0;
  // Writes the chosen plans to disk. Returns the path, or an empty text when they cannot be stored.
  virtual std::string keep_plans() = 0;
  virtual bool computes_on_cpu() const = 0;  // a software driver, which is slow at large products
  // Measures the rates of the device, keeps them on disk, and uses them from then on for products without a
  // plan. Takes seconds. Returns the result in words.
  virtual std::string measure_rates() = 0;
};

}  // namespace lunagrad
