// Eigenvalues and eigenvectors.
#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

[[noreturn]] void fail_eigenvalues(const char* op, const Shape& shape, int64_t item) {
  fail_as(ErrorKind::numeric, op, ": the eigenvalues of ", in_batch(shape, item), " do not converge");
}

const ParamSpec kUplo{"UPLO", ParamKind::choice, int64_t(0), {"L", "U", "l", "u"}};
bool reads_upper(int64_t uplo) { return uplo % 2 == 1; }

double eigen_flops(const Call& call) { return 9 * elements(call.in[0]) * double(call.input(0).size(-1)); }
double values_flops(const Call& call) {
  return 4.0 / 3 * elements(call.in[0]) * double(call.input(0).size(-1));
}
double eig_flops(const Call& call) { return 25 * elements(call.in[0]) * double(call.input(0).size(-1)); }

void check_square(const Call& call) {
  require_square(call);
  lapack::check_size(call.op->name, call.input(0).size(-1), call.input(0).size(-1), 4);
}
Shape values_shape(const Call& call) {
  return with_dims(batch_shape(call.input(0).shape()), {call.input(0).size(-1)});
}

// --- eigh ---

void eigh_shape(Call& call) {
  check_square(call);
  call.emit(values_shape(call), part_type(call.input(0).dtype()));
  call.emit(call.input(0).shape(), call.input(0).dtype());
}
void eigh_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t n = a.size(-1);
  require_finite(call.op->name, a);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    const Tensor matrices = columns_of(a);
    for_items(a.numel() / (n * n), 9 * double(n * n) * double(n), [&](int64_t item) {
      if (lapack::eigh(n, matrices.data<T>() + item * n * n, reads_upper(call.integer(0)),
                       call.output(0).data<Part<T>>() + item * n, true) > 0)
        fail_eigenvalues(call.op->name, a.shape(), item);
    });
    copy_from_columns(call.output(1), matrices);
  });
}

// dA = V (diag(dw) + V^H dV / E) V^H with E_ij = w_j - w_i: Giles 2008, section 3.1; its Hermitian part.
// Where eigenvalues are equal the quotient counts as 0: the number that it multiplies is 0 for every function
// that does not depend on the choice of the eigenvectors.
void eigh_vjp(Backward& b) {
  const Tensor w = b.output(0), v = b.output(1);
  const DType type = v.dtype();
  if (!b.has_grad(1)) return b.set(0, conjugated(matmul(v * to(unsqueeze(b.grad(0), -2), type), adjoint(v))));
  const Tensor e = to(reciprocal_or_zero(unsqueeze(w, -2) - unsqueeze(w, -1)), type);
  const Tensor inner = diag_embed(to(b.grad(0), type)) + matmul(adjoint(v), conjugated(b.grad(1))) * e;
  const Tensor da = matmul(matmul(v, inner), adjoint(v));
  b.set(0, conjugated((da + adjoint(da)) * 0.5));
}
const Op kEigh{.name = "linalg.eigh",
               .doc =
                   "The eigenvalues of symmetric or Hermitian matrices in ascending order, and the "
                   "eigenvectors as columns; UPLO names the triangle that is read.",
               .inputs = {{"A"}},
               .params = {kUplo},
               .shape = eigh_shape,
               .cpu = eigh_cpu,
               .vjp = eigh_vjp,
               .reads = {{.outputs = 3}},
               .half_through_f32 = true,
               .complex = true,
               .judges_values = true,
               .family = OpFamily::linear_algebra,
               .autocast = AutocastPolicy::f32,
               .flops = {eigen_flops, "9 n^3 for each matrix"},
               .examples = {{.inputs = {{{3, 1, 1}}}, .types = OpExample::Types::floating},
                            {.inputs = {{{1, 1}}}, .params = {1}, .types = OpExample::Types::floating},
                            {.inputs = {{{2, 3}}}, .error = "linalg.eigh: A must be a square matrix"}}};

void eigvalsh_shape(Call& call) {
  check_square(call);
  call.emit(values_shape(call), part_type(call.input(0).dtype()));
}
// LAPACK sees the transposed matrix, with the same eigenvalues and the other triangle.
void eigvalsh_cpu(const Call& call) {
  const Tensor a = in_order(call.input(0));
  const int64_t n = a.size(-1);
  require_finite(call.op->name, a);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    for_items(a.numel() / (n * n), 4.0 / 3 * double(n * n) * double(n), [&](int64_t item) {
      const Workspace<T> matrix(n * n);
      std::copy_n(a.data<T>() + item * n * n, n * n, matrix.data());
      if (lapack::eigh(n, matrix.data(), !reads_upper(call.integer(0)),
                       call.output().data<Part<T>>() + item * n, false) > 0)
        fail_eigenvalues(call.op->name, a.shape(), item);
    });
  });
}
// The vectors are computed only when a gradient is wanted.
void eigvalsh_vjp(Backward& b) {
  const Tensor v = linalg_eigh(b.input(0), reads_upper(b.integer(0)))[1];
  b.set(0, conjugated(matmul(v * to(unsqueeze(b.grad(), -2), v.dtype()), adjoint(v))));
}
const Op kEigvalsh{.name = "linalg.eigvalsh",
                   .doc =
                       "The eigenvalues of symmetric or Hermitian matrices in ascending order; UPLO names "
                       "the triangle that is read.",
                   .inputs = {{"A"}},
                   .params = {kUplo},
                   .shape = eigvalsh_shape,
                   .cpu = eigvalsh_cpu,
                   .vjp = eigvalsh_vjp,
                   .reads = {{.inputs = 1}},
                   .half_through_f32 = true,
                   .complex = true,
                   .judges_values = true,
                   .family = OpFamily::linear_algebra,
                   .autocast = AutocastPolicy::f32,
                   .flops = {values_flops, "4/3 n^3 for each matrix"},
                   .examples = {{.inputs = {{{3, 1, 1}}}, .types = OpExample::Types::floating},
                                {.inputs = {{{2, 3}}}, .error = "linalg.eigvalsh: A must be a square"}}};

