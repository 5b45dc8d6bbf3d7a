#include "runtime/dist/transfer_thread.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/dist/transfer_log.h"
#include "runtime/system/threads.h"

namespace lunagrad::dist {
namespace {

// The world is broken: the report has been printed, and the thread will end all ranks.
struct Broken {
  std::string message;
};

// The run was called off in the middle of a job.
struct CalledOff {
  std::string reason;
};

constexpr std::chrono::milliseconds kIdle{20};          // between two reads of notes when there is no job
constexpr std::chrono::milliseconds kBetweenNotes{50};  // between two reads of notes during an exchange
constexpr std::chrono::microseconds kShortNap{5}, kNap{50};
constexpr int kSpins = 20, kShortNaps = 200;  // polls of an exchange without a sleep, and with short sleeps
constexpr double kAnswerSeconds = 3;          // time for a living rank to say where it is
constexpr double kEndSeconds = 2;             // time for a script to end after its error
constexpr double kFailSeconds = 1;            // time for the other ranks to end with the same error

constexpr const char* kDifferentTransfers = "two ranks are in different transfers";

std::chrono::steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(value));
}

// "rank 2", "ranks 0, 1 and 3"
std::string ranks_text(const std::vector<int>& ranks) {
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    list += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return list;
}

// "rank 2 is at model.lua:41, all_reduce of fc1.weight; ranks 0 and 1 at train.lua:19, barrier"
std::string places_text(const std::vector<std::string>& places) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (size_t rank = 0; rank < places.size(); ++rank) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == places[rank]; });
    if (same == groups.end())
      groups.push_back({places[rank], {int(rank)}});
    else
      same->second.push_back(int(rank));
  }
  // The smallest group first: these ranks most likely went astray.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string list;
  for (const auto& [place, ranks] : groups)
    list += (list.empty() ? "" : "; ") + ranks_text(ranks) + (ranks.size() == 1 ? " is " : " are ") + place;
  return list;
}

// The bytes that a job sends: this rank's rows, or all ranks' rows for reduce_scatter. For a receive, the
// bytes received.
int64_t bytes_of(const Job& job, int rank) {
  if (job.kind == Kind::receive) return job.results.empty() ? 0 : int64_t(job.results[0].block.bytes());
  int64_t elements = job.parts.empty() ? job.rows * job.row : 0;
  for (const Part& part : job.parts)
    for (size_t r = 0; r < part.rows.size(); ++r)
      if (job.kind == Kind::reduce_scatter || int(r) == rank) elements += part.rows[r] * part.row;
  return elements * int64_t(item_size(job.dtype));
}

}  // namespace

// The message that ranks exchange before a collective.
struct TransferThread::Mark {
  uint64_t number, hash;
  int64_t rows, stamp;
  char place[360];
};

TransferThread::TransferThread(TransferThreadOptions options) : options_(std::move(options)) {
  if (!options_.open) {
    transport_ = make_alone();
    transfers_ = std::make_unique<Transfers>(*transport_);
    opened_ = true;
    return;
  }
  thread_ = std::thread([this] { serve(); });
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return opened_ || !failed_.empty(); });
  if (opened_) return;
  lock.unlock();
  thread_.join();
  throw Error(failed_);
}

TransferThread::~TransferThread() {
  if (thread_.joinable()) thread_.detach();  // only when the process exits without close()
}

void TransferThread::post(const std::shared_ptr<Job>& job) {
  if (size_ == 1 && !thread_.joinable()) {
    carry_out(*job);
    job->done = true;
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!failed_.empty()) throw Error(failed_);
  queue_.push_back(job);
  if (is_transfer(*job)) transfer_waits_ = true;
  posted_.notify_one();
}

bool TransferThread::done(const Job& job) {
  const std::lock_guard lock(mutex_);
  return job.done;
}

bool TransferThread::is_free(const Job& job) {
  const std::lock_guard lock(mutex_);
  return job.done && !job.left;
}

