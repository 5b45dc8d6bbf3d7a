#pragma once
// Transfers from one rank to another that are on their way: each is a head, which says what it is, and the
// elements. They go on beside the collectives, and those of two ranks in the order in which they were
// started. For the courier's thread.
#include <list>
#include <memory>
#include <optional>
#include <set>

#include "runtime/dist/job.h"

namespace lunagrad::dist {

class Transfers {
 public:
  // The two ranks of a transfer say different things about it.
  struct Mismatch {
    int rank;
    std::string place, own_place;
  };

  explicit Transfers(Transport& transport);
  ~Transfers();
  void start(std::shared_ptr<Job>);
  // Looks at what has arrived. Returns the jobs that are done now.
  std::vector<std::shared_ptr<Job>> progress();
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  bool empty() const { return flights_.empty(); }
  const Job& oldest_job() const { return *flights_.front().job; }
  // Leaves all to themselves: the world has broken, or the run was called off. Their memory stays for the
  // life of the process.
  std::vector<std::shared_ptr<Job>> drop_all();

 private:
  struct Head;
  struct Flight {
    std::shared_ptr<Job> job;
    std::unique_ptr<Head> head;
    int head_transfer = 0, body_transfer = 0;  // 0: not started, or passed
    bool head_passed = false;
  };
  bool advance(Flight&);
  bool has_ended(Flight&);
  bool begin_body(Flight&);

  Transport& transport_;
  std::list<Flight> flights_;
  std::optional<Mismatch> mismatch_;
  std::set<int> lost_;  // ranks whose elements are still to come, for which there was no memory
};

}  // namespace lunagrad::dist
