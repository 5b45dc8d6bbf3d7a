#include "ui/tape/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "runtime/core/figures.h"
#include "ui/widgets/value_view.h"

namespace lunagrad {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double when_positive(double value) { return value > 0 ? value : kUnknown; }
double forward_time(const NodeInfo& node) {
  return node.op == "leaf" ? kUnknown : when_positive(node.forward_ns);
}
double backward_time(const NodeInfo& node) {
  return node.op == "leaf" ? kUnknown : when_positive(node.backward_ns);
}
double output_bytes(const NodeInfo& node) { return double(node.bytes); }

std::string norm_text(double value) { return "|g| " + number_figure(value); }

std::string faults_text(double count) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f NaN, Inf", count);
  return text;
}

double gradient_norm(const NodeInfo& node) {
  return node.gradient_summary ? node.gradient_summary->norm : kUnknown;
}

double faults(const NodeInfo& node) {
  double count = kUnknown;
  for (const auto* summary : {&node.output_summary, &node.gradient_summary})
    if (*summary) count = (std::isnan(count) ? 0 : count) + double((*summary)->nans + (*summary)->infs);
  return count;
}

constexpr std::array kMetrics = {
    TapeMetric{"forward time", "Time of the call itself.", forward_time, duration_figure, true},
    TapeMetric{"backward time", "Time of its gradient in this backward pass.", backward_time, duration_figure,
               true},
    TapeMetric{"bytes", "Memory of its outputs.", output_bytes, bytes_figure, true},
    TapeMetric{"gradient norm", "Norm of the gradient of its first output.", gradient_norm, norm_text, false},
    TapeMetric{"NaN and Inf", "Elements of its first output and its gradient that are not finite.", faults,
               faults_text, true},
};

}  // namespace

std::span<const TapeMetric> tape_metrics() { return kMetrics; }

bool known(const TapeMetric& metric, const TapeSnapshot& tape) {
  return std::any_of(tape.nodes.begin(), tape.nodes.end(),
                     [&](const NodeInfo& node) { return !std::isnan(metric.of(node)); });
}

std::vector<double> box_values(const TapeMetric& metric, const TapeSnapshot& tape,
                               const TapePicture& picture) {
  std::vector<double> values(picture.boxes.size(), kUnknown);
  for (size_t i = 0; i < tape.nodes.size(); ++i) {
    const double value = metric.of(tape.nodes[i]);
    double& sum = values[picture.box_of[i]];
    if (std::isnan(value)) continue;
    sum = std::isnan(sum) ? value : metric.summed ? sum + value : std::max(sum, value);
  }
  return values;
}

HeatScale::HeatScale(const std::vector<double>& values) {
  for (const double value : values) {
    if (!(value > 0) || std::isinf(value)) continue;
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
}

float HeatScale::of(double value) const {
  if (!(value > 0) || most <= 0) return 0;
  if (most <= least) return 1;
  return float(std::clamp(std::log(value / least) / std::log(most / least), 0.0, 1.0));
}

}  // namespace lunagrad
