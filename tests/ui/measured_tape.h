#pragma once
// Tapes and steps with figures, for tests of causes: a tape whose nodes have summaries, measured steps, and
// checks of a trail.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/ui/tapes.h"
#include "ui/inspect/why.h"

namespace lunagrad::test {

// Figures of 64 elements between two numbers.
inline Summary between(double low, double high, int64_t zeros = 0) {
  Summary s;
  s.count = 64;
  s.zeros = zeros;
  s.min = low;
  s.max = high;
  s.mean = (low + high) / 2;
  s.mean_magnitude = std::abs(s.mean);
  s.norm = 8 * std::max(std::abs(low), std::abs(high));
  return s;
}

inline Summary all_zeros() { return between(0, 0, 64); }
inline Summary single(double value) {
  Summary s = between(value, value, value == 0);
  s.count = 1;
  s.norm = std::abs(value);
  return s;
}

inline Summary broken(int64_t nans, int64_t infs) {
  Summary s = between(-1, 1);
  s.nans = nans;
  s.infs = infs;
  return s;
}

inline ParameterStatistics measured(const std::string& name, uint64_t node, const Summary& weight,
                                    const Summary& gradient, double update) {
  ParameterStatistics p;
  p.name = name;
  p.node = node;
  p.shape = {8, 8};
  p.place = {"model.lua", 5};
  p.has_gradient = p.optimized = true;
  p.updated_at = {"model.lua", 14};
  p.weight = weight;
  p.gradient = gradient;
  p.update_norm = update;
  return p;
}

inline StepStatisticsPtr sampled(int64_t number, std::vector<ParameterStatistics> parameters,
                                 std::vector<NodeStatistics> nodes = {}) {
  auto made = std::make_shared<StepStatistics>();
  made->number = uint64_t(number);
  made->step = number;
  made->parameters = std::move(parameters);
  made->nodes = std::move(nodes);
  return made;
}

// A tape whose nodes have figures, written in the order of execution.
class MeasuredTape {
 public:
  explicit MeasuredTape(int64_t step = 40) : step_(step) {}
  uint64_t leaf(const std::string& name, const Summary& gradient) {
    const uint64_t id = maker_.leaf(name, {8, 8});
    figures_.push_back({id, {}, false, gradient, true, {}, {}});
    return id;
  }
  // `inputs`: id 0 is a tensor that needs no gradient. `names`: of the operands.
  uint64_t call(const std::string& op, std::vector<uint64_t> inputs, std::vector<std::string> names,
                const Summary& value, const Summary& gradient,
                std::vector<std::pair<std::string, std::string>> attributes = {}, int line = 10,
                std::vector<int64_t> shape = {8, 8}) {
    const uint64_t id = maker_.call(op, "", std::move(inputs), std::move(shape), line);
    figures_.push_back({id, value, true, gradient, true, std::move(names), std::move(attributes)});
    return id;
  }
  void without_gradient(uint64_t id) {
    for (Figures& f : figures_)
      if (f.id == id) f.has_gradient = false;
  }
  TapeSnapshot snapshot() const {
    TapeSnapshot tape = maker_.snapshot(step_);
    tape.has_statistics = true;
    for (NodeInfo& node : tape.nodes)
      for (const Figures& f : figures_) {
        if (f.id != node.id) continue;
        if (f.has_value) node.output_summary = f.value;
        if (f.has_gradient) node.gradient_summary = f.gradient;
        node.attributes = f.attributes;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
          node.inputs[i].dtype = "f32";
          node.inputs[i].name = i < f.names.size() ? f.names[i] : "other";
        }
      }
    return tape;
  }
  // The answer about a node, from the figures of this tape alone.
  WhyTrail why_node(uint64_t id) const {
    const TapeSnapshot tape = snapshot();
    WhyFacts facts;
    facts.tape = &tape;
    return why(facts, {.node = id});
  }

 private:
  struct Figures {
    uint64_t id;
    Summary value;
    bool has_value;
    Summary gradient;
    bool has_gradient;
    std::vector<std::string> names;
    std::vector<std::pair<std::string, std::string>> attributes;
  };
  int64_t step_;
  TapeMaker maker_;
  std::vector<Figures> figures_;
};

inline Alarm alarm_about(AlarmKind kind, const std::string& subject, uint64_t node = 0) {
  Alarm alarm{};
  alarm.kind = kind;
  alarm.subject = subject;
  alarm.node = node;
  return alarm;
}

inline std::string all_of(const WhyTrail& trail) {
  std::string text;
  for (const WhyLink& link : trail.links) text += link.sentence + "\n";
  return text;
}

// The sentences contain these words in this order.
inline void expect_in_order(const WhyTrail& trail, std::initializer_list<const char*> words) {
  const std::string text = all_of(trail);
  CAPTURE(text);
  size_t at = 0;
  for (const char* const word : words) {
    CAPTURE(std::string(word));
    const size_t found = text.find(word, at);
    REQUIRE(found != std::string::npos);
    at = found + 1;
  }
}

// There is an answer, in whole sentences.
inline void expect_sentences(const WhyTrail& trail) {
  REQUIRE_FALSE(trail.links.empty());
  for (const WhyLink& link : trail.links) {
    CAPTURE(link.sentence);
    CHECK(link.sentence.size() > 8);
    CHECK(link.sentence.ends_with('.'));
    for (const char* const gap : {"  ", ": .", ": ,", " ."})
      CHECK(link.sentence.find(gap) == std::string::npos);
  }
}

// The first link that has these words.
inline const WhyLink& link_with(const WhyTrail& trail, std::string_view words) {
  for (const WhyLink& link : trail.links)
    if (link.sentence.find(words) != std::string::npos) return link;
  FAIL("no link has '", std::string(words), "':\n", all_of(trail));
  return trail.links.front();
}

inline const Summary kHealthy = between(-1, 1);

// weight and bias of a linear whose relu is dead, below a mean: the example of the documents.
struct DeadNetwork {
  uint64_t weight, bias, linear, relu;
  TapeSnapshot tape;
  DeadNetwork() {
    MeasuredTape made;
    weight = made.leaf("hidden.weight", all_zeros());
    bias = made.leaf("hidden.bias", all_zeros());
    linear =
        made.call("linear", {0, weight, bias}, {"input", "weight", "bias"}, between(-25, -18), all_zeros());
    relu = made.call("relu", {linear}, {"input"}, all_zeros(), kHealthy, {}, 12);
    made.call("mean", {relu}, {"input"}, single(0), single(1), {}, 13, {});
    tape = made.snapshot();
  }
  std::vector<ParameterStatistics> parameters(const Summary& of_bias, double update,
                                              const Summary& gradient) const {
    return {measured("hidden.weight", weight, kHealthy, gradient, update),
            measured("hidden.bias", bias, of_bias, gradient, update)};
  }
};

}  // namespace lunagrad::test
