#include "runtime/dist/world.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/batching/batched.h"
#include "runtime/core/context.h"
#include "runtime/core/host_copies.h"
#include "runtime/core/memory_limit.h"
#include "runtime/core/version.h"
#include "runtime/core/waiting.h"
#include "runtime/cpu/parallel.h"
#include "runtime/dist/the_transfer_thread.h"
#include "runtime/ops.h"
#include "runtime/system/libraries.h"
#include "runtime/system/processor.h"
#include "runtime/tape/node.h"
#include "runtime/tape/unsharded.h"

namespace lunagrad::dist {

// The memory that a collective reads and writes.
struct CollectiveMemory {
  Tensor tensor;                   // the target itself or a copy; on a GPU the tensor that was copied
  std::unique_ptr<HostCopy> copy;  // copy of `tensor`; null: `tensor` is on the CPU
  void* data() const { return copy ? copy->data() : tensor.raw(); }
};

namespace {

// Whether the ranks of the current run have met in init.
bool met = false;

TransferThread& open_transfer_thread() {
  if (!met) fail("distributed: no world is open; call lg.distributed.init() first");
  return *the_transfer_thread();
}

// Memory of collectives whose results are no longer wanted.
struct Dropped {
  std::shared_ptr<Job> job;
  std::vector<CollectiveMemory> places;
};
std::vector<Dropped>& dropped() {
  static auto* const list = new std::vector<Dropped>;
  return *list;
}

// GPU tensors are sent through host memory. If the device can, it copies there in the background.
CollectiveMemory place_of(const Tensor& x) {
  const Tensor own = contiguous(x.detach());
  if (waiting_queue) compute_waiting_calls();  // compute now: another thread will read the memory
  if (own.device().is_cpu()) return {own, nullptr};
  if (auto* const device = dynamic_cast<HostCopies*>(&own.device())) {
    const size_t offset = size_t(own.offset()) * item_size(own.dtype());
    if (auto copy = device->begin_copy_out(own.storage().data(), offset, own.nbytes()))
      return {own, std::move(copy)};
  }
  return {to(own, cpu_device()), nullptr};
}

// Writes the received elements in `place` to x.
void take_over(const Tensor& x, const CollectiveMemory& place, const char* name) {
  if (!place.copy && x.device().is_cpu() && x.is_contiguous())
    return x.storage().mark_written(name);  // the job wrote directly into x's memory
  if (!place.copy) {
    copy_(x.detach(), place.tensor);
    return;
  }
  const Tensor target = x.is_contiguous() ? x : Tensor::empty(x.shape(), x.dtype(), x.device());
  place.copy->copy_in(target.storage().data(), size_t(target.offset()) * item_size(x.dtype()));
  if (x.is_contiguous())
    x.storage().mark_written(name);
  else
    copy_(x.detach(), target);
}

std::vector<int64_t> latest_rows;

const char* kind_name(Kind kind) {
  constexpr const char* kNames[] = {"all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all",
                                    "barrier",    "init",      "send",       "receive"};
  return kNames[int(kind)];
}

// ---- the launcher

constexpr std::array kRankNames = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
constexpr std::array kLocalRankNames = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
constexpr std::array kSizeNames = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

int number_in(std::span<const char* const> names, int fallback) {
  for (const char* name : names)
    if (const char* const value = std::getenv(name); value && *value) return std::atoi(value);
  return fallback;
}

std::unique_ptr<Transport> open_mpi() {
  const std::string file =
      library_beside("lunagrad-mpi", text("lunagrad-", LUNAGRAD_VERSION_MAJOR, ".", LUNAGRAD_VERSION_MINOR));
  std::string reason;
  void* const library = load_library(file, reason);
  if (!library) {
    fail("init: ", launched_size(),
         " ranks were started, but this program was built without MPI or cannot load it (", reason,
         "); on Debian: apt-get install openmpi-bin; a program that was built without MPI needs "
         "libopenmpi-dev, too, and a new build");
  }
  const auto open = reinterpret_cast<OpenTransport>(find_symbol(library, kOpenMpi));
  if (!open) fail("init: ", file, " is of another version");
  const char* why = "";
  std::unique_ptr<Transport> transport(open(&why));
  if (!transport) fail("init: ", why);
  if (transport->size() != launched_size())
    fail("init: ", launched_size(), " ranks were started, but MPI sees ", transport->size(),
         "; the launcher belongs to another MPI (with Slurm try srun --mpi=pmix)");
  return transport;
}

}  // namespace

int launched_rank() { return number_in(kRankNames, 0); }
int launched_local_rank() { return number_in(kLocalRankNames, 0); }
std::string device_of_rank(const std::string& asked, int local_rank, const std::vector<std::string>& names) {
  if (asked != "vulkan") return asked;
  std::vector<std::string> gpus;
  for (const std::string& name : names)
    if (name.starts_with(asked)) gpus.push_back(name);
  return gpus.empty() ? asked : gpus[size_t(local_rank) % gpus.size()];
}
int launched_size() { return std::max(1, number_in(kSizeNames, 1)); }

const std::vector<std::string>& launcher_variables() {
  static const auto* const names = [] {
    auto* const all = new std::vector<std::string>(kRankNames.begin(), kRankNames.end());
    all->insert(all->end(), kSizeNames.begin(), kSizeNames.end());
    return all;
  }();
  return *names;
}

// ---- collectives

struct Pending::State {
  std::shared_ptr<Job> job = std::make_shared<Job>();
  Tensor target;                         // for a collective in place; else undefined
  std::vector<CollectiveMemory> places;  // memory that the job reads and writes
  std::vector<Shape> rests;              // the dims of each result after the first
  Device* device = nullptr;              // device of the results
  bool waited = false;
};

namespace {

Shape rest_of(const Tensor& x) {
  Shape rest;
  for (int i = 1; i < x.ndim(); ++i) rest.push_back(x.size(i));
  return rest;
}

int64_t elements(const Shape& rest) {
  int64_t count = 1;
  for (const int64_t n : rest) count *= n;
  return count;
}

// The memory of a CPU tensor: taken away from it if only this handle refers to it, else a copy.
Block memory_of(const Tensor& x) {
  if (waiting_queue) compute_waiting_calls();
  const bool alone =
      x.use_count() == 1 && !x.node() && !x.body()->base && x.is_contiguous() && x.offset() == 0;
  if (alone && x.storage().use_count() == 1) {
    const size_t bytes = x.storage().bytes;
    Block block(x.storage().release(), bytes);
    reshard_memory(x);
    return block;
  }
  const Tensor own = contiguous(x.detach());
  Block block(own.nbytes());
  if (own.nbytes() > 0) std::memcpy(block.data(), own.raw(), own.nbytes());
  return block;
}

// A new tensor with the received elements of the block.
Tensor tensor_of(Block block, const Shape& shape, DType dtype, Device& device) {
  if (device.is_cpu()) {
    check_room(1, 0);  // checks --memory; the block is counted already
    const size_t bytes = block.bytes();
    return Tensor(Ref<Storage>(new Storage(device, block.release(), bytes)), Layout::contiguous(shape), 0,
                  dtype);
  }
  const Tensor result = Tensor::empty(shape, dtype, device);
  if (result.nbytes() > 0) device.copy_in(result.storage().data(), 0, block.data(), result.nbytes());
  return result;
}

}  // namespace

// Makes the job of a collective from tensors.
class Collective {
 public:
  Collective(Kind kind, const Tensor& x, const std::string& label) : Collective(kind, label) {
    check(x);
    Job& job = *state_->job;
    job.dtype = x.dtype();
    job.rows = x.ndim() == 0 ? 1 : x.size(0);
    state_->rests = {rest_of(x)};
    job.row = elements(state_->rests[0]);
    state_->device = &x.device();
    x_ = x;
    const NoGrad off;
    job.in = add_place(x);
    if (label_.empty() && x.node() && x.node()->is_leaf()) label_ = interned(x.node()->name);
  }
  // For several tensors: add() each, then finish().
  Collective(Kind kind, const std::string& label) : op_(kind_name(kind)), label_(label), given_(label) {
    open_transfer_thread();
    context().check_may_change(op_);
    state_->job->kind = kind;
    state_->device = &cpu_device();
  }

