#include "script/host/host_op.h"

#include <algorithm>
#include <set>

#include "runtime/tape/backward.h"
#include "script/host/host_calls.h"

namespace lunagrad {
namespace {

constexpr size_t kMostInputs = 16;  // Reads and Op::number_inputs have a bit for each

bool is_identifier(const char* name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!name || !letter(*name)) return false;
  return std::all_of(name, name + std::char_traits<char>::length(name),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool fits(const ParamSpec& spec) {
  using Kind = Value::Kind;
  const Kind kind = spec.fallback.kind;
  switch (spec.kind) {
    case ParamKind::boolean:
      return kind == Kind::boolean;
    case ParamKind::real:
      return kind == Kind::real;
    case ParamKind::number:
      return kind == Kind::boolean || kind == Kind::integer || kind == Kind::real;
    case ParamKind::integers:
    case ParamKind::dims:
      return kind == Kind::list;
    case ParamKind::choice:
      return kind == Kind::integer && spec.fallback.i >= 0 && size_t(spec.fallback.i) < spec.choices.size();
    case ParamKind::integer:
    case ParamKind::dim:
    case ParamKind::position:
    case ParamKind::dtype:
    case ParamKind::text:
      return kind == Kind::integer;
  }
  return false;
}

std::string fault_of_arguments(const Op& op) {
  std::set<std::string> names;
  const auto fault_of_name = [&](const char* what, const char* name) -> std::string {
    if (!is_identifier(name))
      return text(what, " has the name '", name ? name : "", "', which is no Lua name");
    if (!names.insert(name).second) return text("two arguments have the name '", name, "'");
    return {};
  };
  if (op.inputs.size() > kMostInputs)
    return text("it has ", op.inputs.size(), " inputs, more than ", kMostInputs);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (std::string fault = fault_of_name("an input", op.inputs[i].name); !fault.empty()) return fault;
    if (op.inputs[i].list && i + 1 < op.inputs.size())
      return text("the input '", op.inputs[i].name, "' is a list and not the last input");
  }
  for (const ParamSpec& spec : op.params) {
    if (std::string fault = fault_of_name("a parameter", spec.name); !fault.empty()) return fault;
    if (std::count(spec.choices.begin(), spec.choices.end(), nullptr) != 0 ||
        (spec.kind == ParamKind::choice && spec.choices.empty()))
      return text("the parameter '", spec.name, "' is a choice without names");
    if (spec.fallback.present() && !fits(spec))
      return text("the fallback of the parameter '", spec.name, "' is not of the parameter's kind");
  }
  for (const char* name : op.order)
    if (!name || !names.count(name))
      return text("`order` names '", name ? name : "", "', which is no argument");
  return {};
}

const Op& given(const Call& call) { return *static_cast<const HostOp*>(call.op)->given; }

template <class Code>
decltype(auto) run_given(const Op& op, const Code& code) {
  return call_program("the program's op ", op.name, code);
}

void shape(Call& call) {
  const Op& op = given(call);
  run_given(op, [&] { op.shape(call); });
  if (call.out.size() == 0 && !op.writes_inputs) fail(op.name, ": its shape() emitted no output");
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (!call.out[i].defined()) fail(op.name, ": its shape() emitted an undefined tensor");
    if (!op.cpu && !op.compose && !(call.aliases & (1u << i)))
      fail(op.name, ": output ", i + 1, " is no view, and the op has no cpu() that computes it");
  }
}

void cpu(const Call& call) {
  const Op& op = given(call);
  run_given(op, [&] { op.cpu(call); });
}

void vjp(Backward& backward) {
  const Op& op = *static_cast<const HostOp*>(backward.node().op)->given;
  run_given(op, [&] { op.vjp(backward); });
}

bool reads_outputs(const Call& call) {
  const Op& op = given(call);
  return run_given(op, [&] { return op.reads_outputs(call); });
}

Operands compose(const Call& call) {
  const Op& op = given(call);
  Operands made = run_given(op, [&] { return op.compose(call); });
  if (made.size() == 0 && !op.writes_inputs) fail(op.name, ": its compose() returned no tensor");
  for (const Tensor& x : made)
    if (!x.defined()) fail(op.name, ": its compose() returned an undefined tensor");
  return made;
}

bool composed(const Call& call) {
  const Op& op = given(call);
  return run_given(op, [&] { return op.composed(call); });
}

double count_flops(const Call& call) {
  const Op& op = given(call);
  return run_given(op, [&] { return op.flops.count(call); });
}

double count_bytes(const Call& call) {
  const Op& op = given(call);
  return run_given(op, [&] { return op.bytes(call); });
}

}  // namespace

std::string fault_of(const Op& op) {
  if (!op.name || !*op.name) return "it has no name";
  if (!is_identifier(op.name)) return "its name is no Lua name";
  if (op.hidden()) return "its name begins with _, as hidden records of the engine do";
  if (find_op(op.name)) return "the engine has an op of this name";
  if (op.elementwise >= 0 || op.short_form)
    return "`elementwise` and `short_form` are for the engine's own ops";
  if (op.cpu && !op.shape) return "it has cpu() and no shape(), which says what cpu() computes";
  if (!op.compose && !op.shape) return "it has neither compose() nor shape() and cpu()";
  return fault_of_arguments(op);
}

std::unique_ptr<const HostOp> host_op(const Op& given) {
  auto made = std::make_unique<HostOp>();
  static_cast<Op&>(*made) = given;
  made->given = &given;
  if (!made->doc) made->doc = "";
  if (given.shape) made->shape = shape;
  if (given.cpu) made->cpu = cpu;
  if (given.vjp) made->vjp = vjp;
  if (given.reads_outputs) made->reads_outputs = reads_outputs;
  if (given.compose) made->compose = compose;
  if (given.composed) made->composed = composed;
  if (given.flops.count) made->flops.count = count_flops;
  if (given.bytes) made->bytes = count_bytes;
  return made;
}

}  // namespace lunagrad
