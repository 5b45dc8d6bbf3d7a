// matmul and linear in f32. Strides, transposed or not, are the shader's business: no operand is copied.
#include <algorithm>

#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "gpu/kernels/reduce.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Arguments {
  uint64_t a, b, c, bias;
  int64_t a_row, a_column, b_row, b_column, bias_step;
  uint32_t m, n, k;
  uint32_t tiles;
  uint32_t row_tiles, column_tiles;
  uint32_t splits, split;
  uint32_t batches;
  uint32_t batch_dims;
  uint32_t batch_size[8];
  int64_t batch_step[2][8];
};
static_assert(offsetof(Arguments, batch_step) == 144);

// One product of two batches of matrices.
struct Product {
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0;
  Shape batch;
  Strides a_batch, b_batch;
};

// A tile of C and what a thread owns of it.
struct Tile {
  uint32_t bm, bn, bk, tm, tn;
};
constexpr Tile kTiles[] = {{128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 4, 4}};
constexpr uint64_t kBusy = 132;        // work groups that keep a device busy
constexpr uint64_t kShortest = 256;    // elements of k that are worth a part

uint64_t tile_count(const Tile& tile, const Product& p, uint64_t batches) {
  return (uint64_t(p.m) + tile.bm - 1) / tile.bm * ((uint64_t(p.n) + tile.bn - 1) / tile.bn) * batches;
}

// The largest tile that is not mostly empty and of which there are enough, with the parts that k may have.
const Tile& choose(const Product& p, uint64_t batches) {
  const uint64_t most = std::max<uint64_t>(1, uint64_t(p.k) / kShortest);
  for (const Tile& tile : std::span(kTiles).first(2))
    if (2 * p.m > tile.bm && 2 * p.n > tile.bn && tile_count(tile, p, batches) * most >= kBusy) return tile;
  return kTiles[2];
}

void multiply(const Product& p, const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& c,
              Recorder& recorder) {
  const uint64_t batches = uint64_t(numel(p.batch));
  const NoGrad off;
  const Tile* const tile = &choose(p, batches);
  Arguments arguments{};
  const uint64_t count = tile_count(*tile, p, batches);
  const uint64_t parts = std::clamp<uint64_t>((kBusy + count - 1) / count, 1, std::max<uint64_t>(1, uint64_t(p.k) / kShortest));
  const uint32_t length = std::max(1u, uint32_t(p.k));
  arguments.split = (length + uint32_t(parts) - 1) / uint32_t(parts);
  arguments.split = (arguments.split + tile->bk - 1) / tile->bk * tile->bk;
  arguments.splits = (length + arguments.split - 1) / arguments.split;
  const bool whole = arguments.splits == 1;
  const Tensor made = whole ? c : Tensor::empty({int64_t(arguments.splits), c.numel()}, DType::f32, c.device());
  Launch launch(recorder);
  arguments.a = launch.reads(a);
  arguments.b = launch.reads(b);
  arguments.c = launch.writes(made);
  if (bias.defined() && whole) {
    arguments.bias = launch.reads(bias);
    arguments.bias_step = bias.strides()[0];
  }
  arguments.a_row = p.a_row;
  arguments.a_column = p.a_column;
  arguments.b_row = p.b_row;
  arguments.b_column = p.b_column;
  arguments.m = uint32_t(p.m);
  arguments.n = uint32_t(p.n);
  arguments.k = uint32_t(p.k);
  arguments.row_tiles = (arguments.m + tile->bm - 1) / tile->bm;
  arguments.column_tiles = (arguments.n + tile->bn - 1) / tile->bn;
  arguments.tiles = uint32_t(count) * arguments.splits;
  arguments.batches = uint32_t(batches);
  arguments.batch_dims = uint32_t(p.batch.size());
  for (int d = 0; d < p.batch.size(); ++d) {
    arguments.batch_size[d] = uint32_t(p.batch[d]);
    arguments.batch_step[0][d] = p.a_batch[d];
    arguments.batch_step[1][d] = p.b_batch[d];
  }
  const uint32_t threads = tile->bm / tile->tm * (tile->bn / tile->tn);
  // Whether an operand's matrices can be read four elements at a time along the dim that lies close.
  const auto in_fours = [&](uint64_t address, int64_t close, int64_t close_size, int64_t other, const Strides& batch) {
    if (address % 16 != 0 || close != 1 || close_size % 4 != 0 || other % 4 != 0) return false;
    return std::all_of(batch.begin(), batch.end(), [](int64_t step) { return step % 4 == 0; });
  };
  const bool a_rows = p.a_row == 1 && p.a_column != 1, b_columns = p.b_column == 1;
  const bool a_vector = a_rows ? in_fours(arguments.a, p.a_row, p.m, p.a_column, p.a_batch)
                               : in_fours(arguments.a, p.a_column, p.k, p.a_row, p.a_batch);
  const bool b_vector = b_columns ? in_fours(arguments.b, p.b_column, p.n, p.b_row, p.b_batch)
                                  : in_fours(arguments.b, p.b_row, p.k, p.b_column, p.b_batch);
  static const ShaderCode& code = find_shader("matmul");
  launch.run(
      code,
      {threads, tile->bm, tile->bn, tile->bk, tile->tm, tile->tn, uint32_t(a_rows), uint32_t(b_columns),
       uint32_t(bias.defined() && whole), threads, uint32_t(a_vector), uint32_t(b_vector)},
      {group_count(arguments.tiles, recorder)}, bytes_of(arguments));
  if (whole) return;
  add_parts(c, made, recorder);
  if (bias.defined()) copy(c, c + bias, recorder);
}

