#pragma once
// The world of this process: the ranks that run the same script, and collectives over their tensors. Every
// rank calls the same collectives in the same order. A program that never opens a world, or runs without
// mpirun, is a world of one, in which collectives are copies. Tensors may have any dtype and strides; GPU
// tensors are sent through host memory. Nothing here is recorded on the tape. For the script's thread.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/tensor_fwd.h"
#include "runtime/dist/reduce.h"

namespace lunagrad::dist {

struct WorldOptions {
  double patience = 30;  // seconds that a collective waits for the other ranks; infinity: for ever
  std::string identity;  // must be equal on all ranks, for example "train.lua, seed 0"
  std::function<std::string()> whereabouts;  // returns the script's current line; called by another thread
};

// Opens the world that mpirun or srun started, or a world of one. Error when it cannot. A second call changes
// nothing.
void open_world(WorldOptions);
bool is_world_open();
void forget_whereabouts();  // call it before the function's data are gone
int rank();                 // from 0
int size();
int local_rank();
int local_size();
// The rank and the number of ranks in the environment of mpirun or srun; 0 and 1 without a launcher.
int launched_rank();
int launched_size();
// The environment variables that launched_rank() and launched_size() read: a process without them is not a
// rank.
const std::vector<std::string>& launcher_variables();
// The number of this rank on its machine, from the launcher's environment; 0 without.
int launched_local_rank();
// The device that a rank uses when "vulkan" was asked for: the ranks of a machine get its GPUs in turn. Other
// names are returned unchanged. `names` are the names of all devices.
std::string device_of_rank(const std::string& asked, int local_rank, const std::vector<std::string>& names);
// Ends the world, if one is open: with code 0 when all ranks have ended, otherwise at once for all of them.
// Returns the program's exit code. Call it last.
int close_world(int exit_code);

// ---- Messages between ranks, beside the collectives; any thread. Messages from before the world is open are
// sent when it is. The first letter of a message is its kind.
void send_message(int to, std::string message);  // -1: to all other ranks; does nothing in a world of one
// `take` gets the text of messages of this kind, without the letter, on a thread of the world; null: they are
// dropped.
void on_message(char kind, std::function<void(int from, const std::string& text)> take);

// Rank 0 tells the other ranks which warnings it has printed.
void tell_warning(const std::string& warning);
void on_warning(std::function<void(const std::string&)> take);

// ---- A window's world lasts over several runs. Rank 0 has the window; the others wait for its orders. A
// fault of a rank ends the run on all ranks, but no process.
inline constexpr const char* kLastingVariable = "LUNAGRAD_WINDOW_RANKS";
bool lasts();  // whether the environment asks for a lasting world
bool leads();  // whether this is rank 0 of a lasting world
void open_lasting_world();
// Rank 0: sets what the other ranks run when this rank's script opens the world. Call it before each run.
void set_order(std::string order);
// The other ranks: blocks until there is an order. nullopt when the window is closed.
std::optional<std::string> await_order();
bool order_waits();         // whether another order, or the closing, has arrived
bool window_closed();       // whether the closing has arrived
void close_window_world();  // rank 0: ends the other ranks
void hold(bool on);         // rank 0 pauses, or continues: no rank takes its silence as a hang
// The script has ended well: returns when the other ranks' scripts have ended too. Error when one did not
// come.
void end_run();
// is_called_off(): the run was ended on another rank, so the rest of this rank's script is in vain.
// failed_rank(), for rank 0: why a rank failed, "rank 1: train.lua:15: …"; "": none did.
bool is_called_off();
std::string failed_rank();
void tell_window(const std::string& words);  // the other ranks: for the window's console
// Rank 0: `take` gets these texts.
void on_words(std::function<void(const std::string&)> take);
// The script has failed: calls off what the other ranks still wait for. Rank 0 gets another rank's reason as
// an Error of its next collective.
void fail_run(const std::string& reason);

// A running collective. The tensors must not change before wait(). The collective is completed even if this
// object is dropped.
class Pending {
 public:
  Pending() = default;
  ~Pending();
  Pending(Pending&&) = default;
  Pending& operator=(Pending&&) = default;
  bool done() const;
  // Blocks until the collective has ended, and returns its result; for a collective in place this is the
  // tensor itself. A new result is handed over: call this once.
  Tensor wait();
  TensorList wait_list();  // wait() for a collective with several results
  double seconds() const;  // from the moment when all ranks were ready to its end

 private:
  friend class Collective;
  struct State;
  std::shared_ptr<State> state_;
};

// `label` names the tensor in reports, and is the same on all ranks; "": reports show the parameter's name.
// `sizes` are the rows of dim 0 for each rank; empty: divided evenly, the first ranks get one more.
Pending all_reduce_(const Tensor& x, Reduction, const std::string& label = {});
Pending broadcast_(const Tensor& x, int root, const std::string& label = {});
Pending all_gather(const Tensor& x, const std::string& label = {});  // along dim 0, where ranks may differ
Pending reduce_scatter(const Tensor& x, Reduction, std::vector<int64_t> sizes = {},
                       const std::string& label = {});
Pending all_to_all(const Tensor& x, std::vector<int64_t> sizes = {}, const std::string& label = {});
void barrier();

// all_gather for several tensors of one dtype and device, in as few messages as their sizes allow. `rows[i]`
// are the rows of tensor i on each rank, known to all; a tensor without dims is one row.
using RowsOfRanks = std::vector<std::vector<int64_t>>;
Pending all_gather(const TensorList&, const RowsOfRanks& rows, const std::string& label);
// Takes the memory of a CPU tensor if only this handle refers to it, and frees it as soon as it has been
// sent: the tensor must not be read again.
Pending reduce_scatter(const std::vector<const Tensor*>&, Reduction, const RowsOfRanks& rows,
                       const std::string& label);

// Transfers run beside the collectives. Between two ranks they arrive in the order in which they were sent;
// both ranks give the same label. The result of receive is a new tensor on the CPU, of the sender's shape and
// dtype.
Pending send(const Tensor& x, int to, const std::string& label = {});
Pending receive(int from, const std::string& label = {});

// Each rank's rows in the latest all_gather or all_to_all whose wait() has returned.
const std::vector<int64_t>& rows_from_ranks();

}  // namespace lunagrad::dist
