/* A host in C: makes tensors, calls operations, trains a line, and makes the mistakes that a host can make.
 * Built by gcc and clang as C99. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

static lg_engine *open_engine(void) {
  lg_engine *engine = NULL;
  OK(lg_engine_open(NULL, &engine));
  return engine;
}

static void test_values(void) {
  lg_engine *engine = open_engine();
  const float values[6] = {1, 2, 3, 4, 5, 6};
  lg_tensor *x = floats(engine, values, 2, 3), *y, *t, *view, *sum;
  lg_tensor_info info;
  lg_param dims[2], dim;
  float read[6];
  void *data;
  double item = 0;
  int64_t axes[1] = {0};

  y = call1(engine, "add", x, x, NULL, 0);
  OK(lg_tensor_read(y, read, sizeof read));
  CHECK(read[0] == 2 && read[5] == 12);
  GIVES(LG_BUFFER_SIZE, lg_tensor_read(y, read, sizeof read - 1));

  dims[0] = integer_param("dim0", 0);
  dims[1] = integer_param("dim1", 1);
  t = call1(engine, "transpose", x, NULL, dims, 2);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(lg_tensor_get_info(t, &info));
  CHECK(info.ndim == 2 && info.shape[0] == 3 && info.shape[1] == 2 && info.strides[0] == 1 &&
        info.strides[1] == 3);
  CHECK(info.dtype == LG_F32 && info.numel == 6 && info.nbytes == 24 && strcmp(info.device, "cpu") == 0);
  CHECK(!(info.flags & LG_TENSOR_CONTIGUOUS));
  OK(lg_tensor_read(t, read, sizeof read));
  CHECK(read[0] == 1 && read[1] == 4 && read[2] == 2);
  read[1] = 40;
  OK(lg_tensor_write(t, read, sizeof read)); /* through the view */
  OK(lg_tensor_read(x, read, sizeof read));
  CHECK(read[3] == 40 && read[4] == 5);

  OK(lg_tensor_data(x, 1, &data));
  ((float *)data)[3] = 4;
  dim = a_param("dim", LG_INTEGERS);
  dim.list = axes;
  dim.list_length = 1;
  sum = call1(engine, "sum", x, NULL, &dim, 1);
  OK(lg_tensor_read(sum, read, 3 * sizeof(float)));
  CHECK(read[0] == 5 && read[2] == 9);
  OK(lg_tensor_release(sum));
  sum = call1(engine, "sum", x, NULL, NULL, 0);
  OK(lg_tensor_item(sum, &item));
  CHECK(item == 21);

  dim = integer_param("dim", -1);
  view = call1(engine, "unsqueeze", x, NULL, &dim, 1);
  info.struct_size = sizeof info;
  OK(lg_tensor_get_info(view, &info));
  CHECK(info.ndim == 3 && info.shape[2] == 1);
  GIVES(LG_VALUE, lg_tensor_item(x, &item));

  OK(lg_tensor_release(sum));
  OK(lg_tensor_release(view));
  OK(lg_tensor_release(t));
  OK(lg_tensor_release(y));
  GIVES(LG_INVALID_HANDLE, lg_tensor_release(y));
  OK(lg_tensor_release(NULL));
  OK(lg_engine_close(engine));
  GIVES(LG_INVALID_HANDLE, lg_tensor_item(x, &item));
  GIVES(LG_INVALID_HANDLE, lg_engine_close(engine));
}

