#pragma once
// The op record: everything the project knows about an operation, and Call, one use of it. run() is the only
// way to run an op: it infers the shapes, calls the device and has the tape record the call. Each file in
// ops/ defines the records of a few related ops as constants and lists them in one function; families.cpp
// joins the lists. Nothing registers itself. A record is constant: any thread may read it.
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

// How a script writes a parameter. dim, dims and position count from 1 in a script and from 0 here; negative
// values count from the end. number is an integer, a real or a boolean and keeps the kind that was given.
// choice is one of a few names and is stored as the index of the name. text is any string and is stored as
// the number under which it is interned (trace.h).
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
  Value fallback;                         // none: the parameter is required, unless `optional`
  std::vector<const char*> choices = {};  // of ParamKind::choice
  bool optional = false;                  // may be absent; what that means is the op's choice
};

struct InputSpec {
  const char* name;       // PyTorch's
  bool optional = false;  // an absent operand is an undefined Tensor
  bool list = false;      // last only: any number of tensors (cat, stack)
};

// What the gradient of one input reads: bit i is the value of input (output) i. The tape saves only these,
// and checks only their versions.
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
  // The same for a view of another type: the real parts of complex numbers, or pairs of reals as complex
  // numbers. The offset counts elements of the view's type.
  void emit_view(const Tensor& of, DType, const Shape&, const Strides&, int64_t offset);
  Device& device() const;  // of the operands; Error that names both devices when they differ
};

// Elementwise calls and folds of rows that a device computes together. An operand that is the result of an
// earlier member has the same elements in the same order, or repeats one for each row (row_fold.h).
struct CallGroup {
  struct Member {
    const Call* call;
    std::array<int, 5> from;  // the member whose result the operand is; -1: the operand is in memory
    bool stored;              // something outside of the group reads the result
  };
  std::vector<Member> members;
};

// The group of an op, which decides its colour in the window. The numbers index Theme::family; leaf is the
// group of leaf nodes, which have no op.
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

// The type in which an op runs in a region of autocast (tape/autocast.h). `narrow` and `wide` are PyTorch's
// lists for CUDA (torch.amp, "CUDA Ops that can autocast"); `wide` also has rms_norm, logsumexp, and
// functions and decompositions that PyTorch refuses for 16-bit types.
enum class AutocastPolicy : uint8_t {
  by_kind,  // `own` for elementwise rows, hidden records, compositions and ops that write their inputs;
            // `widest` for all others
  narrow,   // the region's 16-bit type
  wide,     // f32
  widest,   // the widest type of the floating operands
  own       // the types of the operands
};

// How the floating-point operations of a call are counted. A multiply-add is two operations; a comparison, a
// division and a function such as exp are one each.
struct FlopRule {
  double (*count)(const Call&) = nullptr;  // null: the call computes nothing
  const char* text = nullptr;              // the formula for the profiler, "" when nothing is computed
  bool idle = false;                       // the call makes a view: no element is moved
};
// Copies, fills, converts or reorders elements. Also for optimizer steps, whose time is the time of memory
// access.
inline constexpr FlopRule kMovesData{nullptr, ""};
inline constexpr FlopRule kMovesNothing{nullptr, "", true};  // a view

// An operand of an example: its shape and the range of its elements.
struct ExampleOperand {
  enum class Kind : uint8_t { real, complex, index, boolean, absent };
  Shape shape;
  double low = -2, high = 2;  // index: integers in [low, high); complex: range of both parts
  Kind kind = Kind::real;
};

// Operands and parameters with which the tests call the op (tests/samples) and from which
// tests/reference/generate.py makes its PyTorch case.
struct OpExample {
  std::vector<ExampleOperand> inputs;
  Values params = {};           // missing ones take their fallbacks
  const char* error = nullptr;  // what the Error of this wrong call contains; null: the call is right
  bool second_order = true;     // whether second derivatives are checked
  // The types that the op takes for its real inputs; it refuses others with an Error. number: all but bool.
  enum class Types : uint8_t { any, number, floating } types = Types::any;
};

