#include "script/cli/command/tune.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <vector>

#include "runtime/core/product_planner.h"
#include "runtime/ops.h"
#include "script/cli/base/progress.h"
#include "script/cli/bench/tune_products.h"
#include "script/view/run.h"

namespace lunagrad {
namespace {

constexpr double kGain = 0.02;  // a plan is kept only for at least this gain

Tensor make_operand(const TunedProduct& product, int64_t rows, int64_t columns, bool transposed) {
  Shape shape{transposed ? columns : rows, transposed ? rows : columns};
  if (product.batch > 1) shape = {product.batch, shape[0], shape[1]};
  const Tensor x = to(randn(shape), product.dtype);
  return transposed ? transpose(x, -1, -2) : x;
}

struct Result {
  ProductPlan own, best;
  double own_seconds, best_seconds;
  double gain() const { return 1 - best_seconds / own_seconds; }
};

// One product on a device. Its plans are timed in turn, so that all see the same load.
class Tuning {
 public:
  Tuning(Device& device, ProductPlanner& planner, const TunedProduct& product)
      : device_(device), planner_(planner) {
    context().matmul_precision = product.precision;
    call_.op = find_op("matmul");
    call_.in.push_back(make_operand(product, product.m, product.k, product.layout[0] == 'T'));
    call_.in.push_back(make_operand(product, product.k, product.n, product.layout[1] == 'T'));
    plans_ = planner_.possible_plans(call_);
    // Without matrix units every precision computes the same as the highest.
    Call narrow = call_;
    for (Tensor& x : narrow.in) x = to(x, DType::bf16);
    if (product.precision != MatmulPrecision::highest && planner_.possible_plans(narrow).empty())
      plans_.clear();
  }
  bool any() const { return !plans_.empty(); }

  // Keeps the best plan for the product if it gains enough, else the device's default plan.
  Result run() {
    constexpr int kFirstTurns = 5, kTurns = 11;
    constexpr double kHopeless =
        // Drops a plan that is this many times slower than the device's default plan in the first
        // measurement.
        1.5;
    for (const ProductPlan& plan : plans_) turn(plan);  // compiles the kernels
    const double first = turn(plans_[0]);
    calls_ = int(std::clamp(2e-3 / first, 1.0, 100.0));
    std::erase_if(plans_, [&](const ProductPlan& plan) {
      return !(plan == plans_[0]) && turn(plan) > kHopeless * first;
    });
    const std::vector<double> times = medians(plans_, kFirstTurns);
    // The best of many measurements is biased: measure it again, alternating with the device's default plan.
    const ProductPlan own = plans_[0],
                      best = plans_[size_t(std::min_element(times.begin(), times.end()) - times.begin())];
    Result result{own, own, times[0], times[0]};
    if (!(best == own)) {
      const std::vector<double> last = medians({own, best}, kTurns);
      result = {own, best, last[0], last[1]};
    }
    planner_.set_plan(call_, result.gain() > kGain ? &best : nullptr);
    return result;
  }

 private:
  double turn(const ProductPlan& plan) {
    planner_.set_plan(call_, &plan);
    device_.sync();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls_; ++i) {
      Call call = call_;
      lunagrad::run(call);
    }
    device_.sync();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls_;
  }

  std::vector<double> medians(const std::vector<ProductPlan>& plans, int turns) {
    std::vector<std::vector<double>> times(plans.size());
    for (int i = 0; i < turns; ++i)
      for (size_t p = 0; p < plans.size(); ++p) times[p].push_back(turn(plans[p]));
    std::vector<double> medians;
    for (std::vector<double>& of_plan : times) {
      std::nth_element(of_plan.begin(), of_plan.begin() + turns / 2, of_plan.end());
      medians.push_back(of_plan[size_t(turns / 2)]);
    }
    return medians;
  }

  Device& device_;
  ProductPlanner& planner_;
  Call call_;
  std::vector<ProductPlan> plans_;
  int calls_ = 1;
};

std::string cell(const ProductPlan& plan, double seconds) {
  char words[64];
  std::snprintf(words, sizeof words, " %4u x %-3u /%-4u %10.1f us", plan.rows, plan.columns, plan.parts,
                seconds * 1e6);
  return words;
}

void print_product(const TunedProduct& product, const Result& result) {
  char gain[32];
  std::snprintf(gain, sizeof gain, " %6.1f %%", 100 * result.gain());
  std::string name = product.name();
  name.resize(std::max<size_t>(name.size(), 44), ' ');
  std::cout << name << cell(result.own, result.own_seconds)
            << (result.gain() > kGain ? cell(result.best, result.best_seconds) + gain : "  stays") << "\n";
}

}  // namespace

int tune_products(const std::string& name) {
  Device* device = nullptr;
  try {
    device = &require_device(name.empty() ? "vulkan" : name);
  } catch (const Error& error) {
    std::cerr << "lunagrad bench: " << error.what() << "\n";
    return int(Outcome::device);
  }
  auto* const planner = dynamic_cast<ProductPlanner*>(device);
  if (!planner) {
    std::cerr << "lunagrad bench: --tune: " << name << " has no plans of products to choose among\n";
    return int(Outcome::usage);
  }
  Context own;
  own.device = device;
  const UseContext use(own);
  const NoGrad off;
  const std::string rates = planner->measure_rates();
  const std::vector<TunedProduct> products = products_to_tune(planner->computes_on_cpu());
  std::vector<std::pair<TunedProduct, Result>> results;
  for (size_t i = 0; i < products.size(); ++i) {
    show_count(i, products.size(), products[i].name());
    Tuning tuning(*device, *planner, products[i]);
    if (tuning.any()) results.emplace_back(products[i], tuning.run());
  }
  show_count(products.size(), products.size(), "");
  std::cout << device->name() << ": " << device->description() << "\nmeasured: " << rates << "\n"
            << "product: m x n x k, layouts as BLAS has them        tile of C /parts of k, the model's    "
               "the fastest\n";
  size_t better = 0;
  for (const auto& [product, result] : results) {
    print_product(product, result);
    better += result.gain() > kGain;
  }
  std::cout << better << " of " << results.size() << " products are faster by more than " << 100 * kGain
            << " %";
  const std::string file = planner->keep_plans();
  if (file.empty()) {
    std::cout << std::endl;
    std::cerr << "lunagrad bench: their plans could not be kept in the cache folder\n";
    return int(Outcome::file);
  }
  std::cout << "; their plans are in " << file << std::endl;
  return 0;
}

}  // namespace lunagrad
