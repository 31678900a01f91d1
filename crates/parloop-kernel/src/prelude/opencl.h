#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define PARLOOP_OPENCL 1
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define GPUKERN __kernel
#define GPUFUN
/* With PARLOOP_ONE_SPACE pointers say no address space: for devices whose memory is all in one, as that of a CPU. Kernels receive global
   pointers all the same. */
#ifdef PARLOOP_ONE_SPACE
#define GPUGLMEM
#else
#define GPUGLMEM __global
#endif
#define PARLOOP_GLOBAL(TYPE, AT) ((volatile __global TYPE *)(size_t)(AT))
#define GPUCONST __constant
#define RESTRICT restrict
/* With PARLOOP_STRIDE a loop covers any count with any grid; without it the launch sees to it that the grid is large enough. */
#ifdef PARLOOP_STRIDE
#define VECTORIZE_OVER(INDEX, COUNT) \
    { const int64_t parloop_count = (int64_t)(COUNT); \
      for (int64_t INDEX = (int64_t)get_global_id(0); INDEX < parloop_count; INDEX += (int64_t)get_global_size(0)) {
#else
#define VECTORIZE_OVER(INDEX, COUNT) { int64_t INDEX = (int64_t)get_global_id(0); if (INDEX < (int64_t)(COUNT)) {
#endif
#define END_VECTORIZE } }
