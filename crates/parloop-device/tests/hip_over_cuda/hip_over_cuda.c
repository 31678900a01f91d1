/* A libamdhip64 for tests: the HIP and hiprtc functions that Parloop's hip backend calls, over an NVIDIA GPU's driver and NVRTC.
 *
 * It says that the device is a gfx90a and compiles for the GPU that is there. Build and use:
 *   gcc -shared -fPIC -O2 -o libamdhip64.so hip_over_cuda.c -ldl
 *   PARLOOP_HIP=$PWD/libamdhip64.so cargo test -p parloop-device
 * NVRTC is the one at PARLOOP_NVRTC, or found by name.
 *
 * CUDA and HIP number their errors alike, so codes pass through. Functions take the current device of the thread, as HIP's do.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_DEVICES 64
#define MAX_OPTIONS 256

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_DEVICE = 101, MISSING_FUNCTION = 303 };

typedef uint64_t handle;

static void *open_first(const char *const *names) {
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

static void *cuda_function(const char *name) {
    static void *library;
    if (!library) library = open_first((const char *const[]){"libcuda.so.1", "libcuda.so", NULL});
    return library ? dlsym(library, name) : NULL;
}

/* Calls a driver function by name, looked up once at each place. */
#define CUDA(name, types, arguments)                                   \
    ({                                                                 \
        static int(*function) types;                                   \
        if (!function) *(void **)&function = cuda_function(name);      \
        function ? function arguments : MISSING_FUNCTION;              \
    })

/* ---- devices ---- */

static __thread int current_device;
static handle contexts[MAX_DEVICES];

static int enter(void) {
    handle current = 0, wanted = __atomic_load_n(&contexts[current_device], __ATOMIC_ACQUIRE);
    if (!wanted) {
        int device = 0;
        int result = CUDA("cuDeviceGet", (int *, int), (&device, current_device));
        if (result == SUCCESS) result = CUDA("cuDevicePrimaryCtxRetain", (handle *, int), (&wanted, device));
        if (result != SUCCESS) return result;
        __atomic_store_n(&contexts[current_device], wanted, __ATOMIC_RELEASE);
    }
    int result = CUDA("cuCtxGetCurrent", (handle *), (&current));
    if (result != SUCCESS || current == wanted) return result;
    return CUDA("cuCtxSetCurrent", (handle), (wanted));
}

/* A function that works on the current device. */
#define ENTERED(call)                      \
    do {                                   \
        int entered = enter();             \
        return entered ? entered : (call); \
    } while (0)

EXPORT int hipInit(unsigned flags) { return CUDA("cuInit", (unsigned), (flags)); }

EXPORT int hipDriverGetVersion(int *version) {
    *version = 60000000;
    return SUCCESS;
}

EXPORT int hipGetDeviceCount(int *count) {
    *count = 0;
    int result = hipInit(0);
    return result ? result : CUDA("cuDeviceGetCount", (int *), (count));
}

EXPORT int hipDeviceGet(int *device, int ordinal) { return CUDA("cuDeviceGet", (int *, int), (device, ordinal)); }

EXPORT int hipGetDevice(int *device) {
    *device = current_device;
    return SUCCESS;
}

EXPORT int hipSetDevice(int device) {
    int count = 0, result = hipGetDeviceCount(&count);
    if (result != SUCCESS) return result;
    if (device < 0 || device >= count || device >= MAX_DEVICES) return INVALID_DEVICE;
    current_device = device;
    return enter();
}

EXPORT int hipDeviceGetName(char *name, int len, int device) {
    return CUDA("cuDeviceGetName", (char *, int, int), (name, len, device));
}

EXPORT int hipDeviceTotalMem(size_t *bytes, int device) { return CUDA("cuDeviceTotalMem_v2", (size_t *, int), (bytes, device)); }

EXPORT int hipDeviceGetUuid(void *uuid, int device) { return CUDA("cuDeviceGetUuid_v2", (void *, int), (uuid, device)); }

