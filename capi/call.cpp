// lg_call(): reads operands and parameters by the op's signature, as script/bind/tensor/ops.cpp does for
// scripts, and runs the op.
#include "capi/engine.h"
#include "capi/ops.h"
#include "capi/shapes.h"
#include "runtime/core/dtype_names.h"
#include "runtime/core/in_place.h"
#include "runtime/ops.h"

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

constexpr size_t kParam = 64;  // size of the first version
static_assert(sizeof(lg_param) == kParam);

const char* kind_text(lg_kind kind) {
  static constexpr const char* kNames[] = {"no value", "a boolean", "an integer", "a real",
                                           "a number", "integers",  "a dtype",    "a choice",
                                           "a text",   "a tensor",  "a table"};
  return kind >= 0 && size_t(kind) < std::size(kNames) ? kNames[kind] : "a value of an unknown kind";
}

// Arguments of one call.
class Reader {
 public:
  Reader(Engine& engine, const OpEntry& entry)
      : engine_(engine), entry_(entry), op_(*entry.signature->full) {}

  Operands in;
  Values params;
  Device* device = nullptr;  // of a call that creates a tensor; null: the default
  bool requires_grad = false;

  void read(lg_tensor* const* inputs, size_t n_inputs, const lg_param* given, size_t n_given) {
    read_inputs(inputs, n_inputs);
    for (const ParamSpec& spec : op_.params) params.push_back(spec.fallback);
    if (n_given) {
      require(given, "params");
      const uint32_t size = given->struct_size;
      if (size != sizeof(lg_param))
        refuse(LG_BAD_STRUCT, "lg_param: struct_size is ", size, ", and this library knows ",
               sizeof(lg_param));
      for (size_t i = 0; i < n_given; ++i) read_param(given[i]);
    }
    check_complete();
  }

 private:
  [[noreturn, gnu::cold]] void wrong(const lg_param& given, const char* expected) const {
    refuse(LG_INVALID_ARGUMENT, entry_.name, ": '", given.name, "' is ", expected, ", and ",
           kind_text(given.kind), " is given");
  }

  void read_inputs(lg_tensor* const* inputs, size_t count) {
    if (count) require(inputs, "inputs");
    const bool list = !op_.inputs.empty() && op_.inputs.back().list;
    const size_t single = op_.inputs.size() - list;
    if (!list && count > single)
      refuse(LG_INVALID_ARGUMENT, entry_.name, ": ", count, " inputs are given, and it has ", single);
    in.resize(std::max(single, count));
    for (size_t i = 0; i < count; ++i) {
      if (inputs[i])
        in[i] = tensor_of(inputs[i], engine_);
      else if (i >= single)
        refuse(LG_INVALID_HANDLE, entry_.name, ": tensor ", i - single + 1, " of the list is null");
    }
  }

  void read_param(const lg_param& given) {
    if (given.struct_size != sizeof(lg_param))
      refuse(LG_BAD_STRUCT, "lg_param: struct_size is ", given.struct_size, ", and ", sizeof(lg_param),
             " before");
    require(given.name, "the name of a parameter");
    const std::string_view name = given.name;
    const Slot* const slot = entry_.signature->find(name);
    if (slot) {
      const uint32_t bit = 1u << (slot - entry_.signature->slots.data());
      if (given_ & bit) refuse(LG_INVALID_ARGUMENT, entry_.name, ": '", name, "' is given twice");
      given_ |= bit;
      if (slot->is_input)
        read_operand(given, slot->index);
      else
        params[slot->index] = value_of(given, op_.params[slot->index]);
    } else if (!entry_.signature->creates || entry_.in_place || !read_placement(given)) {
      refuse(LG_NOT_FOUND, entry_.name, ": there is no parameter '", name,
             "' (there are: ", entry_.signature->names, ")");
    }
  }

  bool read_placement(const lg_param& given) {
    const std::string_view name = given.name;
    if (name == "device") {
      if (given.kind != LG_TEXT) wrong(given, "a text");
      require(given.text, "device");
      device = &require_device(given.text);
    } else if (name == "requires_grad") {
      requires_grad = boolean(given);
    } else {
      return false;
    }
    return true;
  }

