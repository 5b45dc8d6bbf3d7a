/* Random calls of the C library: handles that are right, released, of another kind, of another engine and
 * nonsense, wrong sizes, kinds and null pointers, from two threads with an engine each. Every call must
 * return a code that the header has, and what is right must still work at the end. random [SECONDS] [SEED] */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

enum { kHandles = 64, kValues = 16, kNoted = 16, kCodes = LG_SCRIPT + 1 };
/* Handles of both threads, which each may use by mistake. */
static void *noted[kNoted];

typedef struct {
  uint64_t state;
  lg_engine *engine;
  lg_tensor *tensors[kHandles];
  lg_value *values[kValues];
  lg_session *session; /* NULL in a library without scripts */
  long calls, good, codes[kCodes];
  int bad;
} Host;

static uint64_t draw(Host *h) { /* xorshift64 */
  h->state ^= h->state << 13;
  h->state ^= h->state >> 7;
  h->state ^= h->state << 17;
  return h->state;
}
static size_t below(Host *h, size_t n) { return (size_t)((draw(h) >> 11) % n); }
static int one_in(Host *h, size_t n) { return below(h, n) == 0; }

static void *nonsense(Host *h) {
  switch (below(h, 8)) {
    case 0:
      return NULL;
    case 5:
      return h->values[below(h, kValues)];
    case 6:
      return h->session;
    case 1:
      return (void *)(uintptr_t)draw(h);
    case 2: /* another use, or another kind, of a place */
      return (void *)((uintptr_t)h->tensors[below(h, kHandles)] ^ ((uintptr_t)1 << (32 + below(h, 8))));
    case 3:
      return h->engine;
    case 4:
      return (void *)(uintptr_t)(((uint64_t)below(h, 8) << 32) | below(h, 1 << 20));
    default:
      return __atomic_load_n(&noted[below(h, kNoted)], __ATOMIC_ACQUIRE);
  }
}
static lg_tensor *a_tensor(Host *h) {
  return one_in(h, 20) ? (lg_tensor *)nonsense(h) : h->tensors[below(h, kHandles)];
}
static lg_engine *an_engine(Host *h) { return one_in(h, 50) ? (lg_engine *)nonsense(h) : h->engine; }

static void note(Host *h, lg_code code) {
  ++h->calls;
  if (code < LG_OK || code >= kCodes || code == LG_INTERNAL) {
    ++h->bad;
    printf("code %d: %s\n", (int)code, last_error());
    return;
  }
  ++h->codes[code];
  if (code == LG_OK) ++h->good;
}
/* Puts a new handle at a random place, whose old handle is released. */
static void keep(Host *h, lg_code code, lg_tensor *made) {
  const size_t place = below(h, kHandles);
  note(h, code);
  if (code != LG_OK || !made) return;
  note(h, lg_tensor_release(h->tensors[place]));
  h->tensors[place] = made;
  if (one_in(h, 8)) __atomic_store_n(&noted[below(h, kNoted)], (void *)made, __ATOMIC_RELEASE);
}

static void a_shape(Host *h, int64_t *shape, size_t *ndim) {
  size_t i;
  *ndim = one_in(h, 40) ? below(h, 12) : below(h, 4);
  for (i = 0; i < 12; ++i) {
    shape[i] = one_in(h, 200) ? (int64_t)draw(h) : (int64_t)below(h, 5);
    if (one_in(h, 200)) shape[i] = -1 - (int64_t)below(h, 3);
  }
}

