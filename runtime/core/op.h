#pragma once
// The op record: everything the project knows about an operation, and Call, one use of it. run() is the only
// way to run an op: it infers the shapes, calls the device and has the tape record the call. Each file in
// ops/ defines the records of a few related ops as constants and lists them in one function; run/all_ops.cpp
// joins the lists. Nothing registers itself. A record is constant: any thread may read it.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/small.h"
#include "runtime/core/tensor.h"

namespace lunagrad {

class Backward;
struct Op;

// How a script writes a parameter. dim, dims and position count from 1 in a script and from 0 here; negative
// values count from the end. number is an integer, a real or a boolean and keeps its kind. choice is one of a
// few names and is stored as the name's index. text is any string and is stored as its interned id (trace.h).
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
  Value fallback;                         // none: the parameter is required, unless it is `optional`
  std::vector<const char*> choices = {};  // of ParamKind::choice
  bool optional = false;                  // may be absent; the op decides what absence means
};

struct InputSpec {
  const char* name;       // PyTorch's
  bool optional = false;  // an absent operand is an undefined Tensor
  bool list = false;      // last only: any number of tensors (cat, stack)
};

// The values that the gradient of one input reads: bit i is input (output) i. The tape saves only these
// values, and checks only their versions.
struct Reads {
  uint16_t inputs = 0;
  uint16_t outputs = 0;
};

// A number that changes from step to step while the graph stays the same: learning rate, step, random draw.
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
  uint32_t aliases = 0;  // bit i: output i is a view of an input; no memory is allocated for it

  const Tensor& input(int i) const { return in[size_t(i)]; }
  const Tensor& output(int i = 0) const { return out[size_t(i)]; }
  bool has(int i) const { return size_t(i) < in.size() && in[size_t(i)].defined(); }
  bool flag(int i) const { return params[size_t(i)].b; }
  int64_t integer(int i) const { return params[size_t(i)].i; }
  double real(int i) const { return params[size_t(i)].f; }
  const Dims& list(int i) const { return params[size_t(i)].list; }

  // For Op::shape: appends an output with new memory on the device of the inputs.
  void emit(const Shape&, DType);
  void emit(LayoutRef, DType);  // must be contiguous
  // Appends an output that is a view of an input, and sets its bit in `aliases`.
  void emit_view(const Tensor& of, const Shape&, const Strides&, int64_t offset);
  // emit_view() with another dtype: the real parts of complex numbers, or pairs of reals as complex numbers.
  // The offset counts elements of the view's dtype.
  void emit_view(const Tensor& of, DType, const Shape&, const Strides&, int64_t offset);
  Device& device() const;  // the operands' device; Error that names both devices when they differ
};

// Elementwise calls and row reductions that a device computes together. When an operand is the result of an
// earlier member, it has that result's elements in the same order, or repeats one element for each row
// (row_reduction.h).
struct CallGroup {
  struct Member {
    const Call* call;
    // the member whose result the operand is; -1: the operand is in memory before the group runs
    std::array<int, 5> from;
    bool stored;  // the result is read outside the group
  };
  std::vector<Member> members;
};

// The family of an op, which decides its colour in the window. The numbers index Theme::family; `leaf` is the
// family of leaf nodes, which have no op.
enum class OpFamily : uint8_t {
  view,
  linear_algebra,
  elementwise,
  reduction,
  normalization,
  leaf,
  loss,
  other,
  unset
};

// The dtype in which an op runs under autocast (tape/autocast.h). `lower_precision` and `f32` are PyTorch's
// lists for CUDA (torch.amp, "CUDA Ops that can autocast"); `f32` also has rms_norm, logsumexp, and functions
// and decompositions that PyTorch refuses for 16-bit types.
enum class AutocastPolicy : uint8_t {
  by_kind,  // `own` for elementwise rows, hidden records, compositions and ops that write their inputs;
            // `promote` for all others
  lower_precision,  // the region's 16-bit type
  f32,
  promote,  // the promoted type of the floating operands
  own       // the types of the operands
};

// How the floating-point operations of a call are counted. A multiply-add counts as two operations; a
// comparison, a division and a function such as exp count as one each.
struct FlopRule {
  double (*count)(const Call&) = nullptr;  // null: the call computes nothing
  const char* text = nullptr;              // the formula for the profiler, "" when nothing is computed
  bool idle = false;                       // the call makes a view: no element is moved
};
// For ops that copy, fill, convert or reorder elements. Also for optimizer steps, whose time is spent on
// memory access.
inline constexpr FlopRule kMovesData{nullptr, ""};
inline constexpr FlopRule kMovesNothing{nullptr, "", true};  // a view

// The shape of an example's operand and the range of its elements.
struct ExampleOperand {
  enum class Kind : uint8_t { real, complex, index, boolean, absent };
  Shape shape;
  double low = -2, high = 2;  // index: integers in [low, high); complex: range of both parts
  Kind kind = Kind::real;
};