  void read_operand(const lg_param& given, size_t index) {
    if (op_.inputs[index].list) wrong(given, "a list of tensors, which stands in `inputs`");
    if (in[index].defined()) refuse(LG_INVALID_ARGUMENT, entry_.name, ": '", given.name, "' is given twice");
    const bool number = entry_.signature->numbers >> index & 1;
    if (given.kind == LG_TENSOR)
      in[index] = tensor_of(given.tensor, engine_);
    else if (number && (given.kind == LG_INTEGER || given.kind == LG_BOOLEAN))
      in[index] = Tensor::number(given.integer);
    else if (number && given.kind == LG_REAL)
      in[index] = Tensor::number(given.real);
    else
      wrong(given, number ? "a tensor or a number" : "a tensor");
  }

  bool boolean(const lg_param& given) const {
    if (given.kind != LG_BOOLEAN && given.kind != LG_INTEGER) wrong(given, "a boolean");
    if (given.integer != 0 && given.integer != 1)
      refuse(LG_INVALID_ARGUMENT, entry_.name, ": '", given.name, "' is 0 or 1, and ", given.integer,
             " is given");
    return given.integer == 1;
  }

  Value choice(const lg_param& given, const ParamSpec& spec) const {
    require(given.text, "the text of a parameter");
    std::string known;
    for (size_t i = 0; i < spec.choices.size(); ++i) {
      if (std::string_view(given.text) == spec.choices[i]) return int64_t(i);
      known += (i ? ", '" : "'") + std::string(spec.choices[i]) + "'";
    }
    refuse(LG_INVALID_ARGUMENT, entry_.name, ": '", given.name, "' is one of ", known, ", and '", given.text,
           "' is given");
  }

  Value value_of(const lg_param& given, const ParamSpec& spec) const {
    // A choice besides numbers, such as "same" for a padding.
    if (!spec.choices.empty() && given.kind == LG_TEXT) return choice(given, spec);
    switch (spec.kind) {
      case ParamKind::boolean:
        return boolean(given);
      case ParamKind::integer:
      case ParamKind::dim:
      case ParamKind::position:
        if (given.kind != LG_INTEGER) wrong(given, "an integer");
        return given.integer;
      case ParamKind::real:
        if (given.kind == LG_INTEGER) return double(given.integer);
        if (given.kind != LG_REAL) wrong(given, "a real");
        return given.real;
      case ParamKind::number:
        if (given.kind == LG_BOOLEAN) return boolean(given);
        if (given.kind == LG_INTEGER) return given.integer;
        if (given.kind != LG_REAL) wrong(given, "a number");
        return given.real;
      case ParamKind::integers:
      case ParamKind::dims:
        if (given.kind == LG_INTEGER) return Dims{given.integer};
        if (given.kind != LG_INTEGERS) wrong(given, "integers");
        return dims_from(given.list, given.list_length, given.name);
      case ParamKind::dtype:
        return dtype(given);
      case ParamKind::choice:
        wrong(given, "a text");
      case ParamKind::text:
        if (given.kind != LG_TEXT) wrong(given, "a text");
        require(given.text, "the text of a parameter");
        return int64_t(intern(given.text));
    }
    return {};
  }

  Value dtype(const lg_param& given) const {
    if (given.kind == LG_DTYPE || given.kind == LG_INTEGER) {
      if (given.integer < 0 || given.integer >= kDTypeCount)
        refuse(LG_INVALID_ARGUMENT, entry_.name, ": there is no dtype ", given.integer);
      return DType(given.integer);
    }
    if (given.kind != LG_TEXT) wrong(given, "a dtype");
    require(given.text, "the text of a parameter");
    if (const auto found = dtype_from_name(given.text)) return *found;
    refuse(LG_INVALID_ARGUMENT, entry_.name, ": there is no dtype '", given.text, "'");
  }

  void check_complete() const {
    bool any_tensor = false;
    for (const Tensor& x : in) any_tensor |= x.defined() && !x.is_number();
    for (const Slot& slot : entry_.signature->slots) {
      const size_t i = size_t(&slot - entry_.signature->slots.data());
      const bool given =
          slot.is_input ? op_.inputs[slot.index].list || in[slot.index].defined() : given_ >> i & 1;
      if (slot.required && !given)
        refuse(LG_INVALID_ARGUMENT, entry_.name, ": ", slot.is_input ? "input" : "parameter", " '", slot.name,
               "' is not given");
    }
    if (!op_.inputs.empty() && !op_.inputs.back().list && !any_tensor)
      refuse(LG_INVALID_ARGUMENT, entry_.name, ": no input is a tensor");
  }

  Engine& engine_;
  const OpEntry& entry_;
  const Op& op_;
  uint32_t given_ = 0;  // bit i: slot i has a value by its name
};

