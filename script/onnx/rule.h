#pragma once
// Rules that translate ops to ONNX nodes: a Rule has the name of an op and a function that writes it. An op
// without a rule is written through its compose(). Each family of rules is one file with one function that
// lists them; export.cpp joins the lists.
#include <span>

#include "script/onnx/graph.h"
#include "script/onnx/recorder.h"

namespace lunagrad::onnx_export {

class Writer;

// The step that a rule writes: its operands, and functions that add nodes to the graph.
class Site {
 public:
  Site(Writer& writer, const Step& step) : call(step.call), writer_(writer), step_(step) {}
  const Call& call;

  Graph& graph() const;
  // The name of an operand in the graph; "" when it is absent.
  std::string in(int i) const;
  std::string in(int i, DType type) const;  // with a Cast when its dtype differs
  const Shape& shape(int i = 0) const { return call.input(i).shape(); }
  // The tensor of an operand that is a constant or a parameter, and its name; undefined for other operands.
  Tensor known(int i) const;
  std::string known_name(int i) const;
  void give(int output, const std::string& name) const;  // names the value of an output

  // Adds a node with one output; returns the output's name.
  std::string add(const char* type, const Names& inputs,
                  const std::vector<Attribute>& attributes = {}) const {
    return graph().add(type, inputs, attributes)[0];
  }
  std::string cast(const std::string& name, DType from, DType to) const;
  std::string number(double value) const { return graph().number(value, call.output().dtype()); }
  // Add an Unsqueeze, a Squeeze or a Slice; dims count from 0.
  std::string unsqueeze(const std::string& name, const std::vector<int64_t>& dims) const;
  std::string squeeze(const std::string& name, const std::vector<int64_t>& dims) const;
  // Positions first … last - 1 of the dim, every step-th.
  std::string slice(const std::string& name, int64_t dim, int64_t first, int64_t last,
                    int64_t step = 1) const;
  // The value of a parameter that is a dim, from 0.
  int64_t dim(int parameter, int ndim) const;
  double real(int parameter) const;  // an integer is converted

  void compose() const;  // writes the op's compose() instead of a rule
  // Error "io.onnx_export: op: fact (train.lua:12)".
  [[noreturn]] void refuse(const std::string& fact) const;

 private:
  Writer& writer_;
  const Step& step_;
};

struct Rule {
  const char* op;
  void (*write)(const Site&);
};

std::span<const Rule> product_rules();    // products.cpp: linear, matmul, convolutions
std::span<const Rule> window_rules();     // windows.cpp: pools, interpolate
std::span<const Rule> shape_rules();      // shapes.cpp
std::span<const Rule> index_rules();      // indices.cpp
std::span<const Rule> reduction_rules();  // reductions.cpp: sums, softmax, norms, sorting
std::span<const Rule> sequence_rules();   // sequences.cpp: recurrent layers, attention
// Writes an op that is a row of elementwise.def. In elementwise.cpp.
void write_elementwise(const Site&);

// Writes steps into a graph.
class Writer {
 public:
  Writer(Graph& graph, ValueTable& values) : graph_(graph), values_(values) {}
  void write(const std::vector<Step>& steps);
  const std::string& name_of(int value);  // a constant becomes an initializer
  void set_root(const std::string& path) { root_ = path; }

 private:
  friend class Site;
  void write_composition(const Step&);
  Graph& graph_;
  ValueTable& values_;
  std::string root_;            // the path of the model, a prefix that names leave out
  std::vector<int> constants_;  // the values that are initializers
  int depth_ = 0;               // of nested compositions
};

using List = std::vector<int64_t>;
inline List list_of(const Dims& dims) { return {dims.begin(), dims.end()}; }
// A parameter as one number for each of `dims` dims; a single number is repeated.
inline List spread(const Dims& list, int dims) {
  return list.size() == 1 ? List(size_t(dims), list[0]) : list_of(list);
}

// Gives f(x) as the result, where x is operand 0. ONNX's convolutions and pools require a batch dim: an
// operand without one gets it, and the result loses it. `dims`: the number of spatial dims.
template <class F>
void with_batch(const Site& site, int dims, F&& f) {
  const bool batched = site.shape().size() == dims + 2;
  const std::string y = f(batched ? site.in(0) : site.unsqueeze(site.in(0), {0}));
  site.give(0, batched ? y : site.squeeze(y, {0}));
}

}  // namespace lunagrad::onnx_export
