#pragma once
// The transfer thread, which talks to the other ranks. It runs collectives in the order in which they are
// posted. Before each it compares with all ranks that they are in the same collective. Sends and receives run
// beside the collectives; for them the receiver compares. When ranks differ, or when a rank does not come for
// too long, every rank prints which rank is where, and the mpirun job ends with exit code 1. In a world of
// one there is no thread: a job is done when post() returns. post(), wait() and close() are for the script's
// thread. The thread also carries messages between the ranks, for any thread. In a lasting world, as a window
// has, a fault ends the run and not the processes: the next run begins with renew() on rank 0.
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

struct TransferThreadOptions {
  // opens the transport, on the thread; null: a world of one
  std::function<std::unique_ptr<Transport>()> open;
  double patience = 30;  // seconds to wait for a sign of another rank; infinity: for ever
  double slow_link = 0;  // extra seconds for each byte of a job, for tests of overlap
  bool lasting = false;  // a window's world
  std::function<void(int from, const std::string&)> mail;  // called on the thread for each message
};

class TransferThread {
 public:
  explicit TransferThread(
      TransferThreadOptions);  // returns when the world is open; Error when it cannot be opened
  ~TransferThread();
  TransferThread(const TransferThread&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }

  void post(const std::shared_ptr<Job>&);
  bool done(const Job&);
  bool is_free(const Job&);           // done, and its memory is no longer used
  void set_patience(double seconds);  // before a run of a lasting world
  void wait(const Job&);              // Error when the job failed, or when the script is being stopped
  // Sets the function that says where the script is while it is in no collective, for reports. It is called
  // on the transfer thread. Null: unknown.
  void set_whereabouts(std::function<std::string()>);
  // Ends the world. With code 0 it waits for all other ranks; otherwise it ends all ranks at once. Returns
  // the program's exit code.
  int close(int code);

  // ---- Messages between ranks, beside the collectives; any thread.
  void send(int to, std::string message);  // -1: to all others
  // While one rank holds, for example in a pause, no rank takes waiting for it as a hang.
  void hold(bool on);

  // ---- A lasting world.
  // Rank 0: calls off all jobs on all ranks, which get `order`. Returns when all ranks are ready.
  void renew(std::string order);
  void join();  // another rank: takes part in the run that was ordered last
  // From now on every collective and transfer of this run fails, on this rank or on the ranks given.
  void call_off(const std::string& reason);               // on this rank
  void call_off_at(int rank, const std::string& reason);  // on rank `rank`; -1: on all others
  bool is_off() const { return off_.load(); }
  std::string off_reason();                        // "" when the run is not called off
  void retire(const std::string& reason);          // on this rank, when all ranks have ended well
  void forget_reason(const std::string& instead);  // replaces the reason why the previous run was called off

 private:
  using Clock = std::chrono::steady_clock;
  struct Mark;

  void serve();
  void carry_out(Job&);
  void compare(const Job&);
  void move(Job&);  // move() and the collectives below: moves.cpp
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
  void log_transfer(const Job&, uint64_t number);
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

  TransferThreadOptions options_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transfers> transfers_;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  uint64_t number_ = 0;  // counts collectives
  const Job* active_ = nullptr;
  std::vector<int64_t> rows_of_;  // each rank's rows in the active job
  Block room_;
  std::unique_ptr<Mark[]> marks_;  // the ranks' marks, then this rank's own
  // Memory of a job that was called off during an exchange: MPI may still use it.
  struct Leftover {
    std::shared_ptr<Job> job;
    Block room;
    std::unique_ptr<Mark[]> marks;
  };
  std::vector<Leftover> leftovers_;
  uint64_t epoch_ = 0;  // counts the runs of a lasting world
  std::vector<bool> holds_;
  // What the notes said. places_: where each rank is (after '!' or '='). printed_: it has printed its report
  // ('p'). failed_ranks_: its script failed ('f'). heard_: what two ranks report about a transfer ('d').
  std::vector<std::string> places_;
  std::vector<bool> printed_, failed_ranks_;
  bool alarm_ = false;
  std::string heard_;
  Clock::time_point next_notes_;

  std::mutex mutex_;
  std::condition_variable posted_, finished_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::function<std::string()> whereabouts_;
  const Job* waited_for_ = nullptr;  // the job that the script waits for
  Clock::time_point waits_since_;
  std::string failed_;  // not empty: the world is broken, or the run of a lasting world is over
  std::atomic<bool> outbox_full_{false}, off_{false}, transfer_waits_{false};
  std::vector<std::pair<int, std::string>> outbox_;
  std::optional<std::string> renewal_;  // the order of the run that will begin
  std::string off_reason_;              // why the run was called off
  bool ordered_ = false;                // a run was ordered that this rank has not joined yet
  bool opened_ = false, closing_ = false;
  int abort_code_ = 0;
  std::thread thread_;
};

}  // namespace lunagrad::dist
