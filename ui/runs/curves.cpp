#include "ui/runs/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/core/lower_case.h"

namespace lunagrad {
namespace {

// The number of samples at a step, linear between two rows, 0 at step 0. NaN: not known yet.
double samples_at(const Curve& samples, double step) {
  const size_t right = samples.lower_bound(step);
  if (right == samples.size()) return NAN;
  const double x0 = right > 0 ? samples.x(right - 1) : std::min(0.0, samples.x(0)), x1 = samples.x(right);
  const double y0 = right > 0 ? samples.y(right - 1) : 0, y1 = samples.y(right);
  return x1 > x0 ? y0 + (y1 - y0) * (step - x0) / (x1 - x0) : y1;
}

}  // namespace

void Metric::append(int64_t step, double time, double value) {
  if (!raw.append(double(step), value)) return;
  smooth.append(double(step), smoother_.next(double(step), value));
  times_.append(double(step), time);
}

void Metric::drop_after(int64_t step) {
  const size_t before = raw.size();
  raw.drop_after(double(step));
  if (raw.size() == before) return;
  times_.drop_after(double(step));
  set_smoothing(smoother_.beta());
}

void Metric::set_smoothing(double beta) {
  smoother_ = Smoother(beta);
  smooth = Curve();
  for (size_t i = 0; i < raw.size(); ++i) {
    const double x = raw.x(i);
    if (i >= raw.merged()) {
      smooth.append(x, smoother_.next(x, raw.y(i)));
      continue;
    }
    const double value = smoother_.next(x, raw.bucket(i).mean);
    CurveBucket made;
    made.first = made.odd_x = raw.bucket(i).first;
    made.points = raw.bucket(i).points;
    made.nans = std::isfinite(value) ? 0 : made.points;
    made.mean = made.odd = value;
    made.range.add(value);
    smooth.append_bucket(x, value, made);
  }
  other_ = XAxis::step;
}

Metric::Pair Metric::over(XAxis axis, const Curve* samples) {
  if (axis == XAxis::step || (axis == XAxis::samples && !samples)) return {&raw, &smooth};
  const size_t merged = raw.merged();
  const double last = merged > 0 ? raw.x(merged - 1) : 0;
  if (axis != other_ || merged != other_merged_ || last != other_last_) {
    other_ = axis;
    other_raw_ = other_smooth_ = Curve();
    other_done_ = 0;
    other_merged_ = merged;
    other_last_ = last;
  }
  for (; other_done_ < raw.size(); ++other_done_) {
    const size_t i = other_done_;
    const double step = raw.x(i);
    if (axis == XAxis::samples && (samples->size() == 0 || step > samples->x(samples->size() - 1))) break;
    const double x = axis == XAxis::time ? times_.y(i) : samples_at(*samples, step);
    if (!std::isfinite(x)) continue;
    if (i >= merged) {
      if (other_raw_.append(x, raw.y(i))) other_smooth_.append(x, smooth.y(i));
      continue;
    }
    if (other_raw_.size() > 0 && x < other_raw_.x(other_raw_.size() - 1)) continue;
    const double first =
        axis == XAxis::time ? times_.bucket(i).range.min : samples_at(*samples, raw.first_x(i));
    const auto moved = [&](CurveBucket bucket) {
      bucket.first = bucket.odd_x = std::isfinite(first) ? std::min(first, x) : x;
      return bucket;
    };
    other_raw_.append_bucket(x, raw.y(i), moved(raw.bucket(i)));
    other_smooth_.append_bucket(x, smooth.y(i), moved(smooth.bucket(i)));
  }
  return {&other_raw_, &other_smooth_};
}

size_t Metric::bytes() const {
  return raw.bytes() + smooth.bytes() + times_.bytes() + other_raw_.bytes() + other_smooth_.bytes();
}

static Metric& find_or_add(std::deque<Metric>& metrics, const std::string& name, bool probe,
                           double smoothing) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& metric) {
    return metric.name == name && metric.probe == probe;
  });
  if (found != metrics.end()) return *found;
  metrics.emplace_back(name, smoothing);
  metrics.back().probe = probe;
  return metrics.back();
}

Metric& RunCurves::metric(const std::string& wanted, double smoothing) {
  return find_or_add(metrics, wanted, false, smoothing);
}

Metric& RunCurves::probe(const std::string& wanted, double smoothing) {
  return find_or_add(metrics, wanted, true, smoothing);
}

const Metric* RunCurves::samples() const {
  for (const char* wanted : {"samples", "epoch"})
    for (const Metric& metric : metrics)
      if (metric.name == wanted && !metric.probe && metric.raw.size() > 0) return &metric;
  return nullptr;
}

void RunCurves::drop_after(int64_t step) {
  for (Metric& metric : metrics) metric.drop_after(step);
}

std::optional<int64_t> RunCurves::step_at(XAxis axis, double x) const {
  const Metric* const counted = axis == XAxis::samples ? samples() : nullptr;
  std::optional<int64_t> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const Metric& metric : metrics)
    for (size_t i = 0; i < metric.raw.size(); ++i) {
      const double step = metric.raw.x(i);
      const double at = axis == XAxis::time ? metric.time(i)
                        : counted           ? samples_at(counted->raw, step)
                                            : step;
      if (!(std::abs(at - x) < least)) continue;
      least = std::abs(at - x);
      nearest = int64_t(step);
    }
  return nearest;
}