static lg_param random_param(Host *h, const char *name, lg_kind kind, const lg_argument_info *info,
                             int64_t *list) {
  static const char *const texts[] = {"f32", "f64", "bool",      "same", "mean",     "sum",    "none",
                                      "i64", "cpu", "ij,jk->ik", "",     "nonsense", "nearest"};
  lg_param param = a_param(name, kind == LG_NUMBER ? (lg_kind)(LG_INTEGER + (lg_kind)below(h, 2)) : kind);
  size_t i;
  if (one_in(h, 15)) param.kind = (lg_kind)below(h, 13) - 1;
  param.integer = one_in(h, 20) ? (int64_t)draw(h) : (int64_t)below(h, 5) - 1;
  if (param.kind == LG_BOOLEAN && !one_in(h, 20)) param.integer = (int64_t)below(h, 2);
  param.real = one_in(h, 20) ? 1e300 * 1e300 : (double)below(h, 9) / 4 - 1;
  param.text = one_in(h, 30) ? NULL : texts[below(h, sizeof texts / sizeof *texts)];
  if (info->n_choices > 0 && (kind == LG_CHOICE || one_in(h, 4))) {
    param.text = info->choices[below(h, info->n_choices)];
    param.kind = LG_TEXT;
  }
  if (param.kind == LG_CHOICE) param.kind = LG_TEXT;
  for (i = 0; i < LG_MAX_DIMS; ++i) list[i] = one_in(h, 100) ? (int64_t)draw(h) : (int64_t)below(h, 4);
  param.list = one_in(h, 50) ? NULL : list;
  param.list_length = one_in(h, 50) ? below(h, 20) : below(h, 4);
  param.tensor = a_tensor(h);
  if (one_in(h, 200)) param.struct_size = (uint32_t)below(h, 100);
  if (one_in(h, 200)) param.name = one_in(h, 2) ? NULL : "other";
  return param;
}

static void call_an_op(Host *h) {
  const lg_op *op = NULL;
  lg_op_info info;
  lg_tensor *inputs[8], *outputs[16];
  lg_param params[24];
  int64_t lists[24][LG_MAX_DIMS];
  size_t count = 0, n_inputs, n_params = 0, n_outputs, i;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  note(h, lg_op_count(&count));
  note(h, lg_op_at(below(h, count), &op));
  note(h, lg_op_get_info(op, &info));
  n_inputs = info.flags & LG_OP_LIST ? below(h, 6) : info.n_inputs;
  if (one_in(h, 30)) n_inputs = below(h, 8);
  if (n_inputs > 8) n_inputs = 8;
  for (i = 0; i < n_inputs; ++i) inputs[i] = a_tensor(h);
  for (i = 0; i < info.n_params && n_params < 20; ++i) {
    lg_argument_info argument;
    memset(&argument, 0, sizeof argument);
    argument.struct_size = sizeof argument;
    note(h, lg_op_get_param(op, i, &argument));
    if (!(argument.flags & LG_ARGUMENT_REQUIRED) && !one_in(h, 3)) continue;
    params[n_params] = random_param(h, argument.name, argument.kind, &argument, lists[n_params]);
    ++n_params;
  }
  if (one_in(h, 100)) op = (const lg_op *)nonsense(h);
  n_outputs = one_in(h, 20) ? 0 : 16;
  {
    const lg_code code =
        lg_call(an_engine(h), op, one_in(h, 200) ? NULL : inputs, n_inputs, one_in(h, 200) ? NULL : params,
                n_params, outputs, one_in(h, 100) ? NULL : &n_outputs);
    note(h, code);
    if (code != LG_OK) return;
  }
  for (i = 0; i < n_outputs; ++i) keep(h, LG_OK, outputs[i]);
}

static lg_value *a_value(Host *h) {
  return one_in(h, 20) ? (lg_value *)nonsense(h) : h->values[below(h, kValues)];
}
static void keep_value(Host *h, lg_code code, lg_value *made) {
  const size_t place = below(h, kValues);
  note(h, code);
  if (code != LG_OK) return;
  note(h, lg_value_release(h->values[place]));
  h->values[place] = made;
}