// The last two dims as a matrix; a vector is a row on the left and a column on the right.
void set_left(Product& p, const Tensor& a) {
  const int n = a.ndim();
  if (n > 1) {
    p.m = a.size(n - 2);
    p.a_row = a.strides()[n - 2];
  }
  p.k = a.size(n - 1);
  p.a_column = a.strides()[n - 1];
}
void set_right(Product& p, const Tensor& b) {
  const int n = b.ndim();
  p.b_row = b.strides()[std::max(0, n - 2)];
  if (n > 1) {
    p.n = b.size(n - 1);
    p.b_column = b.strides()[n - 1];
  }
}

Shape batch_of(const Tensor& x) {
  Shape batch;
  for (int d = 0; d < x.ndim() - 2; ++d) batch.push_back(x.shape()[d]);
  return batch;
}
Strides batch_steps(const Tensor& x, const Shape& batch) {
  Strides steps(batch.size(), 0);
  const int own = std::max(0, x.ndim() - 2), shift = batch.size() - own;
  for (int d = 0; d < own; ++d) steps[d + shift] = x.shape()[d] == 1 ? 0 : x.strides()[d];
  return steps;
}

// Many matrices times one are one product when the many lie one below the other.
void fold_batch(Product& p) {
  for (const int64_t step : p.b_batch)
    if (step != 0) return;
  int64_t below = p.a_row * p.m;
  for (int d = p.batch.size() - 1; d >= 0; --d) {
    if (p.batch[d] != 1 && p.a_batch[d] != below) return;
    below *= p.batch[d];
  }
  p.m *= numel(p.batch);
  p.batch = p.a_batch = p.b_batch = {};
}

bool supports(const Call& call) {
  for (const Tensor& x : call.in)
    if (x.defined() && x.dtype() != DType::f32) return false;
  constexpr int64_t kMost = int64_t(1) << 31;
  const Tensor& out = call.output();
  return out.dtype() == DType::f32 && out.numel() < kMost && call.input(0).size(-1) < kMost;
}

void run_matmul(const Call& call, Recorder& recorder) {
  const Tensor &a = call.input(0), &b = call.input(1);
  Product p;
  set_left(p, a);
  set_right(p, b);
  p.batch = broadcast_shapes("matmul", batch_of(a), batch_of(b));
  p.a_batch = batch_steps(a, p.batch);
  p.b_batch = batch_steps(b, p.batch);
  fold_batch(p);
  multiply(p, a, b, Tensor(), call.output(), recorder);
}

// x W^T + bias.
void run_linear(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  Product p;
  set_left(p, x);
  p.n = weight.size(0);
  p.b_row = weight.strides()[1];
  p.b_column = weight.strides()[0];
  p.batch = batch_of(x);
  p.a_batch = batch_steps(x, p.batch);
  p.b_batch = Strides(p.batch.size(), 0);
  fold_batch(p);
  multiply(p, x, weight, call.has(2) ? call.input(2) : Tensor(), call.output(), recorder);
}

}  // namespace

std::vector<KernelEntry> matmul_kernels() {
  return {{find_op("matmul"), {supports, run_matmul}}, {find_op("linear"), {supports, run_linear}}};
}

}  // namespace lunagrad::gpu
