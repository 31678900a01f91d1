#define PARLOOP_CPU 1
#ifdef __cplusplus
#define restrict __restrict__
#define _Thread_local thread_local
/* An address that becomes one of any type. */
struct parloop_address {
    const void *at;
    template <class T> operator T *() const { return (T *)at; }
};
#endif
/* The types of parameters that were read from a source, by names that it does not change. */
typedef bool parloop_bool;
typedef int8_t parloop_int8;
typedef int16_t parloop_int16;
typedef int32_t parloop_int32;
typedef uint8_t parloop_uint8;
typedef uint16_t parloop_uint16;
typedef uint32_t parloop_uint32;
typedef float parloop_float32;
typedef double parloop_float64;
#define GPUKERN static
#define GPUFUN static inline
#define GPUGLMEM
#define GPUCONST
#define RESTRICT restrict
#define VECTORIZE_OVER(INDEX, COUNT) \
    { const parloop_part parloop_own = parloop_split((int64_t)(COUNT)); \
      for (int64_t INDEX = parloop_own.begin; INDEX < parloop_own.end; INDEX++) {
#define END_VECTORIZE } }

/* The part of the launch that this call does, of `total` items. Loops are cut at the same indices, so that iteration i of each falls
   to one call; a loop of more than `total` iterations, whose count the launch did not know, is cut in proportion. Either way the calls
   of a launch do each iteration once. */
typedef struct { int64_t begin, end, total; } parloop_part;
static _Thread_local parloop_part parloop_this = {0, 1, 1};
static inline parloop_part parloop_split(int64_t count) {
    parloop_part part = parloop_this;
    if (count <= part.total) {
        if (part.begin > count) part.begin = count;
        if (part.end > count) part.end = count;
    } else {
        part.begin = (int64_t)((__int128)count * part.begin / part.total);
        part.end = (int64_t)((__int128)count * part.end / part.total);
    }
    return part;
}

#ifdef __cplusplus
#define PARLOOP_ATOMIC_NAME(NAME) atomicAdd
#else
#define PARLOOP_ATOMIC_NAME(NAME) parloop_atomic_add_##NAME
#endif
#define PARLOOP_ATOMIC_INTEGER(NAME, TYPE) \
    static inline TYPE PARLOOP_ATOMIC_NAME(NAME)(TYPE *at, TYPE value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
#define PARLOOP_ATOMIC_FLOAT(NAME, TYPE) \
    static inline TYPE PARLOOP_ATOMIC_NAME(NAME)(TYPE *at, TYPE value) { \
        TYPE old, sum; \
        __atomic_load(at, &old, __ATOMIC_RELAXED); \
        do { sum = old + value; } while (!__atomic_compare_exchange(at, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old; \
    }
PARLOOP_ATOMIC_INTEGER(i8, int8_t)
PARLOOP_ATOMIC_INTEGER(i16, int16_t)
PARLOOP_ATOMIC_INTEGER(i32, int32_t)
PARLOOP_ATOMIC_INTEGER(i64, int64_t)
PARLOOP_ATOMIC_INTEGER(u8, uint8_t)
PARLOOP_ATOMIC_INTEGER(u16, uint16_t)
PARLOOP_ATOMIC_INTEGER(u32, uint32_t)
PARLOOP_ATOMIC_INTEGER(u64, uint64_t)
PARLOOP_ATOMIC_FLOAT(f32, float)
PARLOOP_ATOMIC_FLOAT(f64, double)
#ifndef __cplusplus
#define atomicAdd(AT, VALUE) _Generic((AT), \
    int8_t *: parloop_atomic_add_i8, int16_t *: parloop_atomic_add_i16, int32_t *: parloop_atomic_add_i32, \
    int64_t *: parloop_atomic_add_i64, uint8_t *: parloop_atomic_add_u8, uint16_t *: parloop_atomic_add_u16, \
    uint32_t *: parloop_atomic_add_u32, uint64_t *: parloop_atomic_add_u64, float *: parloop_atomic_add_f32, \
    double *: parloop_atomic_add_f64)((AT), (VALUE))
#endif
