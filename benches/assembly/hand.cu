// Assembly by hand in CUDA. `assembly_gpu.py` compiles it with the element kernels in front, so that both sides compute the same numbers.

// Adds to places that are known, with atomics. Corners and places lie column by column, so that neighbouring threads read neighbouring
// numbers.
#define ATOMICS(NAME, ELEMENT_KERNEL, CORNERS, DIM, NODES)                                                                                   \
    extern "C" __global__ void NAME(int cells, const int *__restrict__ corners, const int *__restrict__ places, const double *__restrict__ x, \
                                    double *values)                                                                                          \
    {                                                                                                                                        \
        int c = blockIdx.x * blockDim.x + threadIdx.x;                                                                                       \
        if (c >= cells)                                                                                                                      \
            return;                                                                                                                          \
        double p[CORNERS * DIM], a[NODES * NODES];                                                                                           \
        for (int i = 0; i < CORNERS; i++)                                                                                                    \
            for (int d = 0; d < DIM; d++)                                                                                                    \
                p[DIM * i + d] = x[DIM * corners[i * cells + c] + d];                                                                        \
        for (int k = 0; k < NODES * NODES; k++)                                                                                              \
            a[k] = 0;                                                                                                                        \
        ELEMENT_KERNEL(a, p);                                                                                                                \
        for (int k = 0; k < NODES * NODES; k++)                                                                                              \
            atomicAdd(values + places[k * cells + c], a[k]);                                                                                 \
    }

// A thread for each row goes through the cells of its node, `NODES * cell + slot` in a list, and adds their rows. Corners and places lie
// row by row.
#define GATHER(NAME, ELEMENT_KERNEL, CORNERS, DIM, NODES)                                                                                    \
    extern "C" __global__ void NAME(int rows, const int *__restrict__ first, const int *__restrict__ entries, const int *__restrict__ corners, \
                                    const int *__restrict__ places, const double *__restrict__ x, double *values)                            \
    {                                                                                                                                        \
        int r = blockIdx.x * blockDim.x + threadIdx.x;                                                                                       \
        if (r >= rows)                                                                                                                       \
            return;                                                                                                                          \
        for (int e = first[r]; e < first[r + 1]; e++) {                                                                                      \
            int c = entries[e] / NODES, slot = entries[e] % NODES;                                                                           \
            double p[CORNERS * DIM], a[NODES * NODES];                                                                                       \
            for (int i = 0; i < CORNERS; i++)                                                                                                \
                for (int d = 0; d < DIM; d++)                                                                                                \
                    p[DIM * i + d] = x[DIM * corners[CORNERS * c + i] + d];                                                                  \
            for (int k = 0; k < NODES * NODES; k++)                                                                                          \
                a[k] = 0;                                                                                                                    \
            ELEMENT_KERNEL(a, p);                                                                                                            \
            for (int j = 0; j < NODES; j++) {                                                                                                \
                double value = 0;                                                                                                            \
                for (int i = 0; i < NODES; i++)                                                                                              \
                    value = i == slot ? a[NODES * i + j] : value;                                                                            \
                values[places[NODES * entries[e] + j]] += value;                                                                             \
            }                                                                                                                                \
        }                                                                                                                                    \
    }

ATOMICS(atomics_p1, laplace_p1, 3, 2, 3)
ATOMICS(atomics_p2, laplace_p2, 3, 2, 6)
GATHER(gather_p1, laplace_p1, 3, 2, 3)
GATHER(gather_p2, laplace_p2, 3, 2, 6)

extern "C" __global__ void triad(long long n, const double *__restrict__ b, const double *__restrict__ c, double *__restrict__ a)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + 0.5 * c[i];
}
