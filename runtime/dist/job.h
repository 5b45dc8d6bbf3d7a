#pragma once
// A job of the transfer thread: a collective or a transfer over plain memory. The script's thread makes a job
// and posts it; from then on it belongs to the transfer thread until it is done.
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/trace.h"
#include "runtime/dist/block.h"
#include "runtime/dist/reduce.h"
#include "runtime/dist/transport.h"

namespace lunagrad::dist {

enum class Kind : uint8_t {
  all_reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  barrier,
  meeting,
  send,
  receive
};

// A tensor of an all_gather or a reduce_scatter. Each rank has some of its rows, which have `row` elements
// each.
struct Part {
  const void* in = nullptr;  // this rank's rows; for reduce_scatter all rows
  int64_t row = 1;
  std::vector<int64_t> rows;  // rows of each rank
};

struct Job {
  Kind kind = Kind::barrier;
  Reduction reduction = Reduction::sum;
  DType dtype = DType::f32;
  int root = 0;  // broadcast: its root; send and receive: the other rank
  // Contiguous rows of `row` elements. The memory must stay until the job is done.
  int64_t rows = 0, row = 1;
  const void* in = nullptr;
  void* out = nullptr;         // for all_reduce and broadcast
  std::vector<Part> parts;     // for reduce_scatter, and for all_gather with rows known before
  std::vector<int64_t> sizes;  // for all_to_all: the rows for each rank
  std::vector<int64_t> shape;  // for send and receive
  std::vector<Block> inputs;   // memory that is freed as soon as it has been sent
  // Returns when the elements are in `in`; called on the transfer thread. Null: they are there already.
  std::function<void()> ready;

  std::string what;   // the same on every rank: "all_reduce, sum of f32 [64, 10]"
  std::string place;  // for reports: "at model.lua:41, all_reduce of fc1.weight, sum of f32 [64, 10]"

  // For profiles.
  const char* op = "";
  std::string label;
  SourceLine line;
  int64_t begun = 0, met = 0, ended = 0;  // as in a TransferRecord

  // A new tensor: its memory, allocated when the job begins to receive, and its rows.
  struct Result {
    Block block;
    int64_t rows;
  };
  std::vector<Result> results;
  std::vector<int64_t> rows_from;  // rows of each rank, in all_gather of one tensor and all_to_all

  bool done = false;  // from here on: under the transfer thread's lock
  std::string error;
  ErrorKind error_kind = ErrorKind::value;
  bool left = false;  // the job was called off: MPI may still use its memory
};

inline ErrorKind kind_of(const std::exception& error) {
  const auto* const own = dynamic_cast<const Error*>(&error);
  return own ? own->kind() : ErrorKind::value;
}

// Transfers run beside the collectives.
inline bool is_transfer(const Job& job) { return job.kind == Kind::send || job.kind == Kind::receive; }

}  // namespace lunagrad::dist