// The fast path of most calls: the operands, in order, and nothing else. False when it is another call.
inline bool read_plain(const Engine& engine, const Signature& signature, lg_tensor* const* inputs,
                       size_t n_inputs, size_t n_params, Operands& in) {
  if (n_params || !signature.only_inputs || n_inputs != signature.op->inputs.size() || !inputs) return false;
  for (size_t i = 0; i < n_inputs; ++i)
    if (!inputs[i]) return false;
  for (size_t i = 0; i < n_inputs; ++i) in.push_back(tensor_of(inputs[i], engine));
  return n_inputs > 0;
}

// Whether all parameters that only the full form has are at their defaults: then the op itself runs.
bool takes_defaults(const Signature& signature, const Values& params) {
  for (size_t i = signature.op->params.size(); i < params.size(); ++i)
    if (!(params[i] == signature.full->params[i].fallback)) return false;
  return true;
}

// Makes `device` the default for the life of the object; null: no change.
class OnDevice {
 public:
  OnDevice(Context& context, Device* device) : context_(context), previous_(context.device) {
    if (device) context.device = device;
  }
  ~OnDevice() { context_.device = previous_; }
  OnDevice(const OnDevice&) = delete;

 private:
  Context& context_;
  Device* previous_;
};

Operands run_reading(Engine& engine, const OpEntry& entry, Reader& reader) {
  const Signature& signature = *entry.signature;
  if (signature.creates) {
    const OnDevice on(engine.context, reader.device);
    Tensor made = apply1(*signature.op, std::move(reader.in), std::move(reader.params));
    if (reader.device && &made.device() != reader.device) made = to(made, *reader.device);
    if (reader.requires_grad) made.requires_grad_();
    return {made};
  }
  const Op* op = signature.full;
  if (signature.extends && takes_defaults(signature, reader.params)) {
    op = signature.op;
    reader.params.resize(op->params.size());
  }
  return apply(*op, std::move(reader.in), std::move(reader.params));
}

Operands run_writing(const OpEntry& entry, Operands in, Values params, bool plain) {
  const Signature& signature = *entry.signature;
  if (signature.op->elementwise < 0)
    return {run_in_place(plain ? *signature.op : *signature.full, std::move(in), std::move(params))};
  if (plain || signature.full == signature.op)
    return {apply_in_place(*signature.op, std::move(in), std::move(params))};
  return {run_form_in_place(*signature.full, std::move(in), std::move(params))};
}

// Reads the arguments and runs the op; the results are in call.out.
void run_call(Call& call, Engine& engine, const OpEntry& entry, lg_tensor* const* inputs, size_t n_inputs,
              const lg_param* params, size_t n_params) {
  if (read_plain(engine, *entry.signature, inputs, n_inputs, n_params, call.in)) {
    call.op = entry.signature->op;
    if (entry.in_place) [[unlikely]]
      call.out = run_writing(entry, std::move(call.in), {}, true);
    else if (call.op->random)
      call.out = apply(*call.op, std::move(call.in));
    else
      run(call);
    return;
  }
  Reader reader(engine, entry);
  reader.read(inputs, n_inputs, params, n_params);
  if (!entry.in_place) {
    call.out = run_reading(engine, entry, reader);
    return;
  }
  if (!reader.in[0].defined() || reader.in[0].is_number())
    refuse(LG_INVALID_ARGUMENT, entry.name, ": input 0, which gets the result, is not a tensor");
  call.out = run_writing(entry, std::move(reader.in), std::move(reader.params), false);
}

}  // namespace

lg_code lg_call(lg_engine* engine, const lg_op* op, lg_tensor* const* inputs, size_t n_inputs,
                const lg_param* params, size_t n_params, lg_tensor** outputs, size_t* n_outputs) {
  const size_t room = outputs && n_outputs ? *n_outputs : 0;
  if (n_outputs) *n_outputs = 0;
  return capi::wall([&] {
    if (outputs) require(n_outputs, "n_outputs");
    Engine& held = engine_of(engine);
    const Work work(held);
    const OpEntry& entry = entry_of(op);
    Call call;
    run_call(call, held, entry, inputs, n_inputs, params, n_params);
    if (!outputs) return;
    const size_t count = call.out.size();
    if (count > room) [[unlikely]] {
      *n_outputs = count;
      refuse(LG_BUFFER_SIZE, entry.name, ": there are ", count, " results, and room for ", room);
    }
    held.slots.reserve(count);
    for (size_t i = 0; i < count; ++i) outputs[i] = held.slots.add(std::move(call.out[i]));
    *n_outputs = count;
  });
}
