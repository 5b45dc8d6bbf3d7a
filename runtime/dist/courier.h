#pragma once
// The thread that talks to the other ranks. It carries out collectives in the order in which they are posted,
// after it has compared with all ranks that each is in the same one; sends and receives go on beside them,
// and the receiver compares. When ranks differ, or when a rank does not come for too long, every rank prints
// which rank is where, and the job of mpirun ends with exit code 1. In a world of one there is no thread: a
// job is done when post() returns. post(), wait() and close() are for the thread of the script.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/dist/job.h"
#include "runtime/dist/transfers.h"

namespace lunagrad::dist {

struct CourierOptions {
  std::function<std::unique_ptr<Transport>()> open;  // called on the thread; null: a world of one
  double patience = 30;  // seconds without a sign of another rank; infinity: for ever
  double slow_link = 0;  // seconds more for each byte of a job, for tests of overlap
};

class Courier {
 public:
  explicit Courier(CourierOptions);  // returns when the world is open; Error when it cannot be opened
  ~Courier();
  Courier(const Courier&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }

  void post(const std::shared_ptr<Job>&);
  bool done(const Job&);
  void wait(const Job&);  // Error when the job failed, or when the script is being stopped
  // Where the script is when it is in no collective, for reports; called on the courier's thread. Null:
  // unknown.
  void set_whereabouts(std::function<std::string()>);
  // Ends the world: with code 0 together with all other ranks, else at once, for all of them. Returns the
  // exit code of the program.
  int close(int code);

 private:
  using Clock = std::chrono::steady_clock;
  struct Mark;

  void serve();
  void carry_out(Job&);
  void compare(const Job&);
  void move(Job&);  // this and the next: moves.cpp
  void all_reduce(Job&);
  void all_gather(Job&);
  void reduce_scatter(Job&);
  void reduce_part(Job&, const void* in, const Transport::Counts&, void* out);
  void all_to_all(Job&);
  char* room(size_t bytes);
  void finish_exchange(bool meeting = false);
  void end(const std::vector<std::shared_ptr<Job>>&, const std::string& error = {});
  void look_at_transfers();
  void forget_transfers();
  void take_notes();
  void read_notes();
  [[noreturn]] void report_silence(bool own);
  [[noreturn]] void report(const std::string& problem, const std::vector<std::string>& places);
  [[noreturn]] void report(const std::string& problem, const std::string& places);
  std::string own_place();
  bool all_noted(char sign, double seconds);

  CourierOptions options_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transfers> transfers_;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  uint64_t number_ = 0;  // of collectives so far
  const Job* active_ = nullptr;
  std::vector<int64_t> rows_of_;  // each rank's rows in the active job
  Block room_;
  // What notes of each rank said: where it is (after '!' or '='), that it has printed its report ('p'), that
  // its script failed ('f'), and what two ranks report of a transfer ('m').
  std::vector<std::string> places_;
  std::vector<bool> printed_, failed_ranks_;
  bool alarm_ = false;
  std::string heard_;
  Clock::time_point next_notes_;

  std::mutex mutex_;
  std::condition_variable posted_, finished_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::function<std::string()> whereabouts_;
  const Job* waited_for_ = nullptr;  // by the script
  Clock::time_point waits_since_;
  std::string failed_;  // not empty: the world has broken
  bool opened_ = false, closing_ = false;
  int abort_code_ = 0;
  std::thread thread_;
};

}  // namespace lunagrad::dist