static int cuda_attribute(int *value, int attribute, int device) {
    return CUDA("cuDeviceGetAttribute", (int *, int, int), (value, attribute, device));
}

EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
    static const struct { int hip, cuda; } same[] = {
        {26, 2}, {27, 3}, {28, 4}, {29, 5}, {30, 6}, {31, 7}, /* blocks and grids along the axes */
        {56, 1}, {63, 16}, {67, 33}, {68, 34}, {69, 50}, {74, 8}, {87, 10}, {88, 115},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (same[i].hip == attribute) return cuda_attribute(value, same[i].cuda, device);
    return INVALID_VALUE;
}

EXPORT int hipGetDevicePropertiesR0600(void *properties, int device) {
    memset(properties, 0, 1472);
    strcpy((char *)properties + 1160, "gfx90a:sramecc+:xnack-");
    return hipDeviceGetName(properties, 256, device);
}

EXPORT int hipPointerGetAttribute(void *value, int attribute, handle address) {
    return CUDA("cuPointerGetAttribute", (void *, int, handle), (value, attribute, address));
}

EXPORT int hipDeviceSynchronize(void) { ENTERED(CUDA("cuCtxSynchronize", (void), ())); }

static const char *cuda_text(const char *function_name, int code) {
    int (*function)(int, const char **);
    *(void **)&function = cuda_function(function_name);
    const char *text = NULL;
    if (function) function(code, &text);
    return text ? text : "hipErrorUnknown";
}

EXPORT const char *hipGetErrorName(int code) {
    static const struct { int code; const char *name; } known[] = {
        {0, "hipSuccess"}, {1, "hipErrorInvalidValue"}, {2, "hipErrorOutOfMemory"}, {3, "hipErrorNotInitialized"},
        {4, "hipErrorDeinitialized"}, {100, "hipErrorNoDevice"}, {101, "hipErrorInvalidDevice"}, {200, "hipErrorInvalidImage"},
        {201, "hipErrorInvalidContext"}, {209, "hipErrorNoBinaryForGpu"}, {303, "hipErrorSharedObjectInitFailed"},
        {400, "hipErrorInvalidHandle"}, {500, "hipErrorNotFound"}, {600, "hipErrorNotReady"}, {700, "hipErrorIllegalAddress"},
        {719, "hipErrorLaunchFailure"}, {801, "hipErrorNotSupported"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == code) return known[i].name;
    return cuda_text("cuGetErrorName", code);
}

EXPORT const char *hipGetErrorString(int code) { return cuda_text("cuGetErrorString", code); }

/* ---- memory ---- */

EXPORT int hipMemGetInfo(size_t *available, size_t *total) {
    ENTERED(CUDA("cuMemGetInfo_v2", (size_t *, size_t *), (available, total)));
}

EXPORT int hipMalloc(handle *address, size_t bytes) { ENTERED(CUDA("cuMemAlloc_v2", (handle *, size_t), (address, bytes))); }

EXPORT int hipFree(handle address) { ENTERED(CUDA("cuMemFree_v2", (handle), (address))); }

EXPORT int hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
    ENTERED(CUDA("cuMemHostAlloc", (void **, size_t, unsigned), (pointer, bytes, flags & 7)));
}

EXPORT int hipHostFree(void *pointer) { ENTERED(CUDA("cuMemFreeHost", (void *), (pointer))); }

EXPORT int hipMemPoolCreate(handle *pool, const void *properties) {
    ENTERED(CUDA("cuMemPoolCreate", (handle *, const void *), (pool, properties)));
}

EXPORT int hipMemPoolSetAttribute(handle pool, int attribute, void *value) {
    ENTERED(CUDA("cuMemPoolSetAttribute", (handle, int, void *), (pool, attribute, value)));
}

EXPORT int hipMemPoolTrimTo(handle pool, size_t keep) { ENTERED(CUDA("cuMemPoolTrimTo", (handle, size_t), (pool, keep))); }

