/* Fits y = a x + b to numbers of this program by gradient descent. The numbers stay in the program's memory. */
#include <lunagrad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 64, kSteps = 200 };

static void ok(lg_code code) {
  const char *name = "", *text = "";
  if (code == LG_OK) return;
  lg_last_error(&text, NULL);
  lg_code_text(code, &name, NULL);
  fprintf(stderr, "%s: %s\n", name, text);
  exit(1);
}

/* The result of an operation of two tensors. */
static lg_tensor *call(lg_engine *engine, const lg_op *op, lg_tensor *a, lg_tensor *b) {
  lg_tensor *inputs[2], *result = NULL;
  size_t room = 1;
  inputs[0] = a;
  inputs[1] = b;
  ok(lg_call(engine, op, inputs, 2, NULL, 0, &result, &room));
  return result;
}

/* parameter = parameter - rate * gradient, in place; the gradient becomes none. */
static void descend(lg_engine *engine, const lg_op *add_, lg_tensor *parameter, double rate) {
  lg_tensor *inputs[2];
  lg_param alpha;
  memset(&alpha, 0, sizeof alpha);
  alpha.struct_size = sizeof alpha;
  alpha.name = "alpha";
  alpha.kind = LG_REAL;
  alpha.real = -rate;
  inputs[0] = parameter;
  ok(lg_tensor_grad(parameter, &inputs[1]));
  ok(lg_engine_set_grad_enabled(engine, 0, NULL));
  ok(lg_call(engine, add_, inputs, 2, &alpha, 1, NULL, NULL));
  ok(lg_engine_set_grad_enabled(engine, 1, NULL));
  ok(lg_tensor_set_grad(parameter, NULL));
  ok(lg_tensor_release(inputs[1]));
}

int main(void) {
  static float x[kRows], y[kRows];
  const int64_t shape[1] = {kRows};
  const lg_op *mul, *add, *add_, *mse_loss;
  lg_engine *engine;
  lg_tensor *inputs, *targets, *a, *b;
  lg_wrap wrap;
  double slope, offset;
  int i;
  for (i = 0; i < kRows; ++i) x[i] = 2 * (float)i / kRows - 1, y[i] = 3 * x[i] + 1;

  ok(lg_engine_open(NULL, &engine));
  ok(lg_op_find("mul", &mul));
  ok(lg_op_find("add", &add));
  ok(lg_op_find("add_", &add_));
  ok(lg_op_find("mse_loss", &mse_loss));
  memset(&wrap, 0, sizeof wrap);
  wrap.struct_size = sizeof wrap;
  wrap.dtype = LG_F32;
  wrap.bytes = sizeof x;
  wrap.shape = shape;
  wrap.ndim = 1;
  wrap.data = x;
  ok(lg_tensor_wrap(engine, &wrap, &inputs));
  wrap.data = y;
  ok(lg_tensor_wrap(engine, &wrap, &targets));
  ok(lg_tensor_zeros(engine, LG_F32, NULL, 0, NULL, &a));
  ok(lg_tensor_zeros(engine, LG_F32, NULL, 0, NULL, &b));
  ok(lg_tensor_set_requires_grad(a, 1));
  ok(lg_tensor_set_requires_grad(b, 1));

  for (i = 0; i < kSteps; ++i) {
    lg_tensor *products = call(engine, mul, inputs, a);
    lg_tensor *guesses = call(engine, add, products, b);
    lg_tensor *loss = call(engine, mse_loss, guesses, targets);
    ok(lg_backward(loss, NULL, 0));
    descend(engine, add_, a, 0.2);
    descend(engine, add_, b, 0.2);
    ok(lg_tensor_release(loss));
    ok(lg_tensor_release(guesses));
    ok(lg_tensor_release(products));
  }
  ok(lg_tensor_item(a, &slope));
  ok(lg_tensor_item(b, &offset));
  printf("y = %.3f x + %.3f\n", slope, offset);
  ok(lg_engine_close(engine)); /* releases the tensors */
  return slope > 2.99 && slope < 3.01 && offset > 0.99 && offset < 1.01 ? 0 : 1;
}
