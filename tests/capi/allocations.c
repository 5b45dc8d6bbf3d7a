/* The n-th allocation of a host's work fails: each call gives a code, nothing ends the process, and
 * afterwards as many blocks are in use as before. Once in fresh processes, for every STEP-th n, and once in a
 * process that has made what it makes once, for every n. Replaces malloc, calloc, realloc, posix_memalign and
 * aligned_alloc; operator new calls malloc. allocations [STEP] */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static volatile long live = 0, made = 0, fail_at = -1;
static int fails(void) {
  const long number = __sync_add_and_fetch(&made, 1);
  if (fail_at < 0 || number != fail_at) return 0;
  errno = ENOMEM;
  return 1;
}
static void *counted(void *block) {
  if (block) __sync_add_and_fetch(&live, 1);
  return block;
}
void *malloc(size_t bytes) { return fails() ? NULL : counted(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { return fails() ? NULL : counted(__libc_calloc(count, bytes)); }
void *realloc(void *block, size_t bytes) {
  void *moved;
  if (fails()) return NULL;
  moved = __libc_realloc(block, bytes);
  if (!block && moved) counted(moved);
  return moved;
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? NULL : counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void **block, size_t alignment, size_t bytes) {
  if (fails()) return ENOMEM;
  *block = counted(__libc_memalign(alignment, bytes));
  return *block ? 0 : ENOMEM;
}
void free(void *block) {
  if (block) __sync_sub_and_fetch(&live, 1);
  __libc_free(block);
}

enum { kCodes = LG_SCRIPT + 1 };
static long codes[kCodes + 1]; /* the last one: no code of the header */
static lg_code noted(lg_code code) {
  ++codes[code < 0 || code >= kCodes ? kCodes : code];
  /* what follows a failure works with null handles, and without the gradients that were not asked for */
  if (code != LG_OK && code != LG_OUT_OF_MEMORY && code != LG_INVALID_HANDLE && code != LG_INVALID_ARGUMENT &&
      code != LG_VALUE)
    ++faults, printf("code %d: %s\n", (int)code, last_error());
  return code;
}

static int given_back = 0;
static void give_back(void *user, void *data) {
  (void)user;
  (void)data;
  ++given_back;
}

/* A host that goes on after each failure. */
static void work(void) {
  lg_engine *engine = NULL;
  lg_engine_options options;
  float values[64];
  int64_t shape[2] = {8, 8};
  lg_tensor *x = NULL, *w = NULL, *y = NULL, *z = NULL, *loss = NULL, *grad = NULL, *wrapped = NULL, *pair[2];
  const lg_op *op = NULL;
  lg_param param;
  lg_wrap wrap;
  size_t n, i;
  int wrapping = 0;
  for (i = 0; i < 64; ++i) values[i] = (float)i / 64;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.seed = 3;
  if (noted(lg_engine_open(&options, &engine)) != LG_OK) return;
  noted(lg_tensor_from(engine, values, sizeof values, LG_F32, shape, 2, NULL, &x));
  noted(lg_tensor_zeros(engine, LG_F32, shape, 2, NULL, &w));
  noted(lg_tensor_set_requires_grad(w, 1));
  pair[0] = x;
  pair[1] = w;
  noted(lg_op_find("matmul", &op));
  n = 1;
  noted(lg_call(engine, op, pair, 2, NULL, 0, &y, &n));
  param = integer_param("dim", 1);
  noted(lg_op_find("softmax", &op));
  n = 1;
  noted(lg_call(engine, op, &y, 1, &param, 1, &z, &n));
  noted(lg_op_find("mean", &op));
  n = 1;
  noted(lg_call(engine, op, &z, 1, NULL, 0, &loss, &n));
  noted(lg_backward(loss, NULL, 0));
  noted(lg_tensor_grad(w, &grad));
  memset(&wrap, 0, sizeof wrap);
  wrap.struct_size = sizeof wrap;
  wrap.dtype = LG_F32;
  wrap.data = values;
  wrap.bytes = sizeof values;
  wrap.shape = shape;
  wrap.ndim = 2;
  wrap.release = give_back;
  given_back = 0;
  wrapping = noted(lg_tensor_wrap(engine, &wrap, &wrapped)) == LG_OK;
  {
    struct DLManagedTensor *managed = NULL;
    lg_tensor *again = NULL;
    if (noted(lg_tensor_to_dlpack(wrapped, &managed)) == LG_OK) {
      if (noted(lg_tensor_from_dlpack(engine, managed, &again)) != LG_OK) {
        /* the failed import left it to this host, which has no dlpack.h: the deleter is its last member */
        void (*deleter)(struct DLManagedTensor *);
        memcpy(&deleter, (char *)managed + 56, sizeof deleter);
        deleter(managed);
      }
    }
  }
  noted(lg_tensor_release(wrapped));
  noted(lg_engine_close(engine));
  if (wrapping && given_back != 1)
    ++faults, printf("the wrapped memory was given back %d times\n", given_back);
}

/* Work in a process that has done none before. Returns whether all allocations succeeded; *fault: it died. */
static int fresh(long point, int *fault) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    faults = 0;
    made = 0;
    fail_at = point;
    work();
    work();
    _exit(faults ? 2 : made < point ? 1 : 0);
  }
  waitpid(child, &status, 0);
  *fault = !WIFEXITED(status) || WEXITSTATUS(status) > 1;
  if (*fault) printf("the %ldth allocation of a fresh process fails: status %d\n", point, status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(int argc, char **argv) {
  const long step = argc > 1 ? atol(argv[1]) : 13;
  const lg_op *none;
  long point, before, last = 0;
  int i, fault = 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  for (point = 1; !fresh(point, &fault); point += step) faults += fault;
  printf("%ld points of %ld allocations in fresh processes, %d faults\n", point / step, point, faults);

  for (i = 0; i < 3; ++i) work(); /* what is made once in a process */
  lg_op_find("none", &none);      /* and the thread's message */
  memset((void *)codes, 0, sizeof codes);
  before = live;
  for (point = 1; point <= last + 1; ++point) {
    made = 0;
    fail_at = point;
    work();
    last = made;
    fail_at = -1;
  }
  printf("%ld points, %ld out of memory, %ld blocks before, %ld after\n", point - 1, codes[LG_OUT_OF_MEMORY],
         before, live);
  if (live != before) ++faults;
  if (codes[LG_INTERNAL] || codes[kCodes]) ++faults;
  if (codes[LG_OUT_OF_MEMORY] == 0) ++faults;
  return faults != 0;
}
