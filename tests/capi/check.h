/* What the C tests of the C library share: checks that count, and short forms of calls. C99 and C++. */
#ifndef LUNAGRAD_TESTS_CAPI_CHECK_H
#define LUNAGRAD_TESTS_CAPI_CHECK_H
#include <stdio.h>
#include <string.h>

#include "lunagrad.h"

static int checks = 0, faults = 0;

static const char *last_error(void) {
  const char *text = "";
  lg_last_error(&text, NULL);
  return text;
}
static inline void check_true(int good, const char *what, const char *file, int line) {
  ++checks;
  if (good) return;
  ++faults;
  printf("%s:%d: %s\n", file, line, what);
}
static inline void check_code(lg_code got, lg_code wanted, const char *what, const char *file, int line) {
  ++checks;
  if (got == wanted) return;
  ++faults;
  printf("%s:%d: %s gives %d, not %d (%s)\n", file, line, what, (int)got, (int)wanted,
         got == LG_OK ? "" : last_error());
}
#define CHECK(condition) check_true((condition) != 0, #condition, __FILE__, __LINE__)
#define GIVES(code, call) check_code(call, code, #call, __FILE__, __LINE__)
#define OK(call) GIVES(LG_OK, call)

static inline int end_of_checks(const char *name) {
  printf("%s: %d checks, %d faults\n", name, checks, faults);
  return faults != 0;
}

static const lg_op *op_named(const char *name) {
  const lg_op *op = NULL;
  OK(lg_op_find(name, &op));
  return op;
}
/* The first result of an operation; NULL after a failure. */
static inline lg_tensor *call1(lg_engine *engine, const char *name, lg_tensor *a, lg_tensor *b,
                               const lg_param *params, size_t n_params) {
  lg_tensor *inputs[2], *result = NULL;
  size_t n = 1;
  inputs[0] = a;
  inputs[1] = b;
  OK(lg_call(engine, op_named(name), inputs, (size_t)(a != NULL) + (size_t)(b != NULL), params, n_params,
             &result, &n));
  return result;
}
static inline lg_param a_param(const char *name, lg_kind kind) {
  lg_param param;
  memset(&param, 0, sizeof param);
  param.struct_size = sizeof param;
  param.name = name;
  param.kind = kind;
  return param;
}
static inline lg_param integer_param(const char *name, int64_t value) {
  lg_param param = a_param(name, LG_INTEGER);
  param.integer = value;
  return param;
}
static inline lg_param real_param(const char *name, double value) {
  lg_param param = a_param(name, LG_REAL);
  param.real = value;
  return param;
}
static inline lg_param text_param(const char *name, const char *value) {
  lg_param param = a_param(name, LG_TEXT);
  param.text = value;
  return param;
}
static inline lg_tensor *floats(lg_engine *engine, const float *values, int64_t rows, int64_t columns) {
  int64_t shape[2];
  lg_tensor *made = NULL;
  shape[0] = rows;
  shape[1] = columns;
  OK(lg_tensor_from(engine, values, (size_t)(rows * columns) * sizeof(float), LG_F32, shape, 2, NULL, &made));
  return made;
}
#endif