static void use_values(Host *h) {
  static const char *const names[] = {"a", "b", "", "c", NULL};
  const char *name = one_in(h, 10) ? names[below(h, 5)] : names[below(h, 2)], *found;
  lg_value *made = NULL;
  lg_data data;
  size_t length;
  memset(&data, 0, sizeof data);
  data.struct_size = one_in(h, 50) ? (uint32_t)below(h, 60) : (uint32_t)sizeof data;
  data.kind = (lg_kind)(one_in(h, 20) ? below(h, 13) : below(h, 2) ? LG_TABLE : below(h, 5)) - one_in(h, 50);
  data.integer = (int64_t)below(h, one_in(h, 10) ? 3 : 2);
  data.text = one_in(h, 30) ? NULL : "text";
  data.length = below(h, 5);
  data.tensor = a_tensor(h);
  if (one_in(h, 5)) data.kind = LG_TENSOR;
  switch (below(h, 9)) {
    case 0:
      keep_value(h, lg_value_make(an_engine(h), &data, &made), made);
      return;
    case 1:
      note(h, lg_value_get(a_value(h), &data));
      return;
    case 2: {
      lg_tensor *tensor = NULL;
      keep(h, lg_value_tensor(a_value(h), &tensor), tensor);
      return;
    }
    case 3:
      keep_value(h, lg_table_item(a_value(h), below(h, 3), &made), made);
      return;
    case 4:
      note(h, lg_table_set_item(a_value(h), below(h, 4), one_in(h, 10) ? NULL : a_value(h)));
      return;
    case 5:
      keep_value(h, lg_table_field(a_value(h), name, &made), made);
      return;
    case 6:
      note(h, lg_table_set_field(a_value(h), name, one_in(h, 3) ? NULL : a_value(h)));
      return;
    case 7:
      keep_value(h, lg_table_field_at(a_value(h), below(h, 3), &found, &length, &made), made);
      return;
    default:
      note(h, lg_value_release(h->values[below(h, kValues)])); /* the handle stays here: a released one */
  }
}

/* A function of the host, which is as careless. */
static lg_code careless(void *user, lg_engine *engine, lg_value *const *arguments, size_t n_arguments,
                        lg_value **results, size_t *n_results) {
  const uintptr_t way = (uintptr_t)user % 5;
  lg_tensor *x = NULL;
  if (n_arguments > 0 && lg_value_tensor(arguments[0], &x) == LG_OK) lg_tensor_set_requires_grad(x, 1);
  lg_engine_set_device(engine, "cpu");
  lg_engine_close(engine);
  *n_results = way == 0 ? 1000 : way;
  results[0] = n_arguments > 0 ? arguments[0] : NULL;
  if (way == 3) results[1] = (lg_value *)x;
  return way == 4 ? LG_VALUE : LG_OK;
}

static void use_session(Host *h) {
  static const char *const scripts[] = {
      "lg.host.a = lg.host.b",
      "lg.host.b = lg.ones(3)",
      "for step in lg.run.steps(3) do lg.host.a = {step, x = lg.ones(step)} end",
      "lg.host.f(lg.ones(2), 1, {a = 'b'})",
      "while true do end",
      "this is no Lua",
      "local x = lg.ones(2, {requires_grad = true}) x:sum():backward() lg.run.log {loss = 1}",
      ""};
  lg_session *session = one_in(h, 30) ? (lg_session *)nonsense(h) : h->session;
  const char *script = scripts[below(h, 8)], *name = one_in(h, 10) ? "f" : one_in(h, 2) ? "a" : "b";
  const double seconds = one_in(h, 30) ? 0.02 : 0;
  lg_value *made = NULL;
  lg_text *text = NULL;
  lg_run run;
  lg_event event;
  lg_session_info info;
  int32_t number;
  int64_t step;
  memset(&run, 0, sizeof run);
  memset(&event, 0, sizeof event);
  memset(&info, 0, sizeof info);
  run.struct_size = one_in(h, 50) ? (uint32_t)below(h, 90) : (uint32_t)sizeof run;
  run.flags = LG_RUN_PRELOAD | (uint32_t)one_in(h, 3) | (uint32_t)(one_in(h, 100) << 7);
  event.struct_size = one_in(h, 50) ? (uint32_t)below(h, 100) : (uint32_t)sizeof event;
  info.struct_size = sizeof info;
  switch (below(h, 18)) {
    case 0:
      if (one_in(h, 4)) note(h, lg_session_run_text(session, script, strlen(script), &run));
      return;
    case 1:
      if (one_in(h, 20)) note(h, lg_session_run_file(session, "/none", &run));
      return;
    case 2:
      note(h, lg_session_step(session, seconds, &number));
      return;
    case 3:
      note(h, lg_session_pause(session));
      return;
    case 4:
      note(h, lg_session_resume(session));
      return;
    case 5:
      note(h, lg_session_stop(session, (int32_t)below(h, 3)));
      return;
    case 6:
      note(h, lg_session_wait(session, seconds, &number));
      return;
    case 7:
      note(h, lg_session_get_info(session, &info));
      return;
    case 8:
      note(h, lg_session_evaluate(session, one_in(h, 2) ? "1 + 1" : script, seconds, &text));
      note(h, lg_text_release(text));
      return;
    case 9:
      note(h, lg_session_set_param(session, name, "1"));
      return;
    case 10:
    case 11:
      note(h, lg_session_set(session, name, a_value(h)));
      return;
    case 12:
    case 13:
      keep_value(h, lg_session_get(session, name, &made, &step), made);
      return;
    case 14:
      note(h, lg_session_add_function(session, name, one_in(h, 20) ? NULL : careless, (void *)below(h, 5)));
      return;
    case 15:
      note(h, lg_session_poll_event(session, seconds, &event));
      return;
    case 16:
      note(h, lg_session_tape(session, &text));
      note(h, lg_text_release(text));
      return;
    default:
      if (!one_in(h, 10)) return;
      note(h, lg_session_close(h->session, one_in(h, 5) ? 0 : 5));
      h->session = NULL;
  }
}

