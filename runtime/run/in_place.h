#pragma once
// The target of a call that writes in place. Such a call takes the path of every call (run.cpp); this file
// has what only a target needs: its checks, the value from before the write that a gradient reads, the choice
// between a kernel that writes into the target and a copy of a result, and the marks of the write. The object
// lives in apply_in_place() for one call and holds the target. For the tensors' thread.
#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/core/op.h"
#include "runtime/tape/finite.h"
#include "runtime/tape/tape.h"

namespace lunagrad {

class InPlace {
 public:
  explicit InPlace(const Tensor& target) : target_(target) {}
  InPlace(const InPlace&) = delete;
  const Tensor& target() const { return target_; }
  Tensor take_target() { return std::move(target_); }

  // The steps, in their order. check(): Error when the tape or the target's memory forbids a write.
  void check(const Op& op) {
    check_in_place(op.name, target_);
    if (overlaps(target_.shape(), target_.strides())) [[unlikely]]
      refuse_overlap(op);
    replaces_storage_ =
        std::string_view(op.name) == "_copy" && size_t(target_.nbytes()) == target_.storage().bytes;
  }
  // Whether the call overwrites the whole storage. It may then repair a half-written target.
  bool replaces_storage() const { return replaces_storage_; }

  // The shapes of the outputs are known. Error when the result does not fit the target. Keeps what the write
  // would destroy: statistics for the guard, and the value that a gradient of the call reads.
  void prepare(const Context& ctx, Call& call) {
    check_result(*call.op, call.output());
    is_guarded_ = ctx.guard == Guard::op;
    if (is_guarded_) [[unlikely]]
      before_ = contents_of(target_);
    if (ctx.grad_enabled && a_gradient_reads_target(call)) keep_value(call);
  }

  // Makes the target output 0, unless the device has no kernel (`supported`), the result must be cast, or
  // another operand shares the target's memory. Then output 0 is a result that copy_back() copies.
  void bind(Call& call, bool supported) {
    is_direct_ = supported && call.output().dtype() == target_.dtype() && !shares_memory(call);
    if (is_direct_) call.out[0] = written();
  }
  bool is_direct() const { return is_direct_; }

  // Call this before a kernel writes into the target: an error from then on leaves it half-written.
  void begin_write() { is_being_written_ = true; }
  bool is_being_written() const { return is_being_written_; }
  void copy_back(const Call&, Device&);

  // The write is done, or deferred: output 0 is the target, whose version grows.
  void finish(Call& call) {
    if (!is_direct_) call.out[0] = written();
    Storage& storage = target_.storage();
    storage.mark_written(call.op->name);
    if (replaces_storage_) storage.half_written_by = nullptr;
  }

  // Whether the guard checks what was written, and the target's statistics from before the write.
  bool is_guarded() const { return is_guarded_; }
  const Contents& before() const { return before_; }

 private:
  [[noreturn]] void refuse_overlap(const Op&) const;
  [[noreturn]] void refuse_result(const Op&, const Tensor& result) const;
  void check_result(const Op& op, const Tensor& result) const {
    const bool fits = result.shape() == target_.shape() &&
                      (!is_differentiable(result.dtype()) || is_differentiable(target_.dtype())) &&
                      (!is_complex(result.dtype()) || is_complex(target_.dtype()));
    if (!fits) [[unlikely]]
      refuse_result(op, result);
  }

  static bool a_gradient_reads_target(const Call& call) {
    const std::vector<Reads>& reads = call.op->reads;
    bool any = false;
    // requires_grad() of each operand: a view that cannot follow its base is an error before the write.
    for (size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].defined() && call.in[i].requires_grad() && !reads.empty())
        any |= reads[std::min(i, reads.size() - 1)].inputs & 1;
    return any;
  }
  void keep_value(Call&) const;

  bool has_elements_of(const Tensor& x) const {
    return x.offset() == target_.offset() && x.dtype() == target_.dtype() && x.shape() == target_.shape() &&
           x.strides() == target_.strides();
  }
  // Whether a kernel that writes into the target could change elements that it still has to read.
  bool shares_memory(const Call& call) const {
    for (size_t i = 1; i < call.in.size(); ++i)
      if (call.in[i].defined() && call.in[i].storage_ref() == target_.storage_ref() &&
          !has_elements_of(call.in[i]))
        return true;
    return false;
  }
  // An output on the target's elements, without its node.
  Tensor written() const {
    return Tensor(target_.storage_ref(), target_.layout(), target_.offset(), target_.dtype());
  }

  Tensor target_;
  bool replaces_storage_ = false;
  bool is_guarded_ = false;
  bool is_direct_ = false;
  bool is_being_written_ = false;
  Contents before_;
};

}  // namespace lunagrad