  Job& job() { return *state_->job; }
  void in_place() {
    state_->target = x_;
    job().out = state_->places[0].data();
  }
  std::vector<int64_t> checked_sizes(std::vector<int64_t> sizes) {
    const int64_t rows = job().rows;
    if (x_.ndim() == 0) fail(op_, ": a tensor with dim 1 is needed, to be cut along it");
    if (sizes.empty()) {
      for (int64_t i = 0; i < size(); ++i) sizes.push_back(rows / size() + (i < rows % size() ? 1 : 0));
    } else {
      if (int(sizes.size()) != size()) fail(op_, ": ", sizes.size(), " sizes for ", size(), " ranks");
      int64_t sum = 0;
      for (const int64_t part : sizes) {
        if (part < 0) fail(op_, ": size ", part, " is negative");
        sum += part;
      }
      if (sum != rows) fail(op_, ": the sizes sum to ", sum, ", dim 1 has ", rows);
    }
    return sizes;
  }

  // Adds one of several tensors; `rows` are each rank's rows. `give`: its memory may be taken away.
  void add(const Tensor& x, const std::vector<int64_t>& rows, bool give) {
    check(x);
    if (!list_.empty() && (x.dtype() != job().dtype || &x.device() != state_->device))
      fail(op_, ": tensors of several dtypes or devices; make a call for each");
    if (rows.size() != size_t(size())) fail(op_, ": ", rows.size(), " rows for ", size(), " ranks");
    state_->device = &x.device();
    job().dtype = x.dtype();
    state_->rests.push_back(rest_of(x));
    job().parts.push_back({nullptr, elements(state_->rests.back()), rows});
    const NoGrad off;
    Given given{x.numel(), {}};
    if (!x.device().is_cpu()) {
      given.flat = reshape(x.detach(), {-1});
    } else if (give) {
      job().inputs.push_back(memory_of(x));
      job().parts.back().in = job().inputs.back().data();
    } else {
      job().parts.back().in = add_place(x);
    }
    list_.push_back(std::move(given));
  }
  // Call it after the last add(). Tensors on a GPU are copied to the host together.
  std::string finish() {
    std::string rows;
    for (const Part& part : job().parts) {
      rows += text("; rows of ", part.row, ":");
      for (const int64_t count : part.rows) rows += text(" ", count);
    }
    rows += on_device();
    if (state_->device->is_cpu() || list_.empty()) return rows;
    const NoGrad off;
    TensorList flat;
    for (Given& given : list_) flat.push_back(std::move(given.flat));
    const char* at = static_cast<const char*>(add_place(cat(flat, 0)));
    for (size_t i = 0; i < list_.size(); ++i) {
      job().parts[i].in = at;
      at += size_t(list_[i].count) * item_size(job().dtype);
    }
    return rows;
  }

