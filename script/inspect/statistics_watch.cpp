#include "script/inspect/statistics_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/ops.h"
#include "runtime/statistics/statistics.h"
#include "runtime/statistics/summary.h"
#include "runtime/tape/autocast.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// "train.lua:12", without folders: a name in a table.
std::string brief(SourceLine line) { return file_name(to_string(line)); }

// The time between two measured steps is at least this many times the cost of measuring, so measuring takes
// at most 1/101 of the time.
constexpr uint64_t kPause = 100;
// In larger tensors every n-th element enters the histogram.
constexpr int64_t kMostSampled = 1 << 14;
// Nanoseconds. A longer step is measured only within the budget that the time since the last measured step
// allows: it may be a whole script without steps.
constexpr double kLongStep = 2e9;
NodeStatistics record_of(uint64_t id, const char* label, uint32_t module, SourceLine line) {
  NodeStatistics record;
  record.node = id;
  record.op = label;
  record.module = interned(module);
  record.place = {interned(line.file), line.line};
  return record;
}

Tensor real_gradient(const Tensor& gradient) {
  return is_complex(gradient.dtype()) ? abs(gradient.detach()) : gradient.detach();
}

// The elements of x that enter the histogram.
Tensor sample_of(const Tensor& x) {
  const int64_t each = (x.numel() + kMostSampled - 1) / kMostSampled;
  return each > 1 && (x.is_contiguous() || !x.device().is_cpu())
             ? slice(reshape(x, {-1}), 0, 0, x.numel(), each)
             : x;
}

// Tensors of other devices are copied in one batch: each wait for a device costs more than the copy.
void bring_to_cpu(TensorList& samples) {
  std::map<Device*, TensorList> there;
  for (const Tensor& x : samples)
    if (!x.device().is_cpu()) there[&x.device()].push_back(to(reshape(x, {-1}), DType::f32));
  std::map<Device*, int64_t> taken;
  std::map<Device*, Tensor> here;
  for (const auto& [device, parts] : there) here[device] = to(cat(parts), cpu_device());
  for (Tensor& x : samples) {
    if (x.device().is_cpu()) continue;
    int64_t& at = taken[&x.device()];
    const Tensor& all = here.at(&x.device());
    const int64_t count = x.numel();
    x = narrow(all, 0, at, count);
    at += count;
  }
}

// The activation that is fused into a call of the op; empty: none.
std::string activation_within(const Op& op, const Values& params) {
  if (op.params.empty() || params.empty()) return {};
  const ParamSpec& last = op.params.back();
  const Value& chosen = params.back();
  const bool active = last.name == std::string_view("activation") && Activation(chosen.i) != Activation::none;
  return active ? last.choices[size_t(chosen.i)] : std::string();
}

std::string activation_within(const Node& node) {
  return node.is_leaf() || node.op->params.empty() ? std::string()
                                                   : activation_within(*node.op, node.attributes->params);
}

}  // namespace

class StatisticsWatch::Look {
 public:
  explicit Look(StatisticsWatch& owner) : owner_(owner), start_(ticks()), off_(false), no_autocast_(nullptr) {
    Context& ctx = context();
    owner_.busy_ = true;
    trace_ = std::exchange(ctx.trace, nullptr);
    guard_ = std::exchange(ctx.guard, Guard::off);
  }
  ~Look() {
    context().trace = trace_;
    context().guard = guard_;
    owner_.busy_ = false;
    owner_.spent_ += ticks() - start_;
  }
  Look(const Look&) = delete;

 private:
  StatisticsWatch& owner_;
  uint64_t start_;
  GradMode off_;
  UseAutocast no_autocast_;
  Trace* trace_;
  const EagerCalls at_once_;
  Guard guard_;
};

Tensor StatisticsWatch::value_of(const Node& leaf) {
  const Operand& out = leaf.out[0];
  return out.saved ? Tensor(out.saved, out.layout, out.offset, out.dtype) : Tensor();
}

