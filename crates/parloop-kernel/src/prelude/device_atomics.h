/* Which types the compiler's own atomicAdd takes depends on its version, so ours has a name of its own and falls back to it. */
template <class T> __device__ inline T parloop_atomic(T *at, T value) { return atomicAdd(at, value); }
template <> __device__ inline int64_t parloop_atomic<int64_t>(int64_t *at, int64_t value) {
    return (int64_t)atomicAdd((unsigned long long *)at, (unsigned long long)value);
}
template <> __device__ inline uint64_t parloop_atomic<uint64_t>(uint64_t *at, uint64_t value) {
    return (uint64_t)atomicAdd((unsigned long long *)at, (unsigned long long)value);
}
template <> __device__ inline long long parloop_atomic<long long>(long long *at, long long value) {
    return (long long)atomicAdd((unsigned long long *)at, (unsigned long long)value);
}
/* Types smaller than a word are changed inside the aligned word that holds them. */
#define PARLOOP_ATOMIC_SMALL(TYPE, MASK) \
    template <> __device__ inline TYPE parloop_atomic<TYPE>(TYPE *at, TYPE value) { \
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
PARLOOP_ATOMIC_SMALL(char, 0xffu)
PARLOOP_ATOMIC_SMALL(signed char, 0xffu)
PARLOOP_ATOMIC_SMALL(unsigned char, 0xffu)
PARLOOP_ATOMIC_SMALL(short, 0xffffu)
PARLOOP_ATOMIC_SMALL(unsigned short, 0xffffu)
template <class T, class V> __device__ inline T parloop_atomic_add(T *at, V value) { return parloop_atomic<T>(at, (T)value); }
#define atomicAdd parloop_atomic_add
