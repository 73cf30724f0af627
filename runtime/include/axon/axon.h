/* The C interface of the Axon runtime: load a bundle, bind weights, call entries. The only public header.
 *
 *     axon_bundle* bundle; axon_parameters* weights; axon_runtime* workers; axon_call* decode;
 *     axon_open("llama.axb", &bundle, error);
 *     axon_bind(bundle, (const char*[]){"llama.safetensors"}, 1, NULL, &weights, error);
 *     axon_runtime_create(0, &workers, error);
 *     axon_call_create(bundle, "decode", weights, workers, &decode, error);
 *     axon_call_set(decode, "cache.k", &cache_k, error);
 *     axon_call_set_int(decode, "token", 1, error);
 *     axon_call_set_int(decode, "pos", 0, error);
 *     axon_call_run(decode, error);
 *     axon_call_result(decode, 0, &logits, error);
 *
 * Every call that can fail returns a status and, when it is not AXON_OK, fills `error` (which may be NULL).
 * Handles keep what they need alive: they can be destroyed in any order, and destroying NULL does nothing.
 * Strings that are handed out belong to the handle they came from. Tensors are dense, row-major, aligned to
 * their element, unless strides are named: those of arguments and results whose layout the program states.
 *
 * Threads: a bundle, parameters and a runtime can be used by several threads at once. Setting, running and
 * reading results of one call belong together, so each thread has calls of its own, on the same bundle,
 * parameters and runtime; runs with several workers take turns. A function of a call that another thread is
 * inside of fails with AXON_MISUSE and does nothing. An error is used by one thread at a time, and no handle
 * is destroyed while another thread uses it.
 *
 * Processes: after a fork the child can use every handle. A runtime starts workers of its own at the child's
 * first run; only a call that another thread of the parent was inside of during the fork cannot be used
 * (AXON_MISUSE).
 */
#ifndef AXON_AXON_H
#define AXON_AXON_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AXON_API __attribute__((visibility("default")))
#else
#define AXON_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions ---- */

typedef struct axon_version {
  uint32_t major, minor, patch;
  uint32_t bundle_format; /* of the bundles that this library reads */
  uint32_t kernel_abi;    /* of the kernels in them */
} axon_version;
AXON_API void axon_get_version(axon_version* out);

/* ---- statuses and errors ---- */

typedef enum axon_status {
  AXON_OK = 0,
  AXON_MISUSE = 1,       /* the call itself is wrong: null handle, unknown name, number out of range */
  AXON_BAD_BUNDLE = 2,   /* not a bundle, damaged, of another version, or not for this machine */
  AXON_BAD_WEIGHTS = 3,  /* weight files cannot be read or do not fit the program */
  AXON_BAD_ARGUMENT = 4, /* arguments do not satisfy the entry: shapes, element types, sizes, values */
  AXON_CHECK_FAILED = 5, /* a check inside the program failed while it ran */
  AXON_HANG = 6,         /* the watchdog ended a launch that made no progress */
  AXON_SYSTEM = 7        /* the operating system refused memory, a file or a thread */
} axon_status;
AXON_API const char* axon_status_name(axon_status status);
/* What a command line tool exits with: 0, 1 (the user's error), 3 (failed at run time). */
AXON_API int axon_status_exit_code(axon_status status);

typedef struct axon_error axon_error;
AXON_API axon_error* axon_error_create(void); /* NULL when out of memory */
AXON_API void axon_error_destroy(axon_error* error);
AXON_API axon_status axon_error_status(const axon_error* error);
AXON_API const char* axon_error_code(const axon_error* error); /* stable, e.g. "E0801"; "" without an error */
AXON_API const char* axon_error_text(const axon_error* error); /* sentences for people; lines split by \n */

/* ---- tensors ---- */

