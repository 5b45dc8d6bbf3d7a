// The session's answers about kept tensors and nodes: each is a task on the session's thread.
#include "runtime/io/npy.h"
#include "runtime/ops.h"
#include "script/compare/compare_step.h"
#include "script/inspect/node_checks.h"
#include "script/inspect/tensor_slice.h"
#include "script/inspect/without_listeners.h"
#include "script/session/impl.h"

namespace lunagrad {
namespace {

// Statistics of more elements (some ten milliseconds) follow in a second answer.
constexpr int64_t kMostAtOnce = 1 << 24;

// Answers a query about a tensor: `look` makes the answer from its value. Without a value, or on an error,
// the answer has a reason. A value that is not kept is recomputed, if no script runs.
template <class Answer, class Look>
Answer answer(Session::Impl& session, const TensorPlace& place, const std::stop_token& stop,
              const Look& look) {
  Answer answer;
  const WithoutListeners aside;
  const auto check_wanted = [&] {
    context().check_stop();
    if (stop.stop_requested() || session.control().ending())
      fail_as(ErrorKind::cancelled, "inspect: no longer wanted");
  };
  try {
    const TapeWatch::Found found = session.viewers().tape().find(
        place, session.control().state() == SessionState::running ? StepValues::CheckWanted() : check_wanted);
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
    return answer<SliceView>(*impl_, place, stop, [&](const Tensor& value) {
      SliceQuery asked = query;
      asked.statistics = query.statistics && (in_full || elements_counted(value) <= kMostAtOnce);
      SliceView view = read_slice(value, asked, stop);
      view.statistics_follow = asked.statistics != query.statistics;
      return view;
    });
  };
  impl_->control().post([this, look, place, stop, done = std::move(done)] {
    if (stop.stop_requested()) return;
    SliceView view = look(false);
    view.step = place.step;
    if (stop.stop_requested()) return;
    const bool more = view.statistics_follow;
    done(std::move(view));
    if (!more) return;
    impl_->control().post([look, place, stop, done] {
      if (stop.stop_requested()) return;
      SliceView whole = look(true);
      whole.step = place.step;
      if (!stop.stop_requested()) done(std::move(whole));
    });
  });
}

void Session::inspect_tiles(const TensorPlace& place, const TileQuery& query, std::stop_token stop,
                            std::function<void(TileView)> done) {
  impl_->control().post([this, place, query, stop, done = std::move(done)] {
    if (stop.stop_requested()) return;
    TileView view = answer<TileView>(*impl_, place, stop,
                                     [&](const Tensor& value) { return read_tiles(value, query, stop); });
    view.step = place.step;
    if (!stop.stop_requested()) done(std::move(view));
  });
}

void Session::print_slice(const TensorPlace& place, const SliceQuery& query, SliceFormat format,
                          std::function<void(std::string, std::string)> done) {
  impl_->control().post([this, place, query, format, done = std::move(done)] {
    struct Answer {
      std::string text, reason;
    };
    Answer made = answer<Answer>(*impl_, place, {}, [&](const Tensor& value) {
      return Answer{lunagrad::print_slice(value, query, format), {}};
    });
    done(std::move(made.text), std::move(made.reason));
  });
}

void Session::save_tensor(const TensorPlace& place, const std::string& path,
                          std::function<void(std::string)> done) {
  impl_->control().post([this, place, path, done = std::move(done)] {
    struct Answer {
      std::string reason;
    };
    const Answer made = answer<Answer>(*impl_, place, {}, [&](const Tensor& value) {
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
  impl_->control().post([this, step, node, stop, done = std::move(done)] {
    done(lunagrad::check_gradient(impl_->viewers().tape(), step, node, stop));
  });
}

void Session::compare_devices(int64_t step, uint64_t node, std::stop_token stop,
                              std::function<void(DeviceComparison)> done) {
  impl_->control().post([this, step, node, stop, done = std::move(done)] {
    done(lunagrad::compare_devices(impl_->viewers().tape(), step, node, stop));
  });
}

void Session::compare_step(int64_t step, const ComparisonQuery& query, std::stop_token stop,
                           std::function<void(size_t, size_t, std::string_view)> progress,
                           std::function<void(StepComparison)> done) {
  impl_->control().post([this, step, query, stop, progress = std::move(progress), done = std::move(done)] {
    const auto on_progress = [&](size_t computed, size_t all, std::string_view name) {
      if (impl_->control().ending() || impl_->control().resumed())
        fail_as(ErrorKind::cancelled, "compare: the run goes on");
      progress(computed, all, name);
    };
    done(lunagrad::compare_step(impl_->viewers().tape(), step, query, stop, on_progress));
  });
}

}  // namespace lunagrad