// The in-place form `name_` of an op that is no elementwise row (in_place.h): none; the first operand gets
// the result; or the first operand becomes the result, a view of it.
enum class InPlaceForm : uint8_t { none, writes, becomes_view };

struct Op {
  const char* name;  // PyTorch's; hidden records begin with _
  const char* doc;   // one sentence that names the arguments as `inputs` and `params` do
  std::vector<InputSpec> inputs;
  std::vector<ParamSpec> params = {};

  // Checks operands and parameters (Error "name: fact with values") and emits the outputs.
  void (*shape)(Call&) = nullptr;
  // Computes the outputs; the operands are CPU tensors of any strides. Null for views and compositions.
  void (*cpu)(const Call&) = nullptr;
  // Computes the gradients of the inputs from those of the outputs, in tensor ops. Null: not differentiable.
  void (*vjp)(Backward&) = nullptr;
  // reads[i] belongs to the gradient of input i; the last entry serves all further inputs.
  std::vector<Reads> reads = {};
  // Whether the gradients of this call read the outputs that `reads` names. Null: they do.
  bool (*reads_outputs)(const Call&) = nullptr;
  // The op in simpler ops: the reference of the tests, what a device without the kernel runs, and what is
  // differentiated under create_graph when the vjp is a fused kernel. An op that has neither `shape` nor
  // `cpu` is a composition: it always runs this.
  Operands (*compose)(const Call&) = nullptr;
  // The calls that run compose() on every device. Null: the calls that a device has no kernel for.
  bool (*composed)(const Call&) = nullptr;

  int elementwise = -1;           // row number in elementwise.def, -1 for all other ops
  bool half_through_f32 = false;  // f16 and bf16 operands are converted to f32 and the outputs converted back
  bool random = false;  // takes a draw of the context's generator: args[0].u = seed, args[1].u = stream
  bool writes_inputs = false;   // changes operands in place (the optimizers); it has no outputs
  uint16_t integer_inputs = 0;  // bit i: input i holds indices or labels and never gets a gradient
  bool complex = false;         // takes complex operands and gives complex results; other ops refuse them
  bool judges_values = false;   // the kernel raises an Error for some values of its operands
  InPlaceForm in_place = InPlaceForm::none;

  OpFamily family = OpFamily::unset;
  AutocastPolicy autocast = AutocastPolicy::by_kind;
  // Required, except for compositions: their operations are counted in the calls that they make. A
  // composition of views says kMovesNothing.
  FlopRule flops = {};
  // Bytes of memory that a call reads and writes. Null: see call_bytes().
  double (*bytes)(const Call&) = nullptr;

  // How scripts call the op (script/meta/signature.h).
  std::vector<const char*> order = {};  // of the arguments; empty: operands, then parameters
  uint16_t number_inputs = 0;           // bit i: a number may stand for input i
  bool creates = false;  // its calls also take device and requires_grad, as those of ops without inputs do
  // Of a hidden record: the public op whose calls it runs if a script gives arguments that the public record
  // lacks.
  const char* short_form = nullptr;

  std::vector<OpExample> examples = {};

  bool hidden() const { return name[0] == '_'; }
  bool is_composition() const { return compose && !cpu && !shape; }
};

// Floating-point operations of a call whose outputs are known; 0 when its op computes nothing.
double call_flops(const Call&);
// Bytes of memory that a call reads and writes: what the op's record says, else each operand and each output
// once, operands that the op writes in place twice, and nothing for views.
double call_bytes(const Call&);
// The examples of the op's record; those of an elementwise row are derived from its columns.
std::vector<OpExample> examples_of(const Op&);

// Runs the call; the outputs are in call.out. Every function of ops.h ends here.
void run(Call&);
Operands apply(const Op&, Operands in, Values params = {});  // all outputs
Tensor apply1(const Op&, Operands in, Values params = {});   // the first output
// Writes the result of an op whose output has the shape of in[0] into in[0], which keeps its dtype. Only for
// ops whose kernel may overwrite operand 0 element by element: elementwise rows and _copy.
Tensor apply_in_place(const Op&, Operands in, Values params = {});

std::span<const Op* const> all_ops();  // in the order of the files in ops/
const Op* find_op(std::string_view name);

}  // namespace lunagrad