static void open_a_session(Host *h) {
  lg_session_options options;
  lg_code code;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.event_limit = below(h, 20);
  options.flags = one_in(h, 2) ? LG_SESSION_TAPE : 0;
  options.close_seconds = 1;
  code = lg_session_open(h->engine, &options, &h->session);
  note(h, code);
}

static void do_one(Host *h) {
  int64_t shape[12];
  size_t ndim = 0, bytes = 64;
  float values[256];
  lg_tensor *made = NULL;
  union { /* room for the sizes that it says */
    lg_tensor_info info;
    char room[300];
  } described;
  a_shape(h, shape, &ndim);
  memset(values, 0, sizeof values);
  memset(&described, 0, sizeof described);
  described.info.struct_size = one_in(h, 50) ? (uint32_t)below(h, 300) : (uint32_t)sizeof described.info;
  switch (below(h, 28)) {
    case 24:
    case 25:
      use_values(h);
      return;
    case 26:
    case 27:
      if (!h->session && one_in(h, 20)) open_a_session(h);
      if (h->session) use_session(h);
      return;
    case 0:
      keep(h, lg_tensor_zeros(an_engine(h), (lg_dtype)below(h, 12) - 1, shape, ndim, NULL, &made), made);
      return;
    case 1:
      keep(h,
           lg_tensor_empty(an_engine(h), (lg_dtype)below(h, 10), shape, ndim, one_in(h, 50) ? "x" : "cpu",
                           &made),
           made);
      return;
    case 2: {
      int64_t numel = 1;
      size_t i;
      for (i = 0; i < ndim && i < 12; ++i) numel *= shape[i] > 0 && shape[i] < 6 ? shape[i] : 1;
      bytes = numel > 0 && numel < 256 ? (size_t)numel * 4 : 1024;
      keep(h, lg_tensor_from(an_engine(h), values, bytes, LG_F32, shape, ndim, NULL, &made), made);
      return;
    }
    case 3: {
      lg_tensor *x = a_tensor(h);
      lg_code code = lg_tensor_get_info(x, &described.info);
      note(h, code);
      if (code == LG_OK && described.info.struct_size == sizeof described.info &&
          described.info.nbytes <= sizeof values) {
        note(h, lg_tensor_read(x, values, (size_t)described.info.nbytes));
        note(h, lg_tensor_write(x, values, (size_t)described.info.nbytes));
        note(h, lg_tensor_read(x, values, (size_t)described.info.nbytes + 1));
      }
      return;
    }
    case 4: {
      void *data;
      note(h, lg_tensor_data(a_tensor(h), (int32_t)below(h, 2), &data));
      return;
    }
    case 5: {
      double value;
      note(h, lg_tensor_item(a_tensor(h), one_in(h, 50) ? NULL : &value));
      return;
    }
    case 6:
      keep(h, lg_tensor_to(a_tensor(h), one_in(h, 2) ? NULL : "cpu", (lg_dtype)below(h, 12) - 1, &made),
           made);
      return;
    case 7:
      keep(h, lg_tensor_detach(a_tensor(h), &made), made);
      return;
    case 8:
      note(h, lg_tensor_set_requires_grad(a_tensor(h), (int32_t)below(h, 2)));
      return;
    case 9:
      note(h, lg_backward(a_tensor(h), one_in(h, 2) ? NULL : a_tensor(h), (uint32_t)below(h, 5)));
      return;
    case 10:
      keep(h, lg_tensor_grad(a_tensor(h), &made), made);
      return;
    case 11:
      note(h, lg_tensor_set_grad(a_tensor(h), one_in(h, 2) ? NULL : a_tensor(h)));
      return;
    case 12: {
      lg_tensor *outputs[2], *inputs[2], *grads[2] = {NULL, NULL};
      lg_code code;
      outputs[0] = a_tensor(h);
      inputs[0] = a_tensor(h);
      inputs[1] = a_tensor(h);
      outputs[1] = a_tensor(h);
      code = lg_grad(outputs, below(h, 3), inputs, 1 + below(h, 2), NULL, (uint32_t)below(h, 9), grads);
      note(h, code);
      if (code == LG_OK) keep(h, code, grads[0]), keep(h, code, grads[1]);
      return;
    }
    case 13: {
      const size_t place = below(h, kHandles);
      note(h, lg_tensor_release(h->tensors[place])); /* the handle stays here: a released one */
      return;
    }
    case 14: {
      lg_text *text = NULL;
      const char *got;
      note(h, lg_device_missing(an_engine(h), &text));
      note(h, lg_text_get(one_in(h, 4) ? (lg_text *)nonsense(h) : text, &got, NULL));
      note(h, lg_text_release(text));
      note(h, lg_text_release(text));
      return;
    }
    case 15: {
      int32_t before;
      note(h, lg_engine_set_grad_enabled(an_engine(h), (int32_t)below(h, 5), &before));
      note(h, lg_engine_set_seed(an_engine(h), draw(h)));
      return;
    }
    case 16:
      if (one_in(h, 20)) {
        void *engine = nonsense(h);
        if (engine != h->engine) note(h, lg_engine_close((lg_engine *)engine));
        note(h, lg_engine_stop((lg_engine *)nonsense(h), 0));
      }
      return;
    default:
      call_an_op(h);
  }
}

