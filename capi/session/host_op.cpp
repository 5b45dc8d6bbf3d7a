// Operations that a host gives to its scripts: lg.host.NAME(…), with arguments by name and gradients.
#include "script/host/host_op.h"

#include <atomic>
#include <deque>

#include "capi/session/host_call.h"
#include "capi/session/session.h"
#include "capi/structs.h"
#include "runtime/core/dtype_names.h"
#include "runtime/tape/custom.h"

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

constexpr size_t kHostOp = 80, kArgument = 80;  // sizes of the first versions
static_assert(sizeof(lg_host_op) == kHostOp && sizeof(lg_argument_info) == kArgument);
constexpr size_t kMostOutputs = 16;

// The record of an op, and what it calls. Lives as long as the session.
struct HostRecord : Op {
  lg_op_forward forward = nullptr;
  lg_op_backward backward = nullptr;
  void* user = nullptr;
  std::shared_ptr<const std::atomic<bool>> closed;
  std::deque<std::string> texts;  // of the record
  const char* keep(const char* text) { return texts.emplace_back(text ? text : "").c_str(); }
};

// Arguments of one call, as the host's functions get them.
class Given {
 public:
  Given(const HostRecord& record, const Values& params) {
    if (*record.closed) fail_as(ErrorKind::cancelled, "the session has ended");
    for (size_t i = 0; i < params.size(); ++i) add(record.params[i], params[i]);
  }

  std::vector<lg_tensor*> handles(const TensorList& tensors) {
    std::vector<lg_tensor*> made;
    for (const Tensor& x : tensors) made.push_back(x.defined() ? new_handle(call_.engine(), x) : nullptr);
    return made;
  }
  // The tensors of handles that a host has returned; undefined for null.
  TensorList tensors(lg_tensor* const* handles, size_t count) {
    TensorList found;
    try {
      for (size_t i = 0; i < count; ++i)
        found.push_back(handles[i] ? tensor_of(handles[i], call_.engine()) : Tensor());
    } catch (const Fault& fault) {
      fail("a result of the program's op: ", fault.message);
    }
    return found;
  }
  lg_engine* engine() const { return call_.handle(); }
  const lg_param* params() const { return params_.data(); }
  size_t n_params() const { return params_.size(); }

 private:
  void add(const ParamSpec& spec, const Value& value) {
    lg_param made{};
    made.struct_size = sizeof made;
    made.name = spec.name;
    switch (value.kind) {
      case Value::Kind::none:
        made.kind = LG_NONE;
        break;
      case Value::Kind::boolean:
        made.kind = LG_BOOLEAN;
        made.integer = value.b;
        break;
      case Value::Kind::integer:
        made.kind = spec.kind == ParamKind::dtype ? LG_DTYPE : LG_INTEGER;
        made.integer = value.i;
        if (spec.kind == ParamKind::text) {
          made.kind = LG_TEXT;
          made.text = interned(uint32_t(value.i)).c_str();
        }
        break;
      case Value::Kind::real:
        made.kind = LG_REAL;
        made.real = value.f;
        break;
      case Value::Kind::list:
        made.kind = LG_INTEGERS;
        made.list = lists_.emplace_back(value.list.begin(), value.list.end()).data();
        made.list_length = lists_.back().size();
        break;
    }
    params_.push_back(made);
  }

  CallEngine call_;
  std::vector<lg_param> params_;
  std::deque<std::vector<int64_t>> lists_;
};

TensorList run_forward(const HostRecord& record, const TensorList& inputs, const Values& params) {
  Given given(record, params);
  const std::vector<lg_tensor*> in = given.handles(inputs);
  lg_tensor* outputs[kMostOutputs] = {};
  size_t count = kMostOutputs;
  check_host_code(record.forward(record.user, given.engine(), in.data(), in.size(), given.params(),
                                 given.n_params(), outputs, &count));
  if (count == 0 || count > kMostOutputs)
    fail(record.name, ": the function of the program says that it has ", count, " results");
  TensorList made = given.tensors(outputs, count);
  for (const Tensor& x : made)
    if (!x.defined()) fail(record.name, ": the function of the program gave no tensor");
  return made;
}

TensorList run_backward(const HostRecord& record, const TensorList& saved, size_t n_inputs,
                        const TensorList& grads, const Values& params) {
  Given given(record, params);
  const std::vector<lg_tensor*> values = given.handles(saved), from = given.handles(grads);
  std::vector<lg_tensor*> found(n_inputs, nullptr);
  check_host_code(record.backward(record.user, given.engine(), values.data(), n_inputs, given.params(),
                                  given.n_params(), values.data() + n_inputs, from.data(), from.size(),
                                  found.data()));
  return given.tensors(found.data(), n_inputs);
}

