#include "gpu/vulkan/matrix_units.h"

#include <algorithm>
#include <cstring>

#include "gpu/vulkan/extensions.h"

namespace lunagrad::gpu {
namespace {

// Numbers of the Vulkan registry.
constexpr auto kMatrixFeatures = VkStructureType(1000506000), kMatrixProperties = VkStructureType(1000506001),
               kBfloatFeatures = VkStructureType(1000141000);
constexpr const char *kMatrixExtension = "VK_KHR_cooperative_matrix",
                     *kBfloatExtension = "VK_KHR_shader_bfloat16";
constexpr uint32_t kFloat16 = 0, kFloat32 = 1, kBfloat16 = 1000141000;  // VkComponentTypeKHR
constexpr uint32_t kSubgroupScope = 3;
struct MatrixProperties {  // VkCooperativeMatrixPropertiesKHR
  VkStructureType type;
  void* next;
  uint32_t m, n, k;
  uint32_t a, b, c, result;
  VkBool32 saturating;
  uint32_t scope;
};
using GetMatrixProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, MatrixProperties*);

}  // namespace

MatrixUnits find_matrix_units(VkInstance instance, VkPhysicalDevice device) {
  const auto get = reinterpret_cast<GetMatrixProperties>(
      vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (!get || !has_extension(device, kMatrixExtension)) return {};
  uint32_t count = 0;
  get(device, &count, nullptr);
  std::vector<MatrixProperties> list(count, MatrixProperties{.type = kMatrixProperties});
  get(device, &count, list.data());
  const auto multiplies = [&](uint32_t type) {
    return std::any_of(list.begin(), list.end(), [&](const MatrixProperties& p) {
      constexpr uint32_t kSide = MatrixUnits::kSide;
      return p.m == kSide && p.n == kSide && p.k == kSide && p.a == type && p.b == type && p.c == kFloat32 &&
             p.result == kFloat32 && p.scope == kSubgroupScope;
    });
  };
  // The shaders declare float16_t, which needs this feature.
  VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v12};
  vkGetPhysicalDeviceFeatures2(device, &features);
  if (!v12.shaderFloat16) return {};
  return {multiplies(kFloat16), multiplies(kBfloat16) && has_extension(device, kBfloatExtension)};
}

MatrixUnitsRequest::MatrixUnitsRequest(MatrixUnits units) {
  if (units.float16 || units.bfloat16) {
    matrices_ = {kMatrixFeatures, nullptr, {VK_TRUE, VK_FALSE, 0}};
    extensions_.push_back(kMatrixExtension);
    head_ = &matrices_;
  }
  if (units.bfloat16) {
    bfloats_ = {kBfloatFeatures, head_, {VK_TRUE, VK_FALSE, VK_TRUE}};
    extensions_.push_back(kBfloatExtension);
    head_ = &bfloats_;
  }
}

}  // namespace lunagrad::gpu