static void test_arguments(void) {
  lg_engine *engine = open_engine();
  const float values[4] = {1, -2, 3, -4};
  lg_tensor *x = floats(engine, values, 2, 2), *y = NULL, *z, *parts[4], *list[3];
  lg_param params[3];
  float read[12];
  size_t n;
  int64_t shape[2] = {2, 2};

  params[0] = real_param("other", 10); /* a number for an operand */
  y = call1(engine, "mul", x, NULL, params, 1);
  OK(lg_tensor_read(y, read, 16));
  CHECK(read[3] == -40);
  params[0] = a_param("other", LG_TENSOR); /* an operand by its name, and the long form of add */
  params[0].tensor = x;
  params[1] = real_param("alpha", 0.5);
  z = call1(engine, "add", y, NULL, params, 2);
  OK(lg_tensor_read(z, read, 16));
  CHECK(read[0] == 10.5f && read[3] == -42);
  OK(lg_tensor_release(z));

  list[0] = x;
  list[1] = y;
  list[2] = x;
  params[0] = integer_param("dim", 1);
  n = 1;
  OK(lg_call(engine, op_named("concat"), list, 3, params, 1, &z, &n)); /* an alias of cat */
  OK(lg_tensor_read(z, read, 48));
  CHECK(n == 1 && read[2] == 10 && read[4] == 1);
  params[0] = integer_param("split_size", 2);
  params[1] = integer_param("dim", 1);
  n = 0;
  {
    const lg_op *op;
    if (lg_op_find("split", &op) == LG_OK) {
      GIVES(LG_BUFFER_SIZE, lg_call(engine, op, &z, 1, params, 2, parts, &n));
      CHECK(n == 3);
    }
  }
  OK(lg_tensor_release(z));
  params[0] = a_param("dim", LG_INTEGER);
  n = 2;
  OK(lg_call(engine, op_named("sort"), &x, 1, params, 1, parts, &n));
  CHECK(n == 2);
  OK(lg_tensor_release(parts[0]));
  OK(lg_tensor_release(parts[1]));

  params[0] = real_param("other", 1);
  OK(lg_call(engine, op_named("add_"), &x, 1, params, 1, NULL, NULL)); /* in place */
  OK(lg_tensor_read(x, read, 16));
  CHECK(read[0] == 2 && read[1] == -1);

  params[0] = a_param("size", LG_INTEGERS);
  params[0].list = shape;
  params[0].list_length = 2;
  params[1] = text_param("dtype", "f64");
  params[2] = a_param("requires_grad", LG_BOOLEAN);
  params[2].integer = 1;
  z = call1(engine, "ones", NULL, NULL, params, 3);
  CHECK(z != NULL);
  {
    lg_tensor_info info;
    info.struct_size = sizeof info;
    OK(lg_tensor_get_info(z, &info));
    CHECK(info.dtype == LG_F64 && (info.flags & LG_TENSOR_REQUIRES_GRAD) && (info.flags & LG_TENSOR_LEAF));
  }
  params[1] = text_param("device", "nowhere");
  n = 1;
  GIVES(LG_DEVICE, lg_call(engine, op_named("ones"), NULL, 0, params, 2, &y, &n));
  CHECK(n == 0);

  /* mistakes */
  params[0] = real_param("alfa", 1);
  GIVES(LG_NOT_FOUND, lg_call(engine, op_named("add"), list, 2, params, 1, NULL, NULL));
  CHECK(strstr(last_error(), "alpha") != NULL);
  params[0] = text_param("alpha", "much");
  GIVES(LG_INVALID_ARGUMENT, lg_call(engine, op_named("add"), list, 2, params, 1, NULL, NULL));
  params[0] = params[1] = real_param("alpha", 1);
  GIVES(LG_INVALID_ARGUMENT, lg_call(engine, op_named("add"), list, 2, params, 2, NULL, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_call(engine, op_named("add"), list, 1, NULL, 0, NULL, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_call(engine, op_named("add"), list, 3, NULL, 0, NULL, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_call(engine, op_named("add"), NULL, 2, NULL, 0, NULL, NULL));
  list[1] = NULL;
  GIVES(LG_INVALID_ARGUMENT, lg_call(engine, op_named("add"), list, 2, NULL, 0, NULL, NULL));
  GIVES(LG_INVALID_HANDLE, lg_call(engine, op_named("cat"), list, 3, NULL, 0, NULL, NULL));
  list[1] = (lg_tensor *)engine;
  GIVES(LG_INVALID_HANDLE, lg_call(engine, op_named("add"), list, 2, NULL, 0, NULL, NULL));
  CHECK(strstr(last_error(), "lg_engine") != NULL);
  GIVES(LG_INVALID_HANDLE, lg_call(engine, (const lg_op *)x, list, 1, NULL, 0, NULL, NULL));
  GIVES(LG_INVALID_HANDLE, lg_call((lg_engine *)x, op_named("neg"), list, 1, NULL, 0, NULL, NULL));
  params[0].struct_size = 8;
  GIVES(LG_BAD_STRUCT, lg_call(engine, op_named("add"), list, 1, params, 1, NULL, NULL));
  {
    const lg_op *hidden;
    GIVES(LG_NOT_FOUND, lg_op_find("_copy", &hidden)); /* no public operation */
  }
  params[0] = integer_param("dim", 7);
  GIVES(LG_VALUE, lg_call(engine, op_named("softmax"), &x, 1, params, 1, NULL, NULL));
  {
    const int64_t sizes[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t large[2] = {INT64_MAX, INT64_MAX}, negative[1] = {-1};
    GIVES(LG_INVALID_ARGUMENT, lg_tensor_zeros(engine, LG_F32, sizes, 9, NULL, &y));
    GIVES(LG_INVALID_ARGUMENT, lg_tensor_zeros(engine, 77, sizes, 1, NULL, &y));
    GIVES(LG_INVALID_ARGUMENT, lg_tensor_zeros(engine, LG_F32, NULL, 1, NULL, &y));
    GIVES(LG_VALUE, lg_tensor_empty(engine, LG_F32, large, 2, NULL, &y));
    GIVES(LG_VALUE, lg_tensor_empty(engine, LG_F32, negative, 1, NULL, &y));
    GIVES(LG_VALUE, lg_tensor_empty(engine, LG_F32, large, 1, NULL, &y));
    GIVES(LG_OUT_OF_MEMORY, lg_tensor_empty(engine, LG_U8, large, 1, NULL, &y));
  }
  OK(lg_engine_close(engine));
}

static void test_gradients(void) {
  lg_engine *engine = open_engine();
  lg_param params[2];
  float xs[8], ys[8], start = 0;
  lg_tensor *x, *y, *slope, *offset, *grads[2], *leaves[2];
  double value = 0;
  int step;
  int32_t before = 0;
  int64_t one[1] = {1};
  for (step = 0; step < 8; ++step) {
    xs[step] = (float)step / 4 - 1;
    ys[step] = 3 * xs[step] + 1;
  }
  x = floats(engine, xs, 8, 1);
  y = floats(engine, ys, 8, 1);
  OK(lg_tensor_from(engine, &start, 4, LG_F32, one, 1, NULL, &slope));
  OK(lg_tensor_from(engine, &start, 4, LG_F32, one, 1, NULL, &offset));
  OK(lg_tensor_set_requires_grad(slope, 1));
  OK(lg_tensor_set_requires_grad(offset, 1));
  leaves[0] = slope;
  leaves[1] = offset;
  for (step = 0; step < 300; ++step) {
    lg_tensor *product = call1(engine, "mul", x, slope, NULL, 0);
    lg_tensor *guess = call1(engine, "add", product, offset, NULL, 0);
    lg_tensor *loss = call1(engine, "mse_loss", guess, y, NULL, 0);
    int i;
    OK(lg_backward(loss, NULL, 0));
    OK(lg_engine_set_grad_enabled(engine, 0, &before));
    CHECK(before == 1);
    for (i = 0; i < 2; ++i) {
      lg_tensor *grad = NULL, *inputs[2];
      OK(lg_tensor_grad(leaves[i], &grad));
      inputs[0] = leaves[i];
      inputs[1] = grad;
      params[0] = real_param("alpha", -0.2);
      OK(lg_call(engine, op_named("add_"), inputs, 2, params, 1, NULL, NULL));
      OK(lg_tensor_set_grad(leaves[i], NULL));
      OK(lg_tensor_release(grad));
    }
    OK(lg_engine_set_grad_enabled(engine, 1, NULL));
    OK(lg_tensor_release(product));
    OK(lg_tensor_release(guess));
    OK(lg_tensor_release(loss));
  }
  OK(lg_tensor_item(slope, &value));
  CHECK(fabs(value - 3) < 1e-3);
  OK(lg_tensor_item(offset, &value));
  CHECK(fabs(value - 1) < 1e-3);

  { /* a second derivative: d2/ds2 of sum((s x)^3) = 6 s sum(x^3) */
    lg_tensor *product = call1(engine, "mul", x, slope, NULL, 0), *cube, *sum, *second = NULL,
              *detached = NULL;
    params[0] = real_param("exponent", 3);
    cube = call1(engine, "pow", product, NULL, params, 1);
    sum = call1(engine, "sum", cube, NULL, NULL, 0);
    OK(lg_grad(&sum, 1, &slope, 1, NULL, LG_CREATE_GRAPH, grads));
    OK(lg_grad(grads, 1, &slope, 1, NULL, 0, &second));
    OK(lg_tensor_item(second, &value));
    CHECK(fabs(value - 6 * 3 * -1.0) < 0.1);
    GIVES(LG_VALUE, lg_grad(&sum, 1, &offset, 1, NULL, LG_RETAIN_GRAPH, grads));
    OK(lg_grad(&sum, 1, &offset, 1, NULL, LG_RETAIN_GRAPH | LG_ALLOW_UNUSED, grads));
    CHECK(grads[0] == NULL);
    GIVES(LG_INVALID_ARGUMENT, lg_backward(sum, NULL, 64));
    GIVES(LG_VALUE, lg_backward(x, NULL, 0));
    OK(lg_tensor_detach(sum, &detached));
    GIVES(LG_VALUE, lg_backward(detached, NULL, 0));
    OK(lg_tensor_grad(detached, grads));
    CHECK(grads[0] == NULL);
  }
  OK(lg_engine_close(engine));
}

/* ---- the host's memory ---- */

static int released = 0;
static void count_release(void *user, void *data) {
  (void)data;
  ++released;
  if (user) *(lg_code *)user = lg_engine_set_seed(*(lg_engine **)((lg_code *)user + 2), 1);
}

static void test_wrap(void) {
  lg_engine *engine = open_engine();
  float *values = (float *)malloc(6 * sizeof(float));
  int64_t shape[2] = {3, 2}, strides[2] = {1, 3};
  lg_wrap wrap;
  lg_tensor *x = NULL, *y, *view;
  lg_param dim = integer_param("dim", 0);
  float read[6];
  struct {
    lg_code code, pad;
    lg_engine *engine;
  } inside;
  int i;
  for (i = 0; i < 6; ++i) values[i] = (float)i;
  memset(&wrap, 0, sizeof wrap);
  wrap.struct_size = sizeof wrap;
  wrap.dtype = LG_F32;
  wrap.data = values;
  wrap.bytes = 24;
  wrap.shape = shape;
  wrap.strides = strides;
  wrap.ndim = 2;
  wrap.release = count_release;
  OK(lg_tensor_wrap(engine, &wrap, &x));
  OK(lg_tensor_read(x, read, 24));
  CHECK(read[1] == 3 && read[2] == 1);
  OK(lg_call(engine, op_named("neg_"), &x, 1, NULL, 0, NULL, NULL));
  CHECK(values[5] == -5); /* in the host's memory */
  dim = integer_param("dim0", 0);
  {
    lg_param dims[2];
    dims[0] = dim;
    dims[1] = integer_param("dim1", 1);
    view = call1(engine, "transpose", x, NULL, dims, 2);
  }
  OK(lg_tensor_release(x));
  CHECK(released == 0);
  OK(lg_tensor_release(view));
  CHECK(released == 1);

  wrap.bytes = 23;
  GIVES(LG_BUFFER_SIZE, lg_tensor_wrap(engine, &wrap, &x));
  wrap.bytes = 24;
  wrap.data = (char *)values + 1;
  GIVES(LG_INVALID_ARGUMENT, lg_tensor_wrap(engine, &wrap, &x));
  wrap.data = values;
  strides[0] = -1;
  GIVES(LG_INVALID_ARGUMENT, lg_tensor_wrap(engine, &wrap, &x));
  strides[0] = INT64_MAX / 2;
  GIVES(LG_INVALID_ARGUMENT, lg_tensor_wrap(engine, &wrap, &x));
  strides[0] = 1;
  wrap.struct_size = 12;
  GIVES(LG_BAD_STRUCT, lg_tensor_wrap(engine, &wrap, &x));
  wrap.struct_size = sizeof wrap;
  CHECK(released == 1); /* a failure releases nothing */

  wrap.flags = LG_WRAP_READ_ONLY;
  OK(lg_tensor_wrap(engine, &wrap, &x));
  GIVES(LG_VALUE, lg_call(engine, op_named("neg_"), &x, 1, NULL, 0, NULL, NULL));
  GIVES(LG_VALUE, lg_tensor_write(x, read, 24));
  GIVES(LG_VALUE, lg_call(engine, op_named("squeeze_"), &x, 1, NULL, 0, NULL, NULL));
  y = call1(engine, "neg", x, NULL, NULL, 0);
  OK(lg_tensor_read(y, read, 24));
  CHECK(read[1] == 3);

  /* A callback that calls the library for its engine. */
  inside.code = LG_OK;
  inside.engine = engine;
  wrap.user = &inside;
  OK(lg_tensor_wrap(engine, &wrap, &y));
  OK(lg_tensor_release(y));
  CHECK(released == 2 && inside.code == LG_BUSY);
  wrap.user = NULL;
  OK(lg_tensor_wrap(engine, &wrap, &y));
  OK(lg_engine_close(engine)); /* releases x and y */
  CHECK(released == 4);
  free(values);
}

/* ---- threads, engines, settings ---- */

static lg_engine *shared_engine;
static lg_tensor *shared_tensor;
static void *other_thread(void *argument) {
  lg_engine *own = NULL;
  lg_tensor *x = NULL;
  double value;
  int64_t size[1] = {1};
  (void)argument;
  CHECK(last_error()[0] == 0);
  GIVES(LG_WRONG_THREAD, lg_tensor_item(shared_tensor, &value));
  GIVES(LG_WRONG_THREAD, lg_tensor_release(shared_tensor));
  GIVES(LG_WRONG_THREAD, lg_engine_close(shared_engine));
  OK(lg_engine_stop(shared_engine, 1));
  OK(lg_engine_open(NULL, &own));
  OK(lg_tensor_zeros(own, LG_F32, size, 1, NULL, &x));
  OK(lg_engine_close(own));
  return NULL;
}

static void test_threads(void) {
  const float one = 1;
  pthread_t thread;
  lg_engine *other = NULL;
  lg_tensor *x, *y, *pair[2];
  lg_engine_info info;
  lg_engine_options options;
  int64_t size[1] = {1 << 20};
  shared_engine = open_engine();
  shared_tensor = floats(shared_engine, &one, 1, 1);
  pthread_create(&thread, NULL, other_thread, NULL);
  pthread_join(thread, NULL);
  {
    lg_tensor *big = NULL;
    lg_code code;
    OK(lg_engine_stop(shared_engine, 0));
    OK(lg_tensor_zeros(shared_engine, LG_F32, size, 1, NULL, &big));
    OK(lg_engine_stop(shared_engine, 1));
    code = lg_call(shared_engine, op_named("exp"), &big, 1, NULL, 0, NULL, NULL);
    CHECK(code == LG_STOPPED);
    OK(lg_engine_stop(shared_engine, 0));
  }

  /* Two engines of one thread: seeds, limits and tensors are their own. */
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.seed = 7;
  options.memory_limit = (uint64_t)256 << 20;
  OK(lg_engine_open(&options, &other));
  info.struct_size = sizeof info;
  OK(lg_engine_get_info(other, &info));
  CHECK(info.seed == 7 && info.grad_enabled == 1 && info.tensors == 0 &&
        info.memory_limit == options.memory_limit);
  size[0] = (int64_t)1 << 27;
  GIVES(LG_OUT_OF_MEMORY, lg_tensor_empty(other, LG_F32, size, 1, NULL, &y));
  x = floats(other, &one, 1, 1);
  pair[0] = x;
  pair[1] = shared_tensor;
  GIVES(LG_INVALID_HANDLE, lg_call(other, op_named("add"), pair, 2, NULL, 0, NULL, NULL));
  GIVES(LG_INVALID_HANDLE, lg_call(shared_engine, op_named("add"), pair, 2, NULL, 0, NULL, NULL));
  {
    lg_param shape = a_param("size", LG_INTEGERS);
    int64_t four[1] = {4};
    float a[4], b[4];
    shape.list = four;
    shape.list_length = 1;
    OK(lg_engine_set_seed(shared_engine, 7));
    pair[0] = call1(other, "rand", NULL, NULL, &shape, 1);
    pair[1] = call1(shared_engine, "rand", NULL, NULL, &shape, 1);
    OK(lg_tensor_read(pair[0], a, sizeof a));
    OK(lg_tensor_read(pair[1], b, sizeof b));
    CHECK(memcmp(a, b, sizeof a) == 0 && a[0] != a[1]);
  }
  options.struct_size = 200;
  GIVES(LG_BAD_STRUCT, lg_engine_open(&options, &other));
  options.struct_size = sizeof options;
  options.device = "nowhere";
  GIVES(LG_DEVICE, lg_engine_open(&options, &other));
  GIVES(LG_INVALID_ARGUMENT, lg_engine_open(NULL, NULL));
  GIVES(LG_INVALID_ARGUMENT, lg_set_thread_count(0));
  OK(lg_set_thread_count(2));
  OK(lg_engine_close(shared_engine));
  OK(lg_engine_close(other));
}

static void test_descriptions(void) {
  size_t count = 0, i, k;
  const char *name, *sentence;
  lg_engine *engine = open_engine();
  lg_text *reasons = NULL;
  OK(lg_op_count(&count));
  CHECK(count > 300);
  for (i = 0; i < count; ++i) {
    const lg_op *op = NULL, *again = NULL;
    lg_op_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    OK(lg_op_at(i, &op));
    OK(lg_op_get_info(op, &info));
    OK(lg_op_find(info.name, &again));
    CHECK(again == op && info.sentence && info.sentence[0]);
    for (k = 0; k < info.n_aliases; ++k) {
      OK(lg_op_find(info.aliases[k], &again));
      CHECK(again == op);
    }
    for (k = 0; k <= info.n_inputs; ++k) {
      lg_argument_info argument;
      argument.struct_size = sizeof argument;
      GIVES(k < info.n_inputs ? LG_OK : LG_NOT_FOUND, lg_op_get_input(op, k, &argument));
      if (k < info.n_inputs) CHECK(argument.name && argument.kind == LG_TENSOR);
    }
    for (k = 0; k <= info.n_params; ++k) {
      lg_argument_info argument;
      argument.struct_size = sizeof argument;
      GIVES(k < info.n_params ? LG_OK : LG_NOT_FOUND, lg_op_get_param(op, k, &argument));
      if (k < info.n_params) {
        CHECK(argument.name && argument.kind >= LG_BOOLEAN && argument.kind <= LG_TEXT);
        if (argument.kind == LG_CHOICE) CHECK(argument.n_choices > 0 && argument.choices[0]);
        CHECK(argument.default_kind == LG_NONE || !(argument.flags & LG_ARGUMENT_REQUIRED));
      }
    }
  }
  for (i = 0; lg_code_text((lg_code)i, &name, &sentence) == LG_OK; ++i) CHECK(name[0] && sentence[0]);
  CHECK(i == LG_SCRIPT + 1);
  GIVES(LG_NOT_FOUND, lg_code_text(-1, &name, &sentence));
  CHECK(lg_version() == LG_VERSION);
  OK(lg_device_count(engine, &count));
  CHECK(count >= 1);
  {
    lg_device_info info;
    info.struct_size = sizeof info;
    OK(lg_device_get(engine, 0, &info));
    CHECK(strcmp(info.name, "cpu") == 0 && info.is_cpu && info.total > 0 && info.description[0]);
    GIVES(LG_NOT_FOUND, lg_device_get(engine, count, &info));
  }
  OK(lg_device_missing(engine, &reasons));
  OK(lg_text_get(reasons, &name, &count));
  CHECK(strlen(name) == count);
  OK(lg_text_release(reasons));
  GIVES(LG_INVALID_HANDLE, lg_text_get(reasons, &name, &count));
  OK(lg_device_sync(engine, NULL));
  OK(lg_engine_close(engine));
}

/* Another device, if there is one: values, gradients, what it refuses. */
static void test_device(void) {
  lg_engine_options options;
  lg_engine *engine = NULL;
  lg_device_info device;
  size_t count = 0;
  const float values[4] = {1, 2, 3, 4};
  float read[4];
  lg_tensor *x, *y = NULL, *z = NULL;
  void *data;
  struct DLManagedTensor *managed = NULL;
  double value = 0;
  engine = open_engine();
  OK(lg_device_count(engine, &count));
  device.struct_size = sizeof device;
  if (count > 1) OK(lg_device_get(engine, 1, &device));
  OK(lg_engine_close(engine));
  if (count < 2) return;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = device.name;
  OK(lg_engine_open(&options, &engine));
  x = floats(engine, values, 2, 2);
  OK(lg_tensor_set_requires_grad(x, 1));
  y = call1(engine, "exp", x, NULL, NULL, 0);
  z = call1(engine, "sum", y, NULL, NULL, 0);
  OK(lg_backward(z, NULL, 0));
  OK(lg_tensor_grad(x, &y));
  OK(lg_tensor_read(y, read, sizeof read));
  CHECK(fabs(read[1] - exp(2)) < 1e-4);
  OK(lg_tensor_item(z, &value));
  CHECK(fabs(value - (exp(1) + exp(2) + exp(3) + exp(4))) < 1e-3);
  GIVES(LG_DEVICE, lg_tensor_data(y, 0, &data));
  GIVES(LG_DEVICE, lg_tensor_to_dlpack(y, &managed));
  OK(lg_tensor_to(y, "cpu", LG_F64, &z));
  OK(lg_tensor_data(z, 0, &data));
  CHECK(fabs(((double *)data)[0] - exp(1)) < 1e-4);
  OK(lg_device_sync(engine, NULL));
  printf("also on %s: %s\n", device.name, device.description);
  OK(lg_engine_close(engine));
}

int main(void) {
  test_values();
  test_device();
  test_arguments();
  test_gradients();
  test_wrap();
  test_threads();
  test_descriptions();
  return end_of_checks("host");
}
