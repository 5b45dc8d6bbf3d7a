/* What the tests of sessions share: what a sink got, sessions, runs and values. C99; the file that includes
 * it defines _POSIX_C_SOURCE first. */
#ifndef LUNAGRAD_TESTS_CAPI_SESSION_CHECK_H
#define LUNAGRAD_TESTS_CAPI_SESSION_CHECK_H
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

enum { kLong = 60 }; /* seconds after which something hangs */

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What a sink got. */
typedef struct {
  pthread_mutex_t mutex;
  char streams[5][4096];
  int events[16];
} Told;

static inline void tell(void *user, int32_t stream, const char *text, size_t length) {
  Told *told = (Told *)user;
  size_t used;
  pthread_mutex_lock(&told->mutex);
  used = strlen(told->streams[stream]);
  if (used + length < sizeof told->streams[stream]) memcpy(told->streams[stream] + used, text, length);
  pthread_mutex_unlock(&told->mutex);
}
static inline void count_event(void *user, const lg_event *event) {
  Told *told = (Told *)user;
  pthread_mutex_lock(&told->mutex);
  ++told->events[event->kind];
  pthread_mutex_unlock(&told->mutex);
}
static inline void begin_told(Told *told) {
  memset(told, 0, sizeof *told);
  pthread_mutex_init(&told->mutex, NULL);
}

static inline lg_engine *open_engine(void) {
  lg_engine *engine = NULL;
  OK(lg_engine_open(NULL, &engine));
  return engine;
}
static inline lg_session_options session_options(Told *told) {
  lg_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  if (told) {
    options.sink = tell;
    options.on_event = count_event;
    options.user = told;
  }
  return options;
}
static inline lg_session *open_session(lg_engine *engine, Told *told) {
  lg_session *session = NULL;
  lg_session_options options = session_options(told);
  options.event_limit = 1000;
  OK(lg_session_open(engine, &options, &session));
  return session;
}
static inline lg_run paused_run(void) {
  lg_run run;
  memset(&run, 0, sizeof run);
  run.struct_size = sizeof run;
  run.flags = LG_RUN_PAUSED | LG_RUN_PRELOAD;
  return run;
}
static inline lg_code start(lg_session *session, const char *script) {
  lg_run run = paused_run();
  run.flags = LG_RUN_PRELOAD;
  return lg_session_run_text(session, script, strlen(script), &run);
}
static inline int32_t finish(lg_session *session, const char *script) {
  int32_t outcome = -1;
  OK(start(session, script));
  lg_session_wait(session, kLong, &outcome);
  return outcome;
}

static inline lg_data get(lg_value *value) {
  lg_data data;
  memset(&data, 0, sizeof data);
  data.struct_size = sizeof data;
  OK(lg_value_get(value, &data));
  return data;
}
static inline lg_value *make(lg_engine *engine, lg_kind kind, int64_t integer, double real, const char *text,
                             size_t length) {
  lg_data data;
  lg_value *value = NULL;
  memset(&data, 0, sizeof data);
  data.struct_size = sizeof data;
  data.kind = kind;
  data.integer = integer;
  data.real = real;
  data.text = text;
  data.length = length;
  OK(lg_value_make(engine, &data, &value));
  return value;
}
static inline lg_value *make_text(lg_engine *engine, const char *text) {
  return make(engine, LG_TEXT, 0, 0, text, strlen(text));
}
static inline lg_value *make_tensor(lg_engine *engine, lg_tensor *tensor) {
  lg_data data;
  lg_value *value = NULL;
  memset(&data, 0, sizeof data);
  data.struct_size = sizeof data;
  data.kind = LG_TENSOR;
  data.tensor = tensor;
  OK(lg_value_make(engine, &data, &value));
  return value;
}
static inline void set(lg_session *session, const char *name, lg_value *value) {
  OK(lg_session_set(session, name, value));
  OK(lg_value_release(value));
}
static inline lg_value *got(lg_session *session, const char *name) {
  lg_value *value = NULL;
  OK(lg_session_get(session, name, &value, NULL));
  return value;
}
static inline double got_real(lg_session *session, const char *name) {
  lg_value *value = got(session, name);
  const double real = get(value).real;
  OK(lg_value_release(value));
  return real;
}
static inline int got_text(lg_session *session, const char *name, const char *text) {
  lg_value *value = got(session, name);
  const lg_data data = get(value);
  const int same = data.kind == LG_TEXT && strcmp(data.text, text) == 0;
  if (!same) printf("%s is %s\n", name, data.kind == LG_TEXT ? data.text : "no text");
  OK(lg_value_release(value));
  return same;
}
#endif
