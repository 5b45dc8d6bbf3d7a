#include "runtime/dist/world.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/batching/batched.h"
#include "runtime/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/dist/courier.h"
#include "runtime/host_copies.h"
#include "runtime/ops.h"
#include "runtime/tape/node.h"

namespace lunagrad::dist {
namespace {

// Never destroyed: its thread lives until close_world.
Courier* courier = nullptr;

Courier& open_courier() {
  if (!courier) fail("distributed: no world is open; call lg.distributed.init() first");
  return *courier;
}

// The memory that a collective reads and writes.
struct Place {
  Tensor tensor;                   // the target itself or a copy; of a GPU the tensor that was copied
  std::unique_ptr<HostCopy> copy;  // of that tensor; null: the tensor is on the CPU
  void* data() const { return copy ? copy->data() : tensor.raw(); }
};

// Memory of collectives that nobody waits for.
std::vector<std::pair<Place, Tensor>>& dropped() {
  static auto* const list = new std::vector<std::pair<Place, Tensor>>;
  return *list;
}

// Tensors of a GPU travel through host memory. Where the device can, it writes there while it and the script
// go on.
Place place_of(const Tensor& x) {
  const Tensor own = contiguous(x.detach());
  if (own.device().is_cpu()) return {own, nullptr};
  if (auto* const device = dynamic_cast<HostCopies*>(&own.device())) {
    const size_t offset = size_t(own.offset()) * item_size(own.dtype());
    if (auto copy = device->begin_copy_out(own.storage().data, offset, own.nbytes()))
      return {own, std::move(copy)};
  }
  return {to(own, cpu_device()), nullptr};
}

// Writes what arrived in the place of x to x.
void take_over(const Tensor& x, const Place& place, const char* name) {
  if (!place.copy && x.device().is_cpu() && x.is_contiguous())
    return x.storage().mark_written(name);  // the job wrote into its memory
  if (!place.copy) {
    copy_(x.detach(), place.tensor);
    return;
  }
  const Tensor target = x.is_contiguous() ? x : Tensor::empty(x.shape(), x.dtype(), x.device());
  place.copy->copy_in(target.storage().data, size_t(target.offset()) * item_size(x.dtype()));
  if (x.is_contiguous())
    x.storage().mark_written(name);
  else
    copy_(x.detach(), target);
}

std::vector<int64_t> latest_rows;

const char* kind_name(Kind kind) {
  constexpr const char* kNames[] = {"all_reduce", "broadcast", "all_gather", "reduce_scatter",
                                    "all_to_all", "barrier",   "init"};
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

// The library lies beside the one that holds this code.
std::string mpi_library() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&open_world), &info) || !info.dli_fname)
    return "liblunagrad-mpi.so";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "liblunagrad-mpi.so";
}

std::unique_ptr<Transport> open_mpi() {
  // The plug-ins of Open MPI look for the names of the library that loads them.
  void* const library = dlopen(mpi_library().c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fail("init: ", launched_size(),
         " ranks were started, but this program was built without MPI or cannot load it (", dlerror(),
         "); on Debian: apt-get install libopenmpi-dev openmpi-bin, and build again");
  }
  const auto open = reinterpret_cast<OpenTransport>(dlsym(library, kOpenMpi));
  if (!open) fail("init: ", mpi_library(), " is of another version");
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
  std::shared_ptr<Job> job;
  Tensor target;             // of a collective in place; else undefined
  Place place;               // what the job reads and writes
  Tensor result;             // of reduce_scatter
  Shape rest;                // the dims of the result after the first
  Device* device = nullptr;  // of the result
  bool waited = false;
};

// Makes the job of a collective from a tensor.
class Collective {
 public:
  Collective(Kind kind, const Tensor& x, const std::string& label) : op_(kind_name(kind)), x_(x) {
    open_courier();
    if (is_batched(x)) fail(op_, ": a batched tensor of vmap has no collectives");
    context().check_may_change(op_);
    Job& job = *state_->job;
    job.kind = kind;
    job.dtype = x.dtype();
    job.rows = x.ndim() == 0 ? 1 : x.size(0);
    for (int i = 1; i < x.ndim(); ++i) job.row *= x.size(i);
    for (int i = 1; i < x.ndim(); ++i) state_->rest.push_back(x.size(i));
    state_->device = &x.device();
    const NoGrad off;
    state_->place = place_of(x);
    job.in = state_->place.data();
    if (HostCopy* const copy = state_->place.copy.get()) job.ready = [copy] { copy->wait(); };
    label_ = given_ = label;
    if (label_.empty() && x.node() && x.node()->is_leaf()) label_ = interned(x.node()->name);
  }