typedef enum axon_elem {
  AXON_F64 = 0,
  AXON_F32 = 1,
  AXON_F16 = 2,
  AXON_BF16 = 3,
  AXON_F8E4M3 = 4,
  AXON_F8E5M2 = 5,
  AXON_I64 = 6,
  AXON_I32 = 7,
  AXON_I16 = 8,
  AXON_I8 = 9,
  AXON_U8 = 10,
  AXON_BOOL = 11,
  AXON_U32 = 12
} axon_elem;
AXON_API const char* axon_elem_name(axon_elem elem); /* as the language writes it; NULL for no element type */
AXON_API size_t axon_elem_bytes(axon_elem elem);     /* 0 for no element type */

#define AXON_MAX_RANK 16

/* Memory with a shape; owns nothing. */
typedef struct axon_view {
  void* data;
  axon_elem elem;
  int32_t rank;
  const int64_t* shape; /* may be NULL when rank is 0 */
} axon_view;

/* Memory that the library owns: 64-byte aligned, zeroed. */
typedef struct axon_tensor axon_tensor;
AXON_API axon_status axon_tensor_create(axon_elem elem, int32_t rank, const int64_t* shape, axon_tensor** out,
                                        axon_error* error);
AXON_API void axon_tensor_destroy(axon_tensor* tensor);
AXON_API axon_view axon_tensor_view(const axon_tensor* tensor);

/* ---- bundles ---- */

typedef struct axon_bundle axon_bundle;
/* The best instruction-set level that the machine can run is loaded, or the one that the environment variable
   AXON_LEVEL names: x86-64-v2, x86-64-v3 or x86-64-v4. */
AXON_API axon_status axon_open(const char* path, axon_bundle** out, axon_error* error);
/* Copies what it needs from `bytes`. */
AXON_API axon_status axon_open_memory(const void* bytes, size_t size, axon_bundle** out, axon_error* error);
AXON_API void axon_bundle_destroy(axon_bundle* bundle);
AXON_API const char* axon_bundle_level(
    const axon_bundle* bundle); /* the instruction-set level that was loaded */
AXON_API const char* axon_bundle_compiler(const axon_bundle* bundle); /* who made it */
AXON_API const char* axon_bundle_source(const axon_bundle* bundle);   /* from what */

typedef struct axon_entry axon_entry; /* part of a bundle */
AXON_API size_t axon_bundle_entry_count(const axon_bundle* bundle);
AXON_API const axon_entry* axon_bundle_entry(const axon_bundle* bundle, size_t index); /* NULL past the end */
AXON_API const axon_entry* axon_bundle_find(const axon_bundle* bundle,
                                            const char* name); /* NULL if there is none */
AXON_API const char* axon_entry_name(const axon_entry* entry);
/* What the program's `--|` comment before the entry says, lines split by \n; "" where there is none, and of
 * bundles that older compilers made. */
AXON_API const char* axon_entry_doc(const axon_entry* entry);

typedef enum axon_kind {
  AXON_WEIGHT = 0,   /* of a parameter marked `weights`: from axon_bind; not set by hand */
  AXON_ARGUMENT = 1, /* set before each call */
  AXON_STATE = 2,    /* set; updated in place and handed back where a result is an update of it */
  AXON_SIZE = 3,     /* an i64 whose value is also a size */
  AXON_RESULT = 4
} axon_kind;

typedef struct axon_port {
  const char* path; /* parameter and fields: "cache.k"; results: "0", "1.k"; "" for a single result */
  axon_kind kind;
  axon_elem elem;
  int32_t rank;
  const char* const* shape; /* `rank` dimensions in source syntax over the entry's sizes */
  int32_t state;            /* results: the input that this result is, updated in place; else -1 */
} axon_port;
AXON_API size_t axon_entry_input_count(const axon_entry* entry);
AXON_API axon_status axon_entry_input(const axon_entry* entry, size_t index, axon_port* out,
                                      axon_error* error);
AXON_API size_t axon_entry_result_count(const axon_entry* entry);
AXON_API axon_status axon_entry_result(const axon_entry* entry, size_t index, axon_port* out,
                                       axon_error* error);

