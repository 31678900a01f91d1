/* A CUDA driver without a GPU: two devices whose memory is the host's, and a record of which stream waits for which. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t handle;

static char seen[4096];
static struct { handle address; size_t bytes; int device; } memory[1024];
static int memories, streams, events;
static _Thread_local handle current;

/* What streams did since it was last asked. */
const char *fake_seen(void) {
    static char last[sizeof seen];
    memcpy(last, seen, sizeof seen);
    seen[0] = 0;
    return last;
}

static void note(const char *what, handle a, handle b) {
    size_t used = strlen(seen);
    snprintf(seen + used, sizeof seen - used, what, (unsigned long)a, (unsigned long)b);
}

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetName(char *name, int len, int device) { snprintf(name, len, "fake %d", device); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 76 || attribute == 115 ? 0 : 64;
    return 0;
}
int cuDeviceGetUuid_v2(char *uuid, int device) { memset(uuid, device, 16); return 0; }
int cuDevicePrimaryCtxRetain(handle *context, int device) { *context = device + 1; return 0; }
int cuCtxGetCurrent(handle *context) { *context = current; return 0; }
int cuCtxSetCurrent(handle context) { current = context; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemGetInfo_v2(size_t *available, size_t *total) { *available = *total = 1 << 30; return 0; }
int cuMemAlloc_v2(handle *address, size_t bytes) {
    *address = (handle)calloc(1, bytes);
    memory[memories % 1024].address = *address;
    memory[memories % 1024].bytes = bytes;
    memory[memories++ % 1024].device = (int)current - 1;
    return 0;
}
int cuMemFree_v2(handle address) { return 0; }
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) { *pointer = calloc(1, bytes); return 0; }
int cuMemFreeHost(void *pointer) { free(pointer); return 0; }
int cuMemcpyHtoDAsync_v2(handle to, const void *from, size_t bytes, handle stream) { memcpy((void *)to, from, bytes); return 0; }
int cuMemcpyDtoHAsync_v2(void *to, handle from, size_t bytes, handle stream) { memcpy(to, (void *)from, bytes); return 0; }
int cuMemcpyDtoDAsync_v2(handle to, handle from, size_t bytes, handle stream) { memcpy((void *)to, (void *)from, bytes); return 0; }
int cuMemsetD8Async(handle to, unsigned char value, size_t bytes, handle stream) { memset((void *)to, value, bytes); return 0; }
int cuPointerGetAttribute(void *value, int attribute, handle address) {
    for (int i = 0; i < memories && i < 1024; i++)
        if (attribute == 9 && memory[i].address <= address && address < memory[i].address + memory[i].bytes) {
            *(int *)value = memory[i].device;
            return 0;
        }
    return 1;
}
int cuStreamCreate(handle *stream, unsigned flags) { *stream = 1000 + ++streams; return 0; }
int cuStreamDestroy_v2(handle stream) { return 0; }
int cuStreamSynchronize(handle stream) { return 0; }
int cuStreamQuery(handle stream) { return 0; }
int cuEventCreate(handle *event, unsigned flags) { *event = ++events; return 0; }
int cuEventDestroy_v2(handle event) { return 0; }
int cuEventRecord(handle event, handle stream) { note("stream %lu", stream, 0); return 0; }
int cuEventQuery(handle event) { return 0; }
int cuEventSynchronize(handle event) { return 0; }
int cuEventElapsedTime(float *time, handle from, handle to) { *time = 0; return 0; }
int cuStreamWaitEvent(handle stream, handle event, unsigned flags) { note(" before stream %lu;", stream, event); return 0; }
int cuModuleLoadData(handle *module, const void *image) { return 1; }
int cuModuleUnload(handle module) { return 0; }
int cuModuleGetFunction(handle *function, handle module, const char *name) { return 1; }
int cuFuncGetAttribute(int *value, int attribute, handle function) { return 1; }
int cuLaunchKernel(handle function) { return 1; }
int cuGetErrorName(int code, const char **text) { *text = "FAKE"; return 0; }
int cuGetErrorString(int code, const char **text) { *text = "fake error"; return 0; }
