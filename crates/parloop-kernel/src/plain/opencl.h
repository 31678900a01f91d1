#ifndef PARLOOP_C_DOUBLE
#ifdef cl_khr_fp64
#define PARLOOP_C_DOUBLE double
#else
#define PARLOOP_C_DOUBLE float
#endif
#endif
