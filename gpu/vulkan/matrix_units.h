#pragma once
// Matrix units: VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16. The Vulkan headers of Debian 12 are
// older, so the declarations are repeated in matrix_units.cpp with the numbers of the Vulkan registry.
#include <volk.h>

#include <span>
#include <vector>

namespace lunagrad::gpu {

// Cooperative matrices: a subgroup multiplies kSide x kSide by kSide x kSide elements and accumulates in f32.
struct MatrixUnits {
  static constexpr uint32_t kSide = 16;
  bool float16 = false, bfloat16 = false;
};

// Returns the device's matrix units, if they support the shape that the shaders use.
MatrixUnits find_matrix_units(VkInstance, VkPhysicalDevice);

// Enables `units` when a device is created: add extensions() to its extensions and head() to the chain of
// feature structures. Must live until vkCreateDevice() has returned.
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
