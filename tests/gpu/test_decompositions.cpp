// Orthogonal decompositions of small matrices on the Vulkan device. Eigenvectors and singular vectors have
// free signs, so the tests check the properties that define them, in double precision.
#include "tests/gpu/compare.h"
#include "tests/gpu/matrices.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

Tensor hermitian(const Tensor& x) { return (x + adjoint(x)) * 0.5; }

// The largest difference, relative to the largest element of both (at least 1e-30).
double apart(const Tensor& x, const Tensor& y) {
  const double size = std::max({largest(abs(x)), largest(abs(y)), 1e-30});
  return largest(abs(x - y)) / size;
}
double from_orthonormal(const Tensor& columns) {  // f64 or c128
  if (columns.numel() == 0) return 0;
  return largest(
      abs(matmul(adjoint(columns), columns) - eye(columns.size(-1), columns.size(-1), columns.dtype())));
}
Tensor times_values(const Tensor& columns, const Tensor& values) {
  return columns * to(unsqueeze(values, -2), columns.dtype());
}

// All layouts of small matrices; for large ones, which take longer, only the layout that fits no vector load.
std::vector<Arrangement> layouts_of(const Tensor& x) {
  if (x.numel() > 300) return {Arrangement::sliced};
  return {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced};
}

const Shape kShapes[] = {{1, 1},    {2, 2},       {3, 5, 5}, {4, 1},   {1, 4},  {7, 3},
                         {2, 3, 8}, {2, 2, 6, 4}, {32, 32},  {31, 17}, {5, 29}, {40, 12}};

TEST_CASE("QR factors of small matrices are LAPACK's, on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Op& op = *find_op("linalg.qr");
  for (const bool z : {false, true})
    for (const Shape& shape : kShapes)
      for (const int64_t mode : {0, 1, 2}) {
        const Tensor a = random_matrices(shape, 3, z);
        const Operands expected = apply(op, {in_double(a)}, {mode});
        for (const Arrangement layout : layouts_of(a)) {
          const Operands got = apply(op, {arrange(a, layout)}, {mode});
          const std::string what = text(shape, z ? " c64" : " f32", " mode ", mode, " layout ", int(layout));
          for (const size_t i : {0, 1}) {
            const bool free = mode == 1 && i == 0 && shape[shape.size() - 2] > shape.back();
            if (free)
              CHECK_MESSAGE(from_orthonormal(in_double(got[0])) < 1e-5, what);
            else
              CHECK_MESSAGE(distance(got[i], to(expected[i], got[i].dtype())) < 2e-5, what);
          }
          if (mode < 2)
            CHECK_MESSAGE(apart(matmul(in_double(got[0]), in_double(got[1])), in_double(a)) < 2e-6, what);
        }
      }
  // Columns that are 0 or depend on others.
  const Tensor a = Tensor::from<float>(std::vector<float>{0, 1, 2, 0, 0, 0, 0, 2, 4}, {3, 3});
  const Operands got = apply(op, {to(a, gpu())}, {0});
  CHECK(from_orthonormal(in_double(got[0])) < 1e-6);
  CHECK(apart(matmul(in_double(got[0]), in_double(got[1])), in_double(a)) < 1e-6);
  // Numbers whose squares overflow or vanish.
  for (const double scale : {1e30, 1e-30}) {
    const Operands parts = apply(op, {to(random_matrices({5, 3}, 1, false) * scale, gpu())}, {0});
    CHECK(from_orthonormal(in_double(parts[0])) < 1e-6);
  }
  require_none(fallbacks);
}

void check_eigen(const Tensor& a, const std::string& what) {
  const Op& op = *find_op("linalg.eigh");
  for (const bool upper : {false, true})
    for (const Arrangement layout : layouts_of(a)) {
      // The other triangle is not read.
      const Tensor noise = full(a.shape(), 7, a.dtype());
      const Tensor half = upper ? triu(a) + tril(noise, -1) : tril(a) + triu(noise, 1);
      const Operands got = apply(op, {arrange(half, layout)}, {int64_t(upper)});
      const Tensor w = in_double(got[0]), v = in_double(got[1]);
      const double size = std::max(largest(abs(in_double(a))), 1e-30);
      const Tensor expected = apply1(*find_op("linalg.eigvalsh"), {in_double(a)}, {0});
      CHECK_MESSAGE(largest(abs(w - expected)) <= 4e-6 * size * double(a.size(-1)), what);
      CHECK_MESSAGE(from_orthonormal(v) < 1e-5, what);
      CHECK_MESSAGE(largest(abs(matmul(in_double(a), v) - times_values(v, w))) < 1e-5 * size, what);
      const Tensor alone = apply1(*find_op("linalg.eigvalsh"), {arrange(half, layout)}, {int64_t(upper)});
      CHECK_MESSAGE(largest(abs(in_double(alone) - expected)) <= 4e-6 * size * double(a.size(-1)), what);
    }
}

