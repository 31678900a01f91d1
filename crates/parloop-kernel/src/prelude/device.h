#define GPUKERN extern "C" __global__
#define GPUFUN __device__
#define GPUGLMEM
#define GPUCONST __constant__
#define RESTRICT __restrict__
#define restrict __restrict__
#define VECTORIZE_OVER(INDEX, COUNT) \
    { const int64_t parloop_count = (int64_t)(COUNT); \
      for (int64_t INDEX = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; INDEX < parloop_count; \
           INDEX += (int64_t)gridDim.x * blockDim.x) {
#define END_VECTORIZE } }