// The operands and parameters of a test call (tests/samples). tests/reference/generate.py makes a PyTorch
// case of it.
struct OpExample {
  std::vector<ExampleOperand> inputs;
  Values params = {};  // missing parameters take their fallbacks
  // for a call that must fail: a part of the Error's text; null: the call succeeds
  const char* error = nullptr;
  bool second_order = true;  // whether second derivatives are checked
  // The types that the op takes for its real inputs; other types are an Error. number: all but bool.
  enum class Types : uint8_t { any, number, floating } types = Types::any;
};

// The in-place form `name_` of an op that is not an elementwise row (in_place.h). `writes`: the first operand
// gets the result. `becomes_view`: the first operand becomes the result, a view of it.
enum class InPlaceForm : uint8_t { none, writes, becomes_view };

struct Op {
  const char* name;  // PyTorch's; hidden records begin with _
  const char* doc;   // one sentence; it names the arguments as `inputs` and `params` do
  std::vector<InputSpec> inputs;
  std::vector<ParamSpec> params = {};

  // Checks operands and parameters (Error "name: fact with values") and emits the outputs.
  void (*shape)(Call&) = nullptr;
  // Computes the outputs; the operands are CPU tensors of any strides. Null for views and compositions.
  void (*cpu)(const Call&) = nullptr;
  // Computes the inputs' gradients from the outputs' gradients, in tensor ops. Null: not differentiable.
  void (*vjp)(Backward&) = nullptr;
  // reads[i] is for the gradient of input i; the last entry is also for all further inputs.
  std::vector<Reads> reads = {};
  // Whether the gradients of this call read the outputs that `reads` names. Null: always.
  bool (*reads_outputs)(const Call&) = nullptr;
  // Computes the op with simpler ops. The tests use it as the reference, a device without the kernel runs it,
  // and create_graph differentiates it when the vjp is a fused kernel. An op that has neither `shape` nor
  // `cpu` is a composition: it always runs this.
  Operands (*compose)(const Call&) = nullptr;
  // Whether a call runs compose() on every device. Null: only where the device has no kernel for the call.
  bool (*composed)(const Call&) = nullptr;

  int elementwise = -1;           // row number in elementwise.def, -1 for all other ops
  bool half_through_f32 = false;  // f16 and bf16 operands are converted to f32 and the outputs converted back
  bool random = false;  // takes a draw of the context's generator: args[0].u = seed, args[1].u = stream
  bool writes_inputs = false;   // changes operands in place (the optimizers); it has no outputs
  uint16_t integer_inputs = 0;  // bit i: input i holds indices or labels and never gets a gradient
  bool complex = false;         // takes complex operands and gives complex results; other ops raise an Error
  bool judges_values = false;   // the kernel may raise an Error because of its operands' values
  InPlaceForm in_place = InPlaceForm::none;

  OpFamily family = OpFamily::unset;
  AutocastPolicy autocast = AutocastPolicy::by_kind;
  // Required, except for compositions, whose inner calls are counted instead. A composition of views says
  // kMovesNothing.
  FlopRule flops = {};
  // Bytes of memory that a call reads and writes. Null: see call_bytes().
  double (*bytes)(const Call&) = nullptr;

  // How scripts call the op (script/meta/signature.h).
  std::vector<const char*> order = {};  // order of the arguments; empty: operands, then parameters
  uint16_t number_inputs = 0;           // bit i: a number may stand for input i
  bool creates = false;  // its calls also take device and requires_grad, as ops without inputs do
  // For a hidden record: the public op that it serves. Calls with arguments that the public record lacks run
  // this record.
  const char* short_form = nullptr;

  std::vector<OpExample> examples = {};

  bool hidden() const { return name[0] == '_'; }
  bool is_composition() const { return compose && !cpu && !shape; }
};

// The name of an input of a call: `weight`, or `tensors[2]` for an element of the list that ends the inputs,
// or `operand 2` for an op whose inputs have no names.
std::string input_name(const Op&, size_t input);
// Floating-point operations of a call whose outputs are known; 0 when its op computes nothing.
double call_flops(const Call&);
// Bytes of memory that a call reads and writes: by the op's record, else each operand and each output once,
// operands written in place twice, and nothing for views.
double call_bytes(const Call&);
// The examples in the op's record; for an elementwise row they are derived from its columns.
std::vector<OpExample> examples_of(const Op&);

// Runs the call; the outputs are in call.out. Every function of ops.h ends here.
void run(Call&);
Operands apply(const Op&, Operands in, Values params = {});  // returns all outputs
Tensor apply1(const Op&, Operands in, Values params = {});   // returns the first output
// Runs an op whose output has the shape of in[0] and writes the result into in[0], which keeps its dtype.
// Only for ops whose kernel may overwrite operand 0 element by element: elementwise rows and _copy.
Tensor apply_in_place(const Op&, Operands in, Values params = {});

std::span<const Op* const> all_ops();  // in the order of the files in ops/
const Op* find_op(std::string_view name);

}  // namespace lunagrad
