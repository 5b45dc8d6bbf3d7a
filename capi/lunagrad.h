#ifndef LUNAGRAD_H
#define LUNAGRAD_H
/* The C library of Lunagrad: tensors, operations, gradients, and sessions that run scripts. C99, and C++ with
 * or without exceptions.
 *
 * Codes. Every function but lg_version() returns a code, LG_OK or a reason; lg_last_error() has its message.
 * No function throws, ends the process, installs a signal handler or writes to the host's streams. After a
 * failure no output was written, except where a function says so, and handles are as before.
 *
 * Handles. lg_engine, lg_tensor, lg_text, lg_value, lg_session and lg_op are never read through: a handle is
 * a number that the library looks up. NULL, a released handle, a handle of another kind, and any other value
 * give LG_INVALID_HANDLE. A released handle may be taken for a new one only after 2^28 releases of its place.
 * What a function returns as a handle belongs to the caller, who releases it; lg_engine_close() releases
 * everything of an engine. lg_op handles are constant and are not released.
 *
 * Threads. An engine belongs to the thread that opened it, and so do its tensors, texts, values and sessions:
 * their functions give LG_WRONG_THREAD on any other thread. Several threads may have engines, and one thread
 * may have several. lg_engine_stop(), lg_session_stop(), the functions of lg_op, lg_version() and
 * lg_last_error() may be called by any thread.
 *
 * Callbacks run inside of a call of the library, or on the thread of a session, and must return: no exception
 * and no longjmp may pass the library. In a call, a call for the same engine gives LG_BUSY.
 *
 * Texts are UTF-8. Texts that the host gives end with a zero byte. Structs begin with their size in bytes,
 * which the caller sets: x.struct_size = sizeof x. A library that is newer than the header knows by it which
 * members there are; a library that is older gives LG_BAD_STRUCT for a struct that it reads.
 *
 * Dims and positions count from 0, negative ones from the end; in messages they count from 1, as in scripts.
 * Shapes have 0 to LG_MAX_DIMS sizes. Strides and offsets count elements. */
#include <stddef.h>
#include <stdint.h>

#define LG_VERSION_MAJOR 0
#define LG_VERSION_MINOR 1
#define LG_VERSION_PATCH 0
#define LG_VERSION (LG_VERSION_MAJOR * 1000000 + LG_VERSION_MINOR * 1000 + LG_VERSION_PATCH)
#define LG_MAX_DIMS 8

#if defined(LG_BUILD)
#define LG_API __attribute__((visibility("default")))
#else
#define LG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- codes and texts ---- */

typedef int32_t lg_code;
enum {
  LG_OK = 0,
  LG_INVALID_ARGUMENT = 1, /* a null pointer, a number out of range, an argument of the wrong kind */
  LG_INVALID_HANDLE = 2,   /* released, null, of another kind, of another engine, or no handle */
  LG_WRONG_THREAD = 3,     /* the handle belongs to another thread */
  LG_BAD_STRUCT = 4,       /* struct_size is not the size of a known version */
  LG_BUFFER_SIZE = 5,      /* a buffer or an array has the wrong size */
  LG_NOT_FOUND = 6,        /* there is no such operation, argument, field or position */
  LG_VALUE = 7,            /* operands or arguments do not fit the operation */
  LG_NUMERIC = 8,          /* a result is not finite where it must be */
  LG_DEVICE = 9,           /* no such device, or the device failed */
  LG_FILE = 10,            /* a file cannot be read or written */
  LG_OUT_OF_MEMORY = 11,   /* the machine, the device or the limit has no room */
  LG_STOPPED = 12,         /* lg_engine_stop() or lg_session_stop() was called */
  LG_BUSY = 13,            /* a callback of this engine is running */
  LG_INTERNAL = 14,        /* a fault of the library */
  LG_TIMED_OUT = 15,       /* the time is over, and what was waited for has not happened */
  LG_SCRIPT = 16           /* a script, or an evaluated line, ended with an error */
};

typedef struct lg_engine lg_engine;
typedef struct lg_tensor lg_tensor;
typedef struct lg_text lg_text;
typedef struct lg_value lg_value;
typedef struct lg_session lg_session;
typedef struct lg_op lg_op;

/* The library's LG_VERSION, which may be newer than the header's. Any thread. */
LG_API uint32_t lg_version(void);
/* The message of this thread's latest call that failed: at most 1023 bytes and a zero byte, valid until the
 * next failure on this thread. "" when none failed. `length` may be null. Any thread. */
LG_API lg_code lg_last_error(const char** text, size_t* length);
/* Sets the message and returns the code, for a function of the host that a script calls and that fails. Any
 * thread. */
LG_API lg_code lg_set_error(lg_code code, const char* text);
/* The code's name without LG_ and a sentence, constants. LG_NOT_FOUND for an unknown code. Either pointer may
 * be null. Any thread. */
