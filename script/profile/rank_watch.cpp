#include "script/profile/rank_watch.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/dist/world.h"

namespace lunagrad {
namespace {

constexpr char kStride = 'L', kNotes = 's';  // kinds of messages
constexpr size_t kKeptRankSteps = 16, kKeptParts = 16;
constexpr int64_t kBetween = 50'000'000;  // least ns between two measured steps
constexpr int64_t kMostStride = 1 << 20;
constexpr std::chrono::milliseconds kLook{10}, kPatience{500};  // interval and limit of the wait in end_run()

// Identifies a start of a machine, and with it the steady clock.
const std::string& machine() {
  static const std::string id = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string line;
    std::getline(file, line);
    return line;
  }();
  return id;
}

}  // namespace

RankWatch::RankWatch() {
  if (dist::launched_size() == 1) return;
  if (dist::launched_rank() == 0)
    dist::on_message(kNotes, [this](int from, const std::string& text) {
      try {
        take(from, rank_notes(text));
      } catch (const Error&) {  // notes of a rank with another version: the step is left out
      }
    });
  else
    dist::on_message(kStride, [this](int, const std::string& text) {
      received_stride_.store(std::strtoll(text.c_str(), nullptr, 10));
    });
}

RankWatch::~RankWatch() {
  if (dist::launched_size() == 1) return;
  dist::on_message(dist::launched_rank() == 0 ? kNotes : kStride, nullptr);
}

void RankWatch::reset() {
  const std::lock_guard lock(mutex_);
  view_ = nullptr;
  total_ = {};
  parts_.clear();
  origin_ = 0;
}

std::shared_ptr<const RankProfile> RankWatch::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void RankWatch::begin_run() {
  measuring_ = false;
  stride_ = 0;
  reset();
}

// Rank 0: chooses the stride so that measured steps are about kBetween apart, from the length of the steps
// since the last choice.
void RankWatch::choose_stride(int64_t now) {
  if (!watching_.load(std::memory_order_relaxed)) {
    if (stride_ == 0) return;
    stride_ = 0;
    dist::send_message(-1, kStride + std::string("0"));
    return;
  }
  int64_t stride = stride_;
  if (stride_ == 0) {
    stride = 1;
  } else if (step_ - since_step_ < std::max<int64_t>(2 * stride_, 4)) {
    return;
  } else {
    const int64_t length = std::max<int64_t>((now - since_) / (step_ - since_step_), 1);
    // Keeps a stride that is nearly right.
    while (stride * length < kBetween / 2 && stride < kMostStride) stride *= 2;
    while (stride > 1 && stride * length > 2 * kBetween) stride /= 2;
  }
  since_step_ = step_;
  since_ = now;
  if (stride == stride_) return;
  stride_ = stride;
  dist::send_message(-1, kStride + std::to_string(stride));
}

void RankWatch::begin_step(int64_t step) {
  end_step();
  if (!dist::is_world_open() || dist::size() == 1) return;
  step_ = step;
  begin_ = dist::clock_ns();
  int64_t stride = 0;
  if (dist::rank() == 0) {
    choose_stride(begin_);
    stride = stride_;
  } else {
    // A rank that has received no stride yet measures every step if the command line asks for a profile.
    stride = received_stride_.load(std::memory_order_relaxed);
    if (stride == 0 && watching_.load(std::memory_order_relaxed)) stride = 1;
  }
  dist::transfer_log().watch(stride > 0);
  measuring_ = stride > 0 && step > 0 && step % stride == 0;
  disturbed_ = false;
  if (!measuring_) return;
  dist::transfer_log().take();
  const std::lock_guard lock(mutex_);
  if (origin_ == 0) origin_ = begin_;
}

void RankWatch::end_step() {
  if (!std::exchange(measuring_, false) || disturbed_) return;
  RankNotes notes;
  notes.step = step_;
  notes.begin = begin_;
  notes.end = dist::clock_ns();
  notes.travelled = dist::transfer_log().take();
  notes.nearest = dist::transfer_log().nearest();
  notes.machine = machine();
  if (dist::rank() == 0)
    take(0, std::move(notes));
  else
    dist::send_message(0, kNotes + text_of(notes));
}

void RankWatch::end_run() {
  end_step();
  dist::transfer_log().watch(false);
  if (!dist::is_world_open() || dist::rank() != 0 || stride_ == 0) return;
  for (auto waited = kLook; waited < kPatience; waited += kLook) {
    {
      const std::lock_guard lock(mutex_);
      if (parts_.empty()) break;
    }
    std::this_thread::sleep_for(kLook);
  }
}

// Rank 0, on the session's thread and on the thread that receives messages.
void RankWatch::take(int from, RankNotes notes) {
  const std::lock_guard lock(mutex_);
  if (origin_ == 0) return;  // measured before the reset
  const int64_t step = notes.step;
  std::vector<RankNotes>& ranks = parts_[step];
  ranks.resize(size_t(dist::launched_size()));
  ranks[size_t(from)] = std::move(notes);
  if (std::any_of(ranks.begin(), ranks.end(), [](const RankNotes& part) { return part.end == 0; })) {
    if (parts_.size() > kKeptParts) parts_.erase(parts_.begin());
    return;
  }
  std::shared_ptr<const RankStep> made = rank_step(ranks, origin_);
  parts_.erase(parts_.begin(), parts_.upper_bound(step));
  ++total_.measured;
  total_.all.resize(made->lanes.size());
  for (size_t i = 0; i < made->lanes.size(); ++i)
    for (size_t t = 0; t < kRankTimes; ++t) total_.all[i][t] += made->lanes[i].ns[t];
  total_.steps.push_back(std::move(made));
  if (total_.steps.size() > kKeptRankSteps) total_.steps.erase(total_.steps.begin());
  view_ = std::make_shared<RankProfile>(total_);
}

}  // namespace lunagrad