std::vector<StepStatisticsPtr> StatisticsWatch::steps(uint64_t after) const {
  const std::lock_guard lock(mutex_);
  auto first = kept_.end();
  while (first != kept_.begin() && (*std::prev(first))->number > after) --first;
  return {first, kept_.end()};
}

// Each step since the last measured step counts with the duration of the shortest, so that pauses and other
// programs do not count as training time.
bool StatisticsWatch::is_due() const {
  if (first_) return true;
  if (const int64_t every = every_.load()) return steps_since_ + 1 >= every;
  return steps_since_ > 0 && uint64_t(steps_since_) * shortest_ > kPause * last_spent_;
}

void StatisticsWatch::begin_step(bool wanted) {
  looking_ = watching() && (wanted || is_due());
  any_pass_ = false;
  spent_ = 0;
  step_began_ = ticks();
  if (last_end_ == 0) last_end_ = step_began_;
  if (!looking_) return;
  outputs_.clear();
  summaries_.clear();
  nodes_.clear();
  for (auto& [id, leaf] : leaves_) leaf.has_gradient = leaf.optimized = false;
}

void StatisticsWatch::give_up() {
  looking_ = false;
  for (auto& [id, leaf] : leaves_) leaf.before = Tensor();
  looked();
}

void StatisticsWatch::looked() {
  first_ = false;
  last_spent_ = spent_;
  last_end_ = ticks();
  steps_since_ = 0;
}

void StatisticsWatch::ran(const Call& call) {
  const Context& ctx = context();
  if (!looking_ || busy_ || !ctx.grad_enabled || ctx.differentiating || call.aliases) return;
  const uint64_t now = ticks();
  if (every_.load() == 0 && spent_ * kPause > now - last_end_ && ticks_to_ns(now - step_began_) > kLongStep)
    return give_up();
  bool recorded = false;
  for (const Tensor& x : call.in) recorded |= x.defined() && x.requires_grad();
  if (!recorded || call.out.empty() || !call.out[0].defined()) return;
  const Look look(*this);
  outputs_[call.out[0].id()] = summaries_.add(call.out[0]) + 1;
}

void StatisticsWatch::begin(std::span<Node* const> nodes) {
  if (!looking_ || busy_) return;
  const Look look(*this);
  in_pass_ = any_pass_ = true;
  nodes_.assign(nodes.size(), {});
  places_.assign(nodes.size(), {});
  positions_.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    nodes_[i] = record_of(node.id, node.label(), node.module, node.line);
    nodes_[i].activation = activation_within(node);
    positions_[node.id] = i;
    if (node.is_leaf()) {
      if (node.requires_grad) leaves_.try_emplace(node.id).first->second.node = Ref<Node>(nodes[i]);
    } else if (!node.out.empty()) {
      const auto made = outputs_.find(node.out[0].tensor_id);
      if (made != outputs_.end()) places_[i].output = made->second;
    }
  }
}

void StatisticsWatch::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (!in_pass_ || busy_ || output > 0) return;
  // A parameter's final gradient is read after the pass.
  if (node.is_leaf() && node.requires_grad) {
    leaves_.at(node.id).reached = true;
    return;
  }
  const auto found = positions_.find(node.id);
  if (found == positions_.end()) return;
  const Look look(*this);
  nodes_[found->second].has_gradient = true;
  places_[found->second].gradient = summaries_.add(gradient) + 1;
}

