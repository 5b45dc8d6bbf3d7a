// What a session shows: which steps keep their values, the answers about kept tensors and nodes, and that the
// script is silent.
#include "runtime/io/npy.h"
#include "runtime/ops.h"
#include "script/inspect/aside.h"
#include "script/inspect/node_checks.h"
#include "script/inspect/tensor_slice.h"
#include "script/session/impl.h"

namespace lunagrad {
namespace {

// A pause that a viewer asked for waits so long for the end of a step whose values were all captured; quick
// steps are then seen whole. What it must not exceed is a user's patience, 100 ms.
constexpr std::chrono::milliseconds kPauseGrace{40};
constexpr int64_t kMostAtOnce =
    1 << 24;  // elements whose statistics, some ten milliseconds, hold up an answer

}  // namespace

void Session::Impl::pause_for_viewer() {
  pause();
  if (!tape_watch_.watching()) return;
  tape_watch_.take_next();
  const std::lock_guard lock(mutex_);
  if (pause_ && state_.load() == SessionState::running) pause_asked_ = std::chrono::steady_clock::now();
}

bool Session::Impl::may_pause(Place place) const {
  if (!pause_asked_ || !in_steps_.load()) return true;
  if (place == Place::step_end && tape_watch_.keeps_whole_step()) return true;
  return std::chrono::steady_clock::now() - *pause_asked_ > kPauseGrace;
}

// A script that stands amid a step: what its ops make from here on can be shown when the step is over.
void Session::Impl::capture_rest() {
  if (!tape_watch_.watching() || !in_steps_.load()) return;
  tape_watch_.capture_rest();
  context_.trace = &listener_;
}

// ---- the public face

void Session::watch_tape(bool on) { impl_->tape_watch().watch(on); }
std::shared_ptr<const TapeSnapshot> Session::tape() const { return impl_->tape_watch().tape(); }
std::shared_ptr<const TapeSnapshot> Session::tape(int64_t step) const {
  return impl_->tape_watch().tape(step);
}
History Session::history() const { return impl_->tape_watch().history(); }
void Session::capture_values() { impl_->tape_watch().capture_next(); }
void Session::set_history_budget(size_t bytes) {
  impl_->post([this, bytes] { impl_->tape_watch().set_budget(bytes); });
}

namespace {

// Looks at a tensor, or says why there is none. `look` makes the answer of the value; what fails is its
// reason.
template <class Answer, class Look>
Answer answer(const TapeWatch& watch, const TensorPlace& place, const Look& look) {
  Answer answer;
  const Aside aside;
  try {
    const TapeWatch::Found found = watch.find(place);
    if (!found.value.defined()) {
      answer.reason = found.reason;
      return answer;
    }
    answer = look(found.value);
    if constexpr (requires { answer.note; })
      if (!found.note.empty()) answer.note = found.note;
  } catch (const std::exception& error) {
    answer = Answer();
    answer.reason = error.what();
  }
  return answer;
}

}  // namespace

void Session::inspect(const TensorPlace& place, const SliceQuery& query, std::stop_token stop,
                      std::function<void(SliceView)> done) {
  const auto look = [this, place, query, stop](bool in_full) {
    return answer<SliceView>(impl_->tape_watch(), place, [&](const Tensor& value) {
      SliceQuery asked = query;
      asked.statistics = query.statistics && (in_full || elements_counted(value) <= kMostAtOnce);
      SliceView view = read_slice(value, asked, stop);
      view.statistics_follow = asked.statistics != query.statistics;
      return view;
    });
  };
  impl_->post([this, look, stop, done = std::move(done)] {
    if (stop.stop_requested()) return;
    SliceView view = look(false);
    if (stop.stop_requested()) return;
    const bool more = view.statistics_follow;
    done(std::move(view));
    if (!more) return;
    impl_->post([look, stop, done] {
      if (stop.stop_requested()) return;
      SliceView whole = look(true);
      if (!stop.stop_requested()) done(std::move(whole));
    });
  });
}

void Session::inspect_tiles(const TensorPlace& place, const TileQuery& query, std::stop_token stop,
                            std::function<void(TileView)> done) {
  impl_->post([this, place, query, stop, done = std::move(done)] {
    if (stop.stop_requested()) return;
    TileView view = answer<TileView>(impl_->tape_watch(), place,
                                     [&](const Tensor& value) { return read_tiles(value, query, stop); });
    if (!stop.stop_requested()) done(std::move(view));
  });
}

void Session::print_slice(const TensorPlace& place, const SliceQuery& query, SliceFormat format,
                          std::function<void(std::string, std::string)> done) {
  impl_->post([this, place, query, format, done = std::move(done)] {
    struct Answer {
      std::string text, reason;
    };
    Answer made = answer<Answer>(impl_->tape_watch(), place, [&](const Tensor& value) {
      return Answer{lunagrad::print_slice(value, query, format), {}};
    });
    done(std::move(made.text), std::move(made.reason));
  });
}

void Session::save_tensor(const TensorPlace& place, const std::string& path,
                          std::function<void(std::string)> done) {
  impl_->post([this, place, path, done = std::move(done)] {
    struct Answer {
      std::string reason;
    };
    const Answer made = answer<Answer>(impl_->tape_watch(), place, [&](const Tensor& value) {
      const NoGrad off;
      // NumPy has no bf16; f32 holds all of its values.
      save_npy(path, value.dtype() == DType::bf16 ? to(value, DType::f32) : value);
      return Answer();
    });
    done(made.reason);
  });
}

void Session::check_gradient(int64_t step, uint64_t node, std::stop_token stop,
                             std::function<void(GradientCheck)> done) {
  impl_->post([this, step, node, stop, done = std::move(done)] {
    done(lunagrad::check_gradient(impl_->tape_watch(), step, node, stop));
  });
}

void Session::compare_devices(int64_t step, uint64_t node, std::stop_token stop,
                              std::function<void(DeviceComparison)> done) {
  impl_->post([this, step, node, stop, done = std::move(done)] {
    done(lunagrad::compare_devices(impl_->tape_watch(), step, node, stop));
  });
}

// ---- a script that does not answer

bool Session::Impl::awaited() const {
  if (task_running_) return interrupt_task_;
  return running_ && (stop_ || interrupt_ || pause_ || next_) && state_.load() != SessionState::paused;
}

void Session::Impl::begin_to_wait() {
  if (!awaited()) awaited_since_ = std::chrono::steady_clock::now();
}

std::optional<Silence> Session::Impl::silence() const {
  const std::lock_guard lock(mutex_);
  if (!awaited()) return std::nullopt;
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - awaited_since_;
  const auto [call, line] = native_calls_.current();
  return Silence{waited.count(), call, {interned(line.file), line.line}};
}

std::optional<Silence> Session::silence() const { return impl_->silence(); }

}  // namespace lunagrad