LG_API lg_code lg_code_text(lg_code code, const char** name, const char** sentence);
/* The bytes of a text, followed by a zero byte; valid until the text is released. `length` may be null. */
LG_API lg_code lg_text_get(lg_text* text, const char** bytes, size_t* length);
/* NULL is no error. */
LG_API lg_code lg_text_release(lg_text* text);

/* ---- engines and devices ---- */

enum { LG_LOG_INFO = 1, LG_LOG_WARNING = 2, LG_LOG_ERROR = 3 };
/* Called on the engine's thread. The text is valid during the call. */
typedef void (*lg_log)(void* user, int32_t level, const char* text, size_t length);

typedef struct lg_engine_options {
  uint32_t struct_size;
  uint32_t reserved;     /* 0 */
  const char* device;    /* where tensors are made: "cpu", "vulkan", "vulkan:1"; NULL: "cpu" */
  uint64_t seed;         /* of random operations */
  uint64_t memory_limit; /* bytes, 0: none; see lg_engine_set_memory_limit() */
  lg_log log;            /* NULL: nothing is logged */
  void* log_user;
} lg_engine_options;

/* Opens an engine that belongs to the calling thread. `options` may be null: the CPU, seed 0. */
LG_API lg_code lg_engine_open(const lg_engine_options* options, lg_engine** engine);
/* Releases the engine and everything of it; sessions are closed within their deadlines. Memory that others
 * still have through DLPack lives on. The thread must close its engines before it ends: else their memory is
 * lost. NULL is no error. */
LG_API lg_code lg_engine_close(lg_engine* engine);
/* Any thread: operations that run, and later ones, give LG_STOPPED within about 20 ms, until it is called
 * with stop = 0. The engine must not be closed meanwhile by a thread that does not wait for this call; a
 * closed engine gives LG_INVALID_HANDLE. */
LG_API lg_code lg_engine_stop(lg_engine* engine, int32_t stop);
/* Where tensors are made from now on, unless a call says another device. */
LG_API lg_code lg_engine_set_device(lg_engine* engine, const char* device);
LG_API lg_code lg_engine_set_seed(lg_engine* engine, uint64_t seed);
/* Whether operations are recorded for gradients; at first they are. `before` may be null. */
LG_API lg_code lg_engine_set_grad_enabled(lg_engine* engine, int32_t enabled, int32_t* before);
/* Operations of this engine fail with LG_OUT_OF_MEMORY when tensors and small objects of its thread and
 * devices would need more bytes than 7/8 of the limit. 0: no limit. */
LG_API lg_code lg_engine_set_memory_limit(lg_engine* engine, uint64_t bytes);
LG_API lg_code lg_engine_set_log(lg_engine* engine, lg_log log, void* user);

typedef struct lg_engine_info {
  uint32_t struct_size;
  int32_t grad_enabled;
  const char* device; /* valid for the life of the process */
  uint64_t seed;
  uint64_t memory_limit;  /* bytes, 0: none */
  uint64_t memory_in_use; /* bytes that the limit counts */
  uint64_t tensors;       /* handles that were not released */
  uint64_t texts;
  int32_t threads; /* see lg_set_thread_count() */
  uint32_t reserved;
  uint64_t values;
  uint64_t sessions;
} lg_engine_info;
LG_API lg_code lg_engine_get_info(lg_engine* engine, lg_engine_info* info);

/* The threads that loops on the CPU use, the caller included, in the whole process; at first the cores that
 * the process may use, or OMP_NUM_THREADS. 1 to 1024. Call it while no operation runs on any thread. */
LG_API lg_code lg_set_thread_count(int32_t count);

/* Threads of the host, which run the loops in place of the library's. `run` calls task(data, i) once for each
 * i below `count`, on any threads, and returns when all calls have returned. A task calls no function of the
 * host but the allocator. Every engine of the process uses them. NULL: the library's own threads again. Call
 * it while no operation runs on any thread. */
typedef void (*lg_task)(void* data, int32_t i);
typedef struct lg_thread_pool {
  uint32_t struct_size;
  int32_t count; /* of tasks for a loop: the threads that take part, 1 to 1024 */
  void (*run)(void* user, lg_task task, void* data, int32_t count);
  void* user;
} lg_thread_pool;
LG_API lg_code lg_set_thread_pool(const lg_thread_pool* pool);

/* Memory of the host for the elements of tensors on the CPU. Small objects of the library, at most a few KiB
 * an operation, stay with malloc. `allocate` gives `bytes` at a multiple of `alignment` (64), or NULL, which
 * makes the operation LG_OUT_OF_MEMORY; `free` gets the same `bytes`. Both are called on any thread, several
 * at once. A block may be in use until the engine is closed, and longer where DLPack exported it. Once,
 * before the first tensor of the process: LG_BUSY later. */
typedef struct lg_allocator {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*free)(void* user, void* block, size_t bytes);
  void* user;
} lg_allocator;
LG_API lg_code lg_set_allocator(const lg_allocator* allocator);

