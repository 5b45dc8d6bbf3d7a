#pragma once
// The plans of matrix products that were found best by measuring (`lunagrad bench --tune`), which go before
// the model's (kernels/product.h). Kept on disk for each device and driver, and for the shaders that were
// measured. Guarded by the device's lock.
#include <compare>
#include <map>
#include <string>

#include "gpu/device_file.h"
#include "runtime/dtype.h"
#include "runtime/product_planner.h"

namespace lunagrad::gpu {

// What products have in common that a plan is good for.
struct ProductKey {
  int64_t m = 1, n = 1, k = 1, batch = 1;
  DType type = DType::f32;
  uint32_t planes = 0;  // 0: f32 arithmetic, else numbers of 16 bits for each element
  bool a_rows_lie_close = false, b_columns_lie_close = true;  // else their elements along k
  auto operator<=>(const ProductKey&) const = default;
};

class ProductTable {
 public:
  explicit ProductTable(const VkPhysicalDeviceProperties&);  // with what is on disk

  const ProductPlan* find(const ProductKey&) const;  // null: none was set
  void set(const ProductKey&, const ProductPlan&);
  void erase(const ProductKey&);
  size_t size() const { return plans_.size(); }
  // "12 measured plans (1a2b3c4d)", which tells tables apart; empty when there are none.
  std::string description() const;

  bool save() const noexcept;  // the file is replaced as a whole
  const std::string& path() const { return file_.path(); }

 private:
  std::string content() const;

  DeviceFile file_;
  std::map<ProductKey, ProductPlan> plans_;
};

}  // namespace lunagrad::gpu
