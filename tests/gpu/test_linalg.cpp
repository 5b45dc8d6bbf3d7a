// Batches of small matrices on the Vulkan device: sizes that do and do not fill a work group, broadcast
// batches, any strides, numbers of f32 and c64, and errors that are the CPU's. Larger matrices run on the
// CPU.
#include "tests/gpu/compare.h"
#include "tests/gpu/matrices.h"

namespace lunagrad::tests {
namespace {

Tensor transposed(const Tensor& x) { return transpose(x, -2, -1); }
Tensor unit(int64_t n, DType type) { return eye(n, n, type); }

// Far from singular.
Tensor regular(const Shape& shape, uint64_t stream, bool complex_numbers) {
  const Tensor x = random_matrices(shape, stream, complex_numbers);
  return x + unit(shape.back(), x.dtype()) * (2.0 + double(shape.back()) / 2);
}
Tensor positive(const Shape& shape, uint64_t stream, bool complex_numbers) {
  const Tensor x = random_matrices(shape, stream, complex_numbers);
  return matmul(x, adjoint(x)) + unit(shape.back(), x.dtype());
}

struct MatrixCase {
  const char* op;
  TensorList inputs;
  Values params;
};

// On the device in any layout against the CPU in double precision.
void compare_with_cpu(const MatrixCase& c, double tolerance, const std::string& what) {
  const Op& op = *find_op(c.op);
  TensorList exact;
  for (const Tensor& x : c.inputs) exact.push_back(is_differentiable(x.dtype()) ? in_double(x) : x);
  const Operands expected = apply(op, exact, c.params);
  for (const Arrangement arrangement :
       {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
    TensorList there;
    for (const Tensor& x : c.inputs) there.push_back(arrange(x, arrangement));
    const Operands got = apply(op, there, c.params);
    for (size_t i = 0; i < got.size(); ++i)
      CHECK_MESSAGE(distance(got[i], to(expected[i], got[i].dtype())) <= tolerance,
                    std::string(c.op) << ' ' << what << ", result " << i << ", layout " << int(arrangement));
  }
}

const int64_t kSides[] = {1, 2, 3, 5, 8, 16, 17, 33, 48};

TEST_CASE("small matrices are factored and solved on the device, in batches of any layout") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 1;
  for (const bool z : {false, true})
    for (const int64_t n : kSides)
      for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 2}}) {
        const auto sized = [&](int64_t rows, int64_t columns) {
          Shape shape = batch;
          shape.push_back(rows);
          shape.push_back(columns);
          return shape;
        };
        ++stream;
        const std::string what = text(sized(n, n), z ? " c64" : " f32");
        const Tensor a = regular(sized(n, n), stream, z), p = positive(sized(n, n), stream, z);
        for (const bool upper : {false, true})
          compare_with_cpu({"linalg.cholesky", {p}, {upper}}, 1e-5, what);
        compare_with_cpu({"linalg.inv", {a}, {}}, 2e-5, what);
        compare_with_cpu({"linalg.slogdet", {a}, {}}, 2e-5, what);
        const Tensor small = a * (2 / double(4 + n));  // whose determinant is representable
        compare_with_cpu({"linalg.det", {small}, {}}, 2e-5, what);
        compare_with_cpu({"_cofactor", {small}, {}}, 1e-4, what);
        compare_with_cpu({"linalg.lu_factor", {a}, {true}}, 2e-5, what);
        compare_with_cpu(
            {"linalg.lu_factor", {random_matrices(sized(n, std::max<int64_t>(1, n / 2)), stream, z)}, {true}},
            1e-4, what);
        for (const int64_t columns : {1, 7, 70}) {
          const Tensor right = random_matrices(sized(n, columns), stream + 7, z);
          compare_with_cpu({"_linalg.solve", {a, right}, {}}, 2e-5, what);
          compare_with_cpu({"linalg.solve_triangular", {a, right}, {true, true, false}}, 2e-5, what);
          compare_with_cpu({"linalg.solve_triangular", {a, transposed(right)}, {false, false, false}}, 2e-5,
                           what);
        }
      }
  for (const auto& [name, count] : fallbacks.ops) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

