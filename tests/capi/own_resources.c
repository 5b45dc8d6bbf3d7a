/* A host that gives its own memory and its own threads: results are the same, every block comes back, and the
 * host's refusal is a code. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { kThreads = 3, kSide = 600 };

/* ---- memory: each block begins behind a header with its size ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long blocks = 0, allocations = 0, refuse_after = -1;
static size_t bytes_in_use = 0, largest = 0;

static void *allocate(void *user, size_t bytes, size_t alignment) {
  char *block = NULL;
  CHECK(user == &blocks);
  CHECK(alignment == 64);
  pthread_mutex_lock(&mutex);
  if (refuse_after != 0 && (block = malloc(bytes + 2 * alignment)) != NULL) {
    char *const start = block + 2 * alignment - (size_t)block % alignment;
    memcpy(start - sizeof block, &block, sizeof block);
    block = start;
    if (refuse_after > 0) --refuse_after;
    ++blocks, ++allocations, bytes_in_use += bytes;
    if (bytes > largest) largest = bytes;
  }
  pthread_mutex_unlock(&mutex);
  return block;
}
static void give_back(void *user, void *block, size_t bytes) {
  char *start;
  CHECK(user == &blocks);
  memcpy(&start, (char *)block - sizeof start, sizeof start);
  pthread_mutex_lock(&mutex);
  --blocks, bytes_in_use -= bytes;
  pthread_mutex_unlock(&mutex);
  free(start);
}

/* ---- threads: new ones for each loop ---- */

static long loops = 0;
typedef struct {
  lg_task task;
  void *data;
  int32_t i;
} Task;
static void *run_task(void *given) {
  Task *const task = given;
  task->task(task->data, task->i);
  return NULL;
}
static void run_tasks(void *user, lg_task task, void *data, int32_t count) {
  pthread_t threads[kThreads];
  Task tasks[kThreads];
  int32_t i;
  CHECK(user == &loops);
  CHECK(count == kThreads);
  ++loops;
  for (i = 0; i < count; ++i) {
    tasks[i].task = task;
    tasks[i].data = data;
    tasks[i].i = i;
    pthread_create(&threads[i], NULL, run_task, &tasks[i]);
  }
  for (i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}
/* A host whose threads have ended: the library does the work on the caller's thread. */
static void run_none(void *user, lg_task task, void *data, int32_t count) {
  (void)user, (void)task, (void)data, (void)count;
}

/* ---- */

static double sum_of_products(lg_engine *engine) {
  const int64_t shape[2] = {kSide, kSide};
  const lg_param half = real_param("other", 0.5);
  lg_tensor *zeros = NULL, *halves, *product, *activated, *sum;
  double value = 0;
  OK(lg_tensor_zeros(engine, LG_F64, shape, 2, NULL, &zeros));
  halves = call1(engine, "add", zeros, NULL, &half, 1);
  product = call1(engine, "matmul", halves, halves, NULL, 0);
  activated = call1(engine, "sin", product, NULL, NULL, 0);
  sum = call1(engine, "sum", activated, NULL, NULL, 0);
  OK(lg_tensor_item(sum, &value));
  OK(lg_tensor_release(zeros));
  return value;
}

/* The engine works on afterwards. */
static void refusal(lg_engine *engine) {
  const int64_t shape[1] = {1000};
  lg_tensor *tensor = NULL;
  refuse_after = 0;
  GIVES(LG_OUT_OF_MEMORY, lg_tensor_zeros(engine, LG_F32, shape, 1, NULL, &tensor));
  CHECK(strstr(last_error(), "allocator") != NULL);
  refuse_after = -1;
  OK(lg_tensor_zeros(engine, LG_F32, shape, 1, NULL, &tensor));
  OK(lg_tensor_release(tensor));
}

int main(void) {
  lg_allocator allocator;
  lg_thread_pool pool;
  lg_engine *engine;
  double own, hosts, none;
  memset(&allocator, 0, sizeof allocator);
  memset(&pool, 0, sizeof pool);
  GIVES(LG_INVALID_ARGUMENT, lg_set_allocator(NULL));
  GIVES(LG_BAD_STRUCT, lg_set_allocator(&allocator));
  allocator.struct_size = sizeof allocator;
  GIVES(LG_INVALID_ARGUMENT, lg_set_allocator(&allocator));
  allocator.allocate = allocate;
  GIVES(LG_INVALID_ARGUMENT, lg_set_allocator(&allocator));
  allocator.free = give_back;
  allocator.user = &blocks;
  OK(lg_set_allocator(&allocator));

  OK(lg_set_thread_count(2));
  OK(lg_engine_open(NULL, &engine));
  own = sum_of_products(engine);
  GIVES(LG_BUSY, lg_set_allocator(&allocator));
  CHECK(allocations > 0);
  CHECK(largest >= sizeof(double) * kSide * kSide);

  GIVES(LG_BAD_STRUCT, lg_set_thread_pool(&pool));
  pool.struct_size = sizeof pool;
  pool.count = kThreads;
  pool.user = &loops;
  GIVES(LG_INVALID_ARGUMENT, lg_set_thread_pool(&pool));
  pool.run = run_tasks;
  pool.count = 0;
  GIVES(LG_INVALID_ARGUMENT, lg_set_thread_pool(&pool));
  pool.count = kThreads;
  OK(lg_set_thread_pool(&pool));
  {
    lg_engine_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    OK(lg_engine_get_info(engine, &info));
    CHECK(info.threads == kThreads);
  }
  hosts = sum_of_products(engine);
  CHECK(loops > 0);
  pool.run = run_none;
  OK(lg_set_thread_pool(&pool));
  none = sum_of_products(engine);
  OK(lg_set_thread_pool(NULL));
  CHECK(fabs(own - hosts) < 1e-9 * fabs(own));
  CHECK(fabs(own - none) < 1e-9 * fabs(own));

  refusal(engine);
  OK(lg_engine_close(engine));
  CHECK(blocks == 0);
  CHECK(bytes_in_use == 0);
  return end_of_checks("own_resources");
}