typedef enum axon_size_from {
  AXON_FROM_PARAMETER = 0, /* given by axon_call_set_size, or by the weights file's metadata */
  AXON_FROM_AXIS = 1,      /* follows from an input's shape */
  AXON_FROM_SCALAR = 2,    /* the value of an AXON_SIZE input */
  AXON_FROM_DATA = 3,      /* decided by the data while an entry runs: known after a run, until the next */
  AXON_FROM_STRIDE = 4     /* follows from a stride of an input's memory */
} axon_size_from;
AXON_API size_t axon_entry_size_count(const axon_entry* entry);
AXON_API axon_status axon_entry_size(const axon_entry* entry, size_t index, const char** name,
                                     axon_size_from* from, axon_error* error);

/* The strides of an input or a result whose layout the program states: one for each axis, in elements, in
 * source syntax over the entry's sizes. NULL: it is row-major. */
AXON_API axon_status axon_entry_input_strides(const axon_entry* entry, size_t index,
                                              const char* const** strides, axon_error* error);
AXON_API axon_status axon_entry_result_strides(const axon_entry* entry, size_t index,
                                               const char* const** strides, axon_error* error);

/* The shape that an entry's input has where its sizes have these values. `shape` has room for AXON_MAX_RANK
 * extents. AXON_MISUSE when a size of the shape is not among `names`. */
AXON_API axon_status axon_entry_input_shape(const axon_entry* entry, size_t input, const char* const* names,
                                            const int64_t* values, size_t count, int64_t* shape,
                                            axon_error* error);

/* ---- weights ---- */

/* The weights of a bundle, which are the parameters that its program marks `weights`, prepared once for all
 * of its entries. Every other parameter is set before each call. */
typedef struct axon_parameters axon_parameters;
/* `files`: .safetensors, .safetensors.index.json, .npy, .npz. `map`: the text of a binding map, or NULL. The
 * tensors are named by parameter and fields, "p.layers.wq"; names without the parameter are accepted where
 * they fit exactly one. All misfits are listed in one error. A bundle without weights binds to no files. */
AXON_API axon_status axon_bind(const axon_bundle* bundle, const char* const* files, size_t file_count,
                               const char* map, axon_parameters** out, axon_error* error);
/* The same from files of which each has the tensors of one parameter, whose name need not be in theirs; where
 * parameters[i] is NULL, names are as above. */
AXON_API axon_status axon_bind_each(const axon_bundle* bundle, const char* const* parameters,
                                    const char* const* files, size_t count, const char* map,
                                    axon_parameters** out, axon_error* error);
/* The same from arrays in memory, which are copied. */
AXON_API axon_status axon_bind_arrays(const axon_bundle* bundle, const char* const* names,
                                      const axon_view* arrays, size_t count, const char* map,
                                      axon_parameters** out, axon_error* error);
AXON_API void axon_parameters_destroy(axon_parameters* parameters);
AXON_API size_t
axon_parameters_copied_bytes(const axon_parameters* parameters); /* the others are mapped files */
/* A string of the weight files' metadata; NULL if there is none of that name. */
AXON_API const char* axon_parameters_metadata(const axon_parameters* parameters, const char* name);
/* The shape that an entry's input must have with these weights, as their shapes and metadata tell: what a
 * state is made with before the first call. `shape` has room for AXON_MAX_RANK extents. */
AXON_API axon_status axon_parameters_shape(const axon_parameters* parameters, const char* entry,
                                           const char* input, int64_t* shape, axon_error* error);
/* The shape that an entry's input has, and the strides in elements with which it lies, where some sizes have
 * these values and others follow from the weights (`parameters` of the same bundle, or NULL). `shape` and
 * `strides` have room for AXON_MAX_RANK numbers each. What does not follow is an error (AXON_BAD_ARGUMENT),
 * and so is a value that the weights contradict; AXON_MISUSE where the entry has no size of a name. */