Operands compose(const Call& call) {
  const HostRecord& record = static_cast<const HostRecord&>(*static_cast<const HostOp*>(call.op)->given);
  const TensorList inputs(call.in.begin(), call.in.end());
  TensorList made;
  if (record.backward) {
    CustomOp op;
    op.record = custom_record(record.name);
    const Values params = call.params;
    op.forward = [&record, params](CustomContext& context, const TensorList& in) {
      TensorList out = run_forward(record, in, params);
      context.save(in);
      context.save(out);
      return out;
    };
    op.backward = [&record, params, count = inputs.size()](const CustomContext& context,
                                                           const TensorList& grads) {
      return run_backward(record, context.saved(), count, grads, params);
    };
    made = apply_custom(op, inputs);
  } else {
    made = run_forward(record, inputs, call.params);
  }
  Operands out;
  for (Tensor& x : made) out.push_back(std::move(x));
  return out;
}

ParamKind kind_from(lg_kind kind, bool dim) {
  switch (kind) {
    case LG_BOOLEAN:
      return ParamKind::boolean;
    case LG_INTEGER:
      return dim ? ParamKind::dim : ParamKind::integer;
    case LG_REAL:
      return ParamKind::real;
    case LG_NUMBER:
      return ParamKind::number;
    case LG_INTEGERS:
      return dim ? ParamKind::dims : ParamKind::integers;
    case LG_DTYPE:
      return ParamKind::dtype;
    case LG_TEXT:
      return ParamKind::text;
    default:
      refuse(LG_INVALID_ARGUMENT, "no parameter of an op of the host has the kind ", kind);
  }
}

Value default_from(const lg_argument_info& given) {
  switch (given.default_kind) {
    case LG_NONE:
      return {};
    case LG_BOOLEAN:
      return given.default_integer != 0;
    case LG_INTEGER:
    case LG_DTYPE:
      if (given.kind == LG_REAL) return double(given.default_integer);
      return given.default_integer;
    case LG_REAL:
      return given.default_real;
    case LG_TEXT:
      require(given.default_text, "the default of a parameter");
      return int64_t(intern(given.default_text));
    case LG_INTEGERS: {
      if (given.default_list_length > size_t(kMaxDims))
        refuse(LG_INVALID_ARGUMENT, "a default has ", given.default_list_length, " numbers, more than ",
               kMaxDims);
      if (given.default_list_length) require(given.default_list, "the default of a parameter");
      return Dims(std::span<const int64_t>(given.default_list, given.default_list_length));
    }
    default:
      refuse(LG_INVALID_ARGUMENT, "no default has the kind ", given.default_kind);
  }
}

std::shared_ptr<HostRecord> record_from(const lg_host_op& given) {
  require(given.name, "name");
  if (!given.forward) refuse(LG_INVALID_ARGUMENT, "forward is null");
  auto made = std::make_shared<HostRecord>();
  made->name = made->keep(given.name);
  made->doc = made->keep(given.sentence);
  if (given.n_inputs) require(given.inputs, "inputs");
  for (size_t i = 0; i < given.n_inputs; ++i) {
    const lg_argument_info input = read_struct(&given.inputs[i], kArgument, "lg_argument_info");
    require(input.name, "the name of an input");
    made->inputs.push_back({.name = made->keep(input.name),
                            .optional = !(input.flags & (LG_ARGUMENT_REQUIRED | LG_ARGUMENT_LIST)),
                            .list = (input.flags & LG_ARGUMENT_LIST) != 0});
    if (input.flags & LG_ARGUMENT_NUMBER) made->number_inputs |= uint16_t(1u << (i & 15));
  }
  if (given.n_params) require(given.params, "params");
  for (size_t i = 0; i < given.n_params; ++i) {
    const lg_argument_info param = read_struct(&given.params[i], kArgument, "lg_argument_info");
    require(param.name, "the name of a parameter");
    made->params.push_back(
        {.name = made->keep(param.name),
         .kind = kind_from(param.kind, param.flags & LG_ARGUMENT_DIM),
         .fallback = default_from(param),
         .optional = param.default_kind == LG_NONE && !(param.flags & LG_ARGUMENT_REQUIRED)});
  }
  made->compose = compose;
  made->family = OpFamily::other;
  made->forward = given.forward;
  made->backward = given.backward;
  made->user = given.user;
  return made;
}

}  // namespace

lg_code lg_session_add_op(lg_session* session, const lg_host_op* op) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    const std::shared_ptr<HostRecord> record = record_from(read_struct(op, kHostOp, "lg_host_op"));
    record->closed = object.closed;
    std::string why;
    if (!object.session->add_op(*record, &why, record)) refuse(LG_VALUE, why);
  });
}
