// The path of a call: the order of modes, listeners, versions, marks of half-written tensors, and the tape.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/batching/batched.h"
#include "runtime/deferral/defer.h"
#include "runtime/ops.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/tape.h"
#include "tests/support/message_of.h"

namespace lunagrad::tests {
namespace {

// What a listener finds in the calls of one op.
class Seen final : public Trace {
 public:
  explicit Seen(const char* op) : op_(op) { context().trace = this; }
  ~Seen() override { context().trace = nullptr; }
  Seen(const Seen&) = delete;
  void ran(const Call& call, uint64_t) override {
    if (call.op->name != op_) return;
    params.push_back(call.params.size());
    versions.push_back(call.output().storage().version);
  }
  void fell_back(const Call&, const char*) override {}

  std::vector<size_t> params;      // the number of parameters of each call
  std::vector<uint32_t> versions;  // the version of each result

 private:
  const std::string op_;
};

// The message of f with the result of each op checked.
std::string message_with_guard(const std::function<void()>& f) {
  context().guard = Guard::op;
  const std::string message = message_of(f);
  context().guard = Guard::off;
  return message;
}

const Op& op(const char* name) { return *find_op(name); }

TEST_CASE("a listener sees the parameters of a call that the tape records, and the version of a write") {
  const Tensor a = Tensor::from<double>(std::vector<double>{-1, 2}, {2}).requires_grad_(), x = a * 1.0;
  const Seen seen("leaky_relu");
  const Tensor y = apply1(op("leaky_relu"), {a}, {0.1});
  apply_in_place(op("leaky_relu"), {x}, {0.1});
  CHECK(y.node());
  CHECK(seen.params == std::vector<size_t>{1, 1});
  CHECK(seen.versions == std::vector<uint32_t>{0, 1});
}

TEST_CASE("a write in place that the guard refuses was seen and has a version, but no node") {
  const Tensor a = Tensor::from<double>(std::vector<double>{0, 2}, {2}).requires_grad_(), x = a * 1.0;
  const Ref<Node> node = x.node();
  const Seen seen("div");
  const std::string message = message_with_guard([&] {
    apply_in_place(op("div"), {x, Tensor::number(0.0)});
  });
  CHECK(message.starts_with("div: what it wrote in place of shape [2]: 1 NaN and 1 Inf"));
  CHECK(seen.versions == std::vector<uint32_t>{1});
  CHECK(x.storage().version == 1);
  CHECK((x.node() == node));
}

TEST_CASE("a kernel that fails leaves the target that it writes half-written, until a copy replaces it") {
  const Tensor x = Tensor::from<int64_t>(std::vector<int64_t>{7, 8}, {2});
  const Tensor divisors = Tensor::from<int64_t>(std::vector<int64_t>{1, 0}, {2});
  const Tensor first = narrow(x, 0, 0, 1);
  {
    const Seen seen("floor_divide");
    CHECK(message_of([&] {
            apply_in_place(op("floor_divide"), {x, divisors});
          }) == "floor_divide: integer division by zero");
    CHECK(seen.versions.empty());
  }
  CHECK(x.storage().version == 1);
  const std::string message = message_of([&] { sum(x); });
  CHECK(message.starts_with("sum: a tensor was written only in part, since floor_divide was stopped"));
  CHECK(message_of([&] { fill_(first, 3); }).find("written only in part") != std::string::npos);
  fill_(x, 3);
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{3, 3});
}

TEST_CASE("a kernel that fails before its result is copied into the target leaves the target as it was") {
  const Tensor x = Tensor::from<int32_t>(std::vector<int32_t>{7, 8}, {2});
  const Tensor divisors = Tensor::from<int64_t>(std::vector<int64_t>{1, 0}, {2});
  CHECK(message_of([&] {
          apply_in_place(op("floor_divide"), {x, divisors});
        }) == "floor_divide: integer division by zero");
  CHECK(x.storage().version == 0);
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{7, 8});
}

TEST_CASE("a write in place is refused before it changes anything: first for the tape, memory, shape") {
  const Tensor leaf = Tensor::from<double>(std::vector<double>{1}, {1}).requires_grad_();
  const Tensor x = Tensor::from<double>(std::vector<double>{1}, {1});
  const Tensor more = Tensor::from<double>(std::vector<double>{1, 2}, {2});
  const auto refusal = [&](const Tensor& target) {
    return message_of([&] { apply_in_place(op("add"), {target, more}); });
  };
  CHECK(refusal(expand(leaf, {3})).starts_with("add_: a view of a leaf tensor"));
  CHECK(refusal(expand(x, {3})) ==
        "add_: elements of the target share memory (an expanded tensor, or windows that overlap); clone() it "
        "first");
  CHECK(refusal(x) == "add_: a result of shape [2] does not fit the target of shape [1]");
  CHECK(x.storage().version == 0);
  CHECK(x.item() == 1);
}

TEST_CASE("a write into memory that another operand shares uses the values from before the write") {
  const auto program = [] {
    const Tensor x = Tensor::from<double>(std::vector<double>{1, 2, 3, 4}, {4}), y = x * 1.0;
    apply_in_place(op("add"), {narrow(y, 0, 1, 3), narrow(y, 0, 0, 3)});
    apply_in_place(op("mul"), {y, y});
    return y;
  };
  const std::vector<double> expected{1, 9, 25, 49};
  CHECK(program().to_vector<double>() == expected);
  CallQueue queue;
  const DeferCalls defer(&queue);
  CHECK(program().to_vector<double>() == expected);
}

TEST_CASE("the guard checks a call before autocast casts its operands") {
  const Tensor x = full({2, 2}, 1e38);
  const UseAutocast region(make_autocast(DType::bf16));
  const std::string message = message_with_guard([&] { matmul(x, x); });
  CHECK(message.starts_with("matmul: its result of shape [2, 2]: 4 Inf"));
  CHECK(message.find("\n  input: f32 [2, 2]") != std::string::npos);
}

TEST_CASE("the guard checks the values of batched tensors, all samples at once") {
  const uint64_t level = enter_batch(2, Randomness::error);
  const Tensor samples = make_batched(full({2, 3}, 1.0), {{level, 2}});
  const Tensor target = make_batched(full({2, 3}, 1.0), {{level, 2}});
  CHECK(message_with_guard([&] {
          apply(op("div"), {samples, Tensor::number(0.0)});
        }).starts_with("div: its result of shape [2, 3]: 6 Inf"));
  CHECK(message_with_guard([&] {
          apply_in_place(op("div"), {target, Tensor::number(0.0)});
        }).starts_with("div: what it wrote in place of shape [2, 3]: 6 Inf"));
  leave_batch(level);
}

}  // namespace
}  // namespace lunagrad::tests
