/* Runs a script of training step by step. The script gets its target from this program, calls a function of the
 * program, and gives the program what it has found. */
#include <lunagrad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const script =
    "local lg = require 'lunagrad'\n"
    "local w = lg.zeros(2, {requires_grad = true})\n"
    "local optimizer = lg.optim.SGD({w}, {lr = 0.2})\n"
    "for step in lg.run.steps(50) do\n"
    "  local loss = lg.host.distance(w, lg.host.target):sum()\n"
    "  optimizer:zero_grad()\n"
    "  loss:backward()\n"
    "  optimizer:step()\n"
    "  lg.host.found = {w = w, loss = loss:item()}\n"
    "end\n"
    "print('the script has ended')\n";

static lg_code ok(lg_code code) {
  const char *name = "", *text = "";
  if (code == LG_OK) return code;
  lg_last_error(&text, NULL);
  lg_code_text(code, &name, NULL);
  fprintf(stderr, "%s: %s\n", name, text);
  exit(1);
}

/* On the session's thread: what the script prints, and its errors. */
static void show(void *user, int32_t stream, const char *text, size_t length) {
  (void)user;
  fwrite(text, 1, length, stream == LG_STREAM_OUT ? stdout : stderr);
}

static lg_value *value_of_tensor(lg_engine *engine, lg_tensor *tensor) {
  lg_data data;
  lg_value *value = NULL;
  memset(&data, 0, sizeof data);
  data.struct_size = sizeof data;
  data.kind = LG_TENSOR;
  data.tensor = tensor;
  lg_value_make(engine, &data, &value);
  return value;
}

/* lg.host.distance(a, b): the squares of a - b. On the session's thread; its operations have gradients. */
static lg_code distance(void *user, lg_engine *engine, lg_value *const *arguments, size_t n_arguments,
                        lg_value **results, size_t *n_results) {
  const lg_op *sub, *square;
  lg_tensor *pair[2], *difference, *squares;
  size_t n = 1;
  lg_code code;
  (void)user;
  if (n_arguments != 2) return lg_set_error(LG_INVALID_ARGUMENT, "distance takes two tensors");
  if ((code = lg_value_tensor(arguments[0], &pair[0])) != LG_OK) return code;
  if ((code = lg_value_tensor(arguments[1], &pair[1])) != LG_OK) return code;
  if ((code = lg_op_find("sub", &sub)) != LG_OK) return code;
  if ((code = lg_op_find("square", &square)) != LG_OK) return code;
  if ((code = lg_call(engine, sub, pair, 2, NULL, 0, &difference, &n)) != LG_OK) return code;
  if ((code = lg_call(engine, square, &difference, 1, NULL, 0, &squares, &n)) != LG_OK) return code;
  results[0] = value_of_tensor(engine, squares);
  *n_results = 1;
  return LG_OK;
}

int main(void) {
  const float target[2] = {3, -1};
  const int64_t shape[1] = {2};
  float w[2] = {0, 0};
  lg_engine *engine;
  lg_session *session;
  lg_session_options options;
  lg_run run;
  lg_tensor *tensor;
  lg_value *value, *field;
  int32_t end = 0;
  int steps = 0;

  ok(lg_engine_open(NULL, &engine));
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.sink = show;
  ok(lg_session_open(engine, &options, &session));
  ok(lg_session_add_function(session, "distance", distance, NULL));
  ok(lg_tensor_from(engine, target, sizeof target, LG_F32, shape, 1, NULL, &tensor));
  value = value_of_tensor(engine, tensor);
  ok(lg_session_set(session, "target", value));
  ok(lg_value_release(value));
  ok(lg_tensor_release(tensor));

  memset(&run, 0, sizeof run);
  run.struct_size = sizeof run;
  run.flags = LG_RUN_PAUSED;
  ok(lg_session_run_text(session, script, strlen(script), &run));
  for (;;) {
    ok(lg_session_step(session, 10, &end));
    if (end == LG_STEP_ENDED) break;
    ++steps; /* the program may draw, read lg.host.found, set lg.host.target */
  }
  ok(lg_session_get(session, "found", &value, NULL));
  ok(lg_table_field(value, "w", &field));
  ok(lg_value_tensor(field, &tensor));
  ok(lg_tensor_read(tensor, w, sizeof w));
  printf("%d steps: %.3f %.3f\n", steps, w[0], w[1]);
  ok(lg_session_close(session, 10));
  ok(lg_engine_close(engine)); /* releases tensors and values */
  return steps == 50 && w[0] > 2.99f && w[1] < -0.99f ? 0 : 1;
}
