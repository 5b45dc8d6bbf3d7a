/* A host in C that exchanges values with its scripts, and whose functions and operations they call. Built by gcc
 * and clang as C99. exchange [none]: with `none`, the library was built without scripts. */
#define _POSIX_C_SOURCE 200809L
#include "session_check.h"

static void test_values(void) {
  lg_engine *engine = open_engine(), *other = open_engine();
  lg_value *table = make(engine, LG_TABLE, 0, 0, NULL, 0), *inner = make(engine, LG_TABLE, 0, 0, NULL, 0);
  lg_value *text = make(engine, LG_TEXT, 0, 0, "a\0b", 3), *number = make(engine, LG_INTEGER, 7, 0, NULL, 0);
  lg_value *nil = make(engine, LG_NONE, 0, 0, NULL, 0), *real = make(engine, LG_REAL, 0, 0.5, NULL, 0);
  lg_value *yes = make(engine, LG_BOOLEAN, 1, 0, NULL, 0), *found = NULL, *foreign, *deep;
  const float numbers[2] = {1, 2};
  lg_tensor *x = floats(engine, numbers, 1, 2), *y = NULL;
  lg_value *tensor = make_tensor(engine, x);
  lg_tensor_info a, b;
  lg_data data;
  lg_engine_info info;
  const char *name = NULL;
  size_t length = 0;
  int i;

  data = get(text);
  CHECK(data.kind == LG_TEXT && data.length == 3 && memcmp(data.text, "a\0b", 4) == 0);
  data = get(number);
  CHECK(data.kind == LG_INTEGER && data.integer == 7 && data.real == 7);
  CHECK(get(real).kind == LG_REAL && get(real).real == 0.5 && get(nil).kind == LG_NONE);
  CHECK(get(yes).kind == LG_BOOLEAN && get(yes).integer == 1);
  CHECK(get(tensor).kind == LG_TENSOR);
  OK(lg_value_tensor(tensor, &y));
  memset(&a, 0, sizeof a);
  a.struct_size = sizeof a;
  b = a;
  OK(lg_tensor_get_info(x, &a));
  OK(lg_tensor_get_info(y, &b));
  CHECK(a.id == b.id);
  GIVES(LG_VALUE, lg_value_tensor(number, &y));

  OK(lg_table_set_item(table, 0, number));
  OK(lg_table_set_item(table, 1, text));
  GIVES(LG_NOT_FOUND, lg_table_set_item(table, 3, text));
  GIVES(LG_VALUE, lg_table_set_item(table, 0, NULL));
  OK(lg_table_set_field(inner, "x", real));
  OK(lg_table_set_field(table, "inner", inner));
  OK(lg_table_set_field(inner, "x", NULL)); /* the copy in `table` stays as it was */
  OK(lg_table_set_field(table, "b", yes));
  OK(lg_table_set_field(table, "b", nil));
  data = get(table);
  CHECK(data.kind == LG_TABLE && data.n_items == 2 && data.n_fields == 1);
  OK(lg_table_field_at(table, 0, &name, &length, NULL));
  CHECK(strcmp(name, "inner") == 0 && length == 5);
  GIVES(LG_NOT_FOUND, lg_table_field_at(table, 1, &name, &length, NULL));
  OK(lg_table_field(table, "inner", &found));
  CHECK(get(found).n_fields == 1);
  OK(lg_table_set_field(found, "y", real));
  OK(lg_value_release(found));
  OK(lg_table_field(table, "inner", &found));
  CHECK(get(found).n_fields == 1 && get(inner).n_fields == 0);
  OK(lg_value_release(found));
  OK(lg_table_item(table, 1, &found));
  CHECK(get(found).length == 3);
  OK(lg_table_set_item(table, 1, nil));
  GIVES(LG_NOT_FOUND, lg_table_item(table, 1, &found));
  GIVES(LG_NOT_FOUND, lg_table_field(table, "none", &found));
  GIVES(LG_VALUE, lg_table_field(text, "none", &found));
  GIVES(LG_VALUE, lg_table_set_item(text, 0, text));
  GIVES(LG_INVALID_ARGUMENT, lg_table_field(table, NULL, &found));
  OK(lg_table_set_field(table, "self", table)); /* a copy */
  CHECK(get(table).n_fields == 2);

  deep = make(engine, LG_TABLE, 0, 0, NULL, 0);
  for (i = 1; i < 64; ++i) OK(lg_table_set_item(deep, 0, deep));
  GIVES(LG_VALUE, lg_table_set_item(deep, 0, deep));

  foreign = make(other, LG_INTEGER, 1, 0, NULL, 0);
  GIVES(LG_INVALID_HANDLE, lg_table_set_item(table, 0, foreign));
  GIVES(LG_INVALID_HANDLE, lg_value_get((lg_value *)x, &data));
  GIVES(LG_INVALID_HANDLE, lg_value_get(NULL, &data));
  memset(&data, 0, sizeof data);
  GIVES(LG_BAD_STRUCT, lg_value_make(engine, &data, &found));
  GIVES(LG_BAD_STRUCT, lg_value_get(number, &data));
  data.struct_size = sizeof data;
  data.kind = LG_CHOICE;
  GIVES(LG_INVALID_ARGUMENT, lg_value_make(engine, &data, &found));
  data.kind = LG_TEXT;
  data.length = 1;
  GIVES(LG_INVALID_ARGUMENT, lg_value_make(engine, &data, &found));
  data.kind = LG_BOOLEAN;
  data.integer = 2;
  GIVES(LG_INVALID_ARGUMENT, lg_value_make(engine, &data, &found));
  data.kind = LG_TENSOR;
  GIVES(LG_INVALID_HANDLE, lg_value_make(engine, &data, &found));

  OK(lg_value_release(text));
  GIVES(LG_INVALID_HANDLE, lg_value_release(text));
  OK(lg_value_release(NULL));
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(lg_engine_get_info(engine, &info));
  CHECK(info.values == 9 && info.sessions == 0);
  info.struct_size = 64; /* a host of the first version */
  OK(lg_engine_get_info(engine, &info));
  OK(lg_engine_close(engine));
  OK(lg_engine_close(other));
  GIVES(LG_INVALID_HANDLE, lg_value_release(number));

  GIVES(LG_VALUE, lg_set_error(LG_VALUE, "it does not fit"));
  CHECK(strcmp(last_error(), "it does not fit") == 0);
  GIVES(LG_INVALID_ARGUMENT, lg_set_error(LG_OK, "x"));
  GIVES(LG_INVALID_ARGUMENT, lg_set_error(1000, "x"));
  GIVES(LG_INVALID_ARGUMENT, lg_set_error(LG_VALUE, NULL));
}

