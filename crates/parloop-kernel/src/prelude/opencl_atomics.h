#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define PARLOOP_OVERLOAD __attribute__((overloadable))
int64_t PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM int64_t *at, int64_t value) { return atom_add(PARLOOP_GLOBAL(int64_t, at), value); }
uint64_t PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM uint64_t *at, uint64_t value) { return atom_add(PARLOOP_GLOBAL(uint64_t, at), value); }
#ifdef cl_khr_fp64
double PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM double *at, double value) {
    volatile __global uint64_t *bits = PARLOOP_GLOBAL(uint64_t, at);
    uint64_t old = *bits, seen;
    for (;;) {
        seen = atom_cmpxchg(bits, old, as_ulong(as_double(old) + value));
        if (seen == old) return as_double(old);
        old = seen;
    }
}
#endif
#else
#define PARLOOP_OVERLOAD __attribute__((overloadable))
#endif
int32_t PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM int32_t *at, int32_t value) { return atomic_add(PARLOOP_GLOBAL(int32_t, at), value); }
uint32_t PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM uint32_t *at, uint32_t value) { return atomic_add(PARLOOP_GLOBAL(uint32_t, at), value); }
float PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM float *at, float value) {
    volatile __global uint32_t *bits = PARLOOP_GLOBAL(uint32_t, at);
    uint32_t old = *bits, seen;
    for (;;) {
        seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + value));
        if (seen == old) return as_float(old);
        old = seen;
    }
}
/* Types smaller than a word are changed inside the aligned word that holds them. */
#define PARLOOP_ATOMIC_SMALL(TYPE, MASK) \
    TYPE PARLOOP_OVERLOAD atomicAdd(volatile GPUGLMEM TYPE *at, TYPE value) { \
        const size_t address = (size_t)at; \
        volatile __global uint32_t *word = (volatile __global uint32_t *)(address & ~(size_t)3); \
        const uint32_t shift = (uint32_t)(address & 3) * 8; \
        uint32_t old = *word, seen; \
        for (;;) { \
            const TYPE before = (TYPE)(old >> shift); \
            const uint32_t sum = (uint32_t)(TYPE)(before + value) & MASK; \
            seen = atomic_cmpxchg(word, old, (old & ~((uint32_t)MASK << shift)) | (sum << shift)); \
            if (seen == old) return before; \
            old = seen; \
        } \
    }
PARLOOP_ATOMIC_SMALL(int8_t, 0xffu)
PARLOOP_ATOMIC_SMALL(uint8_t, 0xffu)
PARLOOP_ATOMIC_SMALL(int16_t, 0xffffu)
PARLOOP_ATOMIC_SMALL(uint16_t, 0xffffu)
