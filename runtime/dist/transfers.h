#pragma once
// The running transfers between two ranks: each is a head, which describes it, and the elements. Transfers
// run beside the collectives; those between the same two ranks keep their order. For the transfer thread.
#include <list>
#include <memory>
#include <optional>
#include <set>

#include "runtime/dist/job.h"

namespace lunagrad::dist {

class Transfers {
 public:
  // The two ranks of a transfer describe it differently.
  struct Mismatch {
    int rank;
    std::string place, own_place;
  };

  explicit Transfers(Transport& transport);
  ~Transfers();
  void start(std::shared_ptr<Job>);
  // Checks what has arrived. Returns the jobs that are done now.
  std::vector<std::shared_ptr<Job>> progress();
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  bool empty() const { return flights_.empty(); }
  const Job& oldest_job() const { return *flights_.front().job; }
  // Abandons all transfers: the world is broken, or the run was called off. Their memory stays for the life
  // of the process.
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
  std::set<int> lost_;  // ranks that still send elements for which there was no memory
};

}  // namespace lunagrad::dist