TEST_CASE("eigenvalues and eigenvectors of small Hermitian matrices are found on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const bool z : {false, true})
    for (const int64_t n : {1, 2, 3, 4, 7, 16, 33, 40})
      for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 2}}) {
        Shape shape = batch;
        shape.push_back(n);
        shape.push_back(n);
        check_eigen(hermitian(random_matrices(shape, uint64_t(n), z)), text(shape, z ? " c64" : " f32"));
      }
  // Equal eigenvalues, zeros, numbers whose squares overflow or vanish.
  check_eigen(eye(5, 5, DType::f32), "identity");
  check_eigen(zeros({4, 4}), "zeros");
  check_eigen(ones({6, 6}), "ones");
  check_eigen(hermitian(random_matrices({4, 4}, 1, false)) * 1e30, "large");
  check_eigen(hermitian(random_matrices({4, 4}, 1, true)) * 1e-30, "small");
  require_none(fallbacks);
}

void check_singular(const Tensor& a, const std::string& what) {
  const int64_t k = std::min(a.size(-1), a.size(-2));
  for (const bool complete : {false, true})
    for (const Arrangement layout : layouts_of(a)) {
      const Operands got = apply(*find_op("linalg.svd"), {arrange(a, layout)}, {complete, {}});
      const Tensor u = in_double(got[0]), s = in_double(got[1]), vh = in_double(got[2]);
      const double size = std::max(largest(abs(in_double(a))), 1e-30);
      const Tensor expected = apply1(*find_op("linalg.svdvals"), {in_double(a)}, {Value()});
      const std::string which = text(what, complete ? " complete" : "", " layout ", int(layout));
      CHECK_MESSAGE(largest(abs(s - expected)) <= 4e-6 * size * double(k), which);
      CHECK_MESSAGE(u.size(-1) == (complete ? a.size(-2) : k), which);
      CHECK_MESSAGE(from_orthonormal(u) < 2e-5, which);
      CHECK_MESSAGE(from_orthonormal(adjoint(vh)) < 2e-5, which);
      const Tensor product = matmul(times_values(narrow(u, -1, 0, k), s), narrow(vh, -2, 0, k));
      CHECK_MESSAGE(largest(abs(product - in_double(a))) < 1e-5 * size, which);
      const Tensor alone = apply1(*find_op("linalg.svdvals"), {arrange(a, layout)}, {Value()});
      CHECK_MESSAGE(largest(abs(in_double(alone) - expected)) <= 4e-6 * size * double(k), which);
    }
}

TEST_CASE("singular values and vectors of small matrices are found on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const bool z : {false, true})
    for (const Shape& shape : kShapes)
      check_singular(random_matrices(shape, 5, z), text(shape, z ? " c64" : " f32"));
  for (const bool z : {false, true}) {
    // Of rank 2, of rank 0, with equal singular values.
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{6, 6}, {9, 4}, {3, 8}})
      check_singular(matmul(random_matrices({m, 2}, 1, z), random_matrices({2, n}, 2, z)),
                     text("rank 2, ", m, " x ", n));
    check_singular(random_matrices({5, 3}, 1, z) * 0.0, "zeros");
    check_singular(random_matrices({3, 5}, 1, z) * 0.0, "zeros");
    check_singular(random_matrices({5, 4}, 1, z) * 1e30, "large");
    check_singular(random_matrices({5, 4}, 1, z) * 1e-30, "small");
  }
  check_singular(eye(6, 6, DType::f32), "identity");
  check_singular(eye(7, 4, DType::f32), "identity");
  check_singular(ones({5, 5}), "ones");
  require_none(fallbacks);
}

