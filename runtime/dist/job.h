#pragma once
// What the courier carries out: a collective or a transfer over plain memory. The script's thread makes a job
// and posts it; from then on it belongs to the courier until it is done.
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "runtime/dist/block.h"
#include "runtime/dist/reduce.h"
#include "runtime/dist/transport.h"
#include "runtime/error.h"
#include "runtime/trace.h"

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

// A tensor of an all_gather or a reduce_scatter, of which each rank has some rows of `row` elements.
struct Part {
  const void* in = nullptr;  // this rank's rows, or for reduce_scatter those of all ranks
  int64_t row = 1;
  std::vector<int64_t> rows;  // of each rank
};

struct Job {
  Kind kind = Kind::barrier;
  Reduction reduction = Reduction::sum;
  DType dtype = DType::f32;
  int root = 0;  // of broadcast; the other rank of send and receive
  // Contiguous rows of `row` elements, which must stay until the job is done.
  int64_t rows = 0, row = 1;
  const void* in = nullptr;
  void* out = nullptr;         // of all_reduce and broadcast
  std::vector<Part> parts;     // of reduce_scatter, and of all_gather where the rows are known before
  std::vector<int64_t> sizes;  // of all_to_all: the rows for each rank
  std::vector<int64_t> shape;  // of send and receive
  std::vector<Block> inputs;   // memory that is freed as soon as it has travelled
  std::function<void()>
      ready;  // returns when the elements are in `in`; called on the courier's thread. Null: they are

  std::string what;   // the same on every rank: "all_reduce, sum of f32 [64, 10]"
  std::string place;  // for reports: "at model.lua:41, all_reduce of fc1.weight, sum of f32 [64, 10]"

  // For a profile.
  const char* op = "";
  std::string label;
  SourceLine line;
  int64_t begun = 0, met = 0, ended = 0;  // as in a Travel

  // New tensors: memory, which is taken when the job begins to receive, and rows.
  struct Result {
    Block block;
    int64_t rows;
  };
  std::vector<Result> results;
  std::vector<int64_t> rows_from;  // of each rank, in all_gather of one tensor and all_to_all

  bool done = false;  // this and what follows under the courier's lock
  std::string error;
  ErrorKind error_kind = ErrorKind::value;
  bool left = false;  // it was called off: MPI may still use its memory
};

inline ErrorKind kind_of(const std::exception& error) {
  const auto* const own = dynamic_cast<const Error*>(&error);
  return own ? own->kind() : ErrorKind::value;
}

// These go on beside the collectives.
inline bool is_transfer(const Job& job) { return job.kind == Kind::send || job.kind == Kind::receive; }

}  // namespace lunagrad::dist
