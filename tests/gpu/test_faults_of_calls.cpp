// Errors that kernels find: the message names the call, its results are refused, and all other tensors work.
#include "tests/gpu/compare.h"
#include "tests/samples/number_operands.h"
#include "tests/support/message_of.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

SourceLine at(int line) { return {intern("faulty.lua"), line}; }

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_CASE("a fault names the line of its call and spoils what came of it alone") {
  const NoGrad off;
  const RestoreContext restore;
  const Tensor x = to(random({5}, 1), gpu()), other = to(random({3}, 2), gpu());
  const Tensor index = to(Tensor::from<int64_t>(std::vector<int64_t>{1, 7}, {2}), gpu());
  context().line = at(3);
  const Tensor picked = index_select(x, 0, index);
  context().line = at(4);
  const Tensor came = exp(picked * 2.0) + 1.0, apart = other + 1.0;
  const Tensor written = zeros({4}, DType::f32, gpu());
  copy_(slice(written, 0, 1, 3), picked);
  context().line = at(9);
  const std::string first = error_of([&] { apart.to_vector<float>(); });
  CHECK(contains(first, "index_select: index 7 at position 2 is out of range for a dim of size 5"));
  CHECK(contains(first, "made at faulty.lua:3"));
  CHECK(error_of([&] { apart.to_vector<float>(); }) == "");
  for (const Tensor& spoiled : {picked, came, written}) {
    CHECK(
        contains(error_of([&] { spoiled.to_vector<float>(); }), "came of a call that failed: index_select"));
    CHECK(contains(error_of([&] { neg(spoiled); }), "faulty.lua:3"));
  }
  // Overwriting the whole content repairs a tensor, overwriting a part does not.
  fill_(slice(written, 0, 0, 1), 1);
  CHECK(error_of([&] { written.to_vector<float>(); }) != "");
  fill_(written, 2);
  CHECK(written.to_vector<float>() == std::vector<float>{2, 2, 2, 2});
  // New tensors get the memory of spoiled ones.
  for (int i = 0; i < 10; ++i) CHECK(error_of([&] { (apart + double(i)).to_vector<float>(); }) == "");
}

TEST_CASE("every fault is found, also of many calls before a wait") {
  const NoGrad off;
  const Tensor x = to(random({5}, 1), gpu());
  const Tensor good = to(Tensor::from<int64_t>(std::vector<int64_t>{1, 2}, {2}), gpu()), bad = good + 9.0;
  const Tensor wrong = to(bad, DType::i64);
  std::vector<Tensor> results;
  for (int i = 0; i < 5000; ++i) results.push_back(index_select(x, 0, i % 1000 == 700 ? wrong : good));
  CHECK(contains(error_of([&] { results.back().to_vector<float>(); }), "index 10 at position 1"));
  for (int i = 0; i < 5000; i += 50)
    CHECK((error_of([&] { results[size_t(i)].to_vector<float>(); }) != "") == (i % 1000 == 700));
}

TEST_CASE("integers divided by zero are an error, as on the CPU") {
  const NoGrad off;
  for (const DType type : {DType::u8, DType::i32, DType::i64}) {
    const Tensor a = to(to(Tensor::from<int64_t>(std::vector<int64_t>{7, 5, 3}, {3}), type), gpu());
    const Tensor b = to(to(Tensor::from<int64_t>(std::vector<int64_t>{2, 0, 3}, {3}), type), gpu());
    const Tensor zero = Tensor::number(int64_t(0));
    CHECK(contains(error_of([&] { floor_divide(a, b).to_vector<int64_t>(); }),
                   "floor_divide: integer division by zero"));
    CHECK(contains(error_of([&] { remainder(a, b).to_vector<int64_t>(); }),
                   "remainder: integer division by zero"));
    CHECK(contains(error_of([&] { fmod(a, zero).to_vector<int64_t>(); }), "fmod: integer division by zero"));
    CHECK(floor_divide(a, a).to_vector<int64_t>() == std::vector<int64_t>{1, 1, 1});
  }
  const std::vector<int64_t> ends = {INT64_MIN, INT64_MIN, INT64_MAX};
  const Tensor x = Tensor::from<int64_t>(ends, {3}, gpu()), minus = Tensor::number(int64_t(-1));
  CHECK(floor_divide(x, minus).to_vector<int64_t>() ==
        floor_divide(to(x, cpu_device()), minus).to_vector<int64_t>());
}