void TransferThread::wait(const Job& job) {
  std::unique_lock lock(mutex_);
  struct Leave {
    const Job*& waited_for;
    ~Leave() { waited_for = nullptr; }
  } const leave{waited_for_};
  waited_for_ = &job;
  waits_since_ = Clock::now();
  const int64_t begin = !job.done && transfer_log().watched() ? clock_ns() : 0;
  while (!job.done) {
    finished_.wait_for(lock, kIdle);
    if (job.done) break;
    lock.unlock();
    try {
      context().check_stop();
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
  }
  if (begin) transfer_log().waited({begin, clock_ns(), is_transfer(job) ? job.met : 0});
  if (!job.error.empty()) throw Error(job.error, job.error_kind);
}

void TransferThread::set_whereabouts(std::function<std::string()> whereabouts) {
  const std::lock_guard lock(mutex_);
  whereabouts_ = std::move(whereabouts);
}

int TransferThread::close(int code) {
  if (!thread_.joinable()) return code;
  if (code == 0 && !options_.lasting) {
    const auto job = std::make_shared<Job>();
    job->kind = Kind::meeting;
    job->what = "end of the script";
    job->place = "at the end of the script";
    try {
      post(job);
      wait(*job);
    } catch (const std::exception&) {  // reported already
      code = 1;
    }
  }
  std::fflush(nullptr);
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    abort_code_ = code;
    posted_.notify_one();
  }
  thread_.join();
  return code;
}

void TransferThread::serve() {
  try {
    transport_ = options_.open();
    transfers_ = std::make_unique<Transfers>(*transport_);
    rank_ = transport_->rank();
    size_ = transport_->size();
    local_rank_ = transport_->local_rank();
    local_size_ = transport_->local_size();
    places_.resize(size_t(size_));
    printed_.resize(size_t(size_));
    failed_ranks_.resize(size_t(size_));
    holds_.resize(size_t(size_));
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failed_ = error.what();
    finished_.notify_all();
    return;
  }
  // While a sleep lasts too long, the buffers of a link between two processes run empty.
  sleep_exactly();
  std::unique_lock lock(mutex_);
  opened_ = true;
  finished_.notify_all();
  while (!closing_) {
    std::shared_ptr<Job> job;
    if (renewal_) {
      lock.unlock();
      carry_renewal();
      lock.lock();
      continue;
    }
    if (!failed_.empty() && !transfers_->empty()) {  // the run is over
      const std::string reason = failed_;
      lock.unlock();
      end(transfers_->drop_all(), reason, true);
      lock.lock();
      continue;
    }
    if (!queue_.empty()) {
      job = queue_.front();
      queue_.pop_front();
    } else if (transfers_->empty()) {
      posted_.wait_for(lock, kIdle);
    } else {
      posted_.wait_for(lock, kNap);
    }
    lock.unlock();
    const bool transfer = job && is_transfer(*job);
    std::string problem, broken;
    bool left = false;
    try {
      if (outbox_full_.load()) send_outbox();
      if (transfer) {
        start(job);
      } else if (job) {
        carry_out(*job);
      } else if (Clock::now() >= next_notes_) {
        read_notes();
      }
      look_at_transfers();
    } catch (const Broken& end) {
      problem = broken = end.message;
      left = options_.lasting;
    } catch (const CalledOff& end) {
      problem = end.reason;
      left = true;
    } catch (const std::exception& error) {
      problem = error.what();
      if (job) job->error_kind = kind_of(error);
    }
    if (job && (!transfer || !problem.empty())) end({job}, problem, left);
    if (job && left) leftovers_.push_back({job, std::move(room_), std::move(marks_)});
    if (!broken.empty() || left) end(transfers_->drop_all(), problem, left);
    lock.lock();
    if (left) fail_queue(problem);
    if (!broken.empty() && !options_.lasting) {
      fail_queue(broken);
      // The script ends with the error at its next collective. A script outside collectives does not notice,
      // so the wait has a limit.
      posted_.wait_for(lock, seconds(kEndSeconds), [&] { return closing_; });
      std::fflush(nullptr);
      transport_->abort(1);
    }
  }
  const int code = options_.lasting ? 0 : abort_code_;
  lock.unlock();
  if (code != 0) {
    // An error that all ranks have, for example in a checkpoint, is printed by all of them before the first
    // rank ends the others.
    failed_ranks_[size_t(rank_)] = true;
    send_to(-1, text('f', epoch_, ' '));
    all_noted('f', kFailSeconds);
    transport_->abort(code);
  }
  try {
    deliver_notes();
    if (!options_.lasting) finish_transfers();
  } catch (const std::exception&) {  // the errors of a run that is over
  } catch (const Broken&) {
  }
  transport_->close();
}

