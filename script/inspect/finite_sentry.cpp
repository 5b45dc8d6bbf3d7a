#include "script/inspect/finite_sentry.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/core/lower_case.h"
#include "runtime/core/op_name.h"
#include "runtime/ops.h"
#include "runtime/tape/origin.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// Smaller tensors are always read; of larger ones both ends always, and the whole in its turn.
constexpr int64_t kSmallTensor = 1024, kEnd = 128;
// kPart: the share of the time that reading may take, half of it for large tensors. kBeginning: nanoseconds
// that reading may take in any case.
constexpr double kPart = 0.006, kBeginning = 4e6;
constexpr size_t kMostRoots = 128;
constexpr uint64_t kOverhead = 100;  // ticks of a check apart from the reading

std::string at(SourceLine line) {
  const std::string place = to_string(line);
  return place.empty() ? "" : " at " + file_name(place);
}

std::string name_of(const Node& leaf) {
  const std::string& name = interned(leaf.name);
  return name.empty() ? "a leaf" + at(leaf.line) : name;
}

bool is_read(const Tensor& x) { return x.defined() && is_differentiable(x.dtype()) && x.numel() > 0; }

// What a value that is not finite holds: "-Inf" if all of its infinities are negative.
const char* bad_kind(const Tensor& x) {
  const Contents contents = contents_of(x);
  return contents.nans > 0 ? "NaN" : contents.negative_infs == contents.infs ? "-Inf" : "Inf";
}

const char* bad_kind(double value) { return std::isnan(value) ? "NaN" : value < 0 ? "-Inf" : "Inf"; }

// The detached value. A view is copied, since it would keep the memory of its whole storage.
Tensor alone(const Tensor& x) {
  const Tensor value = x.detach();
  if (value.storage().bytes <= size_t(value.nbytes())) return value;
  const WithoutListeners aside;
  const NoGrad off;
  return clone(value);
}

}  // namespace

void FiniteSentry::begin_run(int64_t done) {
  found_ = false;
  step_ = good_ = done;
  bad_gradient_.reset();
  pending_.reset();
  roots_.clear();
  began_ = ticks();
  spent_ = spent_on_whole_ = 0;
  looking_ = whole_ = looks();
}

void FiniteSentry::begin_step(int64_t step) {
  step_ = step;
  missed_ = stepped_ = false;
  if (looks()) keep_to_the_part();
}

void FiniteSentry::keep_to_the_part() {
  const double allowed = ticks_to_ns(ticks() - began_) * kPart + kBeginning;
  looking_ = ticks_to_ns(spent_) < allowed;
  whole_ = looking_ && ticks_to_ns(spent_on_whole_) < allowed / 2;
}

void FiniteSentry::end_step() {
  if (!looks()) return;
  if (pending_) report(*std::exchange(pending_, std::nullopt));
  if (looks() && (roots_.size() >= kMostRoots || (!roots_.empty() && whole_))) read_device_roots();
  if (!looks()) return;
  if (stepped_ && !missed_) good_ = step_;
}

void FiniteSentry::end_run() {
  if (!looks()) return;
  if (pending_) report(*std::exchange(pending_, std::nullopt));
  if (looks()) read_device_roots();
  roots_.clear();
}

// ---- the roots of backward passes

void FiniteSentry::root(const Tensor& root) {
  if (!looks() || context().capturing) return;
  keep_to_the_part();  // a script without steps still has backward passes
  if (pending_ || !is_read(root)) return;
  if (!root.device().is_cpu()) {
    if (root.numel() == 1) roots_.push_back({alone(root), step_, place_of(context().line)});
    if (roots_.size() > 4 * kMostRoots) roots_.pop_front();
    return;
  }
  if (root.numel() > kSmallTensor && !whole_) return;
  if (finite(root)) {
    if (bad_gradient_ && bad_gradient_->step < step_) bad_gradient_.reset();
    // A finite loss shows that the parameters were finite when it was computed.
    good_ = std::max(good_, step_ - 1);
    return;
  }
  judge_root(root);
}