EXPORT int hipMallocFromPoolAsync(handle *address, size_t bytes, handle pool, handle stream) {
    ENTERED(CUDA("cuMemAllocFromPoolAsync", (handle *, size_t, handle, handle), (address, bytes, pool, stream)));
}

EXPORT int hipFreeAsync(handle address, handle stream) { ENTERED(CUDA("cuMemFreeAsync", (handle, handle), (address, stream))); }

EXPORT int hipMemcpyHtoDAsync(handle to, const void *from, size_t bytes, handle stream) {
    ENTERED(CUDA("cuMemcpyHtoDAsync_v2", (handle, const void *, size_t, handle), (to, from, bytes, stream)));
}

EXPORT int hipMemcpyDtoHAsync(void *to, handle from, size_t bytes, handle stream) {
    ENTERED(CUDA("cuMemcpyDtoHAsync_v2", (void *, handle, size_t, handle), (to, from, bytes, stream)));
}

EXPORT int hipMemcpyDtoDAsync(handle to, handle from, size_t bytes, handle stream) {
    ENTERED(CUDA("cuMemcpyDtoDAsync_v2", (handle, handle, size_t, handle), (to, from, bytes, stream)));
}

EXPORT int hipMemsetD8Async(handle to, unsigned char value, size_t bytes, handle stream) {
    ENTERED(CUDA("cuMemsetD8Async", (handle, unsigned char, size_t, handle), (to, value, bytes, stream)));
}

/* ---- streams and events ---- */

EXPORT int hipStreamCreateWithFlags(handle *stream, unsigned flags) {
    ENTERED(CUDA("cuStreamCreate", (handle *, unsigned), (stream, flags)));
}

EXPORT int hipStreamDestroy(handle stream) { ENTERED(CUDA("cuStreamDestroy_v2", (handle), (stream))); }

EXPORT int hipStreamSynchronize(handle stream) { ENTERED(CUDA("cuStreamSynchronize", (handle), (stream))); }

EXPORT int hipStreamQuery(handle stream) { ENTERED(CUDA("cuStreamQuery", (handle), (stream))); }

EXPORT int hipStreamWaitEvent(handle stream, handle event, unsigned flags) {
    ENTERED(CUDA("cuStreamWaitEvent", (handle, handle, unsigned), (stream, event, flags)));
}

EXPORT int hipEventCreateWithFlags(handle *event, unsigned flags) {
    ENTERED(CUDA("cuEventCreate", (handle *, unsigned), (event, flags)));
}

EXPORT int hipEventDestroy(handle event) { ENTERED(CUDA("cuEventDestroy_v2", (handle), (event))); }

EXPORT int hipEventRecord(handle event, handle stream) { ENTERED(CUDA("cuEventRecord", (handle, handle), (event, stream))); }

EXPORT int hipEventQuery(handle event) { ENTERED(CUDA("cuEventQuery", (handle), (event))); }

EXPORT int hipEventSynchronize(handle event) { ENTERED(CUDA("cuEventSynchronize", (handle), (event))); }

EXPORT int hipEventElapsedTime(float *milliseconds, handle start, handle end) {
    ENTERED(CUDA("cuEventElapsedTime", (float *, handle, handle), (milliseconds, start, end)));
}

/* ---- modules ---- */

EXPORT int hipModuleLoadData(handle *module, const void *image) {
    ENTERED(CUDA("cuModuleLoadData", (handle *, const void *), (module, image)));
}

EXPORT int hipModuleUnload(handle module) { ENTERED(CUDA("cuModuleUnload", (handle), (module))); }

EXPORT int hipModuleGetFunction(handle *function_handle, handle module, const char *name) {
    ENTERED(CUDA("cuModuleGetFunction", (handle *, handle, const char *), (function_handle, module, name)));
}

EXPORT int hipFuncGetAttribute(int *value, int attribute, handle function_handle) {
    ENTERED(CUDA("cuFuncGetAttribute", (int *, int, handle), (value, attribute, function_handle)));
}

