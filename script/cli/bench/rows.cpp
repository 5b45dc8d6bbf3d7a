#include "script/cli/bench/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"
#include "runtime/optimizer/rules.h"

namespace lunagrad {
namespace {

using Kind = BenchInput::Kind;
using Params = std::vector<std::pair<std::string, Value>>;

class Table {
 public:
  explicit Table(int64_t size) : n(std::max<int64_t>(size, 1024)) {
    rows = int64_t(1) << (std::bit_width(uint64_t(n)) - 1) / 2;
    columns = n / rows;
    side = int64_t(std::sqrt(double(n) / 16));
  }

  std::vector<BenchRow> take() && { return std::move(made_); }
  void add_elementwise();
  void add_create();
  void add_copies();
  void add_reductions();
  void add_products();
  void add_windows();
  void add_indexing();
  void add_losses();
  void add_recurrent();
  void add_optimizers();
  void add_the_rest();

 private:
  static BenchInput real(const Shape& shape, double low = 0, double high = 1) {
    return {Kind::real, shape, low, high};
  }
  static BenchInput index(const Shape& shape, int64_t high) { return {Kind::index, shape, 0, double(high)}; }
  static BenchInput boolean(const Shape& shape) { return {Kind::boolean, shape}; }
  static BenchInput absent() { return {Kind::absent, {}}; }
  BenchInput matrix(double low = 0, double high = 1) const { return real({rows, columns}, low, high); }

  // Adds a row. Error for an unknown op: a mistake in this table, which its test catches.
  BenchRow& add(const char* op, const std::string& variant, std::vector<BenchInput> inputs,
                Params params = {}, BenchScale scale = BenchScale::memory) {
    const Op* found = find_op(op);
    if (!found) fail("bench: no op is called '", op, "'");
    made_.push_back({found, variant, std::move(inputs), std::move(params), scale});
    return made_.back();
  }

