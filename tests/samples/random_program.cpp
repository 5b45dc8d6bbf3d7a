#include "tests/samples/random_program.h"

#include <algorithm>
#include <random>
#include <string_view>

#include "runtime/ops.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/tape.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

constexpr int64_t kMostElements = 10000, kMany = 1200;

class Program {
 public:
  Program(unsigned seed, Device& device) : random_(seed), device_(device) { context().generator.seed(seed); }

  ProgramResult run() {
    type_ = one_of({DType::f32, DType::f32, DType::f32, DType::bf16, DType::f16, DType::f64});
    for (size_t calls = 5 + below(56); calls > 0; --calls) {
      const Sample& sample = choose();
      try {
        call(sample);
      } catch (const Error& error) {
        result_.errors.push_back(name_of(sample) + ": " + error.what());
      }
    }
    try {
      find_gradients();
    } catch (const Error& error) {  // a value that backward needs was overwritten
      result_.errors.emplace_back(error.what());
    }
    return std::move(result_);
  }

 private:
  size_t below(size_t count) { return size_t(random_() % count); }
  DType one_of(std::initializer_list<DType> types) { return types.begin()[below(types.size())]; }

  // Every second call is elementwise, since these form groups.
  const Sample& choose() {
    static const std::vector<Sample> all = samples();
    for (bool elementwise = below(2) == 0;;) {
      const Sample& sample = all[below(all.size())];
      const Op& op = *find_op(sample.op);
      if (sample.op.starts_with("empty") || !takes(sample, type_)) continue;
      if (!elementwise || op.elementwise >= 0) return sample;
    }
  }

  void call(const Sample& sample) {
    const Op& op = *find_op(sample.op);
    const bool chains = op.elementwise >= 0 && !op.judges_values && last_.defined();
    Operands in;
    for (const SampleInput& input : sample.inputs) in.push_back(operand(input, op, chains));
    std::shared_ptr<Autocast> cast;
    if (below(6) == 0) cast = make_autocast(DType::bf16);
    const UseAutocast used(cast ? cast : context().autocast);
    const Values params = complete(op, sample.params);
    const bool in_place = chains && below(8) == 0 && !in[0].requires_grad() && in[0].numel() > 0;
    if (in_place) in[0] = clone(in[0]);
    const Operands out =
        in_place ? Operands{apply_in_place(op, in, params)} : apply(op, std::move(in), params);
    for (const Tensor& y : out)
      if (y.defined() && y.numel() <= kMostElements) keep(y, sample);
  }

  // A result of an earlier call, if one fits, or new numbers.
  Tensor operand(const SampleInput& input, const Op& op, bool chains) {
    if (input.kind == Kind::absent) return {};
    if (chains && input.kind == Kind::real && below(4) != 0) return last_;
    if (input.kind == Kind::real && !op.judges_values && below(3) != 0)
      for (size_t i = result_.values.size(); i-- > 0;)
        if (const Tensor& y = result_.values[i]; is_floating(y.dtype()) && y.shape() == input.shape) return y;
    Tensor x = to(make_input(input, random_()), DType::f32);
    if (input.kind == Kind::index || input.kind == Kind::boolean || input.kind == Kind::complex)
      x = make_input(input, random_());
    if (input.kind == Kind::complex) x = to(x, DType::c64);
    if (input.kind == Kind::real) x = to(x, type_);
    if (chains && input.kind == Kind::real && !(x.shape() == last_.shape())) return Tensor::number(1.5);
    x = to(x, device_);
    if (input.kind == Kind::real && below(3) == 0) leaves_.push_back(x.requires_grad_());
    return x;
  }

  void keep(const Tensor& y, const Sample& sample) {
    result_.values.push_back(y);
    result_.calls.push_back(name_of(sample));
    if (is_floating(y.dtype()) && y.numel() > 0) last_ = y;
    if (!last_.defined()) return;
    if (below(4) == 0 && last_.numel() < kMany)  // small results form no groups on the CPU
      last_ =
          reshape(last_, {1, last_.numel()}) + rand({kMany / last_.numel() + 1, 1}, last_.dtype(), device_);
    if (below(8) == 0 && last_.ndim() > 1) last_ = transpose(last_, 0, 1);
    if (below(8) == 0) last_ = to(last_, one_of({DType::f32, DType::bf16, DType::f16}));
  }

  void find_gradients() {
    Tensor loss;
    for (const Tensor& y : result_.values) {
      if (!is_floating(y.dtype()) || !y.requires_grad()) continue;
      const Tensor part = sum(to(y, DType::f32));
      loss = loss.defined() ? loss + part : part;
    }
    if (!loss.defined()) return;
    backward(loss);
    for (const Tensor& leaf : leaves_)
      if (const Tensor gradient = leaf.grad(); gradient.defined()) {
        result_.values.push_back(gradient);
        result_.calls.emplace_back("a gradient");
      }
  }

  std::mt19937 random_;
  Device& device_;
  DType type_ = DType::f32;
  Tensor last_;  // which the next elementwise call reads
  TensorList leaves_;
  ProgramResult result_;
};

}  // namespace

ProgramResult run_random_program(unsigned seed, Device& device) { return Program(seed, device).run(); }

}  // namespace lunagrad::tests
