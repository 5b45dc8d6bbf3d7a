#pragma once
// The op record: everything the project knows about an operation in one inspectable value, and the Call, one
// use of it. run() is the only way an op runs: it infers shapes, asks the device, and has the tape record it.
// A family of ops (one file in ops/) defines its records as constants and lists them in one function; op.cpp
// joins the lists. Nothing registers itself.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/small.h"
#include "runtime/tensor.h"

namespace lunagrad {

class Backward;
struct Op;

// How a parameter is written in a script. dim, dims and position count from 1 there and from 0 here, negative
// ones from the end; number is an integer, a real or a boolean, kept as it was given; choice is one of a few
// names, stored as its number; text is any, stored as the number under which it is interned (trace.h).
enum class ParamKind : uint8_t {
  boolean,
  integer,
  real,
  number,
  integers,
  dim,
  dims,
  position,
  dtype,
  choice,
  text
};

// One argument value. Lists hold up to kMaxDims integers.
struct Value {
  enum class Kind : uint8_t { none, boolean, integer, real, list } kind = Kind::none;
  union {
    bool b;
    int64_t i;
    double f;
  };
  Dims list;

  Value() : i(0) {}
  Value(bool v) : kind(Kind::boolean), i(0) { b = v; }
  Value(int v) : kind(Kind::integer), i(v) {}
  Value(int64_t v) : kind(Kind::integer), i(v) {}
  Value(double v) : kind(Kind::real), f(v) {}
  Value(DType v) : kind(Kind::integer), i(int64_t(v)) {}
  Value(const Dims& v) : kind(Kind::list), i(0), list(v) {}

  bool present() const { return kind != Kind::none; }
  bool operator==(const Value&) const;
};

struct ParamSpec {
  const char* name;  // PyTorch's
  ParamKind kind;
  Value fallback;                         // none: the caller must give it, unless `optional`
  std::vector<const char*> choices = {};  // of ParamKind::choice
  bool optional = false;                  // absent means "none", whatever that is to the op
};

struct InputSpec {
  const char* name;       // PyTorch's
  bool optional = false;  // an absent operand is an undefined Tensor
  bool list = false;      // last only: any number of tensors (cat, stack)
};

// What the gradient of one input reads: bit i = the value of input (output) i. Only these are saved and
// checked.
struct Reads {
  uint16_t inputs = 0;
  uint16_t outputs = 0;
};

// What changes from step to step while the graph stays the same: learning rate, step, random draw.
union Argument {
  double f;
  uint64_t u;
};

using Values = Small<Value, 2>;
using Arguments = std::array<Argument, 8>;
using Operands = Small<Tensor, 4>;  // of a call

// One use of an op.
struct Call {
  const Op* op = nullptr;
  Operands in;
  Operands out;   // appended by Op::shape, allocated by run()
  Values params;  // one for each ParamSpec
  Arguments args{};
  uint32_t aliases = 0;  // bit i: output i shares an input's memory, nothing is allocated for it

  const Tensor& input(int i) const { return in[size_t(i)]; }
  const Tensor& output(int i = 0) const { return out[size_t(i)]; }
  bool has(int i) const { return size_t(i) < in.size() && in[size_t(i)].defined(); }
  bool flag(int i) const { return params[size_t(i)].b; }
  int64_t integer(int i) const { return params[size_t(i)].i; }
  double real(int i) const { return params[size_t(i)].f; }
  const Dims& list(int i) const { return params[size_t(i)].list; }

  // For Op::shape: the next output, new memory on the inputs' device …
  void emit(const Shape&, DType);
  void emit(LayoutRef, DType);  // must be contiguous
  // … or a view of an input (bit set in `aliases`).
  void emit_view(const Tensor& of, const Shape&, const Strides&, int64_t offset);
  // … whose elements are the parts of the input's, or pairs of its elements; offset in those of the view.
  void emit_view(const Tensor& of, DType, const Shape&, const Strides&, int64_t offset);
  Device& device() const;  // of the operands; Error that names both when they differ
};

struct Op {
  const char* name;
  const char* doc;  // one sentence
  std::vector<InputSpec> inputs;
  std::vector<ParamSpec> params = {};

  // Checks operands and parameters (Error "name: fact with values") and emits the outputs.
  void (*shape)(Call&) = nullptr;
  // Computes the outputs; the operands are CPU tensors of any strides. Null for views and compositions.
  void (*cpu)(const Call&) = nullptr;
  // Gradients of the inputs from those of the outputs, in tensor ops. Null: not differentiable.
  void (*vjp)(Backward&) = nullptr;
  // reads[i] belongs to the gradient of input i; the last row serves all further inputs.
  std::vector<Reads> reads = {};
  // Whether the gradients of this call read the outputs that `reads` names; null: they do.
  bool (*reads_outputs)(const Call&) = nullptr;
  // The op in simpler ops: the reference of the tests, what a device without the kernel runs, and what is
  // differentiated under create_graph when the vjp is a fused kernel. An op with only this is a composition.
  Operands (*compose)(const Call&) = nullptr;
  // The calls that compose() serves, on every device; null: those that a device has no kernel for.
  bool (*composed)(const Call&) = nullptr;

  int elementwise = -1;           // row number in elementwise.def, -1 for the others
  bool half_through_f32 = false;  // f16 and bf16 operands are computed as f32 and the outputs converted back
  bool random = false;  // takes a draw of the context's generator: args[0].u = seed, args[1].u = stream
  bool writes_inputs = false;   // changes operands in place (the optimizers); it has no outputs
  uint16_t integer_inputs = 0;  // bit i: input i holds indices or labels and never gets a gradient
  bool complex = false;         // takes complex operands and makes complex results; the others refuse them
  bool hidden() const { return name[0] == '_'; }
};

// Runs the call: the outputs are call.out. The one entry; everything in ops.h comes through here.
void run(Call&);
Operands apply(const Op&, Operands in, Values params = {});  // all outputs
Tensor apply1(const Op&, Operands in, Values params = {});   // the first output
// Writes the result of an op whose output has in[0]'s shape into in[0], which keeps its dtype. Only for ops
// whose kernel may write over operand 0 element by element: elementwise rows and _copy.
Tensor apply_in_place(const Op&, Operands in, Values params = {});

std::span<const Op* const> all_ops();  // in the order of the families
const Op* find_op(std::string_view name);

}  // namespace lunagrad
