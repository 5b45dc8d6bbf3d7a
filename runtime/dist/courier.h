#pragma once
// The thread that talks to the other ranks. It carries out collectives in the order in which they are posted,
// after it has compared with all ranks that each is in the same one; sends and receives go on beside them,
// and the receiver compares. When ranks differ, or when a rank does not come for too long, every rank prints
// which rank is where, and the job of mpirun ends with exit code 1. In a world of one there is no thread: a
// job is done when post() returns. post(), wait() and close() are for the thread of the script; it also
// carries messages between the ranks, for any thread. In a lasting world, that of a window, a fault ends the
// run and not the processes: the next one begins with renew() on rank 0.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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
  bool lasting = false;  // the world of a window
  std::function<void(int from, const std::string&)> mail;  // called on the thread with what arrives
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
  bool is_free(const Job&);           // done, and nothing uses its memory any more
  void set_patience(double seconds);  // before a run of a lasting world
  void wait(const Job&);              // Error when the job failed, or when the script is being stopped
  // Where the script is when it is in no collective, for reports; called on the courier's thread. Null:
  // unknown.
  void set_whereabouts(std::function<std::string()>);
  // Ends the world: with code 0 together with all other ranks, else at once, for all of them. Returns the
  // exit code of the program.
  int close(int code);

  // ---- Messages between ranks, beside the collectives; any thread.
  void send(int to, std::string message);  // -1: to all others
  // While one rank holds, as at a pause, no rank takes the wait for it as a hang.
  void hold(bool on);

  // ---- A lasting world.
  // Rank 0: what is on its way is called off on all ranks, which get `order`. Returns when all have.
  void renew(std::string order);
  void join();  // another rank takes part in the run that was ordered last
  // No collective and no transfer of this run succeeds any more, on the ranks that are told too.
  void call_off(const std::string& reason);               // here
  void call_off_at(int rank, const std::string& reason);  // there; -1: on all others
  bool is_off() const { return off_.load(); }
  std::string off_reason();                        // "" while it is not
  void retire(const std::string& reason);          // here, when all have ended well
  void forget_reason(const std::string& instead);  // why the run before was called off

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
  void end(const std::vector<std::shared_ptr<Job>>&, const std::string& error = {}, bool left = false);
  void start(const std::shared_ptr<Job>& transfer);
  void start_waiting_transfers();
  void look_at_transfers();
  void finish_transfers();
  void note_travel(const Job&, uint64_t number);
  bool time_is_held();
  void read_notes();
  void take_note(int from, const std::string& said);
  void send_to(int to, const std::string& note);
  void send_outbox();
  void put(int to, std::string note);
  void deliver_notes();
  void carry_renewal();
  void fail_queue(const std::string& reason);
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
  std::unique_ptr<Mark[]> marks_;  // of each rank, then what this one sent
  // What was called off in the middle of an exchange.
  struct Leftover {
    std::shared_ptr<Job> job;
    Block room;
    std::unique_ptr<Mark[]> marks;
  };
  std::vector<Leftover> leftovers_;
  uint64_t epoch_ = 0;  // of runs in a lasting world
  std::vector<bool> holds_;
  // What notes of each rank said: where it is (after '!' or '='), that it has printed its report ('p'), that
  // its script failed ('f'), and what two ranks report of a transfer ('d').
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
  std::string failed_;  // not empty: the world has broken, or the run of a lasting one is over
  std::atomic<bool> outbox_full_{false}, off_{false}, transfer_waits_{false};
  std::vector<std::pair<int, std::string>> outbox_;
  std::optional<std::string> renewal_;  // the order of a run that is to begin
  std::string off_reason_;              // why the run was called off
  bool ordered_ = false;                // a run was ordered that this rank has not joined yet
  bool opened_ = false, closing_ = false;
  int abort_code_ = 0;
  std::thread thread_;
};

}  // namespace lunagrad::dist