typedef struct lg_device_info {
  uint32_t struct_size;
  int32_t is_cpu;
  const char* name; /* valid for the life of the process, as the description is */
  const char* description;
  uint64_t in_use;   /* bytes of live tensors of all engines */
  uint64_t reserved; /* bytes taken from the system */
  uint64_t peak;     /* largest in_use so far */
  uint64_t total;    /* bytes that the device has; 0: unknown */
} lg_device_info;
/* The number of devices, the CPU first. The first call looks for GPUs, which takes 0.1 to 0.3 s. */
LG_API lg_code lg_device_count(lg_engine* engine, size_t* count);
LG_API lg_code lg_device_get(lg_engine* engine, size_t index, lg_device_info* info);
/* Why there is no GPU, a line for each reason; "" when there is one. */
LG_API lg_code lg_device_missing(lg_engine* engine, lg_text** reasons);
/* Returns when the device has done its work. NULL: the engine's device. Functions that read values wait by
 * themselves. */
LG_API lg_code lg_device_sync(lg_engine* engine, const char* device);

/* ---- the host's Vulkan device ---- */

/* A logical device of the host; docs/embedding.md lists the features that it needs. Handles of Vulkan are
 * pointers (VkInstance, VkPhysicalDevice, VkDevice, VkQueue) or numbers (VkBuffer, VkSemaphore). */
typedef struct lg_vulkan {
  uint32_t struct_size;
  uint32_t queue_family; /* of the queue, which must compute */
  void* instance;
  void* physical_device;
  void* device;
  void* queue;
  int32_t float64; /* 1: shaderFloat64 is enabled */
  /* 1: so are shaderFloat16 and the extensions of cooperative matrices that there are. */
  int32_t matrix_units;
  /* Called around each submission to the queue, on any thread. NULL: nobody else uses the queue. */
  void (*lock)(void* user);
  void (*unlock)(void* user);
  void* user;
} lg_vulkan;
/* Makes a device of it, whose name is valid for the life of the process: "vulkan:host", "vulkan:host1". Every
 * engine of the process may use it, until lg_vulkan_close(). The host keeps its device until then. */
LG_API lg_code lg_vulkan_open(lg_engine* engine, const lg_vulkan* vulkan, const char** device);
/* Waits for the work and destroys what the library made on the device. Its tensors give LG_DEVICE then. */
LG_API lg_code lg_vulkan_close(lg_engine* engine, const char* device);

typedef struct lg_vulkan_buffer {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t buffer;    /* VkBuffer; it may be bound as storage, and copied from and to */
  uint64_t offset;    /* bytes to the first element; strides as lg_tensor_get_info() says */
  uint64_t semaphore; /* a timeline VkSemaphore: the elements are there when it has reached `value` */
  uint64_t value;
} lg_vulkan_buffer;
/* The place of a tensor on a host's device, without a copy. Submits the work that its elements need, and does
 * not wait. Valid until the tensor is released or written. `writes`: the host will write the elements. */
LG_API lg_code lg_tensor_vulkan(lg_tensor* tensor, int32_t writes, lg_vulkan_buffer* buffer);
/* Later work on the device waits until the host's timeline semaphore has reached `value`: the host reads or
 * writes a tensor until then. The host has submitted the work that signals it. */
LG_API lg_code lg_vulkan_wait(lg_engine* engine, const char* device, uint64_t semaphore, uint64_t value);

/* ---- tensors ---- */

typedef int32_t lg_dtype;
enum {
  LG_BOOL = 0, /* one byte, 0 or 1 */
  LG_U8 = 1,
  LG_I32 = 2,
  LG_I64 = 3,
  LG_F16 = 4,
  LG_BF16 = 5,
  LG_F32 = 6,
  LG_F64 = 7,
  LG_C64 = 8, /* two f32, the real part first */
  LG_C128 = 9 /* two f64; on the CPU alone */
};

/* Elements without values; booleans are 0. `shape` has `ndim` sizes and may be null when ndim is 0. `device`
 * NULL: the engine's. */
LG_API lg_code lg_tensor_empty(lg_engine* engine, lg_dtype dtype, const int64_t* shape, size_t ndim,
                               const char* device, lg_tensor** tensor);
LG_API lg_code lg_tensor_zeros(lg_engine* engine, lg_dtype dtype, const int64_t* shape, size_t ndim,
                               const char* device, lg_tensor** tensor);
/* A copy of `bytes` bytes of row-major elements; LG_BUFFER_SIZE unless the shape has as many. */
LG_API lg_code lg_tensor_from(lg_engine* engine, const void* data, size_t bytes, lg_dtype dtype,
                              const int64_t* shape, size_t ndim, const char* device, lg_tensor** tensor);

enum { LG_WRAP_READ_ONLY = 1 }; /* writes in place are refused */
typedef struct lg_wrap {
  uint32_t struct_size;
  lg_dtype dtype;
  void* data;             /* the first element, aligned to its type */
  uint64_t bytes;         /* of the memory from `data` on; every element must lie in it */
  const int64_t* shape;   /* copied, as the strides are */
  const int64_t* strides; /* 0 or more; NULL: row-major */
  uint32_t ndim;
  uint32_t flags;
  /* Called once, when nothing uses the memory any more: in a call for the engine, or, after it was closed, on
   * the thread that gives the last DLPack export back. Not called when lg_tensor_wrap() fails. May be null.
   */
  void (*release)(void* user, void* data);
  void* user;
} lg_wrap;
/* A tensor on the host's memory, without a copy, on the CPU. The host may write to the memory between calls;
 * gradients that need the old values are then wrong, unless the write is announced by lg_tensor_data(). */