  // The kind of device, which must be the same on all ranks; each rank may have its own GPU.
  std::string on_device() const {
    const std::string_view name = state_->device->name();
    return state_->device->is_cpu() ? "" : text(" on ", name.substr(0, name.find(':')));
  }
  // `facts`: what all ranks must agree on besides kind, dtype and shape. `whole_shape`: false when ranks may
  // differ in dim 0.
  Pending post(const std::string& facts, bool whole_shape) {
    const std::string shape = whole_shape ? text(x_.shape()) : text("rows of ", state_->rests[0]);
    const std::string kind = text(facts, facts.empty() ? "" : " of ", x_.dtype(), on_device(), " ");
    return post_as(text(kind, shape), text(kind, x_.shape()));
  }
  // `same`: what all ranks must agree on besides kind and label; `shown` is for reports.
  Pending post_as(const std::string& same, const std::string& shown) {
    job().what = text(op_, ": ", same, " ", given_);
    job().place = text(place_of_call(), op_, label_.empty() ? "" : " of ", label_, ", ", shown);
    return post_job();
  }
  Pending post_transfer(const std::string& direction, const std::string& shown) {
    job().what = given_;
    job().place = text(place_of_call(), op_, label_.empty() ? "" : " of ", label_, direction, shown);
    return post_job();
  }

 private:
  struct Given {
    int64_t count;
    Tensor flat;  // on a GPU
  };

