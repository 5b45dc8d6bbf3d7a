// The fields of a tensor: `x.name` is a method or one of the fields. Any other name is an Error, so that a
// misspelt name does not read as nil.
// x.T, x.mT, x.mH and x.H; the last two are conjugated for complex numbers.
#include "script/bind/tensor/fields.h"

#include "runtime/batching/batched.h"
#include "runtime/ops.h"
#include "runtime/tape/replace.h"
#include "runtime/tape/tape.h"
#include "script/bind/tensor/index.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/size.h"
#include "script/meta/explain.h"
#include "script/meta/pytorch.h"

namespace lunagrad {
namespace {

enum Field {
  kRequiresGrad = 1,
  kGrad,
  kGradFn,
  kIsLeaf,
  kRetainsGrad,
  kShape,
  kDType,
  kDevice,
  kNdim,
  kItemSize,
  kBytes,
  kIsCpu,
  kIsVulkan,
  kData,
  kReversed,
  kTransposed,
  kAdjoint,
  kHermitian
};
constexpr struct {
  const char* name;
  Field field;
} kFields[] = {{"requires_grad", kRequiresGrad},
               {"grad", kGrad},
               {"grad_fn", kGradFn},
               {"is_leaf", kIsLeaf},
               {"retains_grad", kRetainsGrad},
               {"shape", kShape},
               {"dtype", kDType},
               {"device", kDevice},
               {"ndim", kNdim},
               {"itemsize", kItemSize},
               {"nbytes", kBytes},
               {"is_cpu", kIsCpu},
               {"is_vulkan", kIsVulkan},
               {"data", kData},
               {"T", kReversed},
               {"mT", kTransposed},
               {"mH", kAdjoint},
               {"H", kHermitian}};

constexpr const char* kWritableFields = "requires_grad, grad, data";

bool retains_grad(const Tensor& x) {
  if (!x.requires_grad() || x.is_leaf() || !x.node()->extras) return false;
  const std::vector<bool>& retains = x.node()->extras->retains;
  return x.body()->output < retains.size() && retains[x.body()->output];
}

// x.T, x.mT, x.mH and x.H; conjugated of complex numbers for the last two.
Tensor turned(const Tensor& x, const char* field, Field which) {
  const int dims = x.ndim();
  if (which == kReversed) {
    Dims order;
    for (int d = dims - 1; d >= 0; --d) order.push_back(d);
    return permute(x, order);
  }
  if (which == kHermitian && dims == 0) return conj(x);
  if (which == kHermitian ? dims != 2 : dims < 2)
    fail("Tensor.", field, which == kHermitian ? ": a matrix is needed" : ": at least 2 dims are needed",
         " (got shape ", x.shape(), ")");
  const Tensor swapped = transpose(x, -2, -1);
  return which == kTransposed ? swapped : conj(swapped);
}

int push_made(lua_State* L, Tensor made) {
  push_result(L, std::move(made));
  after_op(L);
  return 1;
}

int push_field(lua_State* L, const Tensor& x, Field field) {
  switch (field) {
    case kRequiresGrad:
      lua_pushboolean(L, x.requires_grad());
      return 1;
    case kGrad:
      push_tensor(L, x.grad());
      return 1;
    case kGradFn:
      if (x.is_leaf())
        lua_pushnil(L);
      else
        lua_pushstring(L, x.node()->label());
      return 1;
    case kIsLeaf:
      lua_pushboolean(L, x.is_leaf());
      return 1;
    case kRetainsGrad:
      lua_pushboolean(L, retains_grad(x));
      return 1;
    case kShape:
      push_dims(L, x.shape());
      return 1;
    // A string. x:dtype() and x:device() call this string; call_text returns it.
    case kDType:
      lua_pushstring(L, dtype_name(x.dtype()));
      return 1;
    case kDevice:
      push_string(L, x.device().name());
      return 1;
    case kNdim:
      lua_pushinteger(L, x.ndim());
      return 1;
    case kItemSize:
      lua_pushinteger(L, lua_Integer(item_size(x.dtype())));
      return 1;
    case kBytes:
      lua_pushinteger(L, x.numel() * lua_Integer(item_size(x.dtype())));
      return 1;
    case kIsCpu:
      lua_pushboolean(L, physical_device(x.device()).is_cpu());
      return 1;
    case kIsVulkan:
      lua_pushboolean(L, physical_device(x.device()).name().starts_with("vulkan"));
      return 1;
    case kData:
      return push_made(L, x.detach());
    case kReversed:
    case kTransposed:
    case kAdjoint:
    case kHermitian:
      break;
  }
  mark_line(L);
  return push_made(L, turned(x, lua_tostring(L, 2), field));
}

// The field whose name is at stack index `key`; 0 if there is none. Upvalue `table` maps names to fields.
Field field_named(lua_State* L, int key, int table) {
  lua_pushvalue(L, key);
  lua_rawget(L, lua_upvalueindex(table));
  const auto field = Field(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return field;
}

[[noreturn]] void no_such_field(std::string_view name) {
  std::string hint = pytorch_instead("x:" + std::string(name));
  for (const auto& [asked, instead] :
       {std::pair{"device_name", "use x:device()"},
        {"values", "it is the first of two results, as in values, indices = x:topk(3)"},
        {"indices", "it is the second of two results, as in values, indices = x:topk(3)"},
        {"Q", "Q and R are two results: local Q, R = lg.linalg.qr(x)"},
        {"R", "Q and R are two results: local Q, R = lg.linalg.qr(x)"},
        {"U", "there are three results: local U, S, Vh = lg.linalg.svd(x)"},
        {"S", "there are three results: local U, S, Vh = lg.linalg.svd(x)"},
        {"Vh", "there are three results: local U, S, Vh = lg.linalg.svd(x)"},
        {"V", "there are three results: local U, S, V = lg.svd(x)"},
        {"L", "there are three results: local P, L, U = lg.linalg.lu(x)"},
        {"eigenvalues", "there are two results: local eigenvalues, eigenvectors = lg.linalg.eigh(x)"},
        {"eigenvectors", "there are two results: local eigenvalues, eigenvectors = lg.linalg.eigh(x)"},
        {"sign", "there are two results: local sign, logabsdet = lg.linalg.slogdet(x)"},
        {"logabsdet", "there are two results: local sign, logabsdet = lg.linalg.slogdet(x)"},
        {"solution", "it is the first of the results of lg.linalg.lstsq"},
        {"residuals", "it is the second of the results of lg.linalg.lstsq"}})
    if (name == asked) hint = instead;
  fail("Tensor has no field or method '", name, "'", hint.empty() ? suggest(name, "x:") : "; " + hint);
}

// __call of every string, for x:dtype() and x:device(). Any other call raises the same error as Lua does.
int call_text(lua_State* L) {
  const Tensor* const x = to_tensor(L, 2);
  if (x && lua_type(L, 1) == LUA_TSTRING) {
    const std::string_view text = lua_tostring(L, 1);
    if (text == dtype_name(x->dtype()) || text == x->device().name()) return lua_settop(L, 1), 1;
  }
  lua_Debug call;
  std::string variable;
  if (lua_getstack(L, 0, &call) && lua_getinfo(L, "n", &call) && call.name)
    variable = text(" (", call.namewhat, " '", call.name, "')");
  fail("attempt to call a string value", variable);
}

// __index; upvalues: methods, fields.
int index(lua_State* L) {
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    const Tensor& x = check_tensor(L, 1, "index");
    if (const Field field = field_named(L, 2, 2)) return push_field(L, x, field);
    no_such_field(check_string(L, 2, "index"));
  }
  return index_positions(L);
}

// __newindex; upvalue: fields.
int new_index(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return assign_positions(L);
  Tensor x = check_tensor(L, 1, "newindex");
  switch (field_named(L, 2, 1)) {
    case kRequiresGrad:
      x.requires_grad_(check_boolean(L, 3, {"Tensor", "requires_grad"}));
      return 0;
    case kGrad:
      x.set_grad(lua_isnil(L, 3) ? Tensor() : check_tensor(L, 3, {"Tensor", "grad"}));
      return 0;
    case kData:
      mark_line(L);
      with_memory_retry(L, [&] { replace_data(x, check_tensor(L, 3, {"Tensor", "data"})); });
      after_op(L);
      return 0;
    default:
      fail("Tensor: '", lua_tostring(L, 2), "' cannot be set; these fields can: ", kWritableFields);
  }
}

void push_fields(lua_State* L) {
  lua_newtable(L);
  for (const auto& [name, field] : kFields) {
    lua_pushinteger(L, field);
    lua_setfield(L, -2, name);
  }
}

}  // namespace

void set_field_events(lua_State* L, int methods) {
  lua_pushvalue(L, methods);
  push_fields(L);
  lua_pushcclosure(L, guard<index>, 2);
  lua_setfield(L, -2, "__index");
  push_fields(L);
  lua_pushcclosure(L, guard<new_index>, 1);
  lua_setfield(L, -2, "__newindex");

  lua_pushliteral(L, "");
  if (lua_getmetatable(L, -1)) {
    lua_pushcfunction(L, guard<call_text>);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

}  // namespace lunagrad