LG_API lg_code lg_tensor_wrap(lg_engine* engine, const lg_wrap* wrap, lg_tensor** tensor);

/* Releases the handle; the tensor lives as long as others need it. NULL is no error. */
LG_API lg_code lg_tensor_release(lg_tensor* tensor);

enum {
  LG_TENSOR_CONTIGUOUS = 1,
  LG_TENSOR_REQUIRES_GRAD = 2,
  LG_TENSOR_LEAF = 4,
  LG_TENSOR_HAS_GRAD = 8,
  LG_TENSOR_READ_ONLY = 16
};
typedef struct lg_tensor_info {
  uint32_t struct_size;
  lg_dtype dtype;
  uint32_t ndim;
  uint32_t flags;
  int64_t shape[LG_MAX_DIMS];
  int64_t strides[LG_MAX_DIMS];
  int64_t offset; /* of the first element in its memory */
  int64_t numel;
  uint64_t nbytes;    /* numel elements */
  const char* device; /* valid for the life of the process */
  uint64_t id;        /* unique in the process, one for all handles of a tensor */
  uint64_t version;   /* grows with each write in place to its memory */
} lg_tensor_info;
LG_API lg_code lg_tensor_get_info(lg_tensor* tensor, lg_tensor_info* info);
/* Copies the elements in row-major order; `bytes` must be nbytes. Waits for the device. */
LG_API lg_code lg_tensor_read(lg_tensor* tensor, void* to, size_t bytes);
/* Overwrites the elements, in row-major order. Not recorded for gradients. */
LG_API lg_code lg_tensor_write(lg_tensor* tensor, const void* from, size_t bytes);
/* The address of the first element of a tensor on the CPU (LG_DEVICE otherwise), NULL when it has none; valid
 * while the tensor lives. `writes`: the host will change elements before its next call for the engine. */
LG_API lg_code lg_tensor_data(lg_tensor* tensor, int32_t writes, void** data);
/* The value of a tensor with one real element. */
LG_API lg_code lg_tensor_item(lg_tensor* tensor, double* value);
/* A copy on a device (NULL: its own) and of a dtype (-1: its own), recorded for gradients; another handle of
 * the same tensor when both are its own. */
LG_API lg_code lg_tensor_to(lg_tensor* tensor, const char* device, lg_dtype dtype, lg_tensor** copy);

/* ---- gradients ---- */

/* Another tensor on the same memory, without history. */
LG_API lg_code lg_tensor_detach(lg_tensor* tensor, lg_tensor** detached);
/* For leaves of a floating or complex dtype. */
LG_API lg_code lg_tensor_set_requires_grad(lg_tensor* tensor, int32_t on);
/* The gradient that lg_backward() added up; NULL and LG_OK when there is none. */
LG_API lg_code lg_tensor_grad(lg_tensor* tensor, lg_tensor** grad);
/* `grad` has the tensor's shape, dtype and device, and is taken without its history; NULL: none. */
LG_API lg_code lg_tensor_set_grad(lg_tensor* tensor, lg_tensor* grad);

enum {
  LG_RETAIN_GRAPH = 1, /* a second pass is possible */
  LG_CREATE_GRAPH = 2, /* lg_grad() alone: gradients can be differentiated; implies LG_RETAIN_GRAPH */
  LG_ALLOW_UNUSED = 4  /* lg_grad() gives NULL for an input that no output depends on, not LG_VALUE */
};
/* Adds to the gradients of all leaves that `root` depends on. `seed` has the root's shape; it may be null for
 * a root of one real element. */
LG_API lg_code lg_backward(lg_tensor* root, lg_tensor* seed, uint32_t flags);
/* The gradients of `n_inputs` tensors into `grads`; lg_tensor_grad() does not change. `seeds` may be null,
 * and each of its n_outputs elements too. */
LG_API lg_code lg_grad(lg_tensor* const* outputs, size_t n_outputs, lg_tensor* const* inputs, size_t n_inputs,
                       lg_tensor* const* seeds, uint32_t flags, lg_tensor** grads);

/* ---- operations ---- */