AXON_API axon_status axon_entry_input_layout(const axon_entry* entry, size_t input,
                                             const axon_parameters* parameters, const char* const* names,
                                             const int64_t* values, size_t count, int64_t* shape,
                                             int64_t* strides, axon_error* error);

/* ---- workers ---- */

/* Threads that run launches together with the calling thread, which is worker 0. */
typedef struct axon_runtime axon_runtime;
/* workers = 0: as many as there are allowed CPUs, and each launch uses as many of them as pay off.
 * workers = n: every launch uses n. */
AXON_API axon_status axon_runtime_create(uint32_t workers, axon_runtime** out, axon_error* error);
AXON_API void axon_runtime_destroy(axon_runtime* runtime);
AXON_API uint32_t axon_runtime_workers(const axon_runtime* runtime);
/* A launch whose workers all wait for this long without progress fails with AXON_HANG; 10 s at first, at
 * least 1 ms. */
AXON_API void axon_runtime_set_watchdog(axon_runtime* runtime, double seconds);

/* ---- calls ---- */

/* One entry with its inputs, working memory and results; made once, run often. After the first run with the
 * same shapes, set and run allocate nothing. */
typedef struct axon_call axon_call;
/* `parameters` may be NULL for an entry without weights; `runtime` NULL: one worker, the calling thread. */
AXON_API axon_status axon_call_create(const axon_bundle* bundle, const char* entry,
                                      const axon_parameters* parameters, axon_runtime* runtime,
                                      axon_call** out, axon_error* error);
AXON_API void axon_call_destroy(axon_call* call);

/* Sets a size that no argument determines (AXON_FROM_PARAMETER). */
AXON_API axon_status axon_call_set_size(axon_call* call, const char* name, int64_t value, axon_error* error);
/* The input's number for the set calls below, or -1. */
AXON_API int32_t axon_call_find(const axon_call* call, const char* path);
/* The view's shape is copied, its data is borrowed until set again. Element types must match exactly. */
AXON_API axon_status axon_call_set(axon_call* call, const char* path, const axon_view* view,
                                   axon_error* error);
AXON_API axon_status axon_call_set_at(axon_call* call, size_t input, const axon_view* view,
                                      axon_error* error);
/* The same of memory with a stride for each axis, in elements; `data` is the first element, of index 0 .. 0,
 * and strides may be negative. Those of axes with 0 or 1 elements do not matter. They have to be those that
 * the input's layout states, or row-major ones where none is stated; memory that is updated has a place of
 * its own for each element and no negative stride. Checked when the call runs (E0827). */
AXON_API axon_status axon_call_set_strided(axon_call* call, const char* path, const axon_view* view,
                                           const int64_t* strides, axon_error* error);
AXON_API axon_status axon_call_set_strided_at(axon_call* call, size_t input, const axon_view* view,
                                              const int64_t* strides, axon_error* error);
/* Copies the elements to memory of the call, where they lie as the input's layout says; `strides` may be NULL
 * for a row-major tensor. A state that is set so is updated in that memory. */
AXON_API axon_status axon_call_set_copy(axon_call* call, const char* path, const axon_view* view,
                                        const int64_t* strides, axon_error* error);
AXON_API axon_status axon_call_set_copy_at(axon_call* call, size_t input, const axon_view* view,
                                           const int64_t* strides, axon_error* error);
/* Scalars by value: an integer, or a float without a fraction, that the input's type can hold; a float is
 * rounded to the input's type, and one that is too large for it is an error. */
AXON_API axon_status axon_call_set_int(axon_call* call, const char* path, int64_t value, axon_error* error);
AXON_API axon_status axon_call_set_int_at(axon_call* call, size_t input, int64_t value, axon_error* error);
AXON_API axon_status axon_call_set_float(axon_call* call, const char* path, double value, axon_error* error);
AXON_API axon_status axon_call_set_float_at(axon_call* call, size_t input, double value, axon_error* error);

