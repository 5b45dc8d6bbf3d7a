#pragma once
// The world of this process: the ranks that run the same script, and collectives over their tensors. Every
// rank calls the same collectives in the same order. A program that never opens a world, or runs without
// mpirun, is a world of one, in which they are copies. Tensors may have any dtype and strides; those of a GPU
// go through host memory. Nothing here is recorded on the tape. For the thread of the script.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/dist/reduce.h"
#include "runtime/tensor.h"

namespace lunagrad::dist {

struct WorldOptions {
  double patience = 30;  // seconds that a collective waits for the other ranks; infinity: for ever
  std::string identity;  // what must be equal on all ranks, as "train.lua, seed 0"
  std::function<std::string()> whereabouts;  // the line where the script is now; called by another thread
};

// Opens the world that mpirun or srun started, or a world of one. Error when it cannot. A second call changes
// nothing.
void open_world(WorldOptions);
bool is_world_open();
void forget_whereabouts();  // before what the function needs is gone
int rank();                 // from 0
int size();
int local_rank();
int local_size();
// The rank and the number of ranks that the environment of mpirun or srun names; 0 and 1 without.
int launched_rank();
int launched_size();
// The environment variables that these two read: a process without them is no rank.
const std::vector<std::string>& launcher_variables();
// The number of this rank on its machine, from the launcher's environment; 0 without.
int launched_local_rank();
// The device that a rank takes where "vulkan" was asked for: the ranks of a machine take its GPUs in turn.
// Other names stay. `names` are those of all devices.
std::string device_of_rank(const std::string& asked, int local_rank, const std::vector<std::string>& names);
// Ends the world, if one is open: with code 0 when all ranks have ended, else at once for all of them.
// Returns the exit code of the program. Call it last.
int close_world(int exit_code);

// ---- Messages between ranks, beside the collectives; any thread. Those of before the world is open are sent
// when it is. The first letter of a message is its kind.
void send_message(int to, std::string message);  // -1: to all other ranks; nothing in a world of one
// `take` gets the messages of a kind without the letter, on a thread of the world; null: nobody does.
void on_message(char kind, std::function<void(int from, const std::string& text)> take);

// Warnings: rank 0 tells the others which it has printed.
void tell_warning(const std::string& warning);
void on_warning(std::function<void(const std::string&)> take);

// ---- The world of a window lasts over several runs. Rank 0 has the window; the others wait for its orders.
// A fault of a rank ends the run on all of them, and no process.
inline constexpr const char* kLastingVariable = "LUNAGRAD_WINDOW_RANKS";
bool lasts();  // the environment says that this is such a world
bool leads();  // and this is its rank 0
void open_lasting_world();
// Rank 0: what the other ranks run when this rank's script opens the world; before each run.
void set_order(std::string order);
// The other ranks: blocks until there is an order. Nothing when the window is closed.
std::optional<std::string> await_order();
bool order_waits();         // another order, or the end, waits
bool window_closed();       // the end does
void close_window_world();  // rank 0: the other ranks end
void hold(bool on);         // rank 0 is paused, or goes on: no rank takes its silence as a hang
// The script has ended well: returns when those of the other ranks have. Error when one did not come.
void end_run();
// The run was ended on another rank: what this one's script still does is in vain. The reason of the rank
// that failed, for rank 0: "rank 1: train.lua:15: …"; "": none did.
bool is_called_off();
std::string failed_rank();
void tell_window(const std::string& words);  // the other ranks: for the window's console
// Rank 0: what they say.
void on_words(std::function<void(const std::string&)> take);
// It has not: what other ranks still wait for is called off. Rank 0 gets the reason of another rank as an
// Error of its next collective.
void fail_run(const std::string& reason);

// A collective on its way. The tensors must not change before wait(). One that is dropped is still carried
// out.
class Pending {
 public:
  Pending() = default;
  ~Pending();
  Pending(Pending&&) = default;
  Pending& operator=(Pending&&) = default;
  bool done() const;
  // Blocks until the collective has ended, and returns its result: for those in place the tensor itself. A
  // result that is new is given away: call this once.
  Tensor wait();
  TensorList wait_list();  // the same for a collective with several results
  double seconds() const;  // between the moment when all ranks were ready and its end

 private:
  friend class Collective;
  struct State;
  std::shared_ptr<State> state_;
};

// `label` names the tensor in reports, and is the same on all ranks; "": reports have its name as a
// parameter. `sizes` are the rows of dim 0 for each rank; empty: divided evenly, the first ranks have one
// more.
Pending all_reduce_(const Tensor& x, Reduction, const std::string& label = {});
Pending broadcast_(const Tensor& x, int root, const std::string& label = {});
Pending all_gather(const Tensor& x, const std::string& label = {});  // along dim 0; ranks may differ in it
Pending reduce_scatter(const Tensor& x, Reduction, std::vector<int64_t> sizes = {},
                       const std::string& label = {});
Pending all_to_all(const Tensor& x, std::vector<int64_t> sizes = {}, const std::string& label = {});
void barrier();

// The same for several tensors of one dtype and device, in as few messages as their sizes allow. `rows[i]`
// are the rows of tensor i on each rank, known to all; a tensor without dims is one row.
using RowsOfRanks = std::vector<std::vector<int64_t>>;
Pending all_gather(const TensorList&, const RowsOfRanks& rows, const std::string& label);
// The memory of a tensor on the CPU that only this handle refers to is taken, and freed as soon as it has
// travelled: the tensor must not be read again.
Pending reduce_scatter(const std::vector<const Tensor*>&, Reduction, const RowsOfRanks& rows,
                       const std::string& label);

// Transfers go on beside the collectives. Those between two ranks arrive in the order in which they were
// sent, and both name the same label. The result of receive is a new tensor on the CPU, of the sender's shape
// and dtype.
Pending send(const Tensor& x, int to, const std::string& label = {});
Pending receive(int from, const std::string& label = {});

// The rows that each rank contributed to the latest all_gather or all_to_all that was waited for.
const std::vector<int64_t>& rows_from_ranks();

}  // namespace lunagrad::dist