typedef int32_t lg_kind;
enum { /* of a value; an operation takes for a parameter of the kind: */
       LG_NONE = 0,
       LG_BOOLEAN = 1,  /* integer 0 or 1 */
       LG_INTEGER = 2,  /* integer */
       LG_REAL = 3,     /* real, or an integer */
       LG_NUMBER = 4,   /* a boolean, an integer or a real; a description's alone */
       LG_INTEGERS = 5, /* list, or one integer */
       LG_DTYPE = 6,    /* integer: an lg_dtype; or its name as a text */
       LG_CHOICE = 7,   /* one of a few texts; a description's alone */
       LG_TEXT = 8,     /* text */
       LG_TENSOR = 9,   /* tensor: an operand by its name */
       LG_TABLE = 10    /* no parameter has it, only an lg_value */
};
typedef struct lg_param {
  uint32_t struct_size;
  lg_kind kind; /* says which member has the value */
  const char* name;
  int64_t integer;
  double real;
  const char* text;
  const int64_t* list;
  size_t list_length; /* 0 to LG_MAX_DIMS */
  lg_tensor* tensor;
} lg_param;

/* The operation of a name, as in Lua: "add", "softmax", "linalg.solve", PyTorch's second names ("concat"),
 * and the in-place forms with a final underscore ("add_"). LG_NOT_FOUND otherwise. Any thread. */
LG_API lg_code lg_op_find(const char* name, const lg_op** op);
/* The number of operations, in-place forms included. Any thread. */
LG_API lg_code lg_op_count(size_t* count);
LG_API lg_code lg_op_at(size_t index, const lg_op** op);

enum {
  LG_OP_LIST = 1,     /* the last input is a list of tensors */
  LG_OP_IN_PLACE = 2, /* writes the result into input 0 */
  LG_OP_CREATES = 4,  /* also takes the parameters device (text) and requires_grad (boolean) */
  LG_OP_RANDOM = 8    /* draws random numbers */
};
typedef struct lg_op_info { /* all pointers are valid for the life of the process */
  uint32_t struct_size;
  uint32_t flags;
  const char* name;
  const char* sentence; /* what it computes */
  const char* const* aliases;
  size_t n_aliases;
  size_t n_inputs;
  size_t n_params;
} lg_op_info;
LG_API lg_code lg_op_get_info(const lg_op* op, lg_op_info* info);

enum {
  LG_ARGUMENT_REQUIRED = 1,
  LG_ARGUMENT_LIST = 2,   /* an input: the last, any number of tensors */
  LG_ARGUMENT_NUMBER = 4, /* an input: a parameter of its name may give a number for it */
  LG_ARGUMENT_DIM = 8     /* a parameter: dims or positions, which count from the end if they are negative */
};
typedef struct lg_argument_info {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;
  uint32_t position; /* in the order of the signature, inputs and parameters together */
  lg_kind kind;      /* of a parameter; LG_TENSOR for an input */
  /* The value when a call does not give it: LG_NONE when it is required, or absent by default. */
  lg_kind default_kind;
  uint32_t n_choices;
  int64_t default_integer;
  double default_real;
  const char* default_text;
  const int64_t* default_list;
  size_t default_list_length;
  /* Texts that the parameter takes, besides numbers if its kind is not LG_CHOICE. */
  const char* const* choices;
} lg_argument_info;
/* Input or parameter `index` of an operation. */
LG_API lg_code lg_op_get_input(const lg_op* op, size_t index, lg_argument_info* info);
LG_API lg_code lg_op_get_param(const lg_op* op, size_t index, lg_argument_info* info);

/* Runs an operation. `inputs` are its operands in the order of its inputs; NULL: an optional operand that is
 * absent; operands at the end may be left out; a list takes all further operands. `params` are arguments by
 * name, each at most once; the others have their defaults. Every element of `params` has the same
 * struct_size. `n_outputs` is in: the room in `outputs`, out: the number of results, 0 after a failure, but
 * with LG_BUFFER_SIZE the room that is needed. Both may be null: results are dropped. The results are new
 * handles; the result of an in-place form is input 0. */
LG_API lg_code lg_call(lg_engine* engine, const lg_op* op, lg_tensor* const* inputs, size_t n_inputs,
                       const lg_param* params, size_t n_params, lg_tensor** outputs, size_t* n_outputs);

/* ---- DLPack (dlpack.h has the structs) ---- */

struct DLManagedTensor;
struct DLManagedTensorVersioned;
/* The tensor's memory without a copy, for others; CPU alone. The receiver calls its deleter once, on any
 * thread, before or after the tensor and the engine are gone. LG_VALUE for a tensor that requires grad:
 * export lg_tensor_detach(). The first form is refused for read-only tensors. */
LG_API lg_code lg_tensor_to_dlpack(lg_tensor* tensor, struct DLManagedTensor** managed);
LG_API lg_code lg_tensor_to_dlpack_versioned(lg_tensor* tensor, struct DLManagedTensorVersioned** managed);
/* A tensor on the memory of others, without a copy; strides of 0 or more, aligned elements of an lg_dtype, in
 * the host's memory. On success the tensor owns `managed`, whose deleter is called as lg_wrap's release is;
 * on failure the caller still does. Read-only memory gives a read-only tensor. */
LG_API lg_code lg_tensor_from_dlpack(lg_engine* engine, struct DLManagedTensor* managed, lg_tensor** tensor);
LG_API lg_code lg_tensor_from_dlpack_versioned(lg_engine* engine, struct DLManagedTensorVersioned* managed,
                                               lg_tensor** tensor);