void StatisticsWatch::end() {
  if (!in_pass_) return;
  in_pass_ = false;
  const Look look(*this);
  std::vector<std::pair<NodeStatistics*, Leaf*>> reached;
  TensorList gradients, samples;
  for (NodeStatistics& node : nodes_) {
    const auto known = leaves_.find(node.node);
    if (known == leaves_.end() || !std::exchange(known->second.reached, false)) continue;
    Leaf& leaf = known->second;
    const Tensor gradient = leaf.node->grad;
    if (!gradient.defined()) continue;
    leaf.has_gradient = node.has_gradient = true;
    reached.emplace_back(&node, &leaf);
    gradients.push_back(real_gradient(gradient));
    samples.push_back(sample_of(gradients.back()));
    if (!leaf.before.defined())
      if (const Tensor now = value_of(*leaf.node); now.defined()) leaf.before = clone(now);
  }
  const std::vector<Summary> of_gradients = summarize_all(gradients);  // they may be sums over several passes
  const std::vector<Summary> summaries = summaries_.read();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (places_[i].output) nodes_[i].output = summaries[places_[i].output - 1];
    if (places_[i].gradient) nodes_[i].gradient = summaries[places_[i].gradient - 1];
  }
  outputs_.clear();
  bring_to_cpu(samples);
  for (size_t i = 0; i < reached.size(); ++i) {
    const auto& [node, leaf] = reached[i];
    node->gradient = leaf->found.gradient = of_gradients[i];
    const Statistics spread = statistics(samples[i]);
    leaf->found.edges = spread.edges;
    leaf->found.counts = spread.counts;
  }
}

void StatisticsWatch::optimized(const TensorList& parameters) {
  if (!looking_) return;
  for (const Tensor& x : parameters)
    if (x.requires_grad() && x.node() && x.node()->is_leaf()) {  // a frozen parameter is not updated
      Leaf& leaf = leaves_.try_emplace(x.node()->id).first->second;
      leaf.node = x.node();
      leaf.optimized = true;
      leaf.updated_at = context().line;
    }
}

void StatisticsWatch::end_step(int64_t step) {
  if (!looking_) {
    const uint64_t length = ticks() - step_began_;
    shortest_ = steps_since_++ == 0 ? length : std::min(shortest_, length);
    return;
  }
  looking_ = false;
  if (!any_pass_) {  // no backward pass, as in an evaluation: measure the next step instead
    outputs_.clear();
    return;
  }
  std::erase_if(leaves_, [](const auto& entry) { return entry.second.node->use_count() == 1; });  // only ours
  std::shared_ptr<StepStatistics> made = statistics_of(leaves_, true);
  for (auto& [id, leaf] : leaves_) leaf.before = Tensor();
  made->nodes = nodes_;
  made->step = step;
  made->cost_ns = ticks_to_ns(spent_);
  looked();
  add(std::move(made), true);
}

// The figures of all parameters. `ended`: the step has ended; otherwise a parameter that was not written to
// has no update yet.
std::shared_ptr<StepStatistics> StatisticsWatch::statistics_of(Leaves& leaves, bool ended) {
  auto made = std::make_shared<StepStatistics>();
  const Look look(*this);
  TensorList weights, differences;  // values and updates, in the same order
  std::vector<bool> moved;
  std::map<std::string, int> named;  // two models may use the same parameter names
  for (auto& [id, leaf] : leaves) {
    const Node& node = *leaf.node;
    const Tensor now = value_of(node);
    if (!now.defined()) continue;
    ParameterStatistics& p = made->parameters.emplace_back(leaf.found);
    p.place = {interned(node.line.file), node.line.line};
    p.name = interned(node.name);
    if (p.name.empty()) p.name = node.line.known() ? "leaf of " + brief(node.line) : text("leaf ", node.id);
    if (const int count = ++named[p.name]; count > 1) p.name += text(" (", count, ")");
    p.shape.assign(node.out[0].layout->shape.begin(), node.out[0].layout->shape.end());
    p.node = node.id;
    p.has_gradient = leaf.has_gradient;
    p.optimized = leaf.optimized;
    p.updated_at = leaf.optimized ? place_of(leaf.updated_at) : SourcePlace();
    if (!p.has_gradient) p.gradient = {}, p.edges.clear(), p.counts.clear();
    p.update_norm = NAN;
    weights.push_back(now);
    moved.push_back(leaf.before.defined());
    if (moved.back()) differences.push_back(now.detach() - leaf.before);
  }
  size_t at = weights.size();
  weights.insert(weights.end(), differences.begin(), differences.end());
  const std::vector<Summary> read = summarize_all(weights);
  for (size_t i = 0; i < made->parameters.size(); ++i) {
    made->parameters[i].weight = read[i];
    if (!moved[i]) continue;
    const Summary& difference = read[at++];
    const bool known = difference.finite() && (ended || difference.norm > 0);
    made->parameters[i].update_norm = known ? difference.norm : NAN;
  }
  return made;
}