/* Forgets inputs and sizes that were set, and the result: what the next run needs is set again. Memory is
 * kept. */
AXON_API axon_status axon_call_clear(axon_call* call, axon_error* error);

/* Solves sizes, checks arguments, runs. When it fails before the launch, states are untouched; after it,
 * their contents are unspecified. */
AXON_API axon_status axon_call_run(axon_call* call, axon_error* error);

/* A result of the last run: memory of the call, valid until its next run; of a state: the memory that was
 * set. */
AXON_API axon_status axon_call_result(const axon_call* call, size_t result, axon_view* out,
                                      axon_error* error);
/* The strides of a result of the last run, in elements, from where the view's `data` points to: one for each
 * axis. */
AXON_API axon_status axon_call_result_strides(const axon_call* call, size_t result, int64_t* strides,
                                              axon_error* error);
/* Copies a result of the last run, row-major, to memory that has room for it. */
AXON_API axon_status axon_call_copy_result(const axon_call* call, size_t result, void* to, axon_error* error);
/* A size's value in the last run. */
AXON_API axon_status axon_call_size(const axon_call* call, const char* name, int64_t* out, axon_error* error);

/* What the last run did. */
typedef struct axon_call_statistics {
  const char* variant;  /* symbol of the plan that ran */
  uint32_t workers;     /* how many ran it */
  uint32_t allocations; /* how often it had to get memory: 0 in the steady state */
} axon_call_statistics;
AXON_API axon_status axon_call_get_statistics(const axon_call* call, axon_call_statistics* out,
                                              axon_error* error);

/* ---- costs ---- */

/* Measures what the parts of each call's entry cost on this machine, one by one, each for about `seconds`
 * with one worker and with all workers of its runtime, for the arguments that are set: weights and states,
 * too, whose contents do not matter and, of states, are lost. What was found is written to `path`. The calls
 * are of one bundle, opened from a file PATH, and on runtimes of equally many workers; axon_open of PATH
 * reads PATH.costs, and launches then use as many workers as pay off by these costs. */
AXON_API axon_status axon_calibrate(axon_call* const* calls, size_t count, double seconds, const char* path,
                                    axon_error* error);
/* How many nanoseconds the last run should have taken with so many workers, by the costs that stand beside
 * the bundle. AXON_MISUSE without a run, or without costs. */
AXON_API axon_status axon_call_predict(const axon_call* call, uint32_t workers, double* nanoseconds,
                                       axon_error* error);

/* ---- traces ---- */

/* Tasks of one type that a worker ran one after the other without waiting in between. It begins where the
 * worker's run before it has ended, or the wait behind that. */
typedef struct axon_task_run {
  const char* type;     /* of the tasks, as the plan names it; belongs to the bundle */
  int64_t first, count; /* which: positions in the order in which the tasks of the type are shared out */
  double begin, end;    /* nanoseconds since the launch began */
} axon_task_run;
/* From the next run of the call on, each worker notes which tasks it runs when: of the last launch, as many
 * runs of tasks as there is room for, `runs` of each worker. 0 ends it. AXON_MISUSE where the bundle was not
 * built with tracing. */
AXON_API axon_status axon_call_trace(axon_call* call, size_t runs, axon_error* error);
/* What one worker has noted, in order of time; `lost` is how many runs had no room. Valid until the next run
 * of the call. AXON_MISUSE for a worker that the runtime does not have, or while nothing is noted. */
AXON_API axon_status axon_call_traced(const axon_call* call, uint32_t worker, const axon_task_run** runs,
                                      size_t* count, size_t* lost, axon_error* error);

/* Receives `debug "name" x`, on the worker that reaches it; without one, values are printed to stderr. */
typedef void (*axon_debug_function)(void* user, const char* name, const axon_view* value);
AXON_API void axon_call_on_debug(axon_call* call, axon_debug_function function, void* user);

#ifdef __cplusplus
}
#endif
#endif
