__device__ static inline int64_t atomicAdd(int64_t *at, int64_t value) {
    return (int64_t)atomicAdd((unsigned long long *)at, (unsigned long long)value);
}
__device__ static inline uint64_t atomicAdd(uint64_t *at, uint64_t value) {
    return (uint64_t)atomicAdd((unsigned long long *)at, (unsigned long long)value);
}
/* Types smaller than a word are changed inside the aligned word that holds them. */
#define PARLOOP_ATOMIC_SMALL(TYPE, MASK) \
    __device__ static inline TYPE atomicAdd(TYPE *at, TYPE value) { \
        const uint64_t address = (uint64_t)at; \
        unsigned int *word = (unsigned int *)(address & ~(uint64_t)3); \
        const unsigned int shift = (unsigned int)(address & 3) * 8; \
        unsigned int old = *word, seen; \
        for (;;) { \
            const TYPE before = (TYPE)(old >> shift); \
            const unsigned int sum = (unsigned int)(TYPE)(before + value) & MASK; \
            seen = atomicCAS(word, old, (old & ~((unsigned int)MASK << shift)) | (sum << shift)); \
            if (seen == old) return before; \
            old = seen; \
        } \
    }
PARLOOP_ATOMIC_SMALL(int8_t, 0xffu)
PARLOOP_ATOMIC_SMALL(uint8_t, 0xffu)
PARLOOP_ATOMIC_SMALL(int16_t, 0xffffu)
PARLOOP_ATOMIC_SMALL(uint16_t, 0xffffu)
