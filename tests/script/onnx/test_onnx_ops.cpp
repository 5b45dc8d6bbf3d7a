// Every op of the sample table as an ONNX file: those that have no ONNX form are known, all others are
// written. If LUNAGRAD_ONNX_FOLDER names a folder, the files and their values are kept there for
// tests/onnx/check.py.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "runtime/io/npz.h"
#include "runtime/ops.h"
#include "script/onnx/export.h"
#include "tests/samples/samples.h"
#include "tests/support/program.h"

namespace lunagrad::tests {
namespace {

// Ops that ONNX lacks, ops whose result size depends on values, and random numbers. adaptive_max_pool2d is
// refused only for windows of unequal sizes, attention only with dropout.
const std::set<std::string> kRefused = {"col2im",
                                        "im2col",
                                        "ctc_loss",

                                        "complex",
                                        "view_as_complex",
                                        "nonzero",
                                        "masked_select",
                                        "dropout",
                                        "rand_like",
                                        "randn_like",
                                        "adaptive_max_pool2d",
                                        "scaled_dot_product_attention",
                                        "frexp",
                                        "geqrf",
                                        "nextafter",
                                        "linalg.cholesky_ex",
                                        "linalg.inv_ex",
                                        "linalg.ldl_factor",
                                        "linalg.ldl_factor_ex",
                                        "linalg.ldl_solve",
                                        "linalg.lu_factor_ex",
                                        "linalg.solve_ex",
                                        "cholesky",
                                        "cholesky_inverse",
                                        "cholesky_solve",
                                        "det",
                                        "inverse",
                                        "linalg.cholesky",
                                        "linalg.cond",
                                        "linalg.det",
                                        "linalg.eigh",
                                        "linalg.eigvalsh",
                                        "linalg.inv",
                                        "linalg.lstsq",
                                        "linalg.lu",
                                        "linalg.lu_factor",
                                        "linalg.lu_solve",
                                        "linalg.matrix_norm",
                                        "linalg.matrix_power",
                                        "linalg.matrix_rank",
                                        "linalg.norm",
                                        "linalg.pinv",
                                        "linalg.qr",
                                        "linalg.slogdet",
                                        "linalg.solve",
                                        "linalg.solve_triangular",
                                        "linalg.svd",
                                        "linalg.svdvals",
                                        "linalg.tensorinv",
                                        "linalg.tensorsolve",
                                        "logdet",
                                        "lu_solve",
                                        "lu_unpack",
                                        "matrix_power",
                                        "pinverse",
                                        "qr",
                                        "slogdet",
                                        "svd",
                                        "triangular_solve",
                                        "adaptive_max_pool1d",
                                        "adaptive_max_pool3d",
                                        "bitwise_and",
                                        "bitwise_left_shift",
                                        "bitwise_not",
                                        "bitwise_or",
                                        "bitwise_right_shift",
                                        "bitwise_xor",
                                        "bucketize",
                                        "cummax",
                                        "cummin",

                                        "digamma",
                                        "erfcx",
                                        "erfinv",
                                        "fft.ihfft",
                                        "fft.rfft",
                                        "fft.rfft2",
                                        "fft.rfftn",
                                        "gcd",
                                        "i0",
                                        "i0e",
                                        "i1",
                                        "i1e",
                                        "index",
                                        "index_reduce",
                                        "isin",
                                        "lcm",
                                        "lgamma",
                                        "log_ndtr",
                                        "logcumsumexp",
                                        "mode",
                                        "mvlgamma",
                                        "ndtri",
                                        "polar",
                                        "polygamma",
                                        "scatter_reduce",
                                        "searchsorted",
                                        "segment_reduce",
                                        "stft",
                                        "unique",
                                        "unique_consecutive",
                                        "zeta"};

Tensor make_input(const SampleInput& spec, uint64_t stream) {
  std::vector<double> values(size_t(numel(spec.shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    const PhiloxBlock words = philox(2024, stream, i);
    values[i] = spec.low + (spec.high - spec.low) * uniform_f64(words[0], words[1]);
    if (spec.kind == Kind::index) values[i] = std::floor(values[i]);
    if (spec.kind == Kind::boolean) values[i] = words[2] & 1;
  }
  const DType type = spec.kind == Kind::index     ? DType::i64
                     : spec.kind == Kind::boolean ? DType::boolean
                                                  : DType::f32;
  return to(Tensor::from<double>(values, spec.shape), type);
}

bool is_complex(const Sample& sample) {
  for (const SampleInput& input : sample.inputs)
    if (input.kind == Kind::complex) return true;
  return false;
}

struct Case {
  const Op& op;
  const Sample& sample;
  TensorList given = {};
  onnx_export::Options names = {};

  // Calls the op; absent operands are not inputs of the graph.
  TensorList run(const TensorList& inputs) const {
    Operands operands;
    size_t next = 0;
    for (const SampleInput& input : sample.inputs)
      operands.push_back(input.kind == Kind::absent ? Tensor() : inputs[next++]);
    const Operands out = apply(op, operands, complete(op, sample.params));
    return {out.begin(), out.end()};
  }

  // "" or the error.
  std::string write(const std::string& path) {
    const NoGrad off;
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      if (sample.inputs[i].kind != Kind::absent) given.push_back(make_input(sample.inputs[i], i));
    NamedTensors values;
    const auto add = [&](std::vector<std::string>& list, const char* what, const Tensor& x) {
      list.push_back(what + std::to_string(list.size()));
      values.emplace_back(list.back(), x);
    };
    for (const Tensor& x : given) add(names.input_names, "in", x);
    for (const Tensor& y : run(given)) add(names.output_names, "out", y);
    try {
      onnx_export::export_model(path + ".onnx", {[this](const TensorList& in) { return run(in); }, ""}, given,
                                names);
    } catch (const Error& error) {
      return error.what();
    }
    save_npz(path + ".npz", values);
    return "";
  }
};

}  // namespace

TEST_CASE("ONNX: every op is written or known to be refused") {
  const test::Folder temporary;
  const char* const wanted = std::getenv("LUNAGRAD_ONNX_FOLDER");
  const std::string folder = wanted ? wanted : temporary.path();
  std::map<std::string, int> written;
  std::set<std::string> refused;
  for (const Sample& sample : samples()) {
    const Op& op = *find_op(sample.op);
    if (op.hidden() || op.random || op.inputs.empty() || op.writes_inputs || sample.inputs.empty() ||
        is_complex(sample))
      continue;
    Case each{op, sample};
    const std::string error =
        each.write(folder + "/" + sample.op + "-" + std::to_string(++written[sample.op]));
    if (error.empty()) continue;
    CHECK_MESSAGE(error.starts_with("io.onnx_export: "), error);
    refused.insert(sample.op);
  }
  CHECK(written.size() > 150);
  for (const std::string& op : refused) CHECK_MESSAGE(kRefused.count(op) == 1, op, " is refused");
  for (const std::string& op : kRefused) CHECK_MESSAGE(refused.count(op) == 1, op, " is written now");
}

}  // namespace lunagrad::tests
