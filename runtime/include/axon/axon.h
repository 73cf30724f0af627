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
 * What holds for every function stands here; at each function stands what is its own.
 *
 * Errors: every call that can fail returns a status and, when it is not AXON_OK, fills `error` (which may be
 * NULL) with a code and sentences. A call that succeeds leaves `error` as it was. A call that fails has no
 * effect, and leaves the handle that it would have handed out as it was, unless its own words say otherwise.
 * Each has, besides those that it names, AXON_MISUSE (E0801) for NULL where a handle, a name or room for a
 * result is needed, and AXON_SYSTEM (E0802) when memory runs out. Functions that return no status take NULL
 * for their handle, and return what they say for it.
 *
 * Ownership: what a function hands out through `out` belongs to the caller, who ends it with the function
 * named _destroy. Handles keep what they need alive: they can be destroyed in any order, and destroying NULL
 * does nothing. Strings, entries, ports and views that are handed out are borrowed: they belong to the handle
 * that they came from and are valid until it is destroyed, or as long as is said. What the caller passes in
 * (strings, arrays of them, shapes, strides) is read during the call and not kept; the data of tensors that
 * axon_call_set borrows is the one exception. Tensors are dense, row-major, aligned to their element, unless
 * strides are named: those of arguments and results whose layout the program states.
 *
 * Threads: a bundle, its entries, parameters and a runtime can be used by several threads at once. Setting,
 * running and reading results of one call belong together, so each thread has calls of its own, on the same
 * bundle, parameters and runtime; runs with several workers take turns, or, where workers = 0 was asked for and
 * the run is short, use the thread alone while others have the workers. A function of a call that another thread
 * is inside of fails with AXON_MISUSE and does nothing. A call may be made by one thread and used by another one
 * later. An error is used by one thread at a time, and no handle is destroyed while another thread uses it.
 *
 * Processes: after a fork the child can use every handle. A runtime starts workers of its own at the child's
 * first run; only a call that another thread of the parent was inside of during the fork cannot be used
 * (AXON_MISUSE).
 *
 * Versions: a program that was compiled for a version runs with every later library of the same major number.
 * Functions, structs, the numbers of enumerations and what they mean stay; later versions have more functions
 * and more numbers. A struct never grows: what more there is to say, another function says. A library reads
 * the bundles of its own version and of every earlier one of its major number.
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

/* In C++, too, every int is a value of these types: a number that is none of the names is told, not undefined. */
#ifdef __cplusplus
#define AXON_ENUM(name) enum name : int
#else
#define AXON_ENUM(name) enum name
#endif

/* ---- versions ---- */

/* Of this header. The library may be a later one: axon_get_version. */
#define AXON_VERSION_MAJOR 0
#define AXON_VERSION_MINOR 1
#define AXON_VERSION_PATCH 0

typedef struct axon_version {
  uint32_t major, minor, patch;
  uint32_t bundle_format; /* the newest container of bundles that this library reads */
  uint32_t kernel_abi;    /* the newest interface to the kernels in them that it has */
} axon_version;
/* The version of the library that is loaded. Nothing is written to NULL. */
AXON_API void axon_get_version(axon_version* out);

/* ---- statuses and errors ---- */

typedef AXON_ENUM(axon_status) {
  AXON_OK = 0,
  AXON_MISUSE = 1,       /* the call itself is wrong: null handle, unknown name, number out of range */
  AXON_BAD_BUNDLE = 2,   /* not a bundle, damaged, of another version, or not for this machine */
  AXON_BAD_WEIGHTS = 3,  /* weight files cannot be read or do not fit the program */
  AXON_BAD_ARGUMENT = 4, /* arguments do not satisfy the entry: shapes, element types, sizes, values */
  AXON_CHECK_FAILED = 5, /* a check inside the program failed while it ran */
  AXON_HANG = 6,         /* the watchdog ended a launch that made no progress */
  AXON_SYSTEM = 7        /* the operating system refused memory, a file or a thread */
} axon_status;
/* Two words for people, "bad weights"; "unknown" for a number that is none. The text lives as long as the
 * library is loaded. */
AXON_API const char* axon_status_name(axon_status status);
/* What a command line tool exits with: 0, 1 (the user's error), 3 (failed at run time). */
AXON_API int axon_status_exit_code(axon_status status);