TEST_CASE("batches of systems are broadcast on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const auto& [of_a, of_b] :
       {std::pair<Shape, Shape>{{5, 5}, {4, 5, 3}}, {{4, 1, 5, 5}, {3, 5, 2}}, {{3, 5, 5}, {5, 1}}}) {
    const Tensor a = regular(of_a, 3, false), b = random(of_b, 4);
    compare_with_cpu({"_linalg.solve", {a, b}, {}}, 1e-5, text(of_a, of_b));
    compare_with_cpu({"linalg.solve_triangular", {a, b}, {false, true, true}}, 1e-5, text(of_a, of_b));
  }
  // A batch of one matrix that is expanded.
  const Tensor a = expand(to(regular({1, 4, 4}, 5, false), gpu()), {6, 4, 4});
  CHECK(distance(apply1(*find_op("linalg.inv"), {a}), apply1(*find_op("linalg.inv"), {to(a, cpu_device())})) <
        1e-5);
  for (const auto& [name, count] : fallbacks.ops) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

TEST_CASE("a batch may hold more matrices than a dispatch has work groups") {
  const NoGrad off;
  const Tensor a = random({70000, 2, 2}, 1) + unit(2, DType::f32) * 5.0;  // dominant diagonals
  const Op& op = *find_op("linalg.inv");
  CHECK(distance(apply1(op, {to(a, gpu())}), apply1(op, {a})) < 1e-5);
}

TEST_CASE("matrices beyond the shared memory of a work group run on the CPU") {
  const NoGrad off;
  for (const bool z : {false, true})
    for (const int64_t n : {z ? 48 : 64, z ? 49 : 65}) {
      const Fallbacks fallbacks;
      const bool large = n % 2 == 1;
      compare_with_cpu({"linalg.inv", {regular({2, n, n}, 1, z)}, {}}, 5e-5, text(n));
      compare_with_cpu({"_cofactor", {regular({n, n}, 1, z) * (2.0 / double(n))}, {}}, 2e-4, text(n));
      compare_with_cpu({"linalg.cholesky", {positive({n, n}, 1, z)}, {false}}, 5e-5, text(n));
      compare_with_cpu({"_linalg.solve", {regular({n, n}, 1, z), random_matrices({n, 65}, 2, z)}, {}}, 5e-5,
                       text(n));
      CHECK(fallbacks.ops.count("linalg.inv") == size_t(large));
      CHECK(fallbacks.ops.count("linalg.cholesky") == size_t(large));
    }
}

TEST_CASE("the cofactors of singular matrices are right on the device") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const bool z : {false, true})
    for (const int64_t n : {2, 3, 6})
      for (const int64_t rank : {n - 1, n - 2, int64_t(0)}) {
        const Tensor product = rank == 0 ? random_matrices({n, n}, 1, z) * 0.0
                                         : matmul(random_matrices({2, n, rank}, uint64_t(n), z),
                                                  random_matrices({2, rank, n}, 9, z));
        const Tensor a = product * (1 / std::max(1.0, largest(abs(product))));
        const Tensor expected = apply1(*find_op("_cofactor"), {in_double(a)});
        const Tensor got = apply1(*find_op("_cofactor"), {to(a, gpu())});
        CHECK_MESSAGE(distance(got, to(expected, got.dtype()), 1) < 2e-5, text(n, " of rank ", rank));
      }
  for (const auto& [name, count] : fallbacks.ops) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

struct Caught {
  std::string message;
  ErrorKind kind = ErrorKind::value;
};
template <class F>
Caught caught_error(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.what(), error.kind()};
  }
  return {};
}