void StatisticsWatch::add(std::shared_ptr<StepStatistics> made, bool ended) {
  latest_ = made->nodes;
  latest_step_ = made->step;
  latest_ended_ = ended;
  made->every = last_step_ > 0 && made->step > last_step_ ? made->step - last_step_ : 1;
  last_step_ = made->step;
  const std::lock_guard lock(mutex_);
  made->number = ++number_;
  kept_bytes_ += made->bytes();
  kept_.push_back(std::move(made));
  // A viewer fetches a step long before it is dropped.
  for (; (kept_bytes_ > StepStatistics::kMostBytes && kept_.size() > 1) ||
         kept_.size() > StepStatistics::kMostSteps;
       kept_.pop_front())
    kept_bytes_ -= kept_.front()->bytes();
}

bool StatisticsWatch::measure(const Kept& kept, const StepValues::CheckWanted& check_wanted) {
  const int64_t step = kept.values.step();
  struct Spent {  // the running step does not pay for this
    uint64_t& now;
    const uint64_t before;
    ~Spent() { now = before; }
  } const spent{spent_, spent_};
  Leaves leaves = leaves_;
  std::erase_if(leaves, [](const auto& entry) { return entry.second.node->use_count() == 2; });  // only ours
  std::vector<NodeStatistics> nodes = nodes_;
  const bool measured = step > 0 && step == latest_step_ && latest_ended_;
  bool known = looking_ && any_pass_ && !in_pass_ && !kept.ended && kept.is_latest;  // up to this pause
  if (!known && !measured) {
    const Look look(*this);
    known = read_kept(kept, leaves, nodes, check_wanted);
  }
  if (!known) return false;
  std::shared_ptr<StepStatistics> made = statistics_of(leaves, kept.ended);
  made->nodes = std::move(nodes);
  made->step = step;
  made->cost_ns = ticks_to_ns(spent_ - spent.before);
  add(std::move(made), kept.ended);
  return true;
}