void TransferThread::carry_out(Job& job) {
  active_ = &job;
  struct Leave {
    const Job*& active;
    ~Leave() { active = nullptr; }
  } const leave{active_};
  if (job.ready) job.ready();
  if (job.kind == Kind::meeting) deliver_notes();
  job.begun = clock_ns();
  compare(job);
  job.met = clock_ns();
  move(job);
  room_ = Block();
  if (job.kind == Kind::meeting && options_.lasting) finish_transfers();
  if (options_.slow_link > 0)
    std::this_thread::sleep_for(seconds(options_.slow_link * double(bytes_of(job, rank_))));
  job.ended = clock_ns();
  log_transfer(job, number_);
}

// Tells the script that jobs are done. `left`: they were called off, and the transport may still use their
// memory.
void TransferThread::end(const std::vector<std::shared_ptr<Job>>& jobs, const std::string& error, bool left) {
  if (jobs.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Job>& job : jobs) {
    if (!error.empty()) job->error = error;
    job->left = left;
    job->done = true;
  }
  finished_.notify_all();
}

void TransferThread::look_at_transfers() {
  if (transfers_->empty()) return;
  const std::vector<std::shared_ptr<Job>> arrived = transfers_->progress();
  for (const std::shared_ptr<Job>& job : arrived) {
    job->ended = clock_ns();
    log_transfer(*job, 0);
  }
  end(arrived);
  if (const auto& mismatch = transfers_->mismatch()) {
    const std::string places = text(ranks_text({mismatch->rank}), " is ", mismatch->place, "; ",
                                    ranks_text({rank_}), " is ", mismatch->own_place);
    send_to(-1, text('d', epoch_, ' ', places));
    report(kDifferentTransfers, places);
  }
  // A transfer that was started ahead may take long. It is late only when the script has waited for it too
  // long.
  bool late = false;
  if (!time_is_held() && std::isfinite(options_.patience)) {
    const std::lock_guard lock(mutex_);
    late =
        waited_for_ && is_transfer(*waited_for_) && Clock::now() - waits_since_ > seconds(options_.patience);
  }
  if (late) report_silence(true);
}

// Whether a rank holds. Then the script's waiting time begins again.
bool TransferThread::time_is_held() {
  if (std::find(holds_.begin(), holds_.end(), true) == holds_.end()) return false;
  const std::lock_guard lock(mutex_);
  waits_since_ = Clock::now();
  return true;
}

void TransferThread::log_transfer(const Job& job, uint64_t number) {
  if (!transfer_log().watched()) return;
  transfer_log().add(
      {number, job.op, job.label, job.line, bytes_of(job, rank_), job.begun, job.met, job.ended});
}

void TransferThread::start(const std::shared_ptr<Job>& transfer) {
  if (transfer->ready) transfer->ready();
  transfer->begun = transfer->met = clock_ns();
  transfers_->start(transfer);
}

// Starts transfers that were posted behind the current collective: they do not wait for it.
void TransferThread::start_waiting_transfers() {
  std::vector<std::shared_ptr<Job>> waiting;
  {
    const std::lock_guard lock(mutex_);
    transfer_waits_ = false;
    for (const auto& job : queue_)
      if (is_transfer(*job)) waiting.push_back(job);
    std::erase_if(queue_, [](const auto& job) { return is_transfer(*job); });
  }
  for (const auto& job : waiting) {
    try {
      start(job);
    } catch (const std::exception& error) {
      job->error_kind = kind_of(error);
      end({job}, error.what());
    }
  }
}

// All ranks have ended. A transfer that is still unfinished, such as a send without a receive, is a mistake
// of the script.
void TransferThread::finish_transfers() {
  const Clock::time_point limit = Clock::now() + seconds(kAnswerSeconds);
  while (!transfers_->empty() && Clock::now() < limit) {
    end(transfers_->progress());
    std::this_thread::sleep_for(kNap);
  }
  if (transfers_->empty()) return;
  const Job& left = transfers_->oldest_job();
  const std::string problem =
      text("distributed: rank ", left.root, " never came to a transfer: rank ", rank_, " was ", left.place);
  if (options_.lasting) fail(problem);
  std::fprintf(stderr, "lunagrad: rank %d: %s\n", rank_, problem.c_str());
  std::fflush(stderr);
  transport_->abort(1);
}