  int64_t n, rows, columns;
  int64_t side;  // size of the square matrices in products
  std::vector<BenchRow> made_;
};

void Table::add_elementwise() {
  for (const Op* op : all_ops()) {
    if (op->elementwise < 0 || op->hidden()) continue;
    const RowTraits& traits = row_traits(op->elementwise);
    std::vector<BenchInput> inputs(size_t(traits.arity), matrix(traits.lo, traits.hi));
    if (std::strcmp(op->name, "where") == 0) inputs[0] = boolean({rows, columns});
    Params params;
    for (const ParamSpec& spec : op->params)
      if (!spec.fallback.present() && !spec.optional) params.emplace_back(spec.name, 0.5);
    if (std::strcmp(op->name, "clamp") == 0) params = {{"min", -1.0}, {"max", 1.0}};
    add(op->name, "", inputs, params);
  }
  add("gelu", "tanh", {matrix(-3, 3)}, {{"approximate", 1}});
  add("add", "one row to all", {matrix(), real({columns})});
  add("add", "one column to all", {matrix(), real({rows, 1})});
}

void Table::add_create() {
  const Value all = Dims{n};
  for (const char* op : {"zeros", "ones", "rand", "randn"}) add(op, "", {}, {{"size", all}});
  add("full", "", {}, {{"size", all}, {"fill_value", 0.5}});
  add("randint", "", {}, {{"low", 0}, {"high", 100}, {"size", all}});
  add("randperm", "of 1/16", {}, {{"n", n / 16}}).note = "swaps elements from all over memory";
  add("arange", "", {}, {{"start", 0.0}, {"end", double(n)}, {"step", 1.0}});
  add("linspace", "", {}, {{"start", 0.0}, {"end", 1.0}, {"steps", n}});
  add("eye", "", {}, {{"n", rows}, {"m", columns}});
  add("full_like", "", {matrix()}, {{"fill_value", 0.5}});
}

void Table::add_copies() {
  add("cat", "dim 1", {matrix(), matrix()}, {{"dim", 0}});
  add("cat", "dim 2", {matrix(), matrix()}, {{"dim", 1}});
  add("stack", "dim 1", {matrix(), matrix()}, {{"dim", 0}});
  add("stack", "dim 3", {matrix(), matrix()}, {{"dim", 2}});
  add("hstack", "", {matrix(), matrix()});
  add("vstack", "", {matrix(), matrix()});
  add("flip", "dim 1", {matrix()}, {{"dims", Dims{0}}});
  add("flip", "dim 2", {matrix()}, {{"dims", Dims{1}}});
  add("roll", "both dims", {matrix()}, {{"shifts", Dims{5, 7}}, {"dims", Dims{0, 1}}});
  add("tile", "2 x 2", {real({rows / 2, columns / 2})}, {{"dims", Dims{2, 2}}});
  add("pad", "", {matrix()}, {{"pad", Dims{1, 1, 1, 1}}});
  for (const int mode : {1, 2, 3})
    add("pad", "mode " + std::to_string(mode + 1), {matrix()}, {{"pad", Dims{1, 1, 1, 1}}, {"mode", mode}});
  for (const DType to :
       {DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::u8, DType::boolean})
    add("_cast", std::string("to ") + dtype_name(to), {matrix(0, 100)}, {{"dtype", to}});
}

void Table::add_reductions() {
  // Close to 1, so that the products stay far from denormal numbers.
  const BenchInput x = matrix(0.9995, 1.0005);
  for (const char* op : {"sum", "mean", "prod", "var", "std", "amax", "amin", "norm", "all", "any"}) {
    add(op, "", {x});
    add(op, "dim 1", {x}, {{"dim", Dims{0}}});
    add(op, "dim 2", {x}, {{"dim", Dims{1}}});
  }
  add("logsumexp", "dim 2", {matrix()}, {{"dim", Dims{1}}});
  for (const char* op : {"max", "min", "argmax", "argmin"}) {
    add(op, "", {matrix()});
    add(op, "dim 1", {matrix()}, {{"dim", 0}});
    add(op, "dim 2", {matrix()}, {{"dim", 1}});
  }
  for (const char* op : {"cumsum", "cumprod", "sort", "argsort", "median", "softmax", "log_softmax"}) {
    add(op, "dim 1", {matrix()}, {{"dim", 0}});
    add(op, "dim 2", {matrix()}, {{"dim", 1}});
  }
  add("median", "", {matrix()});
  add("topk", "8 of dim 2", {matrix()}, {{"k", 8}, {"dim", 1}});
  add("layer_norm", "", {matrix(), real({columns}), real({columns})}, {{"normalized_shape", Dims{columns}}});
  add("rms_norm", "", {matrix(), real({columns})}, {{"normalized_shape", Dims{columns}}});
  const BenchInput none = absent(), images = real({std::max<int64_t>(1, n / 8192), 32, 256});
  add("batch_norm", "", {images, none, none, real({32}), real({32})}, {{"training", true}});
  add("batch_norm", "of rows", {matrix(), none, none, none, none}, {{"training", true}});
  add("group_norm", "", {images, real({32}), real({32})}, {{"num_groups", 8}});
  add("instance_norm", "", {images, none, none, real({32}), real({32})});
  add("rope", "", {images, real({32, 64}), real({32, 64})});
  const BenchInput heads = real({std::max<int64_t>(1, n / 65536), 512, 64});
  add("scaled_dot_product_attention", "", {heads, heads, heads, none}, {}, BenchScale::arithmetic);
}

void Table::add_products() {
  const BenchInput square = real({side, side});
  add("matmul", "", {square, square}, {}, BenchScale::arithmetic);
  add("mm", "", {square, square}, {}, BenchScale::arithmetic);
  add("addmm", "", {square, square, square}, {}, BenchScale::arithmetic);
  add("linear", "", {square, square, real({side})}, {}, BenchScale::arithmetic);
  const int64_t small = std::max<int64_t>(side / 4, 1);
  add("bmm", "", {real({64, small, small}), real({64, small, small})}, {}, BenchScale::arithmetic);
  add("matmul", "batch by one", {real({64, small, small}), real({small, small})}, {}, BenchScale::arithmetic);
  add("baddbmm", "", {real({small}), real({64, small, small}), real({64, small, small})}, {},
      BenchScale::arithmetic);
  add("einsum", "ij,kj->ik", {square, square}, {{"equation", int64_t(intern("ij,kj->ik"))}},
      BenchScale::arithmetic);
  add("tensordot", "", {square, square}, {{"dims", 1}}, BenchScale::arithmetic);
  add("outer", "", {real({rows}), real({columns})});
  add("mv", "", {matrix(), real({columns})});
  add("dot", "", {real({n}), real({n})});
}

void Table::add_windows() {
  const int64_t channels = 32, size = std::max<int64_t>(int64_t(std::sqrt(double(n) / 1024)) / 4, 4);
  const Shape image{16, channels, size, size};
  const BenchInput x = real(image), weight = real({channels, channels, 3, 3});
  add("glu", "", {matrix()});
  add("softmin", "dim 2", {matrix()}, {{"dim", 1}});
  add("prelu", "", {matrix(-3, 3), real({columns})});
  add("conv2d", "3 x 3", {x, weight, absent()}, {{"padding", Dims{1}}}, BenchScale::arithmetic);
  add("conv2d", "1 x 1", {x, real({channels, channels, 1, 1}), absent()}, {}, BenchScale::arithmetic);
  add("conv2d", "depthwise 3 x 3", {x, real({channels, 1, 3, 3}), absent()},
      {{"padding", Dims{1}}, {"groups", channels}}, BenchScale::arithmetic);
  add("conv_transpose2d", "4 x 4 by 2", {x, real({channels, channels, 4, 4}), absent()},
      {{"stride", Dims{2}}, {"padding", Dims{1}}}, BenchScale::arithmetic);
  const BenchInput line = real({16, channels, size * size}), volume = real({4, channels, 4, size, size});
  add("conv1d", "5", {line, real({channels, channels, 5}), absent()}, {{"padding", Dims{2}}},
      BenchScale::arithmetic);
  add("conv_transpose1d", "4 by 2", {line, real({channels, channels, 4}), absent()},
      {{"stride", Dims{2}}, {"padding", Dims{1}}}, BenchScale::arithmetic);
  add("conv3d", "3 x 3 x 3", {volume, real({channels, channels, 3, 3, 3}), absent()}, {{"padding", Dims{1}}},
      BenchScale::arithmetic);
  const int64_t pooled = std::max<int64_t>(int64_t(std::sqrt(double(n) / 64)), 4);
  add("max_pool2d", "2 x 2", {real({4, 16, pooled, pooled})}, {{"kernel_size", Dims{2}}});
  add("max_pool2d", "3 x 3 by 1", {real({4, 16, pooled, pooled})},
      {{"kernel_size", Dims{3}}, {"stride", Dims{1}}, {"padding", Dims{1}}});
  const BenchInput images = real({4, 16, pooled, pooled}), lines = real({4, 16, pooled * pooled});
  add("max_pool1d", "2", {lines}, {{"kernel_size", Dims{2}}});
  add("avg_pool1d", "2", {lines}, {{"kernel_size", Dims{2}}});
  add("avg_pool2d", "3 x 3 by 2", {images},
      {{"kernel_size", Dims{3}}, {"stride", Dims{2}}, {"padding", Dims{1}}});
  add("adaptive_avg_pool1d", "to 1", {lines}, {{"output_size", Dims{1}}});
  add("adaptive_avg_pool2d", "to 1 x 1", {images}, {{"output_size", Dims{1}}});
  add("adaptive_max_pool2d", "to 7 x 7", {images}, {{"output_size", Dims{7}}});
  add("interpolate", "nearest", {images}, {{"size", Dims{2 * pooled}}});
  add("interpolate", "bilinear", {images},
      {{"size", Dims{2 * pooled}}, {"mode", int64_t(Interpolation::bilinear)}});
  add("im2col", "3 x 3", {images}, {{"kernel_size", Dims{3}}, {"padding", Dims{1}}});
  add("col2im", "2 x 2", {real({4, 64, (pooled / 2) * (pooled / 2)})},
      {{"output_size", Dims{pooled / 2 * 2}}, {"kernel_size", Dims{2}}, {"stride", Dims{2}}});
}

void Table::add_indexing() {
  add("index_select", "rows", {matrix(), index({rows}, rows)}, {{"dim", 0}});
  add("index_select", "columns", {matrix(), index({columns}, columns)}, {{"dim", 1}});
  add("index_add", "rows", {matrix(), index({rows}, rows), matrix()}, {{"dim", 0}});
  add("gather", "dim 2", {matrix(), index({rows, columns}, columns)}, {{"dim", 1}});
  add("scatter_add", "dim 2", {matrix(), index({rows, columns}, columns), matrix()}, {{"dim", 1}});
  add("scatter", "dim 2", {matrix(), index({rows, columns}, columns), matrix()}, {{"dim", 1}});
  add("index_copy", "rows", {matrix(), index({rows}, rows), matrix()}, {{"dim", 0}});
  add("index_fill", "rows", {matrix(), index({rows}, rows), real({})}, {{"dim", 0}});
  add("take", "", {matrix(), index({n}, n)}).note = "a line of the cache for each element";
  add("take_along_dim", "dim 2", {matrix(), index({rows, columns}, columns)}, {{"dim", 1}});
  add("embedding", "rows of 64", {index({n / 64}, n / 64), real({n / 64, 64})});
  add("masked_fill", "", {matrix(), boolean({rows, columns})}, {{"value", 0.0}});
  add("masked_select", "", {matrix(), boolean({rows, columns})});
  add("nonzero", "", {boolean({rows, columns})});
  add("repeat_interleave", "rows", {matrix(), index({rows}, 3)}, {{"dim", 0}});
  add("multinomial", "8 of dim 2", {matrix(0.1, 0.9)}, {{"num_samples", 8}}).note =
      "draws and orders a number for each weight";
  add("one_hot", "64 classes", {index({n / 64}, 64)}, {{"num_classes", 64}});
}

void Table::add_losses() {
  for (const char* op : {"mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "kl_div"})
    add(op, "", {matrix(0.1, 0.9), matrix(0.1, 0.9)});
  add("cosine_embedding_loss", "", {matrix(0.1, 0.9), matrix(0.1, 0.9), real({rows})});
  add("binary_cross_entropy", "", {matrix(0.1, 0.9), matrix(), absent()});
  add("binary_cross_entropy_with_logits", "", {matrix(-3, 3), matrix(), absent(), absent()});
  add("cross_entropy", "", {matrix(-3, 3), index({rows}, columns), absent()});
  add("cross_entropy", "of probabilities", {matrix(-3, 3), matrix(), absent()});
  add("nll_loss", "", {matrix(-3, 0), index({rows}, columns), absent()}).note =
      "reads one element of each row";
}

void Table::add_recurrent() {
  const int64_t width = 64, batch = 16, steps = std::max<int64_t>(n / (width * batch), 1);
  struct Net {
    const char* op;
    int64_t gates;
    bool has_cell;
  };
  for (const Net& net :
       {Net{"rnn_tanh", 1, false}, Net{"rnn_relu", 1, false}, Net{"lstm", 4, true}, Net{"gru", 3, false}}) {
    const BenchInput weight = real({net.gates * width, width}, -0.1, 0.1),
                     bias = real({net.gates * width}, -0.1, 0.1);
    const auto inputs = [&](const BenchInput& x, const BenchInput& state) {
      std::vector<BenchInput> all = {x, state};
      if (net.has_cell) all.push_back(state);
      all.insert(all.end(), {weight, weight, bias, bias});
      return all;
    };
    add(net.op, "", inputs(real({steps, batch, width}), absent()), {}, BenchScale::arithmetic);
    const BenchInput one = real({batch, width});
    add((std::string(net.op) + "_cell").c_str(), "", inputs(one, one), {}, BenchScale::arithmetic);
  }
}

void Table::add_optimizers() {
  const BenchInput quarter = real({n / 4}, 0.5, 1);
  const auto add_rule = [&](Rule rule, const char* variant, const Arguments& arguments) {
    const std::vector<BenchInput> lists(2 + size_t(std::popcount(rule_states(rule, arguments))), quarter);
    add(rule_op(rule).name, variant, lists).args = arguments;
  };
  const NamedNumber plain[] = {{"lr", 1e-3},      {"momentum", 0}, {"dampening", 0}, {"weight_decay", 0},
                               {"first_step", 1}, {"nesterov", 0}, {"maximize", 0}};
  add_rule(Rule::sgd, "", rule_arguments(Rule::sgd, plain));
  add_rule(Rule::sgd, "momentum", sample_arguments(Rule::sgd));
  for (int i = 0; i < kRuleCount; ++i)
    if (Rule(i) != Rule::sgd) add_rule(Rule(i), "", sample_arguments(Rule(i)));
}

// Adds the ops that have no row yet, need no parameters and take tensors of one shape.
void Table::add_the_rest() {
  for (const Op* op : ops_without_bench(made_)) {
    const bool ready = std::all_of(op->params.begin(), op->params.end(),
                                   [](const ParamSpec& p) { return p.fallback.present() || p.optional; });
    if (!ready || op->inputs.empty() || op->integer_inputs != 0 || op->inputs.back().list) continue;
    std::vector<BenchInput> inputs;
    for (const InputSpec& input : op->inputs) inputs.push_back(input.optional ? absent() : matrix(0.1, 0.9));
    add(op->name, "", inputs);
  }
}

}  // namespace

std::vector<BenchRow> bench_rows(int64_t size) {
  Table table(size);
  table.add_elementwise();
  table.add_create();
  table.add_copies();
  table.add_reductions();
  table.add_products();
  table.add_windows();
  table.add_indexing();
  table.add_losses();
  table.add_recurrent();
  table.add_optimizers();
  table.add_the_rest();
  return std::move(table).take();
}

namespace {

Tensor make_input(const BenchInput& input, DType dtype, bool transposed) {
  if (input.kind == BenchInput::Kind::absent) return {};
  Shape shape = input.shape;
  const bool turned = transposed && shape.size() >= 2;
  if (turned) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  Tensor x;
  if (input.kind == BenchInput::Kind::index)
    x = randint(0, int64_t(input.high), shape);
  else if (input.kind == BenchInput::Kind::boolean)
    x = lt(rand(shape), Tensor::number(0.5));
  else if (is_differentiable(dtype))
    x = to(affine(rand(shape), Tensor::number(input.high - input.low), Tensor::number(input.low)), dtype);
  else
    x = to(randint(1, 5, shape), dtype);
  return turned ? transpose(x, -1, -2) : x;
}

}  // namespace

Call bench_call(const BenchRow& row, DType dtype, bool transposed) {
  Call call;
  call.op = row.op;
  for (const BenchInput& input : row.inputs) call.in.push_back(make_input(input, dtype, transposed));
  for (const ParamSpec& spec : row.op->params) {
    const auto given = std::find_if(row.params.begin(), row.params.end(),
                                    [&](const auto& param) { return param.first == spec.name; });
    const bool type_of_result = row.inputs.empty() && spec.kind == ParamKind::dtype;
    call.params.push_back(given != row.params.end() ? given->second
                          : type_of_result          ? Value(int64_t(dtype))
                                                    : spec.fallback);
  }
  call.args = row.args;
  return call;
}

bool has_no_bench(const Op& op) { return op.hidden() || op.flops.idle; }

std::vector<const Op*> ops_without_bench(const std::vector<BenchRow>& rows) {
  std::set<const Op*> covered;
  for (const BenchRow& row : rows) covered.insert(row.op);
  std::vector<const Op*> without;
  for (const Op* op : all_ops())
    if (!covered.count(op) && !has_no_bench(*op)) without.push_back(op);
  return without;
}

}  // namespace lunagrad
