#pragma once
// Writes the trail of an answer to "Why?", link by link, while it follows the causes over the tape and the
// measured steps. One function for each kind of effect; each ends at a first cause, or says what is not
// known. One thread.
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ui/inspect/why_tape.h"
#include "ui/inspect/why_trail.h"

namespace lunagrad {

class WhyWriter {
 public:
  explicit WhyWriter(const WhyFacts& facts) : facts_(facts), tape_(facts) {}

  const WhyTape& tape() const { return tape_; }
  std::vector<WhyLink> take() { return std::move(links_); }

  void about_node(int node);
  void about_parameter(const std::string& name);
  void about_alarm(const Alarm&);

  // Words for a node: "relu of net.1 at model.lua:12", "fc1.weight".
  std::string words(int node) const;

 private:
  // why_zero.cpp: a gradient that is 0, and values that are 0.
  void zero_gradient(int node);
  void stop_of_gradient(int reader, int node);
  bool stop_by_activation(int reader, int node);
  bool stop_by_product(int reader, int node);
  void zero_value(int node);
  void dead_rectifier(int node);
  void negative_value(int node, const std::string& what);
  void negative_affine(int node, const Summary* value);
  // why_unreached.cpp: a parameter that gets no gradient.
  void unreached_parameter(const std::string& name);
  void unreached_node(int node);
  // why_failed.cpp: the call whose error ended the run.
  void failed_call(int node);
  // why_finite.cpp: NaN and Inf.
  void found_not_finite();
  void not_finite_value(int node);
  void not_finite_gradient(int node);
  void not_finite_op(int node);
  void diverged(const std::string& parameter);
  // why_scale.cpp: small and large gradients, and steps of the optimizer.
  void vanishing(int node);
  void exploding(int node);
  void compare_along_path(int node, bool grows);
  void large_steps(const std::string& parameter);
  void still(const std::string& parameter);  // it gets a gradient, and does not move
  void loss();
  // why_history.cpp: since when a parameter is as it is, and which update made it so.
  using Holds = std::function<bool(const ParameterStatistics&)>;
  void since(const std::string& parameter, const Holds&);
  void update_at(const ParameterStatistics&, int64_t step);
  void changes_between(int64_t after, int64_t until);

  std::vector<int> path_to_loss(int node) const;  // along the largest gradients
  std::string parameter_name(int node) const;     // "" for an op
  const ParameterStatistics* parameter_at(const StepStatistics&, const std::string& name) const;
  int operand(int node, std::string_view name) const;  // index of the input; -1: none, or not given
  // False when this side of the node was written about before: what follows from it is in the trail already.
  enum class Side { value, gradient };
  bool visit(int node, Side side) { return visited_.insert({node, side}).second; }
  void say(std::string sentence) { links_.push_back({std::move(sentence), 0, {}, -1}); }
  void say_of(int node, std::string sentence);
  void say_at(const SourcePlace& place, int64_t step, std::string sentence) {
    links_.push_back({std::move(sentence), 0, place, step});
  }

  const WhyFacts& facts_;
  WhyTape tape_;
  std::vector<WhyLink> links_;
  std::set<std::pair<int, Side>> visited_;
};

// Texts that the files of the answer share.
std::string why_figure(double value);    // three digits
std::string why_range(const Summary&);   // "from -22 to -19"
std::string why_at(const SourcePlace&);  // " at model.lua:14", "" when unknown

}  // namespace lunagrad
