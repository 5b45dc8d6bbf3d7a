#pragma once
// Matrix units: VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16, which are younger than the Vulkan
// headers that this is built with. What is needed of them is declared here, by the registry's numbers.
#include <span>
#include <vector>

#include "gpu/context.h"

namespace lunagrad::gpu {

MatrixUnits find_matrix_units(VkInstance, VkPhysicalDevice);

// Asks for `units` when a device is made: extensions() are enabled and head() stands in the chain of
// features.
class MatrixUnitsRequest {
 public:
  explicit MatrixUnitsRequest(MatrixUnits units);
  MatrixUnitsRequest(const MatrixUnitsRequest&) = delete;
  std::span<const char* const> extensions() const { return extensions_; }
  void* head() { return head_; }

 private:
  struct Features {
    VkStructureType type;
    void* next;
    VkBool32 flags[3];
  };
  Features matrices_{}, bfloats_{};
  std::vector<const char*> extensions_;
  void* head_ = nullptr;
};

}  // namespace lunagrad::gpu
