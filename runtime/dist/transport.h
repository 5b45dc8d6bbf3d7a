#pragma once
// How bytes travel between the ranks of a world. One exchange at a time is started and asked for; notes are
// short messages beside it. Only one thread may call a transport. Implementations: alone() here, and MPI in a
// library of its own (mpi/), which is loaded when a world is opened.
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

  // Each starts an exchange. Counts are in units of `unit` bytes, one for each rank, and follow one another
  // in memory, or begin at `out_places`. The memory must stay until done() says true.
  using Counts = std::vector<int64_t>;
  virtual void start_gather(const void* own, void* all, const Counts& counts, size_t unit) = 0;
  virtual void start_exchange(const void* out, const Counts& out_counts, void* in, const Counts& in_counts,
                              size_t unit, const Counts& out_places = {}) = 0;
  virtual void start_broadcast(void* data, int64_t count, size_t unit, int root) = 0;
  virtual bool done() = 0;

  // Transfers from one rank to another go on beside the exchanges. Those of two ranks arrive in the order in
  // which they are started, heads and bodies each among themselves: a rank starts to receive as many bytes as
  // the other sends. The memory must stay until passed() says true, once.
  enum class Piece { head, body };
  virtual int start_send(const void* data, size_t bytes, int to, Piece) = 0;
  virtual int start_receive(void* data, size_t bytes, int from, Piece) = 0;
  virtual bool passed(int transfer) = 0;

  virtual void send_note(int to, const std::string& text) = 0;
  virtual std::optional<std::pair<int, std::string>> next_note() = 0;  // sender, text
  virtual bool notes_gone() = 0;  // all that were sent have left this process

  // Starts to leave what is on its way to itself: later exchanges and transfers do not meet it. By all
  // ranks; done() says when all have. Memory of what was left must stay for the life of the process.
  virtual void start_renewal() = 0;
  virtual void close() = 0;                       // by all ranks together, with nothing on its way
  [[noreturn]] virtual void abort(int code) = 0;  // ends all ranks
};

std::unique_ptr<Transport> make_alone();  // a world of one

// The function of the MPI library, under the name kOpenMpi. Returns null and sets `why`, which stays valid,
// when there is no MPI world.
using OpenTransport = Transport* (*)(const char** why);
inline constexpr const char* kOpenMpi = "lunagrad_open_mpi";

}  // namespace lunagrad::dist
