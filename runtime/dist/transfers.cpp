#include "runtime/dist/transfers.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/shape.h"
#include "runtime/dist/transfer_log.h"

namespace lunagrad::dist {

struct Transfers::Head {
  uint64_t hash;
  int32_t dtype, dims;
  int64_t shape[kMaxDims];
  char place[360];
};

Transfers::Transfers(Transport& transport) : transport_(transport) {}
Transfers::~Transfers() = default;

void Transfers::start(std::shared_ptr<Job> job) {
  Flight& flight = flights_.emplace_back();
  flight.job = std::move(job);
  flight.head = std::make_unique<Head>();
  const Job& own = *flight.job;
  if (own.kind == Kind::receive) return;  // begins when older receives from the same rank have begun
  Head& head = *flight.head;
  head.hash = std::hash<std::string>()(own.what);
  head.dtype = int32_t(own.dtype);
  head.dims = int32_t(own.shape.size());
  std::copy(own.shape.begin(), own.shape.end(), head.shape);
  std::strncpy(head.place, own.place.c_str(), sizeof head.place - 1);
  flight.head_transfer = transport_.start_send(&head, sizeof head, own.root, Transport::Piece::head);
  const size_t bytes = size_t(own.rows * own.row) * item_size(own.dtype);
  if (bytes > 0)
    flight.body_transfer = transport_.start_send(own.in, bytes, own.root, Transport::Piece::body);
}

// The head of a receive has arrived: allocates memory for the elements and starts to receive them.
bool Transfers::begin_body(Flight& flight) {
  Job& job = *flight.job;
  const Head& head = *flight.head;
  if (lost_.contains(job.root))
    fail("receive: there was no memory for what rank ", job.root,
         " sent before; what follows cannot be received");
  if (head.hash != std::hash<std::string>()(job.what)) {
    mismatch_ = {job.root, head.place, job.place};
    return false;
  }
  job.dtype = DType(head.dtype);
  job.shape.assign(head.shape, head.shape + head.dims);
  size_t bytes = item_size(job.dtype);
  for (const int64_t n : job.shape) bytes *= size_t(n);
  job.results.push_back({Block(bytes), job.shape.empty() ? 1 : job.shape[0]});
  if (bytes > 0)
    flight.body_transfer =
        transport_.start_receive(job.results[0].block.data(), bytes, job.root, Transport::Piece::body);
  return true;
}

// Returns whether the transfer is done.
bool Transfers::advance(Flight& flight) {
  if (!flight.head_passed) {
    if (flight.head_transfer == 0)
      flight.head_transfer =
          transport_.start_receive(flight.head.get(), sizeof(Head), flight.job->root, Transport::Piece::head);
    if (!transport_.passed(flight.head_transfer)) return false;
    flight.head_passed = true;
    flight.job->met = clock_ns();
    if (flight.job->kind == Kind::receive && !begin_body(flight)) return false;
  }
  if (flight.body_transfer != 0) {
    if (!transport_.passed(flight.body_transfer)) return false;
    flight.body_transfer = 0;
  }
  return true;
}

bool Transfers::has_ended(Flight& flight) {
  try {
    return advance(flight);
  } catch (const std::exception& error) {  // no memory for the elements
    flight.job->error = error.what();
    flight.job->error_kind = kind_of(error);
    lost_.insert(flight.job->root);
    return true;
  }
}

std::vector<std::shared_ptr<Job>> Transfers::progress() {
  std::vector<std::shared_ptr<Job>> done;
  std::set<int> waited_for;  // ranks with an older receive that has not begun
  for (auto flight = flights_.begin(); flight != flights_.end() && !mismatch_;) {
    const bool receives = flight->job->kind == Kind::receive;
    const int other = flight->job->root;
    if (receives && waited_for.contains(other)) {
      ++flight;
    } else if (has_ended(*flight)) {
      done.push_back(std::move(flight->job));
      flight = flights_.erase(flight);
    } else {
      if (receives && !flight->head_passed) waited_for.insert(other);
      ++flight;
    }
  }
  return done;
}

std::vector<std::shared_ptr<Job>> Transfers::drop_all() {
  std::vector<std::shared_ptr<Job>> jobs;
  for (Flight& flight : flights_) jobs.push_back(flight.job);
  // Keeps the heads and the jobs: the transport may still read and write their memory.
  static auto* const kept = new std::list<Flight>;
  kept->splice(kept->end(), flights_);
  mismatch_.reset();
  lost_.clear();
  return jobs;
}

}  // namespace lunagrad::dist