/* ---- values ---- */

/* What a value is. nil, booleans, integers, reals, texts (any bytes), tensors, and tables: a list of items,
 * counted from 0, and fields with names. Values are copied into tables and out of them: a table that is a
 * field does not change with the value that was set. Tensors are shared. */
typedef struct lg_data {
  uint32_t struct_size;
  lg_kind kind; /* LG_NONE (nil), LG_BOOLEAN, LG_INTEGER, LG_REAL, LG_TEXT, LG_TENSOR or LG_TABLE */
  int64_t integer;
  double real;      /* lg_value_get() sets it for booleans and integers, too */
  const char* text; /* from lg_value_get(): ends with a zero byte; valid until the value is released */
  size_t length;
  lg_tensor* tensor; /* for lg_value_make() alone; see lg_value_tensor() */
  size_t n_items;    /* from lg_value_get() alone */
  size_t n_fields;
  uint64_t reserved;
} lg_data;
/* A table is made empty. */
LG_API lg_code lg_value_make(lg_engine* engine, const lg_data* data, lg_value** value);
/* NULL is no error. */
LG_API lg_code lg_value_release(lg_value* value);
LG_API lg_code lg_value_get(lg_value* value, lg_data* data);
/* A new handle of the value's tensor; LG_VALUE for other values. */
LG_API lg_code lg_value_tensor(lg_value* value, lg_tensor** tensor);
/* LG_NOT_FOUND when there is no such item; LG_VALUE for a value that is no table, as in the functions below.
 */
LG_API lg_code lg_table_item(lg_value* table, size_t index, lg_value** item);
/* Replaces an item, or adds one when index is the number of items. NULL and nil remove the last item. Tables
 * are nested at most 64 deep. */
LG_API lg_code lg_table_set_item(lg_value* table, size_t index, lg_value* item);
LG_API lg_code lg_table_field(lg_value* table, const char* name, lg_value** field);
/* NULL and nil remove the field. */
LG_API lg_code lg_table_set_field(lg_value* table, const char* name, lg_value* field);
/* The fields in the order of their names. The name is valid until the table changes or is released. `length`
 * and `field` may be null. */
LG_API lg_code lg_table_field_at(lg_value* table, size_t index, const char** name, size_t* length,
                                 lg_value** field);

/* ---- sessions ---- */

/* A session runs Lua scripts on a thread of its own. Its functions belong to the thread of its engine, as the
 * handle does; the engine also makes the values that it gives. `seconds` is the longest time that a function
 * waits; a negative number: without a limit. LG_NOT_FOUND from lg_session_open() in a library that was built
 * without scripts, where no session can be opened. */

enum {                        /* of a text for a sink */
       LG_STREAM_OUT = 1,     /* print, io.write and io.stdout, with newlines */
       LG_STREAM_ERR = 2,     /* io.stderr */
       LG_STREAM_WARNING = 3, /* a message, without a newline at its end */
       LG_STREAM_ERROR = 4    /* the message and traceback of an error that ended a run */
};
/* Called on the session's thread. The text is valid during the call. */
typedef void (*lg_sink)(void* user, int32_t stream, const char* text, size_t length);

enum { LG_STATE_IDLE = 0, LG_STATE_RUNNING = 1, LG_STATE_PAUSED = 2, LG_STATE_STOPPING = 3 };
enum { /* how a run ended: the exit codes of the command line */
       LG_OUTCOME_OK = 0,
       LG_OUTCOME_ERROR = 1,
       LG_OUTCOME_USAGE = 2,
       LG_OUTCOME_NUMERIC = 4,
       LG_OUTCOME_DEVICE = 5,
       LG_OUTCOME_FILE = 6,
       LG_OUTCOME_MEMORY = 8,
       LG_OUTCOME_STOPPED = 130
};
enum {
  LG_EVENT_NONE = 0,
  LG_EVENT_OUTPUT = 1,      /* text, stream */
  LG_EVENT_WARNING = 2,     /* text, place */
  LG_EVENT_ERROR = 3,       /* text, place, outcome */
  LG_EVENT_STATE = 4,       /* state; the place of a pause */
  LG_EVENT_STEP = 5,        /* step: how many have ended, 0 at first; total */
  LG_EVENT_METRICS = 6,     /* step, total, names, values */
  LG_EVENT_PARAM = 7,       /* a parameter's name (names[0]) and its value as text */
  LG_EVENT_RUN_FOLDER = 8,  /* text: the path */
  LG_EVENT_CHECKPOINT = 9,  /* text: the path */
  LG_EVENT_NOT_FINITE = 10, /* text: a NaN or Inf arose, and where */
  LG_EVENT_GROWTH = 11,     /* text: memory grows with each step, and why */
  LG_EVENT_SURGERY = 12,    /* text: what was changed in a model */
  LG_EVENT_MEDIA = 13,      /* text: the name of a logged image, histogram or text */
  LG_EVENT_ENDED = 14       /* outcome, exit_code */
};
typedef struct lg_event {
  uint32_t struct_size;
  int32_t kind;     /* LG_EVENT_... */
  const char* text; /* ends with a zero byte, as all texts do; "" when there is none */
  size_t length;
  const char* file; /* the script's line that caused the event, "" and 0 when it is unknown */
  int32_t line;
  int32_t stream; /* LG_STREAM_OUT or LG_STREAM_ERR */
  int64_t step;
  int64_t total; /* 0: unknown */
  double time;   /* seconds since the run began */
  int32_t state;
  int32_t outcome;
  int32_t exit_code;
  uint32_t dropped; /* events before this one that found no room */
  const char* const* names;
  const double* values;
  size_t n_values; /* names and values */
} lg_event;
/* Called on the session's thread. The event is valid during the call. */
typedef void (*lg_event_function)(void* user, const lg_event* event);

