/* The C library. */
#if !defined PARLOOP_DECLARED || defined __FAST_MATH__ /* with which headers say what can be vectorised */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#else
/* What sources mostly use of the headers above, which take a compiler longer to read than most kernels. A source that needs more, as the
   compiler then says, is compiled with the headers. */
#define PARLOOP_OF_ONE(NAME) double NAME(double); float NAME##f(float);
#define PARLOOP_OF_TWO(NAME) double NAME(double, double); float NAME##f(float, float);
PARLOOP_OF_ONE(acos) PARLOOP_OF_ONE(acosh) PARLOOP_OF_ONE(asin) PARLOOP_OF_ONE(asinh) PARLOOP_OF_ONE(atan) PARLOOP_OF_ONE(atanh)
PARLOOP_OF_ONE(cbrt) PARLOOP_OF_ONE(ceil) PARLOOP_OF_ONE(cos) PARLOOP_OF_ONE(cosh) PARLOOP_OF_ONE(erf) PARLOOP_OF_ONE(erfc)
PARLOOP_OF_ONE(exp) PARLOOP_OF_ONE(exp2) PARLOOP_OF_ONE(expm1) PARLOOP_OF_ONE(fabs) PARLOOP_OF_ONE(floor) PARLOOP_OF_ONE(lgamma)
PARLOOP_OF_ONE(log) PARLOOP_OF_ONE(log10) PARLOOP_OF_ONE(log1p) PARLOOP_OF_ONE(log2) PARLOOP_OF_ONE(nearbyint) PARLOOP_OF_ONE(rint)
PARLOOP_OF_ONE(round) PARLOOP_OF_ONE(sin) PARLOOP_OF_ONE(sinh) PARLOOP_OF_ONE(sqrt) PARLOOP_OF_ONE(tan) PARLOOP_OF_ONE(tanh)
PARLOOP_OF_ONE(tgamma) PARLOOP_OF_ONE(trunc) PARLOOP_OF_ONE(j0) PARLOOP_OF_ONE(j1) PARLOOP_OF_ONE(y0) PARLOOP_OF_ONE(y1)
PARLOOP_OF_TWO(atan2) PARLOOP_OF_TWO(copysign) PARLOOP_OF_TWO(fdim) PARLOOP_OF_TWO(fmax) PARLOOP_OF_TWO(fmin) PARLOOP_OF_TWO(fmod)
PARLOOP_OF_TWO(hypot) PARLOOP_OF_TWO(nextafter) PARLOOP_OF_TWO(pow) PARLOOP_OF_TWO(remainder)
#undef PARLOOP_OF_ONE
#undef PARLOOP_OF_TWO
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double jn(int, double);
double yn(int, double);
long lrint(double);
long lround(double);
#define isfinite(X) __builtin_isfinite(X)
#define isinf(X) __builtin_isinf_sign(X)
#define isnan(X) __builtin_isnan(X)
#define HUGE_VAL (__builtin_huge_val())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define bool _Bool
#define true 1
#define false 0
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __SIZE_TYPE__ size_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
#define NULL ((void *)0)
void abort(void) __attribute__((noreturn));
int abs(int);
long labs(long);
void *calloc(size_t, size_t);
void free(void *);
void *malloc(size_t);
void *memcpy(void *restrict, const void *restrict, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int printf(const char *restrict, ...);
int snprintf(char *restrict, size_t, const char *restrict, ...);
#endif