/* What went wrong last in the calls that got it. One object serves any number of calls of one thread. */
typedef struct axon_error axon_error;
/* NULL when out of memory, which every function takes. */
AXON_API axon_error* axon_error_create(void);
AXON_API void axon_error_destroy(axon_error* error);
/* AXON_OK before the first failure, and for NULL. */
AXON_API axon_status axon_error_status(const axon_error* error);
/* Stable, e.g. "E0801": `etcc explain E0801` has its page. "" before the first failure, and for NULL. Valid
 * until the next call that gets the error. */
AXON_API const char* axon_error_code(const axon_error* error);
/* Sentences for people; lines split by \n. "" and valid as the code is. */
AXON_API const char* axon_error_text(const axon_error* error);

/* ---- tensors ---- */

/* Little-endian: IEEE 754, bfloat16, the two eight-bit floats of OCP (E4M3 without infinities), two's
 * complement. A bool is a byte, 0 or 1; what another one does is unspecified. */
typedef AXON_ENUM(axon_elem) {
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
/* As the language writes it, "f32"; NULL for no element type. The text lives as long as the library is
 * loaded. */
AXON_API const char* axon_elem_name(axon_elem elem);
/* 0 for no element type. */
AXON_API size_t axon_elem_bytes(axon_elem elem);

#define AXON_MAX_RANK 16

/* Memory with a shape; owns nothing. `data` may be NULL where there are no elements. */
typedef struct axon_view {
  void* data;
  axon_elem elem;
  int32_t rank;
  const int64_t* shape; /* may be NULL when rank is 0 */
} axon_view;

/* Memory that the library owns: 64-byte aligned, zeroed. The library never locks it: threads that share one
 * agree among themselves who writes. */
typedef struct axon_tensor axon_tensor;
/* AXON_MISUSE for no element type, or a rank that is negative or above AXON_MAX_RANK; AXON_BAD_ARGUMENT
 * (E0823) for a negative extent or too many elements; AXON_SYSTEM when there is not so much memory. */
AXON_API axon_status axon_tensor_create(axon_elem elem, int32_t rank, const int64_t* shape, axon_tensor** out,
                                        axon_error* error);
/* Only when no call borrows its memory any more: a call that runs afterwards would read what is gone. */
AXON_API void axon_tensor_destroy(axon_tensor* tensor);
/* Data and shape are the tensor's, valid until it is destroyed. Without data for NULL. */
AXON_API axon_view axon_tensor_view(const axon_tensor* tensor);

/* ---- bundles ---- */

/* A compiled program, read-only: machine code, and what its entries expect. */
typedef struct axon_bundle axon_bundle;
/* Reads the whole file, which may change or go afterwards. The best instruction-set level that the machine
 * can run is loaded, or the one that the environment variable AXON_LEVEL names: x86-64-v2, x86-64-v3 or
 * x86-64-v4. PATH.costs is read with it, where it is there (axon_calibrate).
 * AXON_SYSTEM (E0802) for a file that cannot be read; AXON_BAD_BUNDLE for what is no bundle or damaged
 * (E0811, E0812, E0813), of a version that this library does not read (E0814), or without code for this
 * machine (E0815). A bundle is machine code: its form is checked, what it does is not. */
AXON_API axon_status axon_open(const char* path, axon_bundle** out, axon_error* error);
/* The same of bytes in memory, from which it copies what it needs. */
AXON_API axon_status axon_open_memory(const void* bytes, size_t size, axon_bundle** out, axon_error* error);
/* The code stays loaded until parameters and calls of the bundle are destroyed, too. */
AXON_API void axon_bundle_destroy(axon_bundle* bundle);
/* The instruction-set level that was loaded, the compiler that made it, and the name of the source file; ""
 * for NULL. */
AXON_API const char* axon_bundle_level(const axon_bundle* bundle);
AXON_API const char* axon_bundle_compiler(const axon_bundle* bundle);
AXON_API const char* axon_bundle_source(const axon_bundle* bundle);

/* Part of a bundle, valid until that is destroyed. */
typedef struct axon_entry axon_entry;
AXON_API size_t axon_bundle_entry_count(const axon_bundle* bundle); /* 0 for NULL */
/* In the order of the program; NULL past the end. */
AXON_API const axon_entry* axon_bundle_entry(const axon_bundle* bundle, size_t index);
/* NULL if there is none of that name. */
AXON_API const axon_entry* axon_bundle_find(const axon_bundle* bundle, const char* name);
AXON_API const char* axon_entry_name(const axon_entry* entry); /* "" for NULL */
/* What the program's `--|` comment before the entry says, lines split by \n; "" for NULL, where there is
 * none, and of bundles that older compilers made. Belongs to the bundle. */
AXON_API const char* axon_entry_doc(const axon_entry* entry);

typedef AXON_ENUM(axon_kind) {
  AXON_WEIGHT = 0,   /* of a parameter marked `weights`: from axon_bind; not set by hand */
  AXON_ARGUMENT = 1, /* set before each call */
  AXON_STATE = 2,    /* set; updated in place and handed back where a result is an update of it */
  AXON_SIZE = 3,     /* an i64 whose value is also a size */
  AXON_RESULT = 4
} axon_kind;

/* An input or a result; what it points to belongs to the bundle. */
typedef struct axon_port {
  const char* path; /* parameter and fields: "cache.k"; results: "0", "1.k"; "" for a single result */
  axon_kind kind;
  axon_elem elem;
  int32_t rank;
  const char* const* shape; /* `rank` dimensions in source syntax over the entry's sizes */
  int32_t state;            /* results: the input that this result is, updated in place; else -1 */
} axon_port;
AXON_API size_t axon_entry_input_count(const axon_entry* entry); /* 0 for NULL */
/* AXON_MISUSE past the end. */
AXON_API axon_status axon_entry_input(const axon_entry* entry, size_t index, axon_port* out,
                                      axon_error* error);
AXON_API size_t axon_entry_result_count(const axon_entry* entry); /* 0 for NULL */
/* AXON_MISUSE past the end. */
AXON_API axon_status axon_entry_result(const axon_entry* entry, size_t index, axon_port* out,
                                       axon_error* error);

typedef AXON_ENUM(axon_size_from) {
  AXON_FROM_PARAMETER = 0, /* given by axon_call_set_size, or by the weights file's metadata */
  AXON_FROM_AXIS = 1,      /* follows from an input's shape */
  AXON_FROM_SCALAR = 2,    /* the value of an AXON_SIZE input */
  AXON_FROM_DATA = 3,      /* decided by the data while an entry runs: known after a run, until the next */
  AXON_FROM_STRIDE = 4     /* follows from a stride of an input's memory */
} axon_size_from;
AXON_API size_t axon_entry_size_count(const axon_entry* entry); /* 0 for NULL */
/* `name` and `from` may be NULL; the name belongs to the bundle. AXON_MISUSE past the end. */
AXON_API axon_status axon_entry_size(const axon_entry* entry, size_t index, const char** name,
                                     axon_size_from* from, axon_error* error);

/* The strides of an input or a result whose layout the program states: one for each axis, in elements, in
 * source syntax over the entry's sizes, which belong to the bundle. NULL: it is row-major. AXON_MISUSE past
 * the end. */
AXON_API axon_status axon_entry_input_strides(const axon_entry* entry, size_t index,
                                              const char* const** strides, axon_error* error);
AXON_API axon_status axon_entry_result_strides(const axon_entry* entry, size_t index,
                                               const char* const** strides, axon_error* error);

/* The shape that an entry's input has where its sizes have these values. `shape` has room for AXON_MAX_RANK
 * extents, whose contents are unspecified after a failure; names of other sizes count for nothing.
 * AXON_MISUSE past the end, and when a size of the shape is not among `names`; AXON_BAD_ARGUMENT (E0824) when
 * an extent would be negative or above 2^48. */
AXON_API axon_status axon_entry_input_shape(const axon_entry* entry, size_t input, const char* const* names,
                                            const int64_t* values, size_t count, int64_t* shape,
                                            axon_error* error);

/* ---- weights ---- */

/* The weights of a bundle, which are the parameters that its program marks `weights`, prepared once for all
 * of its entries. Every other parameter is set before each call. Read-only once they are bound. */
typedef struct axon_parameters axon_parameters;
/* `files`: .safetensors, .safetensors.index.json, .npy, .npz, .gguf. `map`: the text of a binding map (not
 * the name of a file), or NULL. The tensors are named by parameter and fields, "p.layers.wq"; names without
 * the parameter are accepted where all of exactly one parameter are there by them. A bundle without weights
 * binds to no files. The files stay open and, where the bytes of a tensor are those of the weight, mapped,
 * but for small ones that do not begin at a line of the cache: they must not be changed while the parameters
 * live. Replacing one by another file of its name (rename) is no change.
 * The files need only have all weights of one entry. One of whose weights some are not there is refused where
 * it is asked for: by axon_call_create, axon_parameters_shape and axon_entry_input_layout (E0709).
 * AXON_BAD_WEIGHTS: a file that cannot be read (E0701) or is damaged (E0702 to E0707), a map that cannot be
 * read (E0708), tensors that do not fit (E0709), of which all are listed in the one error. */
AXON_API axon_status axon_bind(const axon_bundle* bundle, const char* const* files, size_t file_count,
                               const char* map, axon_parameters** out, axon_error* error);
/* The same from files of which each has the tensors of one parameter, whose name need not be in theirs; where
 * parameters[i] is NULL or "", names are as above. */
AXON_API axon_status axon_bind_each(const axon_bundle* bundle, const char* const* parameters,
                                    const char* const* files, size_t count, const char* map,
                                    axon_parameters** out, axon_error* error);
/* The same from arrays in memory, which are copied before it returns, and need no alignment. AXON_MISUSE for
 * an array without a name, element type, shape or data, and for two of one name; AXON_BAD_WEIGHTS (E0705) for
 * an impossible shape. */
AXON_API axon_status axon_bind_arrays(const axon_bundle* bundle, const char* const* names,
                                      const axon_view* arrays, size_t count, const char* map,
                                      axon_parameters** out, axon_error* error);
/* Memory and files are given back when calls with these parameters are destroyed, too. */
AXON_API void axon_parameters_destroy(axon_parameters* parameters);
/* How much memory they take; the other weights are mapped files. 0 for NULL. */
AXON_API size_t axon_parameters_copied_bytes(const axon_parameters* parameters);
/* A string of the weight files' metadata, which belongs to the parameters; NULL if there is none of that
 * name. */
AXON_API const char* axon_parameters_metadata(const axon_parameters* parameters, const char* name);
/* The shape that an entry's input must have with these weights, as their shapes and metadata tell: what a
 * state is made with before the first call. `shape` has room for AXON_MAX_RANK extents. AXON_MISUSE for an
 * unknown entry or input; AXON_BAD_ARGUMENT (E0821) when a size does not follow from the weights. */
AXON_API axon_status axon_parameters_shape(const axon_parameters* parameters, const char* entry,
                                           const char* input, int64_t* shape, axon_error* error);
/* The shape that an entry's input has, and the strides in elements with which it lies, where some sizes have
 * these values and others follow from the weights (`parameters` of the same bundle, or NULL). `shape` and
 * `strides` have room for AXON_MAX_RANK numbers each, whose contents are unspecified after a failure. What
 * does not follow is an error (AXON_BAD_ARGUMENT, E0821), and so is a value that the weights contradict
 * (E0823, E0824); AXON_MISUSE past the end, for parameters of another bundle, and where the entry has no size
 * of a name. */
AXON_API axon_status axon_entry_input_layout(const axon_entry* entry, size_t input,
                                             const axon_parameters* parameters, const char* const* names,
                                             const int64_t* values, size_t count, int64_t* shape,
                                             int64_t* strides, axon_error* error);

/* ---- workers ---- */

/* Threads that run launches together with the calling thread, which is worker 0. */
typedef struct axon_runtime axon_runtime;
/* workers = 0: as many as there are allowed CPUs, and each launch uses as many of them as pay off.
 * workers = n: every launch uses n. AXON_MISUSE for more than 1024; AXON_SYSTEM when threads cannot be
 * started. */
AXON_API axon_status axon_runtime_create(uint32_t workers, axon_runtime** out, axon_error* error);
/* Its threads end when calls on it are destroyed, too. */
AXON_API void axon_runtime_destroy(axon_runtime* runtime);
AXON_API uint32_t axon_runtime_workers(const axon_runtime* runtime); /* 0 for NULL */
/* A launch whose workers all wait for this long without progress fails with AXON_HANG; 10 s at first, at
 * least 1 ms. From any thread; it counts for launches that run, too. */
AXON_API void axon_runtime_set_watchdog(axon_runtime* runtime, double seconds);

/* ---- calls ---- */

/* One entry with its inputs, working memory and results; made once, run often. After the first run with the
 * same shapes, set and run allocate nothing. Used by one thread at a time. */
typedef struct axon_call axon_call;
/* `parameters` may be NULL for an entry without weights; `runtime` NULL: one worker, the calling thread.
 * AXON_MISUSE for an entry that the bundle does not have, NULL where it has weights, and parameters of
 * another bundle; AXON_BAD_WEIGHTS (E0709) where these lack some of its weights, which are listed. */
AXON_API axon_status axon_call_create(const axon_bundle* bundle, const char* entry,
                                      const axon_parameters* parameters, axon_runtime* runtime,
                                      axon_call** out, axon_error* error);
/* Results that were handed out are gone with it. */
AXON_API void axon_call_destroy(axon_call* call);

/* Sets a size that no argument determines (AXON_FROM_PARAMETER). AXON_MISUSE for another name;
 * AXON_BAD_ARGUMENT (E0824) when negative. */
AXON_API axon_status axon_call_set_size(axon_call* call, const char* name, int64_t value, axon_error* error);
/* The input's number for the set calls below, which is its index in the entry; -1 if there is none of that
 * path. */
AXON_API int32_t axon_call_find(const axon_call* call, const char* path);
/* The view's shape is copied, its data is borrowed: it has to stay until the input is set again, the call is
 * cleared or destroyed. Runs read it and, where the input is a state, write it.
 * AXON_MISUSE for an unknown input, a weight, and a view without element type, shape or data;
 * AXON_BAD_ARGUMENT for another element type or rank (E0822; nothing is converted), an impossible shape
 * (E0823), data that is not aligned to its element, and the memory of a result of this very call, which the
 * next run writes (E0826): that is taken (axon_call_take_result) or set as a copy. */
AXON_API axon_status axon_call_set(axon_call* call, const char* path, const axon_view* view,
                                   axon_error* error);
AXON_API axon_status axon_call_set_at(axon_call* call, size_t input, const axon_view* view,
                                      axon_error* error);
/* The same of memory with a stride for each axis, in elements; `data` is the first element, of index 0 .. 0,
 * and strides may be negative. Those of axes with 0 or 1 elements do not matter. They have to be those that
 * the input's layout states, or row-major ones where none is stated; memory that is updated has a place of
 * its own for each element and no negative stride. AXON_BAD_ARGUMENT (E0827) for strides that leave what any
 * memory has; the others are checked when the call runs. */
AXON_API axon_status axon_call_set_strided(axon_call* call, const char* path, const axon_view* view,
                                           const int64_t* strides, axon_error* error);
AXON_API axon_status axon_call_set_strided_at(axon_call* call, size_t input, const axon_view* view,
                                              const int64_t* strides, axon_error* error);
/* Copies the elements to memory of the call, where they lie as the input's layout says; `strides` may be NULL
 * for a row-major tensor. A state that is set so is updated in that memory. Errors are those of
 * axon_call_set. */
AXON_API axon_status axon_call_set_copy(axon_call* call, const char* path, const axon_view* view,
                                        const int64_t* strides, axon_error* error);
AXON_API axon_status axon_call_set_copy_at(axon_call* call, size_t input, const axon_view* view,
                                           const int64_t* strides, axon_error* error);
/* Scalars by value. An input of integers takes an integer that it can hold, also as a float without a
 * fraction; a bool takes 0 and 1. An input of floats takes what a double can hold, rounded to its type,
 * unless that would make an infinity of a number. AXON_MISUSE for an unknown input, a weight and a state;
 * AXON_BAD_ARGUMENT (E0822) for an input that is no scalar, and for a number that its type cannot hold. */
AXON_API axon_status axon_call_set_int(axon_call* call, const char* path, int64_t value, axon_error* error);
AXON_API axon_status axon_call_set_int_at(axon_call* call, size_t input, int64_t value, axon_error* error);
AXON_API axon_status axon_call_set_float(axon_call* call, const char* path, double value, axon_error* error);
AXON_API axon_status axon_call_set_float_at(axon_call* call, size_t input, double value, axon_error* error);

/* Forgets inputs and sizes that were set, and the result: what the next run needs is set again. Memory is
 * kept. */
AXON_API axon_status axon_call_clear(axon_call* call, axon_error* error);

/* Solves sizes, checks arguments, runs. Inputs stay set: only those that change need to be set before the
 * next run. AXON_BAD_ARGUMENT before anything ran: inputs or sizes that are missing (E0821), axes that do not
 * agree (E0823), sizes that the program excludes (E0824), indices out of range (E0825), a state whose memory
 * overlaps another input's (E0826), strides (E0827). AXON_CHECK_FAILED (E0831): a check inside the program.
 * AXON_HANG (E0832): the watchdog. AXON_SYSTEM: no memory, or, in a forked process, no threads.
 * When it fails before the launch, states are untouched; after it (AXON_CHECK_FAILED, AXON_HANG), their
 * contents are unspecified. A run that fails has no results; the call can be run again. */
AXON_API axon_status axon_call_run(axon_call* call, axon_error* error);

/* A result of the last run, with memory and shape of the call, valid until its next run or clear; of a
 * state: the memory that the run has updated. AXON_MISUSE past the end, and without a result: no run yet, or
 * it failed. */
AXON_API axon_status axon_call_result(const axon_call* call, size_t result, axon_view* out,
                                      axon_error* error);
/* The strides of a result of the last run, in elements, from where the view's `data` points to: one for each
 * axis. AXON_MISUSE as above. */
AXON_API axon_status axon_call_result_strides(const axon_call* call, size_t result, int64_t* strides,
                                              axon_error* error);
/* Takes a result of the last run out of the call, with its memory: without a copy it becomes a tensor, and the
 * next run gets other memory: that of a result that was taken and destroyed before, where there is one of such a
 * size. Up to 128 MiB of it, and at most a 32nd of the machine's memory, are kept for that. AXON_MISUSE as
 * above, for a result that was taken already, a state, and a result whose layout the program states. */
AXON_API axon_status axon_call_take_result(axon_call* call, size_t result, axon_tensor** out,
                                           axon_error* error);
/* Copies a result of the last run, row-major, to memory that has room for it. AXON_MISUSE as above. */
AXON_API axon_status axon_call_copy_result(const axon_call* call, size_t result, void* to, axon_error* error);
/* A size's value in the last run. AXON_MISUSE for an unknown name, and without a result: no run yet, or it
 * failed. */
AXON_API axon_status axon_call_size(const axon_call* call, const char* name, int64_t* out, axon_error* error);

/* What the last run did. */
typedef struct axon_call_statistics {
  const char* variant;  /* symbol of the plan that ran, which belongs to the bundle; "" before a run */
  uint32_t workers;     /* how many ran it */
  uint32_t allocations; /* how often it had to get memory: 0 in the steady state */
} axon_call_statistics;
AXON_API axon_status axon_call_get_statistics(const axon_call* call, axon_call_statistics* out,
                                              axon_error* error);

/* ---- costs ---- */

/* Measures what the parts of each call's entry cost on this machine, one by one, each for about `seconds`
 * with one worker and with all workers of its runtime, for the arguments that are set: weights and states,
 * too, whose contents do not matter and, of states, are lost. What was found is written to `path`, the whole
 * file or nothing. The calls are of one bundle, opened from a file PATH, and on runtimes of equally many
 * workers; axon_open of PATH reads PATH.costs, and launches then use as many workers as pay off by these
 * costs. AXON_MISUSE without calls, for calls of different bundles, and for less than 0 or more than 3600
 * seconds; AXON_BAD_ARGUMENT as axon_call_run; AXON_SYSTEM when the file cannot be written. */
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
 * built with tracing, and for more than 16777216 runs. */
AXON_API axon_status axon_call_trace(axon_call* call, size_t runs, axon_error* error);
/* What one worker has noted, in order of time; `lost` is how many runs had no room. The runs belong to the
 * call, until it runs or traces again. AXON_MISUSE for a worker that the runtime does not have, or while
 * nothing is noted. */
AXON_API axon_status axon_call_traced(const axon_call* call, uint32_t worker, const axon_task_run** runs,
                                      size_t* count, size_t* lost, axon_error* error);

/* Receives `debug "name" x`, on the worker that reaches it; without one, values are printed to stderr. Name
 * and value are valid until the function returns, which uses no function of the call. */
typedef void (*axon_debug_function)(void* user, const char* name, const axon_view* value);
/* `user` is handed to the function as it is; NULL for `function`: values are printed again. Not while the
 * call runs. */
AXON_API void axon_call_on_debug(axon_call* call, axon_debug_function function, void* user);

#ifdef __cplusplus
}
#endif
#endif