typedef struct lg_module { /* `require "name"` finds it before files */
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;
  const char* text;
  size_t length;
} lg_module;

enum {
  LG_SESSION_STDIO = 1, /* output goes to the process's standard streams, also what scripts write there */
  LG_SESSION_TAPE = 2   /* lg_session_tape() has the tape of the latest backward pass */
};
typedef struct lg_session_options {
  uint32_t struct_size;
  uint32_t flags;
  const char* device; /* of runs that name none; NULL: "cpu" */
  uint64_t seed;      /* of runs that have none */
  /* The folder with lunagrad/init.lua, for all sessions of the process. NULL: the one near liblunagrad. */
  const char* library;
  const lg_module* modules; /* copied, as all texts are */
  size_t n_modules;
  lg_sink sink;               /* NULL: output is dropped */
  lg_event_function on_event; /* NULL: none is called */
  void* user;                 /* of both */
  uint64_t event_limit;       /* events that wait for lg_session_poll_event(); then the oldest are dropped */
  double close_seconds;       /* the deadline of a close that names none; 0: 10 */
} lg_session_options;
/* `options` may be null. LG_FILE when `library` is not such a folder, or another one is in use. */
LG_API lg_code lg_session_open(lg_engine* engine, const lg_session_options* options, lg_session** session);
/* Ends the script and the session's thread, and waits at most so many seconds; negative: the deadline of the
 * options. LG_TIMED_OUT: the thread is in a function of the host, or in a function of Lua that nothing
 * interrupts. It ends by itself when that returns, and calls the host no more. The handle is released in both
 * cases. NULL is no error. */
LG_API lg_code lg_session_close(lg_session* session, double seconds);

enum {
  LG_RUN_PAUSED = 1,     /* pauses before the first line, for lg_session_step() and lg_session_resume() */
  LG_RUN_PRELOAD = 2,    /* `lg` is a global */
  LG_RUN_SANDBOX = 4,    /* the script is not trusted: the kernel limits what it may do */
  LG_RUN_INTERACTIVE = 8 /* lg.run.breakpoint() pauses */
};
typedef struct lg_run {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;             /* of a text, in messages; NULL: "script" */
  const char* const* arguments; /* the script's `...` and `arg` */
  size_t n_arguments;
  const char* const* params; /* "name=value", for lg.run.param() */
  size_t n_params;
  const char* device;
  uint64_t seed;         /* 0: the session's */
  int64_t steps;         /* of lg.run.steps; 0: the script's */
  uint64_t memory_limit; /* bytes of the script and its tensors; 0: none */
  const char* folder;    /* the run's folder; NULL: none is written */
  const char* resume;    /* a run folder or a checkpoint to go on from */
} lg_run;
/* Starts a script and returns at once. A script that runs is stopped first. `run` may be null. The text may
 * have any bytes. */
LG_API lg_code lg_session_run_text(lg_session* session, const char* text, size_t length, const lg_run* run);
/* A file that cannot be read is an error of the run, LG_OUTCOME_FILE. */
LG_API lg_code lg_session_run_file(lg_session* session, const char* path, const lg_run* run);

enum { LG_STEP_DONE = 1, LG_STEP_PAUSED = 2, LG_STEP_ENDED = 3 };
/* Runs to the end of the step of lg.run.steps, and returns when the run is paused there: `end` is
 * LG_STEP_DONE. The first step includes what the script does before it. LG_STEP_PAUSED: it paused inside the
 * step. LG_STEP_ENDED: the run has ended, and the code is the one of lg_session_wait(); `end` is written
 * then, too. LG_TIMED_OUT: the step goes on, and the run pauses at its end. */
LG_API lg_code lg_session_step(lg_session* session, double seconds, int32_t* end);
/* At the next point between operations. Returns at once. Before a run: the next run pauses before its first
 * line. */
LG_API lg_code lg_session_pause(lg_session* session);
LG_API lg_code lg_session_resume(lg_session* session);
enum { LG_STOP_AT_STEP = 0, LG_STOP_NOW = 1 };
/* Any thread. LG_STOP_AT_STEP ends the run at the end of its step, LG_STOP_NOW in the midst of it. Returns at
 * once. A session that is closed gives LG_INVALID_HANDLE. */
