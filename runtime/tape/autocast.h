#pragma once
// Mixed precision: in a region of autocast the products (matmul, linear, convolutions, attention) run in a
// 16-bit type, what loses digits there (exponentials, sums, norms, softmax, losses) in f32, and ops that want
// one type in the widest of their operands. Weights stay in f32; a weight's cast is made once for each of its
// versions and shared by the ops of the region, so that its gradient arrives in f32 through one cast. The
// rules are PyTorch's; each op's record has its own (AutocastPolicy). A backward pass runs without autocast,
// in the types of its forward pass. One thread.
#include <unordered_map>

#include "runtime/op.h"

namespace lunagrad {

class Autocast {
 public:
  explicit Autocast(DType type) : type_(type) {}
  DType type() const { return type_; }  // f16 or bf16
  // Runs the call with its operands cast as the op's policy says.
  void run(Call&);

 private:
  struct Cast {
    Tensor weight;  // held, so that its id stays its own
    uint32_t version;
    Tensor value;
  };
  Tensor narrowed(const Tensor&);
  const DType type_;
  std::unordered_map<uint64_t, Cast> weights_;  // by tensor id
};

// Makes `region` (null: none) the region of what runs for the life of the object.
class UseAutocast {
 public:
  explicit UseAutocast(std::shared_ptr<Autocast> region)
      : previous_(std::exchange(context().autocast, std::move(region))) {}
  ~UseAutocast() { context().autocast = std::move(previous_); }
  UseAutocast(const UseAutocast&) = delete;

 private:
  std::shared_ptr<Autocast> previous_;
};

// A new region of that type. Error for a type other than f16 and bf16.
std::shared_ptr<Autocast> make_autocast(DType);

// For gradients of a scaled loss: multiplies each by `factor` in place and says whether all were finite,
// waiting once for the device.
bool unscale_gradients(const TensorList&, double factor);

}  // namespace lunagrad
