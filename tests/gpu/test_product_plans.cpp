// The plans of matrix products: each gives the correct product, and measured ones are saved, loaded and used.
#include <fstream>
#include <utility>

#include "gpu/device/device.h"
#include "gpu/ops/products/product.h"
#include "gpu/rates/device_rates.h"
#include "gpu/rates/product_table.h"
#include "runtime/core/product_planner.h"
#include "runtime/io/atomic_file.h"
#include "tests/gpu/cache_home.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/hardware.h"
#include "tests/support/files.h"

namespace lunagrad::tests {
namespace {

Call matmul_of(const Tensor& a, const Tensor& b) {
  Call call;
  call.op = find_op("matmul");
  call.in = {a, b};
  return call;
}

// A new device, which loads its files.
class Opened {
 public:
  explicit Opened(uint32_t processors = 0) {
    if (processors > 0) hardware_.physical.processors = processors;
    device_.emplace("vulkan:9", hardware_.instance, hardware_.physical);
  }
  const gpu::PhysicalDevice& physical() const { return hardware_.physical; }
  gpu::VulkanDevice& operator*() { return *device_; }
  gpu::VulkanDevice* operator->() { return &*device_; }

 private:
  Hardware hardware_ = first_hardware();
  std::optional<gpu::VulkanDevice> device_;
};

TEST_CASE("a product is correct with every possible plan") {
  const NoGrad off;
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  Opened device;
  struct Case {
    Shape a, b;
    bool left, right;  // transposed in memory
  };
  const Shape odd{130, 300}, even{128, 512}, even_b{512, 128};
  for (const auto& [a_shape, b_shape, left, right] :
       {Case{odd, {300, 134}, false, false}, Case{odd, {300, 134}, true, true},
        Case{even, even_b, false, true}, Case{even, even_b, true, false},
        Case{{2, 70, 260}, {2, 260, 20}, false, false}}) {
    const Tensor a = random(a_shape, 1), b = random(b_shape, 2);
    const auto placed = [&](const Tensor& x, bool turned) {
      return turned ? transpose(to(clone(transpose(x, -1, -2)), *device), -1, -2) : to(x, *device);
    };
    const Call call = matmul_of(placed(a, left), placed(b, right));
    const Tensor exact = matmul(to(a, DType::f64), to(b, DType::f64));
    const std::vector<ProductPlan> plans = device->possible_plans(call);
    CHECK(plans.size() >= 4);
    CHECK(device->plan_of(call) == plans.front());
    for (const ProductPlan& plan : plans) {
      device->set_plan(call, &plan);
      CHECK(device->plan_of(call) == plan);
      CHECK_MESSAGE(distance(matmul(call.in[0], call.in[1]), exact) < 2e-6,
                    text(a_shape, " and ", b_shape)
                        << " in tiles of " << plan.rows << " x " << plan.columns << ", " << plan.parts
                        << " parts, transposed: " << left << right);
    }
    device->set_plan(call, nullptr);
    CHECK(device->plan_of(call) == plans.front());
  }
}

TEST_CASE("a product whose last tiles are computed in parts is correct, also at the edges of C and k") {
  const NoGrad off;
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  Opened device(2);
  const gpu::DeviceRates rates = gpu::default_rates(device.physical());
  int tails = 0;
  for (const int64_t rows : {150, 290, 420, 600, 900})
    for (const int64_t columns : {61, 64})
      for (const int64_t k : {1024, 1031})
        for (const bool ends : {false, true}) {
          const Tensor x = random({rows, k}, 1), w = random({columns, k}, 2), bias = random({columns}, 3);
          const Tensor on_device = to(x, *device), weight = to(w, *device);
          const gpu::Product p = gpu::product_of(on_device, weight, true, device.physical());
          const gpu::TiledPlan plan =
              gpu::plan_of(p, device.physical(), rates, gpu::ProductTable(device.physical().properties()));
          if (plan.parts == 1) tails += gpu::tail_of(p, *plan.tile, device.physical(), rates).parts > 1;
          const Tensor got = ends ? linear(on_device, weight, to(bias, *device), Activation::relu)
                                  : linear(on_device, weight);
          const Tensor exact =
              ends ? linear(to(x, DType::f64), to(w, DType::f64), to(bias, DType::f64), Activation::relu)
                   : linear(to(x, DType::f64), to(w, DType::f64));
          CHECK_MESSAGE(distance(got, exact) < 2e-6, rows << " x " << columns << " x " << k << ' ' << ends);
        }
  CHECK(tails > 0);
}

TEST_CASE("products of 16-bit types and of lower precision are correct with every possible plan") {
  const NoGrad off;
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  Opened device;
  struct Kind {
    DType type;
    MatmulPrecision precision;
    double bound;  // as in test_matrices.cpp
  };
  for (const auto& [type, precision, bound] : {Kind{DType::f16, MatmulPrecision::highest, 1.01 * 0x1p-11},
                                               Kind{DType::bf16, MatmulPrecision::highest, 1.01 * 0x1p-8},
                                               Kind{DType::f32, MatmulPrecision::high, 0x1p-16},
                                               Kind{DType::f32, MatmulPrecision::medium, 0x1p-7}}) {
    const MatmulPrecision before = std::exchange(context().matmul_precision, precision);
    for (const auto& [a_shape, b_shape] : {Factors{{256, 512}, {512, 384}}, Factors{{130, 264}, {264, 200}},
                                           Factors{{3, 136, 320}, {3, 320, 72}}}) {
      const Tensor a = to(random(a_shape, 1), type), b = to(random(b_shape, 2), type);
      const Call call = matmul_of(to(a, *device), to(b, *device));
      // Without matrix units 16-bit operands are converted, and the plan is the f32 product's.
      const std::vector<ProductPlan> plans = device->possible_plans(call);
      CHECK((type == DType::f32 || plans.empty() || plans.size() >= 4));
      for (const ProductPlan& plan : plans) {
        device->set_plan(call, &plan);
        CHECK_MESSAGE(product_error(matmul(call.in[0], call.in[1]), a, b) < bound,
                      text(a_shape, " and ", b_shape)
                          << " in " << int(type) << ", precision " << int(precision) << ", in tiles of "
                          << plan.rows << " x " << plan.columns << ", " << plan.parts << " parts");
      }
      device->set_plan(call, nullptr);
    }
    context().matmul_precision = before;
  }
}

TEST_CASE("the next start uses a saved plan, for its product only") {
  const NoGrad off;
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const Tensor a = random({64, 512}, 1), b = random({512, 64}, 2);
  const auto call_on = [&](Device& device) { return matmul_of(to(a, device), to(b, device)); };
  ProductPlan plan;
  std::string path, plain;
  std::vector<float> result;
  {
    Opened device;
    plain = device->description();
    const Call call = call_on(*device);
    plan = device->possible_plans(call).back();
    REQUIRE(!(plan == device->plan_of(call)));
    device->set_plan(call, &plan);
    result = matmul(call.in[0], call.in[1]).to_vector<float>();
    path = device->keep_plans();
    CHECK(path.starts_with(folder.file("cache") + "/lunagrad/products-"));
  }
  {
    Opened device;
    const Call call = call_on(*device);
    CHECK(device->plan_of(call) == plan);
    CHECK(matmul(call.in[0], call.in[1]).to_vector<float>() == result);
    CHECK(device->description().starts_with(plain + ", 1 measured plan ("));
    const Tensor turned = to(clone(transpose(b, 0, 1)), *device);
    const Call other = matmul_of(call.in[0], transpose(turned, 0, 1));
    CHECK(device->plan_of(other) == device->possible_plans(other).front());
  }
  std::string damaged = read_file(path);
  damaged.back() ^= 1;
  std::ofstream(path, std::ios::binary) << damaged;
  Opened device;
  const Call call = call_on(*device);
  CHECK(device->plan_of(call) == device->possible_plans(call).front());
  CHECK(device->description() == plain);
}

TEST_CASE("a table of plans is loaded as it was saved, and only for its device, driver and shaders") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const gpu::ProductKey plain{64, 65, 66, 2, DType::f32, false, false, true},
      turned{64, 65, 66, 2, DType::f32, 0, true, false}, half{64, 65, 66, 2, DType::f16, 1, false, true};
  gpu::ProductTable table(some_device(1));
  CHECK(table.size() == 0);
  CHECK(table.description().empty());
  table.set(plain, {32, 32, 3});
  table.set(turned, {64, 64, 1});
  table.set(half, {128, 128, 2});
  table.erase(turned);
  REQUIRE(table.save());
  const gpu::ProductTable same(some_device(1)), other(some_device(2));
  CHECK(same.size() == 2);
  REQUIRE(same.find(plain));
  CHECK(*same.find(plain) == ProductPlan{32, 32, 3});
  CHECK(same.find(turned) == nullptr);
  REQUIRE(same.find(half));
  CHECK(*same.find(half) == ProductPlan{128, 128, 2});
  CHECK(same.description() == table.description());
  CHECK(other.size() == 0);

  // Invalid lines; and an intact file of other shaders.
  const gpu::DeviceFile file("products", some_device(1));
  const std::vector<std::byte> kept = file.load();
  std::string content(reinterpret_cast<const char*>(kept.data()), kept.size());
  const auto keep = [&](const std::string& changed) {
    REQUIRE(file.save(std::as_bytes(std::span(changed))));
  };
  keep(content +
       "NN f32 0 1 2\nNN f99 0 1 1 1 1 32 32 1\nNN f32 0 1 1 1 1 32 32 0\n"
       "NN f32 0 64 64 500 1 32 32 -1\nNN f32 0 64 64 -500 1 32 32 2\n");
  CHECK(gpu::ProductTable(some_device(1)).size() == 2);
  content[8] = content[8] == '0' ? '1' : '0';
  keep(content);
  CHECK(gpu::ProductTable(some_device(1)).size() == 0);
}

}  // namespace
}  // namespace lunagrad::tests