double RunCurves::x_of(XAxis axis, int64_t step) const {
  if (axis == XAxis::step) return double(step);
  if (axis == XAxis::samples) {
    const Metric* const counted = samples();
    return counted ? samples_at(counted->raw, double(step)) : NAN;
  }
  const auto logged = std::find_if(metrics.begin(), metrics.end(),
                                   [](const Metric& metric) { return metric.raw.size() > 0; });
  return logged == metrics.end() ? NAN : logged->time(logged->raw.nearest(double(step)));
}

double RunCurves::place(XAxis axis, const RunMark& mark) const {
  if (axis == XAxis::step) return double(mark.step);
  if (axis == XAxis::time) return mark.time;
  const Metric* counted = samples();
  return counted ? samples_at(counted->raw, double(mark.step)) : NAN;
}

bool is_loss(std::string_view name) {
  const std::string lower = lower_case(std::string(name));
  for (const char* word : {"loss", "nll", "perplexity", "mse", "error", "residual"})
    if (lower.find(word) != lower.npos) return true;
  return false;
}

static constexpr std::array<std::string_view, 8> kSplits = {"train", "training", "valid", "validation",
                                                            "val",   "test",     "eval",  "dev"};

// "val_loss" is "loss", "acc" is "accuracy", "net.norm" is "norm".
static std::string without_split(std::string_view name) {
  if (const size_t dot = name.find_last_of('.'); dot != name.npos && dot + 1 < name.size())
    name.remove_prefix(dot + 1);
  for (std::string_view split : kSplits) {
    const size_t length = split.size() + 1;
    if (name.size() <= length) continue;
    if (name.starts_with(split) && name[split.size()] == '_')
      name.remove_prefix(length);
    else if (name.ends_with(split) && name[name.size() - length] == '_')
      name.remove_suffix(length);
  }
  if (name == "acc") name = "accuracy";
  return std::string(name);
}

ChartPlace chart_place(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (!part.empty() && std::find(kSplits.begin(), kSplits.end(), part) == kSplits.end())
      parts.push_back(part);
  }
  if (parts.empty()) return {"", std::string(name)};
  for (const std::string_view part : {parts.front(), parts.back()})
    if (parts.size() == 1 || is_loss(part)) return {"", without_split(part)};
  std::string chart;
  for (size_t i = 0; i + 1 < parts.size(); ++i) chart += std::string(parts[i]) + "/";
  return {std::string(parts.front()), chart + without_split(parts.back())};
}

ChartPlace chart_place(const Metric& metric) {
  return metric.probe ? ChartPlace{"", metric.name} : chart_place(std::string_view(metric.name));
}

std::string line_name(const Metric& metric) { return metric.name + (metric.probe ? " (probe)" : ""); }

MeanCurves mean_of(const std::vector<const Curve*>& curves, size_t most) {
  std::vector<double> places;
  size_t points = 0;
  for (const Curve* curve : curves) points += curve->size();
  // Takes every n-th point by index, and each curve's last point: reading all of a million points would delay
  // a frame.
  const size_t every = std::max<size_t>(1, points / std::max<size_t>(most, 1));
  for (const Curve* curve : curves)
    for (size_t i = 0; i < curve->size();
         i = i + 1 < curve->size() ? std::min(i + every, curve->size() - 1) : i + 1)
      places.push_back(curve->x(i));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());

  MeanCurves result;
  CurveRange all;
  for (const Curve* curve : curves) all.add(curve->range(0, curve->size()));
  const ValueBounds bounds = natural_bounds(all);
  std::vector<double> values(curves.size());
  std::vector<size_t> at(curves.size(), 0);  // index of the first point of each curve at or to the right of x
  for (const double place : places) {
    double sum = 0, squares = 0;
    int count = 0;
    for (size_t k = 0; k < curves.size(); ++k) {
      const Curve& curve = *curves[k];
      while (at[k] < curve.size() && curve.x(at[k]) < place) ++at[k];
      const size_t right = at[k];
      if (right == curve.size()) continue;
      double value = curve.y(right);
      if (curve.x(right) > place) {
        if (right == 0) continue;
        const double x0 = curve.x(right - 1), y0 = curve.y(right - 1);
        value = y0 + (value - y0) * (place - x0) / (curve.x(right) - x0);
      }
      if (!std::isfinite(value)) continue;
      values[size_t(count++)] = value;
      sum += value;
    }
    if (count == 0) continue;
    const double mean = sum / count;
    for (int i = 0; i < count; ++i) squares += (values[size_t(i)] - mean) * (values[size_t(i)] - mean);
    const double spread = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    result.mean.append(place, mean);
    result.low.append(place, std::max(mean - spread, bounds.low));
    result.high.append(place, std::min(mean + spread, bounds.high));
  }
  return result;
}

}  // namespace lunagrad
