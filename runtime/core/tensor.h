#pragma once
// Tensor: a reference-counted handle to {storage, layout, dtype, node of the tape}. Copying a handle shares
// the tensor. A tensor belongs to the thread that made it (see ref.h). Functions on tensors: ops.h;
// gradients: tape/tape.h.
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/core/dtype.h"
#include "runtime/core/shape.h"
#include "runtime/core/storage.h"
#include "runtime/core/tensor_fwd.h"

namespace lunagrad {

class Node;

// The body of a tensor. A view holds its base: an in-place write through one of them is seen by the tape of
// both.
struct TensorBody final : public Counted, public Pooled<TensorBody> {
  static void destroy(TensorBody*);  // made and destroyed in tape/node.cpp, because it holds a node

  Ref<Storage> storage;
  LayoutRef layout;
  int64_t offset = 0;  // elements from the start of the storage
  DType dtype = DType::f32;
  bool is_number = false;        // a script's number as an operand: ranks below tensors in type promotion
  uint32_t output = 0;           // which output of node
  uint64_t id = 0;               // unique in the process
  Ref<Node> node;                // of the call that made it, or its leaf node; null when it needs no gradient
  Ref<TensorBody> base;          // of a differentiable view: the tensor that owns the elements
  uint32_t base_generation = 0;  // value of base->generation when `node` was derived
  uint32_t generation = 0;       // counts replacements of `node` by in-place writes
};

class Tensor {
 public:
  Tensor() = default;  // undefined: an absent optional operand
  explicit Tensor(Ref<TensorBody> body) : body_(std::move(body)) {}
  // A tensor on existing memory; no copy, no gradient.
  Tensor(Ref<Storage>, LayoutRef, int64_t offset, DType);

  // Uninitialised and contiguous elements.
  static Tensor empty(const Shape&, DType, Device& = cpu_device());
  // Copies numel(shape) elements into a new tensor.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape, Device& device = cpu_device()) {
    return from_bytes(values.data(), values.size() * sizeof(T), shape, dtype_of<T>, device);
  }
  static Tensor from_bytes(const void* bytes, size_t count, const Shape&, DType, Device& = cpu_device());
  // A 0-d tensor for a script's number: i64 or f64, stored on the CPU, an operand of ops on any device.
  static Tensor number(int64_t);
  static Tensor number(double);

  bool defined() const { return bool(body_); }
  // The following are an Error for an undefined tensor.
  const Shape& shape() const { return it().layout->shape; }
  const Strides& strides() const { return it().layout->strides; }
  const LayoutRef& layout() const { return it().layout; }
  int64_t offset() const { return it().offset; }
  int ndim() const { return shape().size(); }
  int64_t size(int dim) const { return shape()[dim < 0 ? dim + ndim() : dim]; }
  int64_t numel() const { return it().layout->numel; }
  size_t nbytes() const { return size_t(numel()) * item_size(dtype()); }
  bool is_contiguous() const { return it().layout->contiguous_; }
  DType dtype() const { return it().dtype; }
  Device& device() const { return it().storage->device; }
  bool is_number() const { return it().is_number; }
  Storage& storage() const { return *it().storage; }
  const Ref<Storage>& storage_ref() const { return it().storage; }
  uint64_t id() const { return it().id; }

  // The first element of a CPU tensor. Copy tensors on other devices with to() first.
  template <class T>
  T* data() const {
    assert(device().is_cpu() && dtype() == dtype_of<T>);
    return static_cast<T*>(storage().data()) + offset();
  }
  void* raw() const {
    assert(device().is_cpu());
    return static_cast<char*>(storage().data()) + size_t(offset()) * item_size(dtype());
  }
  // The elements in row-major order, converted to T (ops/shape/to_vector.cpp); waits for the device. Complex
  // tensors convert only to std::complex<double>: Error otherwise.
  template <class T>
  std::vector<T> to_vector() const;
  double item() const;           // of a one-element tensor; Error otherwise
  int64_t item_integer() const;  // item(), exact for i64

  // Gradients (tape/tape.cpp).
  bool requires_grad() const;
  bool is_leaf() const;
  Tensor& requires_grad_(bool on = true);  // Error when it is not a leaf, or its dtype is not floating
  Tensor grad() const;                     // undefined when there is none
  // an undefined tensor clears it; Error when shape, dtype or device differ
  void set_grad(const Tensor&) const;
  Tensor detach() const;          // shares memory and version; has no node
  const Ref<Node>& node() const;  // derived again for a view whose base was written in place

  TensorBody* body() const { return body_.get(); }
  uint32_t use_count() const { return body_ ? body_->use_count() : 0; }
  bool same(const Tensor& other) const { return body_ == other.body_; }

 private:
  const TensorBody& it() const {
    if (!body_) [[unlikely]]
      fail_undefined();
    return *body_.get();
  }
  [[noreturn, gnu::cold]] static void fail_undefined();

  Ref<TensorBody> body_;
};

}  // namespace lunagrad