TEST_CASE("a matrix that cannot be factored is the CPU's error, for the first matrix of the batch") {
  const NoGrad off;
  const Tensor singular = Tensor::from<float>(std::vector<float>{1, 2, 2, 4}, {2, 2});
  const Tensor negative = Tensor::from<float>(std::vector<float>{4, 2, 2, -3}, {2, 2});
  const Tensor column = ones({2, 1});
  const Tensor endless = full({2, 2}, INFINITY, DType::f32);
  const auto batch = [](const Tensor& bad) {
    std::vector<Tensor> all(200, unit(2, DType::f32));
    for (size_t i = 37; i < all.size(); ++i) all[i] = bad;
    return stack(all, 0);
  };
  const std::vector<MatrixCase> cases = {{"linalg.inv", {singular}, {}},
                                         {"inverse", {batch(singular)}, {}},
                                         {"linalg.inv", {zeros({1, 3, 3}, DType::f32)}, {}},
                                         {"linalg.solve", {singular, column}, {true}},
                                         {"linalg.solve", {batch(singular), column}, {true}},
                                         {"linalg.cholesky", {negative}, {false}},
                                         {"cholesky", {batch(negative)}, {true}},
                                         {"linalg.cholesky", {full({3, 3}, NAN, DType::f32)}, {false}},
                                         {"_cofactor", {batch(endless)}, {}}};
  for (const MatrixCase& c : cases) {
    TensorList there;
    for (const Tensor& x : c.inputs) there.push_back(to(x, gpu()));
    const Caught expected = caught_error([&] { apply(*find_op(c.op), c.inputs, c.params); });
    const Caught got = caught_error([&] { apply1(*find_op(c.op), there, c.params).to_vector<float>(); });
    CHECK(expected.message != "");
    CHECK(got.message == expected.message);
    CHECK(got.kind == expected.kind);
  }
  const Tensor pivots = Tensor::from<int64_t>(std::vector<int64_t>{2, 1}, {2});
  const Caught got = caught_error(
      [&] { apply1(*find_op("_lu_permutation"), {to(pivots, gpu())}, {2}).to_vector<int64_t>(); });
  CHECK(got.message == "lu_unpack: pivot 2 is 1, which does not lie in 2 to 2");
  CHECK(caught_error([&] { apply1(*find_op("_lu_permutation"), {pivots}, {2}); }).message == got.message);
}

TEST_CASE("NaN and infinities make NaN of all that is computed from their matrix") {
  const NoGrad off;
  Tensor x = regular({3, 3}, 1, false);
  fill_(slice(slice(x, 0, 1, 2), 1, 2, 3), NAN);
  for (const char* name : {"linalg.det", "linalg.slogdet", "linalg.lu_factor"}) {
    const Values params = name == std::string("linalg.lu_factor") ? Values{Value(true)} : Values{};
    const Operands here = apply(*find_op(name), {x}, params),
                   there = apply(*find_op(name), {to(x, gpu())}, params);
    for (size_t i = 0; i < here.size(); ++i)
      CHECK_MESSAGE(distance(there[i], here[i]) == 0, std::string(name));
  }
  const Tensor inverse = apply1(*find_op("linalg.inv"), {to(x, gpu())});
  CHECK(distance(inverse, full({3, 3}, NAN, DType::f32)) == 0);
}

// The weighted sum of an op's floating results.
Tensor loss_of(const Operands& results) {
  Tensor loss;
  for (const Tensor& y : results) {
    if (!is_floating(y.dtype())) continue;
    const Tensor part = sum(y * y * 0.5 + y);
    loss = loss.defined() ? loss + part : part;
  }
  return loss;
}

TEST_CASE("gradients of both orders of small systems equal the CPU's and run on the device") {
  const Tensor a = regular({2, 4, 4}, 1, false), b = random({2, 4, 3}, 2);
  const Tensor p = positive({2, 4, 4}, 3, false);
  const std::vector<MatrixCase> cases = {{"linalg.inv", {a}, {}},
                                         {"linalg.solve", {a, b}, {true}},
                                         {"linalg.solve_triangular", {a, b}, {false, true, false}},
                                         {"linalg.cholesky", {p}, {false}},
                                         {"linalg.det", {a * 0.3}, {}},
                                         {"linalg.slogdet", {a}, {}},
                                         {"linalg.lu_factor", {a}, {true}}};
  for (const MatrixCase& c : cases) {
    TensorList found[2];
    Fallbacks fallbacks;
    for (const bool device : {false, true}) {
      TensorList inputs;
      for (const Tensor& x : c.inputs)
        inputs.push_back((device ? to(x, gpu()) : to(x, DType::f64)).detach().requires_grad_());
      GradOptions options;
      options.create_graph = options.allow_unused = true;
      found[device] = grad({loss_of(apply(*find_op(c.op), inputs, c.params))}, inputs, {}, options);
      Tensor again;
      for (const Tensor& g : found[device]) again = again.defined() ? again + sum(g * g) : sum(g * g);
      for (const Tensor& g : grad({again}, inputs, {}, options)) found[device].push_back(g);
    }
    for (size_t i = 0; i < found[0].size(); ++i)
      CHECK_MESSAGE(distance(found[1][i], to(found[0][i].detach(), DType::f32)) < 2e-4,
                    std::string(c.op) << ", gradient " << i);
    for (const auto& [name, count] : fallbacks.ops)
      CHECK_MESSAGE(false, std::string(c.op) << ": " << name << " fell back to the CPU");
  }
}

}  // namespace
}  // namespace lunagrad::tests