  void check(const Tensor& x) {
    if (is_batched(x)) fail(op_, ": a batched tensor of vmap has no collectives");
  }
  const void* add_place(const Tensor& x) {
    state_->places.push_back(place_of(x));
    const CollectiveMemory& place = state_->places.back();
    if (HostCopy* const copy = place.copy.get()) job().ready = [copy] { copy->wait(); };
    return place.data();
  }
  static std::string place_of_call() {
    const std::string line = to_string(context().line);
    return line.empty() ? "in " : "at " + line + ", ";
  }
  Pending post_job() {
    job().op = op_;
    job().label = label_;
    job().line = context().line;
    open_transfer_thread().post(state_->job);
    Pending pending;
    pending.state_ = std::move(state_);
    return pending;
  }

  const char* op_;
  Tensor x_;
  std::string label_, given_;
  std::vector<Given> list_;
  std::shared_ptr<Pending::State> state_ = std::make_shared<Pending::State>();
};

Pending::~Pending() {
  if (!state_ || state_->waited || the_transfer_thread()->is_free(*state_->job)) return;
  std::erase_if(dropped(), [](const Dropped& one) { return the_transfer_thread()->is_free(*one.job); });
  dropped().push_back({state_->job, std::move(state_->places)});
}

bool Pending::done() const { return !state_ || the_transfer_thread()->done(*state_->job); }
double Pending::seconds() const { return 1e-9 * double(state_->job->ended - state_->job->met); }

Tensor Pending::wait() {
  TensorList results = wait_list();
  return results.empty() ? Tensor() : results[0];
}

TensorList Pending::wait_list() {
  State& state = *state_;
  Job& job = *state.job;
  the_transfer_thread()->wait(job);
  if (std::exchange(state.waited, true)) return {state.target};
  const NoGrad off;
  // frees it: a handle may live until Lua's collector runs
  const std::vector<CollectiveMemory> places = std::move(state.places);
  if (state.target.defined()) {
    take_over(state.target, places[0], kind_name(job.kind));
    return {state.target};
  }
  if (!job.rows_from.empty()) latest_rows = job.rows_from;
  if (job.kind == Kind::receive) {
    const std::vector<int64_t>& shape = job.shape;
    state.rests = {Shape()};
    for (size_t i = 1; i < shape.size(); ++i) state.rests[0].push_back(shape[i]);
  }
  TensorList results;
  for (size_t i = 0; i < job.results.size(); ++i) {
    Shape shape;
    if (job.kind != Kind::receive || !job.shape.empty()) shape.push_back(job.results[i].rows);
    for (const int64_t n : state.rests[i]) shape.push_back(n);
    results.push_back(tensor_of(std::move(job.results[i].block), shape, job.dtype, *state.device));
  }
  job.results.clear();
  return results;
}

Pending all_reduce_(const Tensor& x, Reduction reduction, const std::string& label) {
  check_reduction("all_reduce", reduction, x.dtype());
  Collective call(Kind::all_reduce, x, label);
  call.job().reduction = reduction;
  call.in_place();
  return call.post(reduction_name(reduction), true);
}

Pending broadcast_(const Tensor& x, int root, const std::string& label) {
  Collective call(Kind::broadcast, x, label);
  if (root < 0 || root >= size())
    fail("broadcast: there is no rank ", root, " among ", size(), " (they count from 0)");
  call.job().root = root;
  call.in_place();
  return call.post(text("from rank ", root), true);
}

Pending all_gather(const Tensor& x, const std::string& label) {
  Collective call(Kind::all_gather, x, label);
  return call.post("", false);
}

Pending reduce_scatter(const Tensor& x, Reduction reduction, std::vector<int64_t> sizes,
                       const std::string& label) {
  check_reduction("reduce_scatter", reduction, x.dtype());
  Collective call(Kind::reduce_scatter, x, label);
  sizes = call.checked_sizes(std::move(sizes));
  std::string facts = text(reduction_name(reduction), " in parts of");
  for (const int64_t part : sizes) facts += text(" ", part);
  call.job().reduction = reduction;
  call.job().parts.push_back({call.job().in, call.job().row, std::move(sizes)});
  return call.post(facts, true);
}

Pending all_to_all(const Tensor& x, std::vector<int64_t> sizes, const std::string& label) {
  Collective call(Kind::all_to_all, x, label);
  call.job().sizes = call.checked_sizes(std::move(sizes));
  return call.post("", false);
}

Pending all_gather(const TensorList& list, const RowsOfRanks& rows, const std::string& label) {
  Collective call(Kind::all_gather, label);
  for (size_t i = 0; i < list.size(); ++i) call.add(list[i], rows[i], false);
  const std::string facts = call.finish();
  return call.post_as(facts, text(list.size(), " tensors of ", call.job().dtype, call.on_device()));
}

Pending reduce_scatter(const std::vector<const Tensor*>& list, Reduction reduction, const RowsOfRanks& rows,
                       const std::string& label) {
  Collective call(Kind::reduce_scatter, label);
  call.job().reduction = reduction;
  for (size_t i = 0; i < list.size(); ++i) {
    check_reduction("reduce_scatter", reduction, list[i]->dtype());
    call.add(*list[i], rows[i], true);
  }
  const std::string facts = call.finish();
  return call.post_as(facts,
                      text(reduction_name(reduction), ", ", list.size(), " tensors of ", call.job().dtype));
}

namespace {

int checked_rank(const char* name, int rank_given) {
  if (rank_given < 0 || rank_given >= size())
    fail(name, ": there is no rank ", rank_given, " among ", size(), " (they count from 0)");
  if (rank_given == rank()) fail(name, ": rank ", rank_given, " is this rank; take another one");
  return rank_given;
}

}  // namespace

Pending send(const Tensor& x, int to, const std::string& label) {
  Collective call(Kind::send, x, label);
  call.job().root = checked_rank("send", to);
  for (const int64_t n : x.shape()) call.job().shape.push_back(n);
  return call.post_transfer(text(" to rank ", to), text(", ", x.dtype(), " ", x.shape()));
}

Pending receive(int from, const std::string& label) {
  Collective call(Kind::receive, label);
  call.job().root = checked_rank("receive", from);
  return call.post_transfer(text(" from rank ", from), "");
}

void barrier() {
  TransferThread& world = open_transfer_thread();
  const auto job = std::make_shared<Job>();
  job->kind = Kind::barrier;
  job->what = "barrier";
  job->op = "barrier";
  job->line = context().line;
  const std::string line = to_string(context().line);
  job->place = line.empty() ? "in barrier" : text("at ", line, ", barrier");
  world.post(job);
  world.wait(*job);
}

const std::vector<int64_t>& rows_from_ranks() { return latest_rows; }

// ---- the world

namespace {

// Extra seconds per byte, so that a test on one machine behaves as with a slow network.
double slow_link() {
  const char* const link = std::getenv("LUNAGRAD_TEST_LINK");  // MiB per second
  return link && std::atof(link) > 0 ? 1 / (std::atof(link) * (1 << 20)) : 0;
}

// The ranks of a machine share its processors, unless the launcher bound each rank to its own.
void share_processors(int ranks) {
  const int all = machine_cores();
  if (ranks > 1 && thread_count() == all) set_thread_count(std::max(1, all / ranks));
}

}  // namespace

void open_world(WorldOptions options) {
  if (met) return;
  if (lasts()) {
    begin_lasting_run(options.patience);
  } else if (!the_transfer_thread()) {
    make_transfer_thread({launched_size() == 1 ? nullptr : open_mpi, options.patience, slow_link()});
  }
  TransferThread& world = *the_transfer_thread();
  world.set_whereabouts(std::move(options.whereabouts));
  share_processors(world.local_size());
  // All ranks must run the same script: a difference would show only later, as wrong numbers.
  const auto job = std::make_shared<Job>();
  job->kind = Kind::meeting;
  job->op = "init";
  job->what = "init: " + options.identity;
  job->place = "in init of " + options.identity;
  world.post(job);
  world.wait(*job);
  met = true;
}

void open_lasting_world() { make_transfer_thread({open_mpi, 30, slow_link(), true}); }

bool is_world_open() { return met; }

void forget_whereabouts() {
  if (!the_transfer_thread()) return;
  the_transfer_thread()->set_whereabouts(nullptr);
  if (lasts()) met = false;
}

int rank() { return met ? the_transfer_thread()->rank() : 0; }
int size() { return met ? the_transfer_thread()->size() : 1; }
int local_rank() { return met ? the_transfer_thread()->local_rank() : 0; }
int local_size() { return met ? the_transfer_thread()->local_size() : 1; }

int close_world(int exit_code) {
  return the_transfer_thread() ? the_transfer_thread()->close(exit_code) : exit_code;
}

}  // namespace lunagrad::dist