// A parameter's gradient is the .grad that the last pass left; if the script has changed that since, as by
// clipping or zero_grad(), it is the sum of what the passes of the step added.
bool StatisticsWatch::read_kept(const Kept& kept, Leaves& leaves, std::vector<NodeStatistics>& nodes,
                                const StepValues::CheckWanted& check_wanted) {
  struct Reached {
    const KeptNode* last = nullptr;  // in the latest pass that reached it
    Tensor sum;
  };
  std::map<uint64_t, Reached> reached;
  Summaries summaries;
  std::vector<Place> places;
  bool complete = true;
  nodes.clear();
  for (auto& [id, leaf] : leaves) {
    leaf.has_gradient = false;
    leaf.optimized &= kept.ended;
    leaf.before = Tensor();
  }
  const auto& passes = kept.values.passes();
  for (size_t at = 0; at < passes.size(); ++at) {
    const KeptPass& pass = *passes[at];
    const bool shown = at == kept.pass;
    if (!pass.ended || pass.forward_only || !(shown || pass.accumulates)) continue;
    for (const KeptNode& node : pass.nodes) {
      if (shown) nodes.push_back(record_of(node.id, node.label(), node.module, node.line));
      if (shown && node.op && node.has_params)
        nodes.back().activation = activation_within(*node.op, node.params);
      if (!node.leaf || !node.leaf->requires_grad) continue;
      Leaf& leaf = leaves.try_emplace(node.id).first->second;
      leaf.node = node.leaf;
      // After later passes the optimizer may have moved it once more.
      if (!leaf.before.defined() && kept.is_latest) leaf.before = node.value;
      if (node.reached && pass.accumulates) reached[node.id].last = &node;
    }
    if (shown) places.assign(pass.nodes.size(), {});
    StepValues::Visitor visitor;
    visitor.value = [&](size_t i, uint32_t output, const Tensor& made) {
      const NoGrad off;
      if (shown && output == 0 && pass.nodes[i].op) places[i].output = summaries.add(made) + 1;
    };
    visitor.gradient = [&](size_t i, uint32_t output, const Tensor& made) {
      const NoGrad off;
      const KeptNode& node = pass.nodes[i];
      if (output > 0) return;
      if (shown && node.op) places[i].gradient = summaries.add(made) + 1;
      const auto leaf = reached.find(node.id);
      if (leaf == reached.end() || !pass.accumulates) return;
      Tensor& sum = leaf->second.sum;
      sum = sum.defined() && node.had_gradient ? sum + made : made;
    };
    // Ops of the script itself may print, count or wait for other ranks: only a user's request runs them
    // again.
    const bool repeatable = std::none_of(pass.nodes.begin(), pass.nodes.end(),
                                         [](const KeptNode& node) { return bool(node.custom); });
    complete &= repeatable && kept.values.visit(at, visitor, check_wanted);
  }
  TensorList gradients, samples;
  for (const auto& [id, leaf] : reached) {
    const bool left = kept.is_latest && kept.values.gradient_is_left(*leaf.last);
    if (!left && !(complete && leaf.sum.defined())) return false;
    gradients.push_back(real_gradient(left ? leaf.last->leaf->grad : leaf.sum));
    samples.push_back(sample_of(gradients.back()));
  }
  if (gradients.empty()) return false;
  const std::vector<Summary> of_gradients = summarize_all(gradients), found = summaries.read();
  bring_to_cpu(samples);
  std::map<uint64_t, const Summary*> of_leaf;
  for (size_t i = 0; const auto& [id, of] : reached) {
    Leaf& leaf = leaves.at(id);
    const Statistics spread = statistics(samples[i]);
    leaf.has_gradient = true;
    leaf.found.gradient = of_gradients[i];
    leaf.found.edges = spread.edges;
    leaf.found.counts = spread.counts;
    of_leaf[id] = &of_gradients[i++];
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto leaf = of_leaf.find(nodes[i].node);
    nodes[i].has_gradient = places[i].gradient > 0 || leaf != of_leaf.end();
    if (places[i].output) nodes[i].output = found[places[i].output - 1];
    if (places[i].gradient) nodes[i].gradient = found[places[i].gradient - 1];
    if (leaf != of_leaf.end()) nodes[i].gradient = *leaf->second;
  }
  return true;
}

void StatisticsWatch::describe(TapeSnapshot& tape, bool now) const {
  now &= looking_;
  if (!now && latest_step_ != tape.step) return;
  const std::vector<NodeStatistics>& from = now ? nodes_ : latest_;
  std::unordered_map<uint64_t, const NodeStatistics*> by_id;
  for (const NodeStatistics& node : from) by_id.emplace(node.node, &node);
  for (NodeInfo& node : tape.nodes) {
    const auto found = by_id.find(node.id);
    if (found == by_id.end()) continue;
    tape.has_statistics = true;
    if (found->second->output.count > 0) node.output_summary = found->second->output;
    if (found->second->has_gradient) node.gradient_summary = found->second->gradient;
  }
}

void StatisticsWatch::clear(bool everything) {
  looking_ = in_pass_ = false;
  leaves_.clear();
  outputs_.clear();
  summaries_.clear();
  if (!everything) return;
  nodes_.clear();
  latest_.clear();
  first_ = true;
  steps_since_ = last_step_ = latest_step_ = 0;
  last_end_ = last_spent_ = 0;
  const std::lock_guard lock(mutex_);
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace lunagrad