// Waits for the exchange that was started last. `meeting`: other ranks may be late, so sleeps grow longer.
void TransferThread::finish_exchange(bool meeting) {
  Clock::time_point begin = Clock::now();
  for (int looks = 0; !transport_->done(); ++looks) {
    const Clock::time_point now = Clock::now();
    if (outbox_full_.load(std::memory_order_relaxed)) send_outbox();
    if (now >= next_notes_) read_notes();
    if (off_.load(std::memory_order_relaxed)) {
      const std::lock_guard lock(mutex_);
      throw CalledOff{off_reason_};
    }
    if (transfer_waits_.load(std::memory_order_relaxed)) start_waiting_transfers();
    look_at_transfers();
    if (time_is_held()) begin = now;
    if (std::isfinite(options_.patience) && now - begin > seconds(options_.patience)) report_silence(true);
    // Sleeps instead of yielding: beside a computing thread, a thread that yields waits for a whole time
    // slice; a thread that sleeps is woken in time.
    if (looks >= kSpins) std::this_thread::sleep_for(meeting && looks >= kShortNaps ? kNap : kShortNap);
  }
}

// All ranks tell each other which collective they are in.
void TransferThread::compare(const Job& job) {
  ++number_;
  rows_of_.assign(size_t(size_), job.rows);
  if (size_ == 1) return;
  marks_.reset(new Mark[size_t(size_) + 1]());
  Mark& own = marks_[size_t(size_)];
  own.number = number_;
  own.hash = std::hash<std::string>()(job.what);
  own.rows = job.rows;
  own.stamp = job.begun;
  std::strncpy(own.place, job.place.c_str(), sizeof own.place - 1);
  transport_->start_gather(&own, marks_.get(), Transport::Counts(size_t(size_), 1), sizeof(Mark));
  finish_exchange(true);
  bool same = true;
  const int64_t now = clock_ns();
  for (int i = 0; i < size_; ++i) {
    const Mark& mark = marks_[size_t(i)];
    rows_of_[size_t(i)] = mark.rows;
    same &= mark.number == own.number && mark.hash == own.hash;
    if (i != rank_ && transfer_log().watched()) transfer_log().heard(i, mark.stamp, now);
  }
  if (same) return;
  std::vector<std::string> places;
  for (int i = 0; i < size_; ++i) places.push_back(marks_[size_t(i)].place);
  report(text("the ranks are in different collectives (number ", number_, ")"), places);
}

// ---- reports

std::string TransferThread::own_place() {
  if (active_) return active_->place;
  const std::lock_guard lock(mutex_);
  if (waited_for_) return waited_for_->place;
  const std::string line = whereabouts_ ? whereabouts_() : "";
  return line.empty() ? "outside of the collectives" : "at " + line + ", in no collective";
}

void TransferThread::read_notes() {
  next_notes_ = Clock::now() + kBetweenNotes;
  while (const auto note = transport_->next_note()) take_note(note->first, note->second);
  if (printed_[size_t(rank_)]) return;  // in a lasting world this thread continues: one report is enough
  if (!heard_.empty()) report(kDifferentTransfers, heard_);
  if (alarm_) report_silence(false);
}

// Reads notes until each rank has sent a note of this kind. Returns false after `limit` seconds.
bool TransferThread::all_noted(char sign, double limit) {
  const Clock::time_point end = Clock::now() + seconds(limit);
  for (;;) {
    while (const auto note = transport_->next_note()) take_note(note->first, note->second);
    bool all = true;
    for (size_t i = 0; i < size_t(size_); ++i)
      all &= sign == 'p' ? printed_[i] : sign == 'f' ? failed_ranks_[i] : !places_[i].empty();
    if (all) return true;
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kIdle / 4);
  }
}

// A rank did not come. `own`: this rank noticed it; otherwise another rank reported it.
void TransferThread::report_silence(bool own) {
  places_[size_t(rank_)] = own_place();
  send_to(-1, text(own ? '!' : '=', epoch_, ' ', places_[size_t(rank_)]));
  all_noted('=', kAnswerSeconds);
  for (std::string& place : places_)
    if (place.empty()) place = "not answering";
  report(text("nothing arrived for ", options_.patience, " s (collective number ", number_, ")"), places_);
}

void TransferThread::report(const std::string& problem, const std::vector<std::string>& places) {
  report(problem, places_text(places));
}

void TransferThread::report(const std::string& problem, const std::string& places) {
  const std::string message = "distributed: " + problem + ": " + places;
  std::fprintf(stderr, "lunagrad: rank %d: %s\n", rank_, message.c_str());
  std::fflush(stderr);
  // All ranks print before the first of them ends them all.
  printed_[size_t(rank_)] = true;
  send_to(-1, text('p', epoch_, ' '));
  all_noted('p', kAnswerSeconds);
  throw Broken{options_.lasting ? message : "distributed: " + problem};
}

}  // namespace lunagrad::dist
