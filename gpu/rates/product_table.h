#pragma once
// The fastest plans of matrix products, measured by `lunagrad bench --tune`. They take precedence over the
// cost model's plans (gpu/ops/products/product.h). A file keeps them for the device, its driver and the
// measured shaders. Guarded by the device's lock.
#include <compare>
#include <map>
#include <string>

#include "gpu/vulkan/device_file.h"
#include "runtime/core/dtype.h"
#include "runtime/core/product_planner.h"

namespace lunagrad::gpu {

// The products that share a plan: those with equal sizes, types and layouts.
struct ProductKey {
  int64_t m = 1, n = 1, k = 1, batch = 1;
  DType type = DType::f32;
  bool units = false;                               // on matrix units, else in f32 arithmetic
  bool a_column_major = false, b_row_major = true;  // false: elements along k are adjacent
  auto operator<=>(const ProductKey&) const = default;
};

class ProductTable {
 public:
  explicit ProductTable(const VkPhysicalDeviceProperties&);  // loads the file

  const ProductPlan* find(const ProductKey&) const;  // null if there is none
  void set(const ProductKey&, const ProductPlan&);
  void erase(const ProductKey&);
  size_t size() const { return plans_.size(); }
  // "12 measured plans (1a2b3c4d)", with a checksum of the table; empty if there are none.
  std::string description() const;

  bool save() const noexcept;  // replaces the file
  const std::string& path() const { return file_.path(); }

 private:
  std::string content() const;

  DeviceFile file_;
  std::map<ProductKey, ProductPlan> plans_;
};

}  // namespace lunagrad::gpu