void FiniteSentry::judge_root(const Tensor& root) {
  Found found;
  found.kind = bad_kind(root);
  found.step = step_;
  found.since = std::min(good_ + 1, step_);
  const std::optional<Origin> origin = origin_of(root);
  if (!origin) return;
  const Node& node = *origin->node;
  found.place = place_of(node.line);
  found.node = node.id;
  found.explanation = origin->explanation;
  switch (origin->kind) {
    case Origin::Kind::op:
      found.what = public_op_name(node.label()) + at(node.line);
      found.since = found.step;
      break;
    case Origin::Kind::input:
      found.what = text("operand ", origin->operand + 1, " of ", public_op_name(node.label()), at(node.line),
                        ", which no recorded op made: the data");
      found.since = found.step;
      break;
    case Origin::Kind::leaf:
      found.what = name_of(node) + " holds it";
      if (bad_gradient_) {
        found.what = bad_gradient_->what;
        found.place = bad_gradient_->place;
        found.step = bad_gradient_->step;
      }
      break;
  }
  // A gradient scaler's multiplication by its scale overflows by design.
  const bool scaled = origin->kind == Origin::Kind::op && &node == root.node().get() &&
                      std::string_view(found.kind) != "NaN" && std::string_view(node.label()) == "mul";
  if (scaled)
    pending_ = std::move(found);
  else
    report(std::move(found));
}

void FiniteSentry::skipped() {
  pending_.reset();
  bad_gradient_.reset();
}

// Waits once for each device that has new losses.
void FiniteSentry::read_device_roots() {
  const uint64_t start = ticks();
  const std::deque<DeviceRoot> roots = std::exchange(roots_, {});
  if (roots.empty()) return;
  std::map<Device*, std::vector<size_t>> places;
  for (size_t i = 0; i < roots.size(); ++i) places[&roots[i].value.device()].push_back(i);
  std::vector<std::optional<double>> values(roots.size());
  {
    const WithoutListeners aside;
    const NoGrad off;
    for (const auto& [device, there] : places) {
      device->sync();  // an error here comes from the script's calls and is the script's
      TensorList parts;
      for (const size_t i : there) {
        const Tensor& value = roots[i].value;
        // Complex numbers are halved: the magnitude may be infinite where the parts are not.
        parts.push_back(to(reshape(is_complex(value.dtype()) ? abs(value * 0.5) : value, {1}), DType::f32));
      }
      try {
        const std::vector<double> read = cat(parts).to_vector<double>();
        for (size_t k = 0; k < there.size(); ++k) values[there[k]] = read[k];
      } catch (const Error&) {  // the values come from a faulty call whose error the script has caught
      }
    }
  }
  spent_ += ticks() - start;
  spent_on_whole_ += ticks() - start;
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!values[i]) continue;
    if (std::isfinite(*values[i])) {
      good_ = std::max(good_, roots[i].step - 1);
      continue;
    }
    Found found;
    found.kind = bad_kind(*values[i]);
    found.step = roots[i].step;
    found.since = std::min(good_ + 1, found.step);
    found.place = roots[i].place;
    found.what = "the loss" + (found.place.line > 0 ? " at " + file_and_line(found.place) : std::string());
    return report(std::move(found));
  }
}

// ---- gradients

void FiniteSentry::begin(std::span<Node* const> nodes) {
  const bool reads = looks_at_gradients() && !bad_gradient_ && !aside_() && !context().queue;
  pass_ = reads ? nodes : std::span<Node* const>();
}

bool FiniteSentry::finite(const Tensor& x) {
  const uint64_t start = ticks();
  bool finite;
  if (x.numel() <= kSmallTensor && x.dtype() == DType::f32 && x.device().is_cpu() && x.is_contiguous()) {
    const auto* const bits = reinterpret_cast<const uint32_t*>(x.data<float>());
    uint32_t any = 0;
    for (int64_t i = 0; i < x.numel(); ++i) any |= uint32_t((bits[i] & 0x7f800000u) == 0x7f800000u);
    finite = any == 0;
  } else {
    finite = all_finite({x});
  }
  const uint64_t cost = ticks() - start;
  spent_ += cost + kOverhead;
  if (x.numel() > kSmallTensor) spent_on_whole_ += cost;
  return finite;
}

