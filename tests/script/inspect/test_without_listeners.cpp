// A task of a viewer restores the whole state of the context.
#include <doctest/doctest.h>

#include "runtime/ops.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/tape.h"
#include "script/inspect/without_listeners.h"

using namespace lunagrad;

namespace {

class NoTrace final : public Trace {
  void ran(const Call&, uint64_t) override {}
  void fell_back(const Call&, const char*) override {}
};

// Sets every field to another value than it has. A new field of ContextState makes this fail to compile until
// it is set, too.
void change_all(ContextState& state) {
  static NoTrace trace;
  const auto other = [](auto* now, auto* value) { return now == value ? nullptr : value; };
  auto& [grad_enabled, guard, strict_device, read_only, matmul_precision, device, generator, line, module,
         traced, capture, autocast, checkpoint, differentiating] = state;
  grad_enabled = !grad_enabled;
  guard = guard == Guard::op ? Guard::step : Guard::op;
  strict_device = !strict_device;
  read_only = !read_only;
  matmul_precision =
      matmul_precision == MatmulPrecision::highest ? MatmulPrecision::medium : MatmulPrecision::highest;
  device = other(device, &cpu_device());
  generator.seed(generator.seed() + 1);
  line.line += 1;
  module += 1;
  traced = other(traced, static_cast<Trace*>(&trace));
  static char memory[3];  // pointers that are only compared
  capture = other(capture, reinterpret_cast<Capture*>(&memory[0]));
  autocast = autocast ? nullptr : make_autocast(DType::bf16);
  checkpoint = other(checkpoint, reinterpret_cast<CheckpointRegion*>(&memory[1]));
  differentiating = other(differentiating, reinterpret_cast<const Node*>(&memory[2]));
}

TEST_CASE("a WithoutListeners restores every field of the context's state") {
  Context own;
  const UseContext use(own);
  own.line = {intern("train.lua"), 12};
  own.generator.seed(7);
  const ContextState before = own.state();
  {
    const WithoutListeners aside;
    change_all(own.state());
    CHECK(own.state() != before);
  }
  CHECK(own.state() == before);

  // The same from a state in which every field differs from its default.
  change_all(own.state());
  const ContextState changed = own.state();
  {
    const WithoutListeners aside;
    CHECK(own.trace == nullptr);
    CHECK(own.capture == nullptr);
    CHECK(own.checkpoint == nullptr);
    CHECK(own.differentiating == nullptr);
    CHECK(!own.autocast);
    CHECK(!own.read_only);
    CHECK(!own.strict_device);
    CHECK(own.guard == Guard::off);
    change_all(own.state());
  }
  CHECK(own.state() == changed);
  own.state() = ContextState();
}

TEST_CASE("a WithoutListeners leaves the stop flag, the owner and the safe point alone") {
  Context own;
  const UseContext use(own);
  {
    const WithoutListeners aside;
    own.stop_requested = true;
    own.owner = &own;
    own.safe_point = [](void*) {};
  }
  CHECK(own.stop_requested);
  CHECK(own.owner == &own);
  CHECK(bool(own.safe_point));
}

TEST_CASE("random numbers drawn in a WithoutListeners do not change the run's") {
  Context own;
  const UseContext use(own);
  own.generator.seed(3);
  const std::vector<float> wanted = rand({8}).to_vector<float>();
  own.generator.seed(3);
  {
    const WithoutListeners aside;
    rand({5});
  }
  CHECK(rand({8}).to_vector<float>() == wanted);
}

}  // namespace