// --- eig ---

void eig_shape(Call& call) {
  check_square(call);
  const DType type = complex_type(call.input(0).dtype());
  call.emit(values_shape(call), type);
  call.emit(call.input(0).shape(), type);
}
void eigvals_shape(Call& call) {
  check_square(call);
  call.emit(values_shape(call), complex_type(call.input(0).dtype()));
}
void eig_into(const Call& call, bool vectors) {
  const Tensor& a = call.input(0);
  const int64_t n = a.size(-1);
  require_finite(call.op->name, a);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    using C = std::complex<Part<T>>;
    const Tensor matrices = columns_of(a);
    const Tensor columns = vectors ? Tensor::empty(a.shape(), dtype_of<C>) : Tensor();
    for_items(a.numel() / (n * n), 25 * double(n * n) * double(n), [&](int64_t item) {
      if (lapack::eig(n, matrices.data<T>() + item * n * n, call.output(0).data<C>() + item * n,
                      vectors ? columns.data<C>() + item * n * n : nullptr) > 0)
        fail_eigenvalues(call.op->name, a.shape(), item);
    });
    if (vectors) copy_from_columns(call.output(1), columns);
  });
}
void eig_cpu(const Call& call) { eig_into(call, true); }
void eigvals_cpu(const Call& call) { eig_into(call, false); }

// dA = V^-H (diag(dw) + (V^H dV - V^H V Re(diag(V^H dV))) / conj(E)) V^H with E_ij = w_j - w_i: Boeddeker,
// Hanebrink, Drude, Heymann, Haeb-Umbach, "On the computation of complex-valued gradients with application to
// statistically optimum beamforming", 2017, section 4.6, for vectors of norm 1.
Tensor eig_gradient(const Tensor& w, const Tensor& v, const Tensor& dw, const Tensor& dv) {
  Tensor inner = diag_embed(dw);
  if (dv.defined()) {
    const Tensor product = matmul(adjoint(v), dv);
    const Tensor lengths = to(real(diagonal_of(product)), v.dtype());
    const Tensor e = conj(reciprocal_or_zero(unsqueeze(w, -2) - unsqueeze(w, -1)));
    inner = inner + (product - matmul(adjoint(v), v * unsqueeze(lengths, -2))) * e;
  }
  return linalg_solve(adjoint(v), matmul(inner, adjoint(v)));
}
void set_eig_gradient(Backward& b, const Tensor& da) {
  b.set(0, is_complex(b.dtype(0)) ? conjugated(da) : real(da));
}
void eig_vjp(Backward& b) {
  set_eig_gradient(b, eig_gradient(b.output(0), b.output(1), conjugated(b.grad(0)),
                                   b.has_grad(1) ? conjugated(b.grad(1)) : Tensor()));
}
void eigvals_vjp(Backward& b) {
  const Operands parts = linalg_eig(b.input(0));
  set_eig_gradient(b, eig_gradient(parts[0], parts[1], conjugated(b.grad()), Tensor()));
}
const Op kEig{.name = "linalg.eig",
              .doc = "The complex eigenvalues of square matrices, and eigenvectors of norm 1 as columns.",
              .inputs = {{"A"}},
              .shape = eig_shape,
              .cpu = eig_cpu,
              .vjp = eig_vjp,
              .reads = {{.outputs = 3}},
              .half_through_f32 = true,
              .complex = true,
              .judges_values = true,
              .family = OpFamily::linear_algebra,
              .autocast = AutocastPolicy::f32,
              .flops = {eig_flops, "25 n^3 for each matrix"},
              .examples = {{.inputs = {{{2, 3}}}, .error = "linalg.eig: A must be a square matrix"},
                           {.inputs = {{.shape = {3, 1, 1}, .kind = ExampleOperand::Kind::complex}}}}};
const Op kEigvals{.name = "linalg.eigvals",
                  .doc = "The complex eigenvalues of square matrices, in no particular order.",
                  .inputs = {{"A"}},
                  .shape = eigvals_shape,
                  .cpu = eigvals_cpu,
                  .vjp = eigvals_vjp,
                  .reads = {{.inputs = 1}},
                  .half_through_f32 = true,
                  .complex = true,
                  .judges_values = true,
                  .family = OpFamily::linear_algebra,
                  .autocast = AutocastPolicy::f32,
                  .flops = {eig_flops, "25 n^3 for each matrix"},
                  .examples = {{.inputs = {{{2, 3}}}, .error = "linalg.eigvals: A must be a square matrix"},
                               {.inputs = {{.shape = {3, 1, 1}, .kind = ExampleOperand::Kind::complex}}}}};

}  // namespace

Operands linalg_eigh(const Tensor& a, bool upper) { return apply(kEigh, {a}, {int64_t(upper)}); }
Tensor linalg_eigvalsh(const Tensor& a, bool upper) { return apply1(kEigvalsh, {a}, {int64_t(upper)}); }
Operands linalg_eig(const Tensor& a) { return apply(kEig, {a}); }

std::span<const Op* const> linalg_eigen_ops() {
  static constexpr const Op* ops[] = {&kEigh, &kEigvalsh, &kEig, &kEigvals};
  return ops;
}

}  // namespace lunagrad