  Job& job() { return *state_->job; }
  void in_place() {
    state_->target = x_;
    job().out = state_->place.data();
  }
  void set_sizes(std::vector<int64_t> sizes) {
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
    job().sizes = std::move(sizes);
  }
  void make_result(int64_t rows) {
    Shape shape;
    shape.push_back(rows);
    for (const int64_t n : state_->rest) shape.push_back(n);
    state_->result = Tensor::empty(shape, x_.dtype());
    job().out = state_->result.raw();
  }
  // `same`: the facts that all ranks must agree on, beside kind and type. All but dim 0 of the shape, or all.
  Pending post(const std::string& facts, bool whole_shape) {
    const std::string shape = whole_shape ? text(x_.shape()) : text("rows of ", state_->rest);
    const std::string kind = text(facts, facts.empty() ? "" : " of ", x_.dtype(), " ");
    job().what = text(op_, ": ", kind, shape, " ", given_);
    const std::string line = to_string(context().line);
    job().place = text(line.empty() ? "" : "at ", line, line.empty() ? "in " : ", ", op_,
                       label_.empty() ? "" : " of ", label_, ", ", kind, x_.shape());
    open_courier().post(state_->job);
    Pending pending;
    pending.state_ = std::move(state_);
    return pending;
  }

 private:
  const char* op_;
  const Tensor x_;
  std::string label_, given_;
  std::shared_ptr<Pending::State> state_{new Pending::State{.job = std::make_shared<Job>()}};
};

Pending::~Pending() {
  if (!state_ || state_->waited || open_courier().done(*state_->job)) return;
  dropped().emplace_back(std::move(state_->place), std::move(state_->result));
}

bool Pending::done() const { return !state_ || open_courier().done(*state_->job); }

Tensor Pending::wait() {
  State& state = *state_;
  Job& job = *state.job;
  open_courier().wait(job);
  if (std::exchange(state.waited, true)) return state.target;
  const NoGrad off;
  Place place = std::exchange(state.place, Place());  // a handle may live until Lua's collector runs
  if (state.target.defined()) {
    take_over(state.target, place, kind_name(job.kind));
    return state.target;
  }
  if (!state.result.defined()) {  // its size came with the data
    latest_rows = job.rows_from;
    Shape shape;
    shape.push_back(0);
    for (const int64_t rows : job.rows_from) shape[0] += rows;
    for (const int64_t n : state.rest) shape.push_back(n);
    state.result = Tensor::empty(shape, job.dtype);
    if (const size_t bytes = state.result.nbytes()) std::memcpy(state.result.raw(), job.result.get(), bytes);
    job.result.reset();
  }
  const Tensor result = std::exchange(state.result, Tensor());
  return state.device->is_cpu() ? result : to(result, *state.device);
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
  call.set_sizes(std::move(sizes));
  call.job().reduction = reduction;
  call.make_result(call.job().sizes[size_t(rank())]);
  std::string facts = text(reduction_name(reduction), " in parts of");
  for (const int64_t part : call.job().sizes) facts += text(" ", part);
  return call.post(facts, true);
}

Pending all_to_all(const Tensor& x, std::vector<int64_t> sizes, const std::string& label) {
  Collective call(Kind::all_to_all, x, label);
  call.set_sizes(std::move(sizes));
  return call.post("", false);
}

void barrier() {
  Courier& world = open_courier();
  const auto job = std::make_shared<Job>();
  job->kind = Kind::barrier;
  job->what = "barrier";
  const std::string line = to_string(context().line);
  job->place = line.empty() ? "in barrier" : text("at ", line, ", barrier");
  world.post(job);
  world.wait(*job);
}

const std::vector<int64_t>& rows_from_ranks() { return latest_rows; }

// ---- the world

namespace {

// The ranks of a machine share its processors, unless the launcher bound each to its own.
void share_processors(int ranks) {
  const int all = int(sysconf(_SC_NPROCESSORS_ONLN));
  if (ranks > 1 && thread_count() == all) set_thread_count(std::max(1, all / ranks));
}

}  // namespace

void open_world(WorldOptions options) {
  if (courier) return;
  const bool alone = launched_size() == 1;
  // MiB a second, to see in a test on one machine what a slow network would do.
  const char* const link = std::getenv("LUNAGRAD_TEST_LINK");
  const double slow_link = link && std::atof(link) > 0 ? 1 / (std::atof(link) * (1 << 20)) : 0;
  courier = new Courier({alone ? nullptr : open_mpi, options.patience, slow_link});
  courier->set_whereabouts(std::move(options.whereabouts));
  share_processors(courier->local_size());
  // All ranks run the same: a difference would show later, as wrong numbers.
  const auto job = std::make_shared<Job>();
  job->kind = Kind::meeting;
  job->what = "init: " + options.identity;
  job->place = "in init of " + options.identity;
  courier->post(job);
  courier->wait(*job);
}

bool is_world_open() { return courier != nullptr; }

void forget_whereabouts() {
  if (courier) courier->set_whereabouts(nullptr);
}

int rank() { return courier ? courier->rank() : 0; }
int size() { return courier ? courier->size() : 1; }
int local_rank() { return courier ? courier->local_rank() : 0; }
int local_size() { return courier ? courier->local_size() : 1; }

int close_world(int exit_code) { return courier ? courier->close(exit_code) : exit_code; }

}  // namespace lunagrad::dist
