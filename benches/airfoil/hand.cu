// The airfoil program by hand in CUDA: one thread for each cell or edge, arrays of structures, loads of 16 bytes, 128 threads a block.
// The loop over edges is here twice: with atomics, and gathering by target, where each cell computes all its edges.
// `benches/airfoil_gpu.py` runs it.

#define THREAD (blockIdx.x * 128 + threadIdx.x)

// Single-precision numbers in doubles, as in the program whose residuals are published.
__device__ constexpr double gam = 1.4f, gm1 = 1.4f - 1.0f, cfl = 0.9f, eps = 0.05f;

struct __align__(16) pair { double x, y; };
struct __align__(16) quad { double r, u, v, e; };

__device__ __forceinline__ pair pair_at(const double *__restrict__ of, int i) { return reinterpret_cast<const pair *>(of)[i]; }
__device__ __forceinline__ quad quad_at(const double *__restrict__ of, int i) { return reinterpret_cast<const quad *>(of)[i]; }
__device__ __forceinline__ void put(double *__restrict__ of, int i, quad value) { reinterpret_cast<quad *>(of)[i] = value; }

extern "C" __global__ void __launch_bounds__(128) save_soln(int cells, const double *__restrict__ q, double *__restrict__ qold)
{
    int i = THREAD;
    if (i < cells) put(qold, i, quad_at(q, i));
}

__device__ __forceinline__ double face(pair a, pair b, double u, double v, double c)
{
    double dx = b.x - a.x, dy = b.y - a.y;
    return fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
}

// Also zeroes what `update` adds to, which spares a launch.
extern "C" __global__ void __launch_bounds__(128) adt_calc(
        int cells, const int *__restrict__ nodes, const double *__restrict__ x, const double *__restrict__ q, double *__restrict__ adt,
    double *__restrict__ rms)
{
    int i = THREAD;
    if (i == 0) *rms = 0.0;
    if (i >= cells) return;
    int4 n = reinterpret_cast<const int4 *>(nodes)[i];
    pair a = pair_at(x, n.x), b = pair_at(x, n.y), c = pair_at(x, n.z), d = pair_at(x, n.w);
    quad s = quad_at(q, i);
    double ri = 1.0 / s.r, u = ri * s.u, v = ri * s.v;
    double sound = sqrt(gam * gm1 * (ri * s.e - 0.5 * (u * u + v * v)));
    adt[i] = (face(a, b, u, v, sound) + face(b, c, u, v, sound) + face(c, d, u, v, sound) + face(d, a, u, v, sound)) / cfl;
}

// The flux from cell 1 to cell 2 through the edge from b to a.
__device__ __forceinline__ quad flux(pair a, pair b, quad q1, quad q2, double mu)
{
    double dx = a.x - b.x, dy = a.y - b.y, ri1 = 1.0 / q1.r, ri2 = 1.0 / q2.r;
    double p1 = gm1 * (q1.e - 0.5 * ri1 * (q1.u * q1.u + q1.v * q1.v)), v1 = ri1 * (q1.u * dy - q1.v * dx);
    double p2 = gm1 * (q2.e - 0.5 * ri2 * (q2.u * q2.u + q2.v * q2.v)), v2 = ri2 * (q2.u * dy - q2.v * dx);
    return {0.5 * (v1 * q1.r + v2 * q2.r) + mu * (q1.r - q2.r),
            0.5 * (v1 * q1.u + p1 * dy + v2 * q2.u + p2 * dy) + mu * (q1.u - q2.u),
            0.5 * (v1 * q1.v - p1 * dx + v2 * q2.v - p2 * dx) + mu * (q1.v - q2.v),
            0.5 * (v1 * (q1.e + p1) + v2 * (q2.e + p2)) + mu * (q1.e - q2.e)};
}

__device__ __forceinline__ quad edge_flux(int edge, int c1, int c2, const int *__restrict__ nodes, const double *__restrict__ x,
    const double *__restrict__ q, const double *__restrict__ adt)
{
    int2 n = reinterpret_cast<const int2 *>(nodes)[edge];
    return flux(pair_at(x, n.x), pair_at(x, n.y), quad_at(q, c1), quad_at(q, c2), 0.5 * (adt[c1] + adt[c2]) * eps);
}