static double limit_s = 3;
static void *run_host(void *argument) {
  Host *h = (Host *)argument;
  const clock_t end = clock() + (clock_t)(limit_s * CLOCKS_PER_SEC);
  lg_engine_options options;
  int round = 0;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.memory_limit = (uint64_t)512 << 20;
  do {
    int i;
    note(h, lg_engine_open(&options, &h->engine));
    h->session = NULL;
    __atomic_store_n(&noted[below(h, kNoted)], (void *)h->engine, __ATOMIC_RELEASE);
    for (i = 0; i < 3000 && clock() < end; ++i) do_one(h);
    {
      const float values[2] = {1, 2};
      int64_t size[1] = {2};
      lg_tensor *x = NULL, *y = NULL;
      float read[2] = {0, 0};
      lg_tensor *inputs[2];
      size_t n = 1;
      const lg_op *op = NULL;
      note(h, lg_tensor_from(h->engine, values, 8, LG_F32, size, 1, NULL, &x));
      inputs[0] = inputs[1] = x;
      note(h, lg_op_find("mul", &op));
      note(h, lg_call(h->engine, op, inputs, 2, NULL, 0, &y, &n));
      note(h, lg_tensor_read(y, read, 8));
      if (read[0] != 1 || read[1] != 4) ++h->bad, printf("a product is wrong\n");
    }
    note(h, lg_engine_close(h->engine));
    ++round;
  } while (clock() < end);
  printf("%d engines, %ld calls, %ld good\n", round, h->calls, h->good);
  return NULL;
}

int main(int argc, char **argv) {
  static Host hosts[2];
  pthread_t threads[2];
  int i, k, bad = 0;
  if (argc > 1) limit_s = atof(argv[1]);
  for (i = 0; i < 2; ++i) {
    hosts[i].state =
        88172645463325252u + (uint64_t)i * 77777 + (argc > 2 ? (uint64_t)atoll(argv[2]) * 1315423911u : 0);
    pthread_create(&threads[i], NULL, run_host, &hosts[i]);
  }
  for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (k = 0; k < kCodes; ++k) {
    const char *name = NULL;
    lg_code_text(k, &name, NULL);
    printf("%-18s %ld\n", name, hosts[0].codes[k] + hosts[1].codes[k]);
  }
  for (i = 0; i < 2; ++i) bad += hosts[i].bad || hosts[i].good == 0;
  return bad != 0;
}
