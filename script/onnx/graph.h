#pragma once
// An ONNX graph under construction (opset 17): nodes in order of execution, initializers, and the names of
// values. Owns the protocol buffer. For one thread.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/tensor.h"
#include "runtime/core/trace.h"

namespace lunagrad::onnx_messages {
class ModelProto;
class GraphProto;
}  // namespace lunagrad::onnx_messages

namespace lunagrad::onnx_export {

int onnx_type(DType);  // Error for complex dtypes

struct Attribute {
  Attribute(const char* called, int64_t value) : name(called), integer(value) {}
  Attribute(const char* called, DType value) : name(called), integer(onnx_type(value)) {}
  Attribute(const char* called, double value) : name(called), kind(Kind::real), number(value) {}
  Attribute(const char* called, const char* value) : name(called), kind(Kind::text), texts{value} {}
  Attribute(const char* called, std::vector<int64_t> value)
      : name(called), kind(Kind::integers), integers(std::move(value)) {}
  Attribute(const char* called, std::vector<std::string> value)
      : name(called), kind(Kind::texts), texts(std::move(value)) {}

  const char* name;
  enum class Kind { integer, real, text, integers, texts } kind = Kind::integer;
  int64_t integer = 0;
  double number = 0;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;  // kind text: one element
};

// " (train.lua:12)", or "" when the line is unknown.
inline std::string at(SourceLine line) { return line.known() ? " (" + to_string(line) + ")" : std::string(); }

using Names = std::vector<std::string>;

// The origin of a node, for errors and for its name.
struct Origin {
  const char* op = "";
  SourceLine line;
  std::string module;  // path of the module that called the op; "" at the root
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;

  // Sets the origin of the nodes that are added next.
  void set_origin(Origin origin) { origin_ = std::move(origin); }
  const Origin& origin() const { return origin_; }
  const Origin& origin_of(int node) const { return origins_[size_t(node)]; }

  // Adds a node; returns the names of its outputs.
  Names add(const char* type, const Names& inputs, const std::vector<Attribute>& attributes = {},
            int outputs = 1);
  // Adds an initializer and returns its name, which is made from `name` and unique.
  std::string tensor(const Tensor& value, const std::string& name = {});
  std::string integers(const std::vector<int64_t>& values);  // a 1-d initializer
  std::string number(double value, DType);                   // a 0-d initializer; equal numbers share it
  // A 1-d initializer of sizes. batch.cpp may later replace those that depend on the batch size.
  std::string sizes(const std::vector<int64_t>& values);

  void input(const std::string& name, const Tensor& example);
  // The value `from` becomes the output `name`.
  void output(std::string from, const std::string& name, const Tensor& example);
  // Removes the nodes and initializers that no output needs.
  void prune();

  onnx_messages::ModelProto& model() { return *model_; }
  onnx_messages::GraphProto& graph();
  bool are_sizes(const std::string& name) const { return sizes_.count(name) > 0; }
  void reserve_name(const std::string& name) { taken_.insert(name); }

 private:
  std::string fresh(std::string name);
  std::unique_ptr<onnx_messages::ModelProto> model_;
  std::vector<Origin> origins_;  // one per node
  std::set<std::string> taken_, sizes_;
  std::map<std::string, std::string> renamed_;  // old -> new name of values that became outputs
  std::vector<std::pair<std::pair<double, DType>, std::string>> numbers_;
  Origin origin_;
};

}  // namespace lunagrad::onnx_export