__device__ __forceinline__ void add(double *res, int cell, quad f, double sign)
{
    atomicAdd(res + 4 * cell, sign * f.r);
    atomicAdd(res + 4 * cell + 1, sign * f.u);
    atomicAdd(res + 4 * cell + 2, sign * f.v);
    atomicAdd(res + 4 * cell + 3, sign * f.e);
}

extern "C" __global__ void __launch_bounds__(128) res_calc_atomics(
        int edges, const int *__restrict__ nodes, const int *__restrict__ cells, const double *__restrict__ x, const double *__restrict__ q,
    const double *__restrict__ adt, double *__restrict__ res)
{
    int i = THREAD;
    if (i >= edges) return;
    int2 c = reinterpret_cast<const int2 *>(cells)[i];
    quad f = edge_flux(i, c.x, c.y, nodes, x, q, adt);
    add(res, c.x, f, 1.0);
    add(res, c.y, f, -1.0);
}

// `sides[first[c] .. first[c + 1]]` are the edges of cell c, twice their number, plus one where it is the second cell.
extern "C" __global__ void __launch_bounds__(128) res_calc_gather(
        int targets, const int *__restrict__ first, const int *__restrict__ sides, const int *__restrict__ nodes, const int *__restrict__
    cells, const double *__restrict__ x, const double *__restrict__ q, const double *__restrict__ adt, double *__restrict__ res)
{
    int i = THREAD;
    if (i >= targets) return;
    quad sum = {0.0, 0.0, 0.0, 0.0};
    for (int at = first[i]; at < first[i + 1]; at++) {
        int side = sides[at], edge = side >> 1;
        int2 c = reinterpret_cast<const int2 *>(cells)[edge];
        quad f = edge_flux(edge, c.x, c.y, nodes, x, q, adt);
        double sign = side & 1 ? -1.0 : 1.0;
        sum.r += sign * f.r, sum.u += sign * f.u, sum.v += sign * f.v, sum.e += sign * f.e;
    }
    quad old = quad_at(res, i);
    put(res, i, {old.r + sum.r, old.u + sum.u, old.v + sum.v, old.e + sum.e});
}

extern "C" __global__ void __launch_bounds__(128) bres_calc(
        int bedges, const int *__restrict__ nodes, const int *__restrict__ cells, const int *__restrict__ bound, const double *__restrict__
    x, const double *__restrict__ q, const double *__restrict__ adt, double *__restrict__ res, double u_far, double e_far)
{
    int i = THREAD;
    if (i >= bedges) return;
    int2 n = reinterpret_cast<const int2 *>(nodes)[i];
    int c = cells[i];
    pair a = pair_at(x, n.x), b = pair_at(x, n.y);
    quad s = quad_at(q, c);
    if (bound[i] == 1) {
        double p = gm1 * (s.e - 0.5 / s.r * (s.u * s.u + s.v * s.v));
        atomicAdd(res + 4 * c + 1, p * (a.y - b.y));
        atomicAdd(res + 4 * c + 2, -p * (a.x - b.x));
    } else {
        add(res, c, flux(a, b, s, {1.0, u_far, 0.0, e_far}, adt[c] * eps), 1.0);
    }
}

extern "C" __global__ void __launch_bounds__(128) update(
        int cells, const double *__restrict__ qold, double *__restrict__ q, double *__restrict__ res, const double *__restrict__ adt, double
    *__restrict__ rms)
{
    __shared__ double of_warps[4];
    int i = THREAD;
    double sum = 0.0;
    if (i < cells) {
        double adti = 1.0 / adt[i];
        quad d = quad_at(res, i), old = quad_at(qold, i);
        d = {adti * d.r, adti * d.u, adti * d.v, adti * d.e};
        put(q, i, {old.r - d.r, old.u - d.u, old.v - d.v, old.e - d.e});
        put(res, i, {0.0, 0.0, 0.0, 0.0});
        sum = d.r * d.r + d.u * d.u + d.v * d.v + d.e * d.e;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(rms, of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3]);
}

// For the bandwidth that the limit is computed from.
extern "C" __global__ void __launch_bounds__(128) triad(
    int n, double s, const double *__restrict__ b, const double *__restrict__ c, double *__restrict__ a)
{
    int i = THREAD;
    if (i < n) a[i] = b[i] + s * c[i];
}
