// Prefetched batches: equal to fill_batch's, in order, errors at their batch, and no thread remains.
#include <doctest/doctest.h>

#include <cstring>
#include <ctime>

#include "runtime/core/context.h"
#include "runtime/io/prefetch.h"
#include "runtime/ops.h"
#include "tests/support/png_bytes.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

std::vector<int64_t> shuffled(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) order[size_t(i)] = i * 7 % count;
  return order;
}

BatchColumn rows_of(const Tensor& x) {
  Shape shape = x.shape();
  shape.erase(0);
  return {.source = x, .shape = shape, .dtype = x.dtype()};
}

std::shared_ptr<BatchPlan> plan_of(const Tensor& images, const Tensor& labels) {
  auto plan = std::make_shared<BatchPlan>();
  plan->samples = images.size(0);
  plan->columns = {rows_of(images), rows_of(labels)};
  return plan;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.nbytes()) == 0;
}

}  // namespace

TEST_CASE("workers make the batches of fill_batch in order, from any first batch") {
  const Tensor images = lunagrad::rand({61, 3, 7, 9}), labels = arange(0, 61, 1, DType::i64);
  const auto plan = plan_of(images, labels);
  plan->steps = {{.kind = ImageStep::Kind::crop, .height = 8, .width = 8, .padding = 2},
                 {.kind = ImageStep::Kind::flip},
                 {.mean = {0.5f}, .deviation = {0.1f, 0.2f, 0.3f}}};
  plan->columns[0].shape = transformed(plan->steps, plan->columns[0].shape);
  const std::vector<int64_t> order = shuffled(61);
  const BatchDraw draw{5, 2};
  for (const int workers : {1, 2, 5})
    for (const int64_t first : {0, 3, 7, 8}) {
      CAPTURE(workers);
      CAPTURE(first);
      Prefetch pass(plan, order,
                    {.batch_size = 8, .first = first, .batches = 8, .workers = workers, .ahead = 2 * workers},
                    draw);
      for (int64_t k = first; k < 8; ++k) {
        const int64_t count = std::min<int64_t>(8, 61 - 8 * k);
        TensorList wanted = empty_batch(*plan, count);
        void* const out[] = {wanted[0].raw(), wanted[1].raw()};
        fill_batch(*plan, order.data() + 8 * k, count, draw, out, std::atomic<bool>(false));
        const TensorList found = pass.next();
        REQUIRE(found.size() == 2);
        CHECK(same_bytes(found[0], wanted[0]));
        CHECK(same_bytes(found[1], wanted[1]));
      }
      CHECK(pass.next().empty());
      CHECK(pass.next().empty());
    }
}

TEST_CASE("a file that a worker cannot read is an error at its batch, and the other batches arrive") {
  Folder folder;
  auto plan = std::make_shared<BatchPlan>();
  plan->samples = 4;
  BatchColumn images{.kind = BatchColumn::Kind::images, .channels = 1, .shape = {1, 1, 1}};
  for (int i = 0; i < 4; ++i)
    images.files.push_back(folder.with(std::to_string(i) + ".png",
                                       i == 2 ? "no image" : png_bytes({1, 1, 8, 0}, {'\0', char(i * 51)})));
  plan->columns = {images};
  Prefetch pass(plan, {0, 1, 2, 3}, {.batches = 4, .workers = 2, .ahead = 4}, {});
  CHECK(pass.next()[0].item() == 0);
  CHECK(pass.next()[0].item() == doctest::Approx(0.2));
  CHECK(refusal([&] { pass.next(); }) == "2.png: not a PNG file: it does not begin with its signature");
  CHECK(pass.next()[0].item() == doctest::Approx(0.6));
  CHECK(pass.next().empty());
}

TEST_CASE("a pass that is destroyed or stopped ends soon and keeps no memory") {
  const size_t before = cpu_device().memory().in_use;
  {
    const Tensor images = lunagrad::rand({64, 3, 64, 64}), labels = arange(0, 64, 1, DType::i64);
    const auto plan = plan_of(images, labels);
    plan->steps = {{.kind = ImageStep::Kind::flip}};
    // Each batch has the samples many times: seconds of work.
    std::vector<int64_t> order(200'000);
    for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t(i % 64);
    const PrefetchOptions options{.batch_size = 2000, .batches = 100, .workers = 2, .ahead = 2};
    // Processor time, because other programs may delay this one.
    std::clock_t start = std::clock();
    for (int i = 0; i < 5; ++i) Prefetch(plan, order, options, {});
    CHECK(std::clock() - start < 2 * CLOCKS_PER_SEC);

    Prefetch pass(plan, order, options, {});
    context().stop_requested.store(true);
    start = std::clock();
    try {
      for (int i = 0; i < 100; ++i) pass.next();
      FAIL_CHECK("the pass went on to its end");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::cancelled);
    }
    CHECK(std::clock() - start < 2 * CLOCKS_PER_SEC);
    context().stop_requested.store(false);
  }
  CHECK(cpu_device().memory().in_use == before);
}

TEST_SUITE_END();