TEST_CASE("pseudoinverses of small matrices are made on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Op& op = *find_op("linalg.pinv");
  for (const bool z : {false, true})
    for (const Shape& shape : {Shape{4, 2}, Shape{3, 2, 5}, Shape{6, 6}}) {
      const Tensor a = random_matrices(shape, 3, z);
      for (const Values& params :
           {Values{Value(), false, Value(), Value()}, Values{Value(), false, 1.0, Value()},
            Values{Value(0.5), false, Value(), Value()}}) {
        const Tensor expected = apply1(op, {in_double(a)}, params);
        for (const Arrangement layout : layouts_of(a)) {
          const Tensor got = apply1(op, {arrange(a, layout)}, params);
          CHECK_MESSAGE(distance(got, to(expected, got.dtype())) < 5e-5, text(shape));
        }
      }
    }
  const Tensor a = hermitian(random_matrices({4, 4}, 1, true)),
               half = tril(a) + triu(full({4, 4}, 7, a.dtype()), 1);
  const Values params = {Value(), true, Value(), Value()};
  const Tensor got = apply1(op, {to(half, gpu())}, params);
  CHECK(distance(got, to(apply1(op, {in_double(half)}, params), got.dtype())) < 5e-5);
  require_none(fallbacks);
}

TEST_CASE("decompositions of matrices beyond the shared memory run on the CPU") {
  const NoGrad off;
  for (const bool z : {false, true}) {
    const int64_t most = z ? 41 : 61;
    for (const int64_t n : {most, most + 1}) {
      const Fallbacks fallbacks;
      const Tensor a = hermitian(random_matrices({n, n}, 1, z));
      const std::string what = text(n, z ? " c64" : " f32");
      check_eigen(a, what);
      check_singular(a, what);
      for (const char* name : {"linalg.eigh", "linalg.eigvalsh", "linalg.svd", "linalg.svdvals"})
        CHECK_MESSAGE((fallbacks.ops.count(name) > 0) == (n > most), std::string(name) << ' ' << what);
    }
    const Fallbacks fallbacks;
    for (const int64_t n : {z ? 48 : 64, z ? 49 : 65})
      apply(*find_op("linalg.qr"), {to(random_matrices({n, n}, 1, z), gpu())}, {0});
    CHECK(fallbacks.ops.at("linalg.qr") == 1);
  }
}

TEST_CASE("NaN in a matrix to decompose is the CPU's error") {
  const NoGrad off;
  const Tensor good = random_matrices({3, 4, 4}, 1, false),
               bad = where(lt(good, Tensor::number(0.0)), Tensor::number(NAN), good);
  for (const char* name : {"linalg.eigh", "linalg.eigvalsh", "linalg.svd", "linalg.svdvals", "linalg.pinv"}) {
    std::string messages[2];
    for (const bool device : {false, true}) try {
        apply1(*find_op(name), {device ? to(bad, gpu()) : bad}, complete(*find_op(name), {}))
            .to_vector<float>();
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::value);
        messages[device] = error.what();
      }
    CHECK(messages[0].find("contains NaN or infinite values") != std::string::npos);
    CHECK(messages[1] == messages[0]);
  }
}

TEST_CASE("gradients of both orders of decompositions equal the CPU's and run on the device") {
  const Tensor a = random_matrices({2, 5, 3}, 1, false),
               symmetric = hermitian(random_matrices({2, 4, 4}, 2, false));
  const struct {
    const char* op;
    Tensor input;
    Values params;
  } cases[] = {{"linalg.qr", a, {0}},
               {"linalg.eigh", symmetric, {0}},
               {"linalg.eigvalsh", symmetric, {0}},
               {"linalg.svd", a, {false, {}}},
               {"linalg.svd", transpose(a, -2, -1), {false, {}}},
               {"linalg.svdvals", a, {Value()}},
               {"linalg.pinv", a, {Value(), false, Value(), Value()}}};
  for (const auto& c : cases) {
    TensorList found[2];
    const Fallbacks fallbacks;
    for (const bool device : {false, true}) {
      const Tensor x = (device ? to(c.input, gpu()) : to(c.input, DType::f64)).detach().requires_grad_();
      // Squares do not depend on the signs of vectors.
      Tensor loss;
      for (const Tensor& y : apply(*find_op(c.op), {x}, c.params)) {
        const Tensor weights = reshape(arange(1, 1 + double(y.numel()), 1, y.dtype(), y.device()), y.shape());
        const Tensor part = sum(y * y * weights);
        loss = loss.defined() ? loss + part : part;
      }
      GradOptions options;
      options.create_graph = true;
      found[device] = grad({loss}, {x}, {}, options);
      found[device].push_back(grad({sum(found[device][0] * found[device][0])}, {x}, {}, options)[0]);
    }
    for (const size_t i : {0, 1})
      CHECK_MESSAGE(distance(found[1][i], to(found[0][i].detach(), DType::f32)) < 1e-3,
                    std::string(c.op) << ", order " << i + 1);
    require_none(fallbacks);
  }
}

}  // namespace
}  // namespace lunagrad::tests
