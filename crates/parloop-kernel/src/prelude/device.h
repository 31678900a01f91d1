#define GPUKERN extern "C" __global__
#define GPUFUN __device__
#define GPUGLMEM
#define GPUCONST __constant__
#define RESTRICT __restrict__
#define restrict __restrict__
/* With PARLOOP_STRIDE a loop covers any count with any grid; without it the launch sees to it that the grid is large enough. */
#ifdef PARLOOP_STRIDE
#define VECTORIZE_OVER(INDEX, COUNT) \
    { const int64_t parloop_count = (int64_t)(COUNT); \
      for (int64_t INDEX = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; INDEX < parloop_count; \
           INDEX += (int64_t)gridDim.x * blockDim.x) {
#else
#define VECTORIZE_OVER(INDEX, COUNT) { int64_t INDEX = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; if (INDEX < (int64_t)(COUNT)) {
#endif
#define END_VECTORIZE } }