LG_API lg_code lg_session_stop(lg_session* session, int32_t how);
/* Waits until no script runs. LG_OK: the latest run ended well, or there was none; LG_STOPPED; LG_SCRIPT: it
 * ended with an error, which is the message. `outcome` may be null and is written in all three cases.
 * LG_TIMED_OUT: a script runs or is paused. */
LG_API lg_code lg_session_wait(lg_session* session, double seconds, int32_t* outcome);

typedef struct lg_session_info {
  uint32_t struct_size;
  int32_t state;
  uint64_t events;    /* that wait for lg_session_poll_event() */
  double silence;     /* seconds for which a request has been waiting for the script; 0: none waits */
  const char* device; /* of runs that name none; valid for the life of the process */
  uint64_t seed;
} lg_session_info;
LG_API lg_code lg_session_get_info(lg_session* session, lg_session_info* info);

/* Evaluates an expression or statements in the state of the script, at the next point between operations, or
 * at once when no script runs. `results` may be null: the values as the prompt shows them, a line for each.
 * LG_SCRIPT: it failed. LG_TIMED_OUT: it is evaluated later. */
LG_API lg_code lg_session_evaluate(lg_session* session, const char* code, double seconds, lg_text** results);
/* A parameter that the script has declared, from its next step on. LG_VALUE when there is none, or the value
 * does not fit it. */
LG_API lg_code lg_session_set_param(lg_session* session, const char* name, const char* value);
/* lg.host.NAME of the script: before a run, or from its next step on. The elements of tensors are copied.
 * NULL and nil remove it. */
LG_API lg_code lg_session_set(lg_session* session, const char* name, lg_value* value);
/* What the script assigned to lg.host.NAME up to the end of its latest step, else what lg_session_set() gave,
 * else nil. `step` may be null: the number of steps that had ended then; -1: the value is the host's own.
 * Tensors are new ones, on the CPU. */
LG_API lg_code lg_session_get(lg_session* session, const char* name, lg_value** value, int64_t* step);

/* A function that scripts call: lg.host.NAME(...). On the session's thread. `engine` belongs to the session:
 * tensors and operations are the script's, with gradients. All handles of this engine, arguments and results
 * too, are released after the call; handles of the host's other engines belong to other threads. `n_results`
 * is in: the room in `results`, 32; out: their number; NULL is nil. Any code but LG_OK is an error of the
 * script. Its message is the text of lg_set_error(), or the message of the library's call that failed. */
typedef lg_code (*lg_function)(void* user, lg_engine* engine, lg_value* const* arguments, size_t n_arguments,
                               lg_value** results, size_t* n_results);
/* Adds or replaces a function, for scripts that look it up from now on. */
LG_API lg_code lg_session_add_function(lg_session* session, const char* name, lg_function function,
                                       void* user);

/* Computes an operation of the host. `params` are all of its parameters, in order; LG_NONE: absent without a
 * default. `n_outputs` is in: the room, 16; out: their number, 1 or more. For engine, handles and codes see
 * lg_function. */
typedef lg_code (*lg_op_forward)(void* user, lg_engine* engine, lg_tensor* const* inputs, size_t n_inputs,
                                 const lg_param* params, size_t n_params, lg_tensor** outputs,
                                 size_t* n_outputs);
/* Gives the gradients of the inputs, of the inputs' shapes; NULL: none. `grads` are the outputs' gradients.
 */
typedef lg_code (*lg_op_backward)(void* user, lg_engine* engine, lg_tensor* const* inputs, size_t n_inputs,
                                  const lg_param* params, size_t n_params, lg_tensor* const* outputs,
                                  lg_tensor* const* grads, size_t n_outputs, lg_tensor** input_grads);
typedef struct lg_host_op {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;     /* as Lua writes names, and no operation's of the library */
  const char* sentence; /* what it computes; may be null */
  /* Of inputs: name and flags. Of parameters: name, kind, flags and the default; not LG_CHOICE. */
  const lg_argument_info* inputs;
  size_t n_inputs;
  const lg_argument_info* params;
  size_t n_params;
  lg_op_forward forward;
  /* NULL: `forward` is recorded, and its operations have gradients. Else it runs unrecorded. */
  lg_op_backward backward;
  void* user;
} lg_host_op;
/* Adds the operation lg.host.NAME(...), with arguments by position and by name. LG_VALUE for a name that is
 * taken, and for arguments that do not fit each other. It cannot be replaced. */
LG_API lg_code lg_session_add_op(lg_session* session, const lg_host_op* op);

/* The oldest event that waits, or the first one within so many seconds; LG_EVENT_NONE when there is none. The
 * texts are valid until the next call or the close. */
LG_API lg_code lg_session_poll_event(lg_session* session, double seconds, lg_event* event);
/* The tape of the latest backward pass, as lg.tape(x):json() gives it. LG_NOT_FOUND: there is none, or the
 * session was opened without LG_SESSION_TAPE. */
LG_API lg_code lg_session_tape(lg_session* session, lg_text** json);

#ifdef __cplusplus
}
#endif
#endif
