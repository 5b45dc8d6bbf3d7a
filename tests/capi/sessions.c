/* A host in C with sessions: opens and closes them, runs, steps and stops scripts, evaluates lines, reads events
 * and tapes, and makes the mistakes that a host can make. Built by gcc and clang as C99. sessions [none]: with
 * `none`, the library was built without scripts. */
#define _POSIX_C_SOURCE 200809L
#include "session_check.h"

static void test_runs(void) {
  lg_engine *engine = open_engine();
  Told told;
  lg_session *session;
  lg_run run;
  int32_t outcome = -1;
  FILE *file;
  const char *arguments[2] = {"one", "two"}, *params[1] = {"rate=0.25"};
  begin_told(&told);
  session = open_session(engine, &told);
  OK(lg_session_wait(session, 0, &outcome)); /* there was no run */
  CHECK(outcome == LG_OUTCOME_OK);

  CHECK(finish(session, "print('out') io.write('w') io.stderr:write('err') assert(lg)") == LG_OUTCOME_OK);
  CHECK(strcmp(told.streams[LG_STREAM_OUT], "out\nw") == 0);
  CHECK(strcmp(told.streams[LG_STREAM_ERR], "err") == 0);
  CHECK(told.events[LG_EVENT_OUTPUT] == 3 && told.events[LG_EVENT_ENDED] == 1);

  OK(start(session, "local x <const> = 1\nerror('it went wrong')"));
  GIVES(LG_SCRIPT, lg_session_wait(session, kLong, &outcome));
  CHECK(outcome == LG_OUTCOME_ERROR && strstr(last_error(), "it went wrong"));
  CHECK(strstr(told.streams[LG_STREAM_ERROR], "it went wrong") != NULL);
  CHECK(finish(session, "os.exit(3)") == LG_OUTCOME_ERROR);
  GIVES(LG_SCRIPT, lg_session_wait(session, kLong, NULL));
  CHECK(strstr(last_error(), "exit code 3") != NULL);
  CHECK(finish(session, "this is no Lua") == LG_OUTCOME_ERROR);
  CHECK(finish(session, "local x = lg.zeros(2) + lg.zeros(3)") == LG_OUTCOME_ERROR);
  CHECK(finish(session, "") == LG_OUTCOME_OK);

  run = paused_run();
  run.flags = LG_RUN_PRELOAD;
  run.name = "given";
  run.arguments = arguments;
  run.n_arguments = 2;
  run.params = params;
  run.n_params = 1;
  run.seed = 5;
  {
    const char *script =
        "assert(select('#', ...) == 2 and arg[2] == 'two')\n"
        "lg.host.rate = lg.run.param('rate', 1.0)\n"
        "lg.host.drawn = lg.rand(1)[1]\n"
        "lg.host.where = debug.getinfo(1).short_src\n";
    OK(lg_session_run_text(session, script, strlen(script), &run));
    OK(lg_session_wait(session, kLong, NULL));
    CHECK(got_real(session, "rate") == 0.25);
    CHECK(got_text(session, "where", "given"));
  }
  params[0] = "unknown=1";
  OK(lg_session_run_text(session, "for s in lg.run.steps(1) do end", 31, &run));
  GIVES(LG_SCRIPT, lg_session_wait(session, kLong, &outcome));
  CHECK(outcome == LG_OUTCOME_USAGE);
  params[0] = "nothing";
  GIVES(LG_INVALID_ARGUMENT, lg_session_run_text(session, "", 0, &run));
  run.n_params = 0;
  run.device = "none";
  GIVES(LG_DEVICE, lg_session_run_text(session, "", 0, &run));
  run.device = NULL;
  run.flags = 1024;
  GIVES(LG_INVALID_ARGUMENT, lg_session_run_text(session, "", 0, &run));
  run.flags = 0;
  run.struct_size = 8;
  GIVES(LG_BAD_STRUCT, lg_session_run_text(session, "", 0, &run));
  GIVES(LG_INVALID_ARGUMENT, lg_session_run_text(session, NULL, 1, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_session_run_file(session, NULL, NULL));

  file = fopen("capi-session-script.lua", "w");
  fputs("local lg = require 'lunagrad' lg.host.file = arg[0]", file);
  fclose(file);
  OK(lg_session_run_file(session, "capi-session-script.lua", NULL));
  OK(lg_session_wait(session, kLong, NULL));
  CHECK(got_text(session, "file", "capi-session-script.lua"));
  remove("capi-session-script.lua");
  OK(lg_session_run_file(session, "capi-session-script.lua", NULL));
  GIVES(LG_SCRIPT, lg_session_wait(session, kLong, &outcome));
  CHECK(outcome == LG_OUTCOME_FILE);

  run = paused_run();
  run.flags = LG_RUN_SANDBOX | LG_RUN_PRELOAD;
  {
    const char *script = "assert(io == nil)";
    OK(lg_session_run_text(session, script, strlen(script), &run));
    OK(lg_session_wait(session, kLong, NULL));
  }
  run.memory_limit = (uint64_t)100 << 20;
  OK(lg_session_run_text(session, "local x = lg.zeros(1000, 1000, 1000)", 36, &run));
  GIVES(LG_SCRIPT, lg_session_wait(session, kLong, &outcome));
  CHECK(outcome == LG_OUTCOME_MEMORY);
  OK(lg_session_close(session, kLong));
  GIVES(LG_INVALID_HANDLE, lg_session_close(session, kLong));
  OK(lg_session_close(NULL, 0));
  OK(lg_engine_close(engine));
}

static const char *const kSteps =
    "for step in lg.run.steps(4) do\n"
    "  lg.host.step = step\n"
    "  lg.host.seen = lg.host.input * 10\n"
    "end\n"
    "lg.host.over = true\n";

static void test_steps(void) {
  lg_engine *engine = open_engine();
  lg_session *session = open_session(engine, NULL);
  lg_run run = paused_run();
  lg_value *value = NULL;
  lg_session_info info;
  int32_t end = 0, outcome = -1, i;
  int64_t step = 0;
  const struct timespec millisecond = {0, 1000000};
  lg_event event;
  memset(&event, 0, sizeof event);
  event.struct_size = sizeof event;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;

  set(session, "input", make(engine, LG_INTEGER, 1, 0, NULL, 0));
  OK(lg_session_run_text(session, kSteps, strlen(kSteps), &run));
  GIVES(LG_TIMED_OUT, lg_session_wait(session, 0.05, &outcome));
  for (i = 1; i <= 4; ++i) {
    set(session, "input", make(engine, LG_INTEGER, i, 0, NULL, 0));
    OK(lg_session_get(session, "input", &value, &step));
    CHECK(step == -1 && get(value).integer == i); /* the host's own */
    OK(lg_value_release(value));
    OK(lg_session_step(session, kLong, &end));
    CHECK(end == LG_STEP_DONE);
    OK(lg_session_get(session, "step", &value, &step));
    CHECK(step == i && get(value).kind == LG_INTEGER && get(value).integer == i);
    OK(lg_value_release(value));
    CHECK(got_real(session, "seen") == 10 * i);
    OK(lg_session_get_info(session, &info));
    CHECK(info.state == LG_STATE_PAUSED && strcmp(info.device, "cpu") == 0);
  }
  OK(lg_session_step(session, kLong, &end));
  CHECK(end == LG_STEP_ENDED && got_real(session, "over") == 1);
  OK(lg_session_step(session, kLong, &end)); /* there is no run */
  CHECK(end == LG_STEP_ENDED);

  run.flags = LG_RUN_PAUSED | LG_RUN_PRELOAD | LG_RUN_INTERACTIVE;
  {
    const char *script =
        "for step in lg.run.steps(3) do\n"
        "  if step == 2 then lg.run.breakpoint() end\n"
        "  while step == 3 and not free do end\n"
        "end error 'the end'";
    OK(lg_session_run_text(session, script, strlen(script), &run));
  }
  OK(lg_session_step(session, -1, &end));
  CHECK(end == LG_STEP_DONE);
  OK(lg_session_step(session, kLong, &end));
  CHECK(end == LG_STEP_PAUSED);
  OK(lg_session_step(session, kLong, &end));
  CHECK(end == LG_STEP_DONE);
  end = 0;
  GIVES(LG_TIMED_OUT, lg_session_step(session, 0.05, &end));
  CHECK(end == 0);
  OK(lg_session_evaluate(session, "free = true", kLong, NULL));
  info.state = LG_STATE_RUNNING;
  for (i = 0; i < kLong * 1000 && info.state != LG_STATE_PAUSED; ++i) { /* the step goes on to its end */
    nanosleep(&millisecond, NULL);
    OK(lg_session_get_info(session, &info));
  }
  GIVES(LG_SCRIPT, lg_session_step(session, kLong, &end));
  GIVES(LG_SCRIPT, lg_session_step(session, kLong, &end));
  CHECK(end == LG_STEP_ENDED && strstr(last_error(), "the end"));
  GIVES(LG_INVALID_ARGUMENT, lg_session_step(session, kLong, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_session_step(session, (double)0 / (double)(engine == NULL), &end));

  /* pause and resume a run that goes on by itself */
  set(session, "quit", make(engine, LG_BOOLEAN, 0, 0, NULL, 0));
  info.state = LG_STATE_IDLE;
  for (event.kind = LG_EVENT_STATE; event.kind != LG_EVENT_NONE;) OK(lg_session_poll_event(session, 0, &event));
  OK(start(session, "for step in lg.run.steps() do if lg.host.quit then break end end"));
  OK(lg_session_pause(session));
  for (i = 0; i < 10000 && info.state != LG_STATE_PAUSED; ++i) {
    OK(lg_session_poll_event(session, kLong, &event));
    if (event.kind == LG_EVENT_STATE) info.state = event.state;
  }
  CHECK(info.state == LG_STATE_PAUSED);
  set(session, "quit", make(engine, LG_BOOLEAN, 1, 0, NULL, 0));
  OK(lg_session_resume(session));
  OK(lg_session_wait(session, kLong, NULL));
  OK(lg_session_pause(session)); /* of the next run, taken back */
  OK(lg_session_resume(session));
  CHECK(finish(session, "") == LG_OUTCOME_OK);
  OK(lg_session_close(session, -1));
  OK(lg_engine_close(engine));
}

/* ---- lines, parameters, events and tapes ---- */

static int text_is(lg_text *text, const char *wanted) {
  const char *bytes = "";
  int same;
  OK(lg_text_get(text, &bytes, NULL));
  same = strcmp(bytes, wanted) == 0;
  if (!same) printf("the text is %s\n", bytes);
  OK(lg_text_release(text));
  return same;
}

static void test_console(void) {
  lg_engine *engine = open_engine();
  lg_session_options options = session_options(NULL);
  lg_session *session = NULL;
  lg_text *text = NULL;
  lg_event event;
  lg_run run = paused_run();
  int32_t end = 0;
  int steps = 0, metrics = 0, params = 0;
  const char *bytes = NULL;
  options.flags = LG_SESSION_TAPE;
  options.event_limit = 1000;
  OK(lg_session_open(engine, &options, &session));
  OK(lg_session_evaluate(session, "1 + 1, 'a'", kLong, &text)); /* without a script */
  CHECK(text_is(text, "2\n\"a\""));
  OK(lg_session_evaluate(session, "local x = 1", kLong, &text));
  CHECK(text_is(text, ""));
  GIVES(LG_SCRIPT, lg_session_evaluate(session, "error 'no'", kLong, &text));
  CHECK(strstr(last_error(), "no") != NULL);
  GIVES(LG_SCRIPT, lg_session_evaluate(session, "this is no Lua", kLong, &text));
  GIVES(LG_INVALID_ARGUMENT, lg_session_evaluate(session, NULL, kLong, &text));
  GIVES(LG_NOT_FOUND, lg_session_tape(session, &text));
  {
    const char *script =
        "local rate = lg.run.live('rate', 0.5, {min = 0, max = 1})\n"
        "local w = lg.ones(2, {requires_grad = true})\n"
        "for step in lg.run.steps(3) do\n"
        "  w:sum():backward()\n"
        "  lg.run.log {loss = step * 2, rate = rate()}\n"
        "  lg.host.rate = rate()\n"
        "end";
    OK(lg_session_run_text(session, script, strlen(script), &run));
  }
  OK(lg_session_step(session, kLong, &end));
  OK(lg_session_evaluate(session, "w.grad:sum():item()", kLong, &text)); /* a local variable of the script */
  CHECK(text_is(text, "2.0"));
  GIVES(LG_VALUE, lg_session_set_param(session, "rate", "2"));
  GIVES(LG_VALUE, lg_session_set_param(session, "none", "2"));
  GIVES(LG_INVALID_ARGUMENT, lg_session_set_param(session, "rate", NULL));
  OK(lg_session_set_param(session, "rate", "0.75"));
  OK(lg_session_step(session, kLong, &end));
  OK(lg_session_step(session, kLong, &end));
  CHECK(got_real(session, "rate") == 0.75);
  OK(lg_session_tape(session, &text));
  OK(lg_text_get(text, &bytes, NULL));
  CHECK(bytes[0] == '{' && strstr(bytes, "\"nodes\"") && strstr(bytes, "sum"));
  OK(lg_text_release(text));
  OK(lg_session_resume(session));
  OK(lg_session_wait(session, kLong, NULL));
  for (;;) {
    memset(&event, 0, sizeof event);
    event.struct_size = sizeof event;
    OK(lg_session_poll_event(session, 0, &event));
    if (event.kind == LG_EVENT_NONE) break;
    if (event.kind == LG_EVENT_STEP) CHECK(event.step == steps++ && event.total == 3);
    if (event.kind == LG_EVENT_PARAM) CHECK(++params && strcmp(event.names[0], "rate") == 0);
    if (event.kind != LG_EVENT_METRICS) continue;
    ++metrics;
    CHECK(event.n_values == 2 && strcmp(event.names[0], "loss") == 0 && event.values[0] == 2 * metrics);
    CHECK(event.step == metrics);
  }
  CHECK(steps == 4 && metrics == 3 && params >= 1);
  OK(start(session, "while true do local x = 1 end"));
  OK(lg_session_evaluate(session, "7", kLong, &text));
  CHECK(text_is(text, "7"));
  OK(start(session, "print 'go' string.rep('a', 26):find(string.rep('a?', 26) .. string.rep('a', 26))"));
  do OK(lg_session_poll_event(session, kLong, &event));
  while (event.kind != LG_EVENT_OUTPUT && event.kind != LG_EVENT_NONE);
  GIVES(LG_TIMED_OUT, lg_session_evaluate(session, "7", 0.01, &text));
  OK(lg_engine_close(engine));
}

static void *stop_later(void *session) {
  struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  GIVES(LG_WRONG_THREAD, lg_session_pause((lg_session *)session));
  GIVES(LG_INVALID_ARGUMENT, lg_session_stop((lg_session *)session, 5));
  OK(lg_session_stop((lg_session *)session, LG_STOP_NOW));
  return NULL;
}

static void test_stop_and_close(void) {
  lg_engine *engine = open_engine();
  lg_session *session = open_session(engine, NULL), *second;
  pthread_t thread;
  int32_t outcome = 0;
  double begun;
  int i;

  OK(start(session, "while true do end"));
  pthread_create(&thread, NULL, stop_later, session);
  GIVES(LG_STOPPED, lg_session_wait(session, kLong, &outcome));
  CHECK(outcome == LG_OUTCOME_STOPPED);
  pthread_join(thread, NULL);
  for (i = 0; i < 50; ++i) { /* also while the library is loaded for the script */
    struct timespec pause = {0, 0};
    pause.tv_nsec = i * 400000L;
    OK(start(session, "while true do end"));
    nanosleep(&pause, NULL);
    OK(lg_session_stop(session, LG_STOP_NOW));
    GIVES(LG_STOPPED, lg_session_wait(session, kLong, NULL));
  }
  OK(start(session, "for step in lg.run.steps() do lg.host.step = step end"));
  OK(lg_session_stop(session, LG_STOP_AT_STEP));
  GIVES(LG_STOPPED, lg_session_wait(session, kLong, NULL));

  /* a loop for ever, and an operation in it, end with the session */
  OK(start(session, "local a = lg.rand(300, 300) while true do a = a:matmul(a):softmax(1) end"));
  begun = now();
  OK(lg_session_close(session, kLong));
  CHECK(now() - begun < kLong / 2);

  /* a pattern that Lua's library searches for too long does not keep the host */
  session = open_session(engine, NULL);
  second = open_session(engine, NULL);
  OK(start(session, "lg.host.begun = 1 print 'go' string.rep('a', 28):find(string.rep('a?', 28) .. string.rep('a', 28))"));
  CHECK(finish(second, "lg.host.alive = 1") == LG_OUTCOME_OK);
  {
    lg_event event;
    memset(&event, 0, sizeof event);
    event.struct_size = sizeof event;
    do OK(lg_session_poll_event(session, kLong, &event));
    while (event.kind != LG_EVENT_OUTPUT && event.kind != LG_EVENT_NONE);
    CHECK(strcmp(event.text, "go\n") == 0 && event.stream == LG_STREAM_OUT);
  }
  begun = now();
  GIVES(LG_TIMED_OUT, lg_session_close(session, 0.1));
  CHECK(now() - begun < 5);
  GIVES(LG_INVALID_HANDLE, lg_session_wait(session, 0, NULL));
  CHECK(got_real(second, "alive") == 1);
  OK(lg_engine_close(engine));
}

static void *open_elsewhere(void *engine) {
  lg_session *session = NULL;
  GIVES(LG_WRONG_THREAD, lg_session_open((lg_engine *)engine, NULL, &session));
  return NULL;
}

static void test_options(void) {
  lg_engine *engine = open_engine();
  lg_session *session = NULL, *other;
  lg_session_options options = session_options(NULL);
  pthread_t thread;
  lg_module modules[2];
  lg_event event;
  int i;

  options.library = "/none";
  GIVES(LG_FILE, lg_session_open(engine, &options, &session));
  options.library = NULL;
  options.device = "none";
  GIVES(LG_DEVICE, lg_session_open(engine, &options, &session));
  options.device = "cpu";
  options.close_seconds = -1;
  GIVES(LG_INVALID_ARGUMENT, lg_session_open(engine, &options, &session));
  options.close_seconds = 20;
  options.flags = 64;
  GIVES(LG_INVALID_ARGUMENT, lg_session_open(engine, &options, &session));
  options.flags = 0;
  options.struct_size = 4;
  GIVES(LG_BAD_STRUCT, lg_session_open(engine, &options, &session));
  options.struct_size = sizeof options;
  options.n_modules = 1;
  GIVES(LG_INVALID_ARGUMENT, lg_session_open(engine, &options, &session));
  GIVES(LG_INVALID_ARGUMENT, lg_session_open(engine, &options, NULL));
  GIVES(LG_INVALID_HANDLE, lg_session_open(NULL, NULL, &session));
  pthread_create(&thread, NULL, open_elsewhere, engine);
  pthread_join(thread, NULL);

  /* modules from memory, the session's seed, and events that find no room */
  memset(modules, 0, sizeof modules);
  modules[0].struct_size = modules[1].struct_size = sizeof modules[0];
  modules[0].name = "the.answer";
  modules[0].text = "return {answer = 42, name = ...}";
  modules[0].length = strlen(modules[0].text);
  modules[1].name = "broken";
  modules[1].text = "return (";
  modules[1].length = strlen(modules[1].text);
  options.modules = modules;
  options.n_modules = 2;
  options.seed = 77;
  options.event_limit = 3;
  OK(lg_session_open(engine, &options, &session));
  OK(lg_session_open(engine, &options, &other));
  for (i = 0; i < 2; ++i) { /* also in a second run */
    CHECK(finish(session, "local m = require 'the.answer' lg.host.answer = m.answer lg.host.name = m.name\n"
                          "lg.host.drawn = lg.rand(1):item()") == LG_OUTCOME_OK);
    CHECK(got_real(session, "answer") == 42 && got_text(session, "name", "the.answer"));
  }
  CHECK(finish(other, "lg.host.drawn = lg.rand(1):item()") == LG_OUTCOME_OK);
  CHECK(got_real(session, "drawn") == got_real(other, "drawn"));
  CHECK(finish(session, "require 'broken'") == LG_OUTCOME_ERROR);
  CHECK(finish(session, "for i = 1, 10 do print(i) end") == LG_OUTCOME_OK);
  memset(&event, 0, sizeof event);
  event.struct_size = sizeof event;
  OK(lg_session_poll_event(session, 0, &event));
  CHECK(event.dropped > 10 && event.kind != LG_EVENT_NONE);
  OK(lg_session_poll_event(session, 0, &event));
  CHECK(event.dropped == 0);
  OK(lg_session_poll_event(session, 0, &event));
  CHECK(event.kind == LG_EVENT_STATE && event.state == LG_STATE_IDLE);
  OK(lg_session_poll_event(session, 0.01, &event));
  CHECK(event.kind == LG_EVENT_NONE);
  event.struct_size = 3;
  GIVES(LG_BAD_STRUCT, lg_session_poll_event(session, 0, &event));
  OK(lg_session_close(session, kLong));
  OK(lg_session_close(other, kLong));
  OK(lg_engine_close(engine));
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "none") == 0) {
    lg_engine *engine = open_engine();
    lg_session *session = NULL;
    GIVES(LG_NOT_FOUND, lg_session_open(engine, NULL, &session));
    CHECK(strstr(last_error(), "without scripts"));
    OK(lg_engine_close(engine));
    return end_of_checks("sessions");
  }
  test_options();
  test_runs();
  test_steps();
  test_console();
  test_stop_and_close();
  return end_of_checks("sessions");
}
