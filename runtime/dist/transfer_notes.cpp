// The transfer thread's messages, and how a lasting world ends a run and begins another. A note is a letter,
// then for notes about a run its number and a space, then a text:
//   '!' '=' 'p'   for reports: where a rank is, where it is when asked, its report is printed
//   'd'           where two ranks are that are in different transfers
//   'f'           the sender's script has failed
//   'x'           the run is called off, and why
//   'r'           rank 0 begins a run; the text is its order, which is also delivered as mail
//   'z' 'Z'       the sender holds, and continues
//   'm'           a message, delivered as mail
#include <cstdlib>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/dist/transfer_thread.h"

namespace lunagrad::dist {
namespace {

constexpr std::chrono::milliseconds kLook{2};  // between two polls while all ranks come to a renewal
constexpr std::chrono::seconds kDelivery{2};
constexpr std::chrono::milliseconds kBetweenStops{20};

}  // namespace

void TransferThread::send_to(int to, const std::string& note) {
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_ && (to < 0 || to == rank)) transport_->send_note(rank, note);
}

// Call it before all ranks end: a message that MPI has not delivered yet would be lost, or keep MPI from
// ending.
void TransferThread::deliver_notes() {
  if (outbox_full_.load()) send_outbox();
  const Clock::time_point end = Clock::now() + kDelivery;
  while (!transport_->notes_gone() && Clock::now() < end) {
    read_notes();
    std::this_thread::sleep_for(kLook);
  }
}

void TransferThread::send_outbox() {
  std::vector<std::pair<int, std::string>> notes;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(outbox_);
    outbox_full_ = false;
  }
  for (const auto& [to, note] : notes) send_to(to, note);
}

void TransferThread::put(int to, std::string note) {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  outbox_.emplace_back(to, std::move(note));
  outbox_full_ = true;
  posted_.notify_one();
}

void TransferThread::send(int to, std::string message) { put(to, "m" + message); }
void TransferThread::hold(bool on) { put(-1, on ? "z" : "Z"); }

void TransferThread::take_note(int from, const std::string& said) {
  const char sign = said.empty() ? ' ' : said[0];
  if (sign == 'z' || sign == 'Z') {
    holds_[size_t(from)] = sign == 'z';
    return;
  }
  if (sign == 'r') {
    const std::lock_guard lock(mutex_);
    renewal_ = said.substr(1);
    off_reason_ = "distributed: another run has begun";
    off_ = true;
    return;
  }
  if (sign == 'm') {
    if (options_.mail) options_.mail(from, said.substr(1));
    return;
  }
  // Notes of an earlier run may come late.
  const size_t blank = said.find(' ');
  if (blank == said.npos || std::strtoull(said.c_str() + 1, nullptr, 10) != epoch_) return;
  const std::string rest = said.substr(blank + 1);
  if (sign == 'p') {
    printed_[size_t(from)] = true;
  } else if (sign == 'f') {
    failed_ranks_[size_t(from)] = true;
  } else if (sign == 'd') {
    heard_ = rest;
  } else if (sign == 'x') {
    call_off(rest);
  } else {
    places_[size_t(from)] = rest;
    alarm_ |= sign == '!';
  }
}

void TransferThread::fail_queue(const std::string& reason) {  // call it under the lock
  failed_ = reason;
  for (const auto& later : queue_) later->error = reason, later->done = true;
  queue_.clear();
  finished_.notify_all();
}

void TransferThread::call_off(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (off_ || (!failed_.empty() && !ordered_)) return;
  off_reason_ = reason;
  off_ = true;
  fail_queue(reason);
}

std::string TransferThread::off_reason() {
  const std::lock_guard lock(mutex_);
  return off_ ? off_reason_ : "";
}

void TransferThread::retire(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  fail_queue(reason);
}

void TransferThread::forget_reason(const std::string& instead) {
  const std::lock_guard lock(mutex_);
  off_reason_ = instead;
}

void TransferThread::call_off_at(int rank, const std::string& reason) {
  uint64_t epoch;
  {
    const std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  put(rank, text('x', epoch, ' ', reason));
}

void TransferThread::renew(std::string order) {
  std::unique_lock lock(mutex_);
  const uint64_t before = epoch_;
  renewal_ = std::move(order);
  off_reason_ = "distributed: another run has begun";
  off_ = true;
  posted_.notify_one();
  while (epoch_ == before) {
    finished_.wait_for(lock, kBetweenStops);
    lock.unlock();
    context().check_stop();
    lock.lock();
  }
}

void TransferThread::set_patience(double seconds) { options_.patience = seconds; }

void TransferThread::join() {
  const std::lock_guard lock(mutex_);
  ordered_ = false;
  if (!off_) failed_.clear();  // else the run is already called off, or another order is coming
}

// Runs on all ranks: on rank 0 after renew(), on the others after its note.
void TransferThread::carry_renewal() {
  std::string order;
  {
    const std::lock_guard lock(mutex_);
    order = *renewal_;
    renewal_.reset();
    fail_queue(off_reason_);
  }
  end(transfers_->drop_all(), off_reason(), true);
  send_outbox();
  if (rank_ == 0) send_to(-1, "r" + order);
  transport_->start_renewal();
  while (!transport_->done()) {
    while (const auto note = transport_->next_note()) take_note(note->first, note->second);
    std::this_thread::sleep_for(kLook);
  }
  number_ = 0;
  alarm_ = false;
  heard_.clear();
  places_.assign(size_t(size_), "");
  printed_.assign(size_t(size_), false);
  holds_.assign(size_t(size_), false);
  {
    const std::lock_guard lock(mutex_);
    ++epoch_;
    off_ = false;
    if (rank_ == 0)
      failed_.clear();
    else
      ordered_ = true;
    finished_.notify_all();
  }
  if (rank_ != 0 && options_.mail) options_.mail(0, "r" + order);
}

}  // namespace lunagrad::dist
