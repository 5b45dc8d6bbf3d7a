#pragma once
// Moves bytes between the ranks of a world. One exchange is started and polled at a time; notes are short
// messages beside it. Only one thread may call a transport. Implementations: alone() here, and MPI in its own
// library (mpi/), which is loaded when a world is opened.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lunagrad::dist {

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;  // among the ranks of this machine
  virtual int local_size() const = 0;

  // Each start function begins an exchange. Counts are in units of `unit` bytes, one for each rank. The
  // ranks' blocks follow one another in memory, or begin at `out_places`. The memory must stay until done()
  // returns true.
  using Counts = std::vector<int64_t>;
  virtual void start_gather(const void* own, void* all, const Counts& counts, size_t unit) = 0;
  virtual void start_exchange(const void* out, const Counts& out_counts, void* in, const Counts& in_counts,
                              size_t unit, const Counts& out_places = {}) = 0;
  virtual void start_broadcast(void* data, int64_t count, size_t unit, int root) = 0;
  virtual bool done() = 0;

  // Transfers between two ranks run beside the exchanges. Between the same two ranks they arrive in the order
  // in which they are started, heads and bodies separately. A rank must start to receive exactly as many
  // bytes as the other sends. The memory must stay until passed() returns true, once.
  enum class Piece { head, body };
  virtual int start_send(const void* data, size_t bytes, int to, Piece) = 0;
  virtual int start_receive(void* data, size_t bytes, int from, Piece) = 0;
  virtual bool passed(int transfer) = 0;

  virtual void send_note(int to, const std::string& text) = 0;
  virtual std::optional<std::pair<int, std::string>> next_note() = 0;  // sender and text
  virtual bool notes_gone() = 0;  // all sent notes have left this process

  // Begins to abandon all running exchanges and transfers: later ones do not meet them. All ranks must call
  // it; done() returns true when all have. The memory of abandoned exchanges must stay for the life of the
  // process.
  virtual void start_renewal() = 0;
  virtual void close() = 0;                       // called by all ranks together, with nothing running
  [[noreturn]] virtual void abort(int code) = 0;  // ends all ranks
};

std::unique_ptr<Transport> make_alone();  // a world of one

// The entry function of the MPI library, under the name kOpenMpi. Returns null and sets `why`, which stays
// valid, when there is no MPI world.
using OpenTransport = Transport* (*)(const char** why);
inline constexpr const char* kOpenMpi = "lunagrad_open_mpi";

}  // namespace lunagrad::dist
