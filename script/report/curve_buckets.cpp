#include "script/report/curve_buckets.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "script/run/json.h"

namespace lunagrad {
namespace {

// Rounds to six digits, which is enough to draw.
Json rounded(double value) {
  if (!std::isfinite(value)) return json_number(value);
  char digits[32];
  const char* const end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6).ptr;
  double result = value;
  std::from_chars(digits, end, result);
  return result;
}

}  // namespace

void CurveBuckets::append(int64_t step, double time, double value, uint64_t mark) {
  if (buckets_.empty() || buckets_.back().rows == each_) {
    if (buckets_.size() == most_) merge(mark);
    if (buckets_.empty() || buckets_.back().rows == each_) {
      buckets_.emplace_back();
      buckets_.back().first = step;
      buckets_.back().low = buckets_.back().high = NAN;
    }
  }
  Bucket& bucket = buckets_.back();
  bucket.last = step;
  bucket.time = time;
  bucket.latest = value;
  bucket.changed = mark;
  ++bucket.rows;
  ++count_;
  for (size_t i = 0; i < smoothers_.size(); ++i) {
    const double smooth = smoothers_[i].next(double(step), value);
    if (std::isfinite(smooth) || bucket.rows == 1) bucket.smooth[i] = smooth;
  }
  if (!std::isfinite(value)) {
    ++bucket.bad;
    ++bad_;
    if (!first_bad_) first_bad_ = {step, value};
    return;
  }
  bucket.low = std::fmin(bucket.low, value);
  bucket.high = std::fmax(bucket.high, value);
  if (!least_ || value < least_->value) least_ = {step, value};
  if (!largest_ || value > largest_->value) largest_ = {step, value};
}

void CurveBuckets::merge(uint64_t mark) {
  merged_ = mark;
  each_ *= 2;
  size_t to = 0;
  for (size_t from = 0; from < buckets_.size(); from += 2, ++to) {
    const Bucket left = buckets_[from];
    if (from + 1 == buckets_.size()) {
      buckets_[to] = left;
      continue;
    }
    Bucket both = buckets_[from + 1];
    both.first = left.first;
    both.low = std::fmin(left.low, both.low);
    both.high = std::fmax(left.high, both.high);
    both.rows += left.rows;
    both.bad += left.bad;
    both.changed = std::max(left.changed, both.changed);
    for (size_t i = 0; i < both.smooth.size(); ++i)
      if (!std::isfinite(both.smooth[i])) both.smooth[i] = left.smooth[i];
    buckets_[to] = both;
  }
  buckets_.resize(to);
}

Json CurveBuckets::json(uint64_t since) const {
  Json curve;
  curve["count"] = count_;
  curve["each"] = each_;
  if (least_) curve["min"] = {{"step", least_->step}, {"value", least_->value}};
  if (largest_) curve["max"] = {{"step", largest_->step}, {"value", largest_->value}};
  if (bad_) {
    curve["bad"] = {{"count", bad_}, {"first", first_bad_->step}, {"value", json_number(first_bad_->value)}};
  }
  size_t from = 0;
  while (since >= merged_ && from < buckets_.size() && buckets_[from].changed <= since) ++from;
  curve["from"] = from;
  const auto list = [&](const char* name, auto&& of) {
    Json values = Json::array();
    for (size_t i = from; i < buckets_.size(); ++i) values.push_back(of(buckets_[i]));
    curve[name] = std::move(values);
  };
  list("step", [](const Bucket& b) { return b.last; });
  list("time", [](const Bucket& b) { return rounded(b.time); });
  list("value", [](const Bucket& b) { return json_number(b.latest); });
  if (each_ == 1) return curve;
  list("first", [](const Bucket& b) { return b.first; });
  list("low", [](const Bucket& b) { return json_number(b.low); });
  list("high", [](const Bucket& b) { return json_number(b.high); });
  list("bads", [](const Bucket& b) { return b.bad; });
  Json smooth = Json::array();
  for (size_t k = 0; k < kSmoothings.size(); ++k) {
    Json values = Json::array();
    for (size_t i = from; i < buckets_.size(); ++i) values.push_back(rounded(buckets_[i].smooth[k]));
    smooth.push_back(std::move(values));
  }
  curve["smooth"] = std::move(smooth);
  return curve;
}

}  // namespace lunagrad
