// Eigenvalues in ascending order, and eigenvectors, of small symmetric or Hermitian matrices: Jacobi's method.
#include "matrices.glsl"
#include "jacobi.glsl"

layout(constant_id = 0) const bool VECTORS = true;
layout(constant_id = 2) const bool UPPER = false;  // the triangle that is read

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand;
  uint64_t eigenvalues, vectors;
  uint64_t fault;
  uint n;
  uint batched;  // whether there is a batch
  uint unsound_fault, convergence_fault;
  Batch batch;
};
PUSH_ARGUMENTS

const float kNothing = 7.450580596923828e-9;  // 2^-27: treated as 0 relative to elements of size 1

shared uint rotated;
shared Rotation turns[kMostPairs];
shared float eigenvalues[kThreads];

// Called by one invocation for each pair.
void choose_rotation(uint pair, uvec2 at, uint n) {
  turns[pair] = Rotation(number(0.0), 0.0, 0.0);
  if (at.y >= n) return;
  const Number z = held[at.x * stride + at.y];
  if (!(size_of(z) > kNothing)) return;
  turns[pair] = rotation_of(real_part(held[at.x * stride + at.x]), real_part(held[at.y * stride + at.y]), z);
  rotated = 1;
}

// Replaces A by J^H A J, and the vectors V by V J.
void run_round(uint n, uint vectors, uint round, uint players) {
  const uint pairs = players / 2;
  const Share mine = share_of(pairs);
  const uvec2 at = mine.column < pairs ? pair_of(mine.column, round, players) : uvec2(n);
  if (mine.row == 0 && mine.column < pairs) choose_rotation(mine.column, at, n);
  barrier();
  Rotation turn = turns[min(mine.column, pairs - 1)];
  const bool turns_it = at.y < n && turn.shift != 0.0;
  const float p = turns_it ? real_part(held[at.x * stride + at.x]) - turn.shift : 0.0;
  const float q = turns_it ? real_part(held[at.y * stride + at.y]) + turn.shift : 0.0;
  barrier();
  const uint count = mine.row < n ? (n - mine.row + mine.step - 1) / mine.step : 0;
  if (turns_it) {
    const uint from = mine.row * stride;
    rotate_all(from + at.x, from + at.y, mine.step * stride, count, turn);
    if (VECTORS) rotate_all(vectors + from + at.x, vectors + from + at.y, mine.step * stride, count, turn);
  }
  barrier();
  turn.s = conjugate(turn.s);
  if (turns_it) rotate_all(at.x * stride + mine.row, at.y * stride + mine.row, mine.step, count, turn);
  barrier();
  if (turns_it && mine.row == 0) {
    held[at.x * stride + at.x] = number(p);
    held[at.y * stride + at.y] = number(q);
    held[at.x * stride + at.y] = held[at.y * stride + at.x] = number(0.0);
  }
  barrier();
}

// Returns whether the method converges.
bool diagonalize(uint n, uint vectors) {
  const uint players = players_of(n);
  for (uint sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (gl_LocalInvocationID.x == 0) rotated = 0;
    barrier();
    for (uint round = 0; round + 1 < players; ++round) run_round(n, vectors, round, players);
    const bool done = rotated == 0;
    barrier();
    if (done) return true;
  }
  return false;
}

void main() {
  const uint n = arguments.n, me = gl_LocalInvocationID.x;
  stride = n | 1;
  const uint vectors = n * stride;
  const uint item = MY_ITEM;
  load_matrix(arguments.operand, place_in(0, item), n, n);
  if (unsound != 0 && me == 0) note_matrix(arguments.fault, arguments.unsound_fault, item, 1, arguments.batched);
  for (uint e = me; e < n * n; e += kThreads) {
    const uint i = e / n, j = e % n, here = i * stride + j;
    if (i == j) held[here] = number(real_part(held[here]));
    if (UPPER ? i < j : i > j) held[j * stride + i] = conjugate(held[here]);
    if (VECTORS) held[vectors + here] = number(i == j ? 1.0 : 0.0);
  }
  barrier();
  const float factor = scale_elements(n, n);
  const bool converges = diagonalize(n, vectors);
  if (!converges && unsound == 0 && me == 0)
    note_matrix(arguments.fault, arguments.convergence_fault, item, 1, arguments.batched);
  if (me < n) eigenvalues[me] = real_part(held[me * stride + me]);
  barrier();
  if (me >= n) return;
  // Each invocation stores its eigenvalue and eigenvector at the sorted position.
  const float mine = eigenvalues[me];
  uint rank = 0;
  for (uint j = 0; j < n; ++j)
    if (eigenvalues[j] < mine || (eigenvalues[j] == mine && j < me)) ++rank;
  store_f32(arguments.eigenvalues, int64_t(item) * n + rank, lg_quotient(mine, factor));
  if (VECTORS)
    for (uint i = 0; i < n; ++i)
      store(arguments.vectors, (int64_t(item) * n + i) * n + rank, held[vectors + i * stride + me]);
}