EXPORT int hipModuleLaunchKernel(handle kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, handle stream, void **parameters, void **extra) {
    ENTERED(CUDA("cuLaunchKernel",
                 (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **),
                 (kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, parameters, extra)));
}

/* ---- hiprtc over NVRTC ---- */

enum { COMPILER_INTERNAL_ERROR = 11 };

static void *nvrtc_function(const char *name) {
    static void *library;
    if (!library) {
        const char *chosen = getenv("PARLOOP_NVRTC");
        library = open_first(chosen && *chosen
                                 ? (const char *const[]){chosen, NULL}
                                 : (const char *const[]){"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                                                         "/usr/local/cuda/lib64/libnvrtc.so", NULL});
    }
    return library ? dlsym(library, name) : NULL;
}

#define NVRTC(name, types, arguments)                                  \
    ({                                                                 \
        static int(*function) types;                                   \
        if (!function) *(void **)&function = nvrtc_function(name);     \
        function ? function arguments : COMPILER_INTERNAL_ERROR;       \
    })

EXPORT int hiprtcVersion(int *major, int *minor) { return NVRTC("nvrtcVersion", (int *, int *), (major, minor)); }

EXPORT const char *hiprtcGetErrorString(int code) {
    static const char *(*function)(int);
    if (!function) *(void **)&function = nvrtc_function("nvrtcGetErrorString");
    return function ? function(code) : "libnvrtc could not be opened";
}

EXPORT int hiprtcCreateProgram(handle *program, const char *source, const char *name, int count, const char *const *headers,
                               const char *const *names) {
    return NVRTC("nvrtcCreateProgram", (handle *, const char *, const char *, int, const char *const *, const char *const *),
                 (program, source, name, count, headers, names));
}

EXPORT int hiprtcDestroyProgram(handle *program) { return NVRTC("nvrtcDestroyProgram", (handle *), (program)); }

static int starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* What NVRTC calls an option of clang; NULL for those that mean nothing to it. */
static const char *translate(const char *option) {
    if (starts_with(option, "-D") || starts_with(option, "-U") || starts_with(option, "-I") || starts_with(option, "-std=")) return option;
    if (strcmp(option, "-ffp-contract=off") == 0) return "--fmad=false";
    if (strcmp(option, "-ffast-math") == 0) return "--use_fast_math";
    return NULL;
}

static void architecture_option(char *text, size_t size) {
    int major = 9, minor = 0, count = 0;
    if (hipGetDeviceCount(&count) == SUCCESS && count > 0) {
        cuda_attribute(&major, 75, current_device);
        cuda_attribute(&minor, 76, current_device);
    }
    snprintf(text, size, "--gpu-architecture=sm_%d%d", major, minor);
}

EXPORT int hiprtcCompileProgram(handle program, int count, const char *const *options) {
    char architecture[64];
    const char *translated[MAX_OPTIONS + 2] = {architecture, "--device-as-default-execution-space"};
    int used = 2;
    architecture_option(architecture, sizeof architecture);
    for (int i = 0; i < count && used < MAX_OPTIONS + 2; i++) {
        const char *option = translate(options[i]);
        if (option) translated[used++] = option;
    }
    return NVRTC("nvrtcCompileProgram", (handle, int, const char *const *), (program, used, translated));
}

EXPORT int hiprtcGetProgramLogSize(handle program, size_t *size) {
    return NVRTC("nvrtcGetProgramLogSize", (handle, size_t *), (program, size));
}

EXPORT int hiprtcGetProgramLog(handle program, char *log) { return NVRTC("nvrtcGetProgramLog", (handle, char *), (program, log)); }

EXPORT int hiprtcGetCodeSize(handle program, size_t *size) {
    return NVRTC("nvrtcGetCUBINSize", (handle, size_t *), (program, size));
}

EXPORT int hiprtcGetCode(handle program, char *code) { return NVRTC("nvrtcGetCUBIN", (handle, char *), (program, code)); }