// Reads a small tensor, or the ends of a large one; reads nothing on a GPU.
bool FiniteSentry::sampled_finite(const Tensor& x) {
  if (!x.device().is_cpu()) return true;
  if (x.numel() <= kSmallTensor || whole_) return finite(x);
  if (!x.is_contiguous()) return true;
  const int64_t count = x.numel();
  const auto part = [&](int64_t from) {
    return Tensor(x.storage_ref(), LayoutRef(new Layout(Shape{kEnd}, Strides{1})), x.offset() + from,
                  x.dtype());
  };
  return finite(part(0)) && finite(part(count - kEnd));
}

void FiniteSentry::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (pass_.empty() || !is_read(gradient) || sampled_finite(gradient)) return;
  BadGradient bad;
  bad.step = step_;
  bad.kind = bad_kind(gradient);
  bad.place = place_of(node.line);
  // The nodes that use this output computed the gradient; the pass visited them before.
  std::string users;
  for (const Node* user : pass_) {
    if (user->id <= node.id) break;
    const bool uses = std::any_of(user->in.begin(), user->in.end(), [&](const Operand& operand) {
      return operand.node.get() == &node && operand.output == output;
    });
    if (!uses) continue;
    if (users.empty()) bad.place = place_of(user->line);
    users += (users.empty() ? "" : " or ") + public_op_name(user->label()) + at(user->line);
  }
  bad.what = users.empty() ? "the gradient that backward starts from" : "backward of " + users;
  bad_gradient_ = std::move(bad);
  pass_ = {};
}

void FiniteSentry::stepped(const TensorList& parameters) {
  if (!looks() || aside_()) return;
  stepped_ = true;
  missed_ |= !looking_;
  if (!looking_) return;
  TensorList there;  // tensors on devices, read with one wait
  for (const Tensor& x : parameters) {
    if (!is_read(x)) continue;
    const bool small = x.numel() <= kSmallTensor && x.device().is_cpu();
    if (!small && !whole_)
      missed_ = true;
    else if (!x.device().is_cpu())
      there.push_back(x);
    else if (!finite(x))
      return judge_parameter(x);
  }
  if (there.empty()) return;
  const WithoutListeners aside;
  const uint64_t start = ticks();
  const bool finite = all_finite(there);
  spent_ += ticks() - start;
  spent_on_whole_ += ticks() - start;
  if (finite) return;
  judge_parameter(
      *std::find_if(there.begin(), there.end(), [](const Tensor& x) { return !all_finite({x}); }));
}

void FiniteSentry::judge_parameter(const Tensor& x) {
  const Tensor gradient = x.grad();
  const bool from_gradient = gradient.defined() && !all_finite({gradient});
  Found found;
  found.kind = bad_kind(x);
  found.step = step_;
  found.since = std::min(good_ + 1, step_);
  found.place = place_of(context().line);
  const std::string name = x.node() ? name_of(*x.node()) : std::string("a parameter");
  if (bad_gradient_) {
    found.kind = bad_gradient_->kind;
    found.what = bad_gradient_->what;
    found.place = bad_gradient_->place;
    found.step = bad_gradient_->step;
  } else if (from_gradient) {
    found.what = "the gradient of " + name;
  } else {
    found.what = text("the optimizer's step", at(context().line), ", in ", name);
  }
  if (from_gradient)
    found.explanation =
        text("the gradient of ", name, ": ", describe_contents(gradient, contents_of(gradient)));
  else
    found.explanation = text(name, ": ", describe_contents(x.detach(), contents_of(x)));
  report(std::move(found));
}

void FiniteSentry::logged(const std::string& name, double value, int64_t step, const SourcePlace& place) {
  if (!looks() || pending_ || std::isfinite(value)) return;
  // Other metrics may be NaN when there is nothing to measure.
  if (lower_case(name).find("loss") == name.npos) return;
  Found found;
  found.kind = bad_kind(value);
  found.step = step;
  found.since = step > 0 ? std::min(good_ + 1, step) : 0;
  found.place = place;
  found.what = name + " as logged";
  if (place.line > 0) found.what += " at " + file_and_line(place);
  report(std::move(found));
}

void FiniteSentry::report(Found found) {
  found_ = true;
  pass_ = {};
  roots_.clear();
  tell_(found);
}

}  // namespace lunagrad