TEST_CASE("numbers that a narrow integer does not hold are used or refused as on the CPU") {
  const NoGrad off;
  // The values, or the error.
  const auto made = [](auto make) -> std::pair<std::vector<int64_t>, std::string> {
    try {
      return {make().template to_vector<int64_t>(), ""};
    } catch (const Error& error) {
      return {{}, error.what()};
    }
  };
  const std::vector<int64_t> values = {0, 3, 8, 200};
  for (const DType type : {DType::u8, DType::i32}) {
    const Tensor here = to(Tensor::from<int64_t>(values, {4}), type), there = to(here, gpu());
    for (const int64_t number : {int64_t(-2), int64_t(300), int64_t(1) << 40})
      for (const Tensor& n :
           {Tensor::number(number), Tensor::from<int64_t>(std::vector<int64_t>{number}, {})}) {
        const Tensor same = n.is_number() ? n : to(n, gpu());
        CHECK(lt(there, same).to_vector<int64_t>() == lt(here, n).to_vector<int64_t>());
        CHECK(made([&] { return maximum(there, same); }) == made([&] { return maximum(here, n); }));
        CHECK(made([&] { return clamp(there, double(number), 5.0); }) ==
              made([&] { return clamp(here, double(number), 5.0); }));
      }
  }
}

TEST_CASE("every op that takes a number has the CPU's gradients of both orders on the device") {
  for (const NumberCall& call : number_calls()) {
    TensorList gradients[2];
    const auto run = [&](Device& device, TensorList& list) {
      TensorList operands = call.operands();
      for (Tensor& x : operands) x = to(to(x, DType::f32), device).requires_grad_();
      const Tensor y = call.apply_to(operands)[0];
      if (!y.requires_grad() || is_complex(y.dtype())) return;
      GradOptions options;
      options.create_graph = options.allow_unused = true;
      list = grad({sum(y * y)}, operands, {}, options);
      Tensor again;
      for (const Tensor& g : list) again = again.defined() ? again + sum(g * g) : sum(g * g);
      if (!again.requires_grad()) return;  // a constant gradient
      for (const Tensor& g : grad({again}, operands, {}, options)) list.push_back(g);
    };
    run(cpu_device(), gradients[0]);
    const std::string error = error_of([&] { run(gpu(), gradients[1]); });
    CHECK_MESSAGE(error.empty(), call.name() << ": " << error);
    if (!error.empty()) continue;
    for (size_t i = 0; i < gradients[0].size(); ++i) {
      const Tensor &here = gradients[0][i], &there = gradients[1][i];
      CHECK_MESSAGE(here.defined() == there.defined(), call.name() << ", gradient " << i);
      if (here.defined() && there.defined())
        CHECK_MESSAGE(distance(there.detach(), here.detach()) <= 1e-4, call.name() << ", gradient " << i);
    }
  }
}

TEST_CASE("the gradient of a norm at zero is zero on the device, and norms have second gradients") {
  for (const double p : {1.0, 2.0, 3.0, 0.5}) {
    const Tensor x = to(zeros({2, 3}), gpu()).requires_grad_();
    backward(sum(norm(x, p, {1})));
    CHECK(x.grad().to_vector<float>() == std::vector<float>(6, 0));
  }
  const Tensor x = to(random({2, 3}, 1, 0.5, 2), gpu()).requires_grad_();
  GradOptions options;
  options.create_graph = true;
  const Tensor g = grad({sum(norm(x, 2, {1}))}, {x}, {}, options)[0];
  backward(sum(g * g * g));
  CHECK(x.grad().to_vector<float>().size() == 6);
  // Intermediate powers of 16-bit numbers do not overflow.
  const Tensor large = to(to(full({9}, 221.0), DType::f16), gpu());
  CHECK(norm(large).item() == doctest::Approx(663).epsilon(0.01));
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