static void test_exchange(void) {
  lg_engine *engine = open_engine();
  lg_session *session = open_session(engine, NULL);
  lg_value *value, *inner, *item;
  lg_dtype dtype;
  lg_data data;
  const char *name;
  int i;

  /* tensors of each dtype, both ways, also views and empty ones */
  for (dtype = LG_BOOL; dtype <= LG_C128; ++dtype) {
    const size_t sizes[10] = {1, 1, 4, 8, 2, 2, 4, 8, 8, 16};
    unsigned char bytes[6 * 16], back[6 * 16];
    int64_t shape[2] = {2, 3};
    lg_tensor *x = NULL, *y = NULL;
    lg_tensor_info info;
    const size_t size = 6 * sizes[dtype];
    for (i = 0; i < 96; ++i) bytes[i] = dtype == LG_BOOL ? (unsigned char)(i % 2) : (unsigned char)(i % 60);
    OK(lg_tensor_from(engine, bytes, size, dtype, shape, 2, NULL, &x));
    set(session, "x", make_tensor(engine, x));
    CHECK(finish(session, "lg.host.y = lg.host.x lg.host.turned = lg.host.x:t()") == LG_OUTCOME_OK);
    value = got(session, "y");
    OK(lg_value_tensor(value, &y));
    OK(lg_tensor_read(y, back, size));
    CHECK(memcmp(bytes, back, size) == 0);
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    OK(lg_tensor_get_info(y, &info));
    CHECK(info.dtype == dtype && info.ndim == 2 && info.shape[1] == 3);
    OK(lg_value_release(value));
    OK(lg_tensor_release(y));
    value = got(session, "turned");
    OK(lg_value_tensor(value, &y));
    OK(lg_tensor_read(y, back, size));
    CHECK(memcmp(back + sizes[dtype], bytes + 3 * sizes[dtype], sizes[dtype]) == 0);
    OK(lg_value_release(value));
    OK(lg_tensor_release(y));
    OK(lg_tensor_release(x));
  }
  CHECK(finish(session, "lg.host.none = lg.zeros(0, 3)") == LG_OUTCOME_OK);
  value = got(session, "none");
  CHECK(get(value).kind == LG_TENSOR);
  OK(lg_value_release(value));

  /* tables, texts with zero bytes, nil */
  value = make(engine, LG_TABLE, 0, 0, NULL, 0);
  inner = make(engine, LG_TABLE, 0, 0, NULL, 0);
  item = make(engine, LG_TEXT, 0, 0, "p\0q", 3);
  OK(lg_table_set_field(inner, "text", item));
  OK(lg_table_set_item(value, 0, inner));
  OK(lg_table_set_field(value, "flag", item));
  set(session, "table", value);
  OK(lg_value_release(inner));
  OK(lg_value_release(item));
  CHECK(finish(session,
               "local t = lg.host.table\n"
               "assert(#t == 1 and t[1].text == 'p\\0q' and #t.flag == 3)\n"
               "t[1].text = 'changed'  assert(lg.host.table[1].text == 'p\\0q')\n"
               "lg.host.back = {1, 2.5, {x = 'a\\0b', y = {true}}, n = lg.ones(2)}\n"
               "lg.host.gone = 1  lg.host.gone = nil\n"
               "lg.host.count = math.maxinteger\n"
               "for _, bad in ipairs {print, setmetatable({}, {}), {print}, {[1.5] = 1}, {[3] = 1}} do\n"
               "  local ok, why = pcall(function() lg.host.bad = bad end)\n"
               "  assert(not ok and why:find('lg.host.bad', 1, true), why)\n"
               "end\n"
               "local ring = {} ring.ring = ring\n"
               "assert(not pcall(function() lg.host.bad = ring end))") == LG_OUTCOME_OK);
  value = got(session, "back");
  data = get(value);
  CHECK(data.n_items == 3 && data.n_fields == 1);
  OK(lg_table_item(value, 2, &inner));
  OK(lg_table_field(inner, "x", &item));
  data = get(item);
  CHECK(data.length == 3 && memcmp(data.text, "a\0b", 3) == 0);
  OK(lg_value_release(item));
  OK(lg_table_field_at(inner, 1, &name, NULL, &item));
  CHECK(strcmp(name, "y") == 0 && get(item).n_items == 1);
  OK(lg_value_release(item));
  OK(lg_value_release(inner));
  OK(lg_table_field(value, "n", &item));
  CHECK(get(item).kind == LG_TENSOR);
  OK(lg_value_release(item));
  OK(lg_value_release(value));
  value = got(session, "gone");
  CHECK(get(value).kind == LG_NONE);
  OK(lg_value_release(value));
  value = got(session, "count");
  CHECK(get(value).integer == INT64_MAX);
  OK(lg_value_release(value));
  OK(lg_session_set(session, "table", NULL));
  CHECK(finish(session, "assert(not pcall(function() return lg.host.table end))") == LG_OUTCOME_OK);
  GIVES(LG_INVALID_ARGUMENT, lg_session_set(session, "", NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_session_get(session, NULL, &value, NULL));
  GIVES(LG_INVALID_HANDLE, lg_session_set(session, "a", (lg_value *)engine));
  OK(lg_engine_close(engine)); /* closes the session */
  GIVES(LG_INVALID_HANDLE, lg_session_stop(session, LG_STOP_NOW));
}

/* ---- functions of the host ---- */

typedef struct {
  lg_engine *host_engine;
  lg_engine *kept_engine;
  lg_value *kept_value;
  lg_session *session;
  int calls;
} Functions;

/* f(x, y) = 2 x + y for tensors, with gradients. */
static lg_code combine(void *user, lg_engine *engine, lg_value *const *arguments, size_t n_arguments,
                       lg_value **results, size_t *n_results) {
  Functions *functions = (Functions *)user;
  lg_tensor *inputs[2], *twice = NULL, *sum = NULL;
  lg_param two = real_param("other", 2);
  const lg_op *mul, *add;
  lg_data data;
  size_t n = 1;
  ++functions->calls;
  if (n_arguments != 2) return lg_set_error(LG_INVALID_ARGUMENT, "two tensors expected");
  CHECK(*n_results == 32);
  if (lg_value_tensor(arguments[0], &inputs[0]) != LG_OK) return LG_VALUE; /* the message is lg_last_error()'s */
  OK(lg_value_tensor(arguments[1], &inputs[1]));
  OK(lg_op_find("mul", &mul));
  OK(lg_op_find("add", &add));
  OK(lg_call(engine, mul, inputs, 1, &two, 1, &twice, &n));
  inputs[0] = twice;
  if (lg_call(engine, add, inputs, 2, NULL, 0, &sum, &n) != LG_OK) return LG_VALUE;
  memset(&data, 0, sizeof data);
  data.struct_size = sizeof data;
  data.kind = LG_TENSOR;
  data.tensor = sum;
  OK(lg_value_make(engine, &data, &results[0]));
  results[1] = make_text(engine, "done");
  *n_results = 2;
  functions->kept_engine = engine;
  functions->kept_value = results[0];
  return LG_OK;
}

/* Makes the mistakes that a function of a host can make. */
static lg_code mistaken(void *user, lg_engine *engine, lg_value *const *arguments, size_t n_arguments,
                        lg_value **results, size_t *n_results) {
  Functions *functions = (Functions *)user;
  const int64_t way = n_arguments > 0 ? get(arguments[0]).integer : 0;
  lg_engine *own = NULL;
  lg_session *session = NULL;
  lg_engine_info info;
  *n_results = 0;
  switch (way) {
    case 1: /* the host's other handles belong to another thread */
      memset(&info, 0, sizeof info);
      info.struct_size = sizeof info;
      GIVES(LG_WRONG_THREAD, lg_engine_get_info(functions->host_engine, &info));
      GIVES(LG_WRONG_THREAD, lg_session_wait(functions->session, 0, NULL));
      GIVES(LG_WRONG_THREAD, lg_session_close(functions->session, 0));
      OK(lg_engine_get_info(engine, &info));
      break;
    case 2: /* what is for the host's engines */
      GIVES(LG_INVALID_ARGUMENT, lg_engine_close(engine));
      GIVES(LG_INVALID_ARGUMENT, lg_engine_stop(engine, 1));
      GIVES(LG_INVALID_ARGUMENT, lg_engine_set_log(engine, NULL, NULL));
      GIVES(LG_INVALID_ARGUMENT, lg_engine_set_memory_limit(engine, 1));
      GIVES(LG_INVALID_ARGUMENT, lg_session_open(engine, NULL, &session));
      OK(lg_engine_set_grad_enabled(engine, 0, NULL)); /* ends with the call */
      break;
    case 3: /* an engine of its own, on the session's thread */
      OK(lg_engine_open(NULL, &own));
      OK(lg_engine_set_grad_enabled(own, 0, NULL));
      results[0] = make(own, LG_INTEGER, 1, 0, NULL, 0);
      *n_results = 1; /* a value of another engine */
      functions->kept_engine = own;
      break;
    case 4:
      results[0] = arguments[0];
      *n_results = 33;
      break;
    case 5:
      results[0] = (lg_value *)engine;
      *n_results = 1;
      break;
    case 6:
      results[0] = arguments[0];
      OK(lg_value_release(arguments[0]));
      *n_results = 1;
      break;
    case 7:
      return LG_STOPPED;
    case 8:
      OK(lg_engine_close(functions->kept_engine));
      break;
    case 9: /* nil, and an argument as it is */
      results[1] = arguments[0];
      *n_results = 2;
      break;
    default:
      CHECK(get(arguments[0]).kind == LG_TABLE);
      results[0] = make(engine, LG_INTEGER, (int64_t)get(arguments[0]).n_items, 0, NULL, 0);
      *n_results = 1;
  }
  return LG_OK;
}

static void test_functions(void) {
  lg_engine *engine = open_engine();
  lg_session *session = open_session(engine, NULL);
  Functions functions;
  lg_data data;
  memset(&functions, 0, sizeof functions);
  functions.host_engine = engine;
  functions.session = session;
  OK(lg_session_add_function(session, "combine", combine, &functions));
  OK(lg_session_add_function(session, "mistaken", mistaken, &functions));
  CHECK(finish(session,
               "local x = lg.ones(3, {requires_grad = true})\n"
               "local y, word = lg.host.combine(x, x * 3)\n"
               "assert(word == 'done' and y:sum():item() == 15)\n"
               "y:sum():backward()\n"
               "assert(x.grad[1]:item() == 5, tostring(x.grad))\n"
               "local ok, why = pcall(lg.host.combine, x)\n"
               "assert(not ok and why:find 'two tensors expected', why)\n"
               "ok, why = pcall(lg.host.combine, 1, 2)\n"
               "assert(not ok and why:find 'a tensor is expected, and the value is an integer', why)\n"
               "ok, why = pcall(lg.host.combine, x, lg.ones(2))\n"
               "assert(not ok and why:find 'add', why)\n"
               "ok, why = pcall(lg.host.combine, print, 2)\n"
               "assert(not ok and why:find 'argument 1 is a function', why)\n"
               "assert(lg.host.mistaken {1, 2, 3} == 3)\n"
               "for way = 1, 2 do assert(select('#', lg.host.mistaken(way)) == 0) end\n"
               "assert(lg.is_grad_enabled())\n"
               "local sum = lg.ones(2, {requires_grad = true})\n"
               "for way = 3, 7 do\n"
               "  ok, why = pcall(lg.host.mistaken, way)\n"
               "  assert(not ok and type(why) == 'string', way)\n"
               "end\n"
               "assert((sum * 2).requires_grad)\n"
               "lg.host.mistaken(8)\n"
               "local a, b = lg.host.mistaken(9) assert(a == nil and b == 9)\n"
               "ok, why = pcall(function() lg.host.combine = 1 end)\n"
               "assert(not ok and why:find 'function of the program')") == LG_OUTCOME_OK);
  CHECK(functions.calls == 4);
  memset(&data, 0, sizeof data);
  data.struct_size = sizeof data;
  GIVES(LG_INVALID_HANDLE, lg_value_get(functions.kept_value, &data)); /* ended with the call */
  /* an error that is not caught ends the run */
  CHECK(finish(session, "\nlg.host.combine(1)") == LG_OUTCOME_ERROR);
  GIVES(LG_SCRIPT, lg_session_wait(session, 0, NULL));
  CHECK(strstr(last_error(), "two tensors expected") && strstr(last_error(), "script:2"));
  GIVES(LG_INVALID_ARGUMENT, lg_session_add_function(session, "none", NULL, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_session_add_function(session, "", combine, NULL));
  OK(lg_session_close(session, kLong));
  OK(lg_engine_close(engine));
}

/* ---- operations of the host ---- */

/* scaled(input, other = None, *, factor = 2, word = "w"): input * factor + other. */
static lg_code scale(void *user, lg_engine *engine, lg_tensor *const *inputs, size_t n_inputs,
                     const lg_param *params, size_t n_params, lg_tensor **outputs, size_t *n_outputs) {
  int *calls = (int *)user;
  lg_param factor = real_param("other", params[0].real);
  const lg_op *mul, *add;
  lg_tensor *product = NULL, *pair[2];
  size_t n = 1;
  ++*calls;
  CHECK(n_inputs == 2 && n_params == 3 && *n_outputs == 16);
  CHECK(params[0].kind == LG_REAL && strcmp(params[0].name, "factor") == 0);
  CHECK(params[1].kind == LG_TEXT && params[2].kind == LG_INTEGERS);
  if (strcmp(params[1].text, "fail") == 0) return lg_set_error(LG_NUMERIC, "the word is fail");
  if (strcmp(params[1].text, "list") == 0)
    CHECK(params[2].list_length == 2 && params[2].list[0] == 0 && params[2].list[1] == -1);
  if (strcmp(params[1].text, "none") == 0) {
    *n_outputs = 0;
    return LG_OK;
  }
  if (strcmp(params[1].text, "wrong") == 0) {
    outputs[0] = (lg_tensor *)engine;
    *n_outputs = 1;
    return LG_OK;
  }
  OK(lg_op_find("mul", &mul));
  OK(lg_op_find("add", &add));
  OK(lg_call(engine, mul, inputs, 1, &factor, 1, &product, &n));
  *n_outputs = 1;
  outputs[0] = product;
  if (!inputs[1]) return LG_OK;
  pair[0] = product;
  pair[1] = inputs[1];
  return lg_call(engine, add, pair, 2, NULL, 0, outputs, n_outputs);
}

/* cube(x) of f32 on the CPU, and its gradient, in C. */
static lg_code cube(void *user, lg_engine *engine, lg_tensor *const *inputs, size_t n_inputs,
                    const lg_param *params, size_t n_params, lg_tensor **outputs, size_t *n_outputs) {
  lg_tensor_info info;
  float values[16];
  size_t i;
  (void)user, (void)n_inputs, (void)params, (void)n_params;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  if (lg_tensor_get_info(inputs[0], &info) != LG_OK) return LG_INTERNAL;
  if (info.dtype != LG_F32 || info.numel > 16) return lg_set_error(LG_VALUE, "cube takes at most 16 f32");
  OK(lg_tensor_read(inputs[0], values, (size_t)info.nbytes));
  for (i = 0; i < (size_t)info.numel; ++i) values[i] = values[i] * values[i] * values[i];
  *n_outputs = 1;
  return lg_tensor_from(engine, values, (size_t)info.nbytes, LG_F32, info.shape, info.ndim, NULL,
                        &outputs[0]);
}
static lg_code cube_backward(void *user, lg_engine *engine, lg_tensor *const *inputs, size_t n_inputs,
                             const lg_param *params, size_t n_params, lg_tensor *const *outputs,
                             lg_tensor *const *grads, size_t n_outputs, lg_tensor **input_grads) {
  const lg_op *mul;
  lg_param three = real_param("other", 3);
  lg_tensor *pair[2], *square = NULL;
  size_t n = 1;
  (void)user, (void)params;
  CHECK(n_inputs == 1 && n_params == 0 && n_outputs == 1 && outputs[0] != NULL);
  OK(lg_op_find("mul", &mul));
  pair[0] = pair[1] = inputs[0];
  OK(lg_call(engine, mul, pair, 2, NULL, 0, &square, &n));
  OK(lg_call(engine, mul, &square, 1, &three, 1, &pair[0], &n));
  pair[1] = grads[0];
  return lg_call(engine, mul, pair, 2, NULL, 0, &input_grads[0], &n);
}

static void test_ops(void) {
  lg_engine *engine = open_engine();
  lg_session *session = open_session(engine, NULL);
  lg_argument_info inputs[2], params[3];
  const int64_t axes[2] = {0, -1};
  lg_host_op op;
  int calls = 0, i;
  memset(&op, 0, sizeof op);
  memset(inputs, 0, sizeof inputs);
  memset(params, 0, sizeof params);
  for (i = 0; i < 2; ++i) inputs[i].struct_size = sizeof inputs[i];
  for (i = 0; i < 3; ++i) params[i].struct_size = sizeof params[i];
  inputs[0].name = "input";
  inputs[0].flags = LG_ARGUMENT_REQUIRED;
  inputs[1].name = "other";
  params[0].name = "factor";
  params[0].kind = params[0].default_kind = LG_REAL;
  params[0].default_real = 2;
  params[1].name = "word";
  params[1].kind = params[1].default_kind = LG_TEXT;
  params[1].default_text = "w";
  params[2].name = "axes";
  params[2].kind = params[2].default_kind = LG_INTEGERS;
  params[2].default_list = axes;
  params[2].default_list_length = 2;
  op.struct_size = sizeof op;
  op.name = "scaled";
  op.sentence = "input times factor plus other.";
  op.inputs = inputs;
  op.n_inputs = 2;
  op.params = params;
  op.n_params = 3;
  op.user = &calls;
  GIVES(LG_INVALID_ARGUMENT, lg_session_add_op(session, &op)); /* there is no forward */
  op.forward = scale;
  op.name = "softmax";
  GIVES(LG_VALUE, lg_session_add_op(session, &op));
  op.name = "no name";
  GIVES(LG_VALUE, lg_session_add_op(session, &op));
  op.name = "scaled";
  params[2].kind = LG_CHOICE;
  GIVES(LG_INVALID_ARGUMENT, lg_session_add_op(session, &op));
  params[2].kind = LG_REAL;
  GIVES(LG_VALUE, lg_session_add_op(session, &op)); /* the default is no real */
  params[2].kind = LG_INTEGERS;
  OK(lg_session_add_op(session, &op));
  GIVES(LG_VALUE, lg_session_add_op(session, &op)); /* it is there already */
  op.struct_size = 1;
  GIVES(LG_BAD_STRUCT, lg_session_add_op(session, &op));
  op.struct_size = sizeof op;
  op.name = "cube";
  op.n_inputs = 1;
  op.n_params = 0;
  op.forward = cube;
  op.backward = cube_backward;
  OK(lg_session_add_op(session, &op));
  memset(inputs, 0, sizeof inputs); /* everything was copied */
  CHECK(finish(session,
               "local x = lg.full({2}, 3.0, {requires_grad = true})\n"
               "local y = lg.host.scaled(x)\n"
               "assert(y[1]:item() == 6)\n"
               "y = lg.host.scaled(x, x, {factor = 5, word = 'list'})\n"
               "assert(y[1]:item() == 18)\n"
               "y:sum():backward()\n"
               "assert(x.grad[1]:item() == 6)\n"
               "x.grad = nil\n"
               "y = lg.host.cube(x)\n"
               "assert(y[2]:item() == 27)\n"
               "y:sum():backward()\n"
               "assert(x.grad[2]:item() == 27, tostring(x.grad))\n"
               "local function fails(word, ...)\n"
               "  local ok, why = pcall(...)\n"
               "  assert(not ok and why:find(word, 1, true), why)\n"
               "end\n"
               "fails('the word is fail', lg.host.scaled, x, {word = 'fail'})\n"
               "fails('0 results', lg.host.scaled, x, {word = 'none'})\n"
               "fails('lg_tensor', lg.host.scaled, x, {word = 'wrong'})\n"
               "fails('nothing', lg.host.scaled, x, {nothing = 1})\n"
               "fails('scaled', lg.host.scaled)\n"
               "fails('cube takes', lg.host.cube, lg.zeros(17))\n"
               "fails('cube takes', lg.host.cube, x:to('f64'))") == LG_OUTCOME_OK);
  CHECK(calls == 5);
  OK(lg_session_close(session, kLong));
  OK(lg_engine_close(engine));
}

static int32_t seen = 0;
static lg_code hold(void *user, lg_engine *engine, lg_value *const *arguments, size_t n_arguments,
                    lg_value **results, size_t *n_results) {
  struct timespec pause = {1, 0};
  (void)user, (void)engine, (void)arguments, (void)n_arguments, (void)results;
  *n_results = 0;
  __atomic_store_n(&seen, 1, __ATOMIC_SEQ_CST);
  nanosleep(&pause, NULL);
  __atomic_store_n(&seen, 2, __ATOMIC_SEQ_CST);
  return LG_OK;
}

/* A function of the host that takes longer than the deadline of the close. */
static void test_long_function(void) {
  lg_engine *engine = open_engine();
  lg_session *session = open_session(engine, NULL);
  struct timespec pause = {0, 1000000};
  double begun;
  OK(lg_session_add_function(session, "hold", hold, NULL));
  OK(start(session, "while true do lg.host.hold() end"));
  while (__atomic_load_n(&seen, __ATOMIC_SEQ_CST) == 0) nanosleep(&pause, NULL);
  begun = now();
  GIVES(LG_TIMED_OUT, lg_session_close(session, 0.1));
  CHECK(now() - begun < 0.9);
  pause.tv_sec = 2; /* the session's thread ends after this call, and makes no other */
  nanosleep(&pause, NULL);
  CHECK(__atomic_load_n(&seen, __ATOMIC_SEQ_CST) == 2);
  OK(lg_engine_close(engine));
}

int main(int argc, char **argv) {
  test_values();
  if (argc > 1 && strcmp(argv[1], "none") == 0) return end_of_checks("exchange");
  test_exchange();
  test_functions();
  test_ops();
  test_long_function();
  return end_of_checks("exchange");
}
