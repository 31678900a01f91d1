// The airfoil program by hand: plain C on one thread, a function for each loop, timed one by one.
// `benches/airfoil/hand.py` compiles it and passes the arrays.

#include <math.h>
#include <stdint.h>
#include <time.h>

// Single-precision numbers in doubles, as in the program whose residuals are published.
static const double gam = 1.4f, gm1 = 1.4f - 1.0f, cfl = 0.9f, eps = 0.05f;

struct mesh {
    int64_t nodes, cells, edges, bedges;
    const double *x;
    const int32_t *cell_nodes, *edge_nodes, *edge_cells, *bedge_nodes, *bedge_cells, *bound;
};

struct state {
    double qinf[4];
    double *q, *qold, *res, *adt;
};

enum { SAVE, ADT, RES, BRES, UPDATE, LOOPS };

void save_soln(const struct mesh *m, const struct state *s)
{
    const double *restrict q = s->q;
    double *restrict qold = s->qold;
    for (int64_t i = 0; i < m->cells; i++)
        for (int n = 0; n < 4; n++)
            qold[4 * i + n] = q[4 * i + n];
}

static inline double face(const double *a, const double *b, double u, double v, double c)
{
    double dx = b[0] - a[0], dy = b[1] - a[1];
    return fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
}

void adt_calc(const struct mesh *m, const struct state *s)
{
    const double *restrict x = m->x, *restrict q = s->q;
    const int32_t *restrict nodes = m->cell_nodes;
    double *restrict adt = s->adt;
    for (int64_t i = 0; i < m->cells; i++) {
        const double *a = x + 2 * nodes[4 * i], *b = x + 2 * nodes[4 * i + 1];
        const double *c = x + 2 * nodes[4 * i + 2], *d = x + 2 * nodes[4 * i + 3];
        double ri = 1.0 / q[4 * i], u = ri * q[4 * i + 1], v = ri * q[4 * i + 2];
        double sound = sqrt(gam * gm1 * (ri * q[4 * i + 3] - 0.5 * (u * u + v * v)));
        adt[i] = (face(a, b, u, v, sound) + face(b, c, u, v, sound) + face(c, d, u, v, sound) + face(d, a, u, v, sound)) / cfl;
    }
}

// The flux from cell 1 to cell 2 through the edge from b to a.
static inline void flux(const double *a, const double *b, const double *q1, const double *q2, double mu, double f[4])
{
    double dx = a[0] - b[0], dy = a[1] - b[1];
    double ri1 = 1.0 / q1[0], ri2 = 1.0 / q2[0];
    double p1 = gm1 * (q1[3] - 0.5 * ri1 * (q1[1] * q1[1] + q1[2] * q1[2]));
    double p2 = gm1 * (q2[3] - 0.5 * ri2 * (q2[1] * q2[1] + q2[2] * q2[2]));
    double v1 = ri1 * (q1[1] * dy - q1[2] * dx), v2 = ri2 * (q2[1] * dy - q2[2] * dx);
    f[0] = 0.5 * (v1 * q1[0] + v2 * q2[0]) + mu * (q1[0] - q2[0]);
    f[1] = 0.5 * (v1 * q1[1] + p1 * dy + v2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);
    f[2] = 0.5 * (v1 * q1[2] - p1 * dx + v2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);
    f[3] = 0.5 * (v1 * (q1[3] + p1) + v2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);
}

void res_calc(const struct mesh *m, const struct state *s)
{
    const double *restrict x = m->x, *restrict q = s->q, *restrict adt = s->adt;
    const int32_t *restrict nodes = m->edge_nodes, *restrict cells = m->edge_cells;
    double *restrict res = s->res;
    for (int64_t i = 0; i < m->edges; i++) {
        int32_t c1 = cells[2 * i], c2 = cells[2 * i + 1];
        double f[4], mu = 0.5 * (adt[c1] + adt[c2]) * eps;
        flux(x + 2 * nodes[2 * i], x + 2 * nodes[2 * i + 1], q + 4 * c1, q + 4 * c2, mu, f);
        for (int n = 0; n < 4; n++) res[4 * c1 + n] += f[n];
        for (int n = 0; n < 4; n++) res[4 * c2 + n] -= f[n];
    }
}

void bres_calc(const struct mesh *m, const struct state *s)
{
    for (int64_t i = 0; i < m->bedges; i++) {
        const double *a = m->x + 2 * m->bedge_nodes[2 * i], *b = m->x + 2 * m->bedge_nodes[2 * i + 1];
        const double *q = s->q + 4 * m->bedge_cells[i];
        double *res = s->res + 4 * m->bedge_cells[i];
        if (m->bound[i] == 1) {
            double p = gm1 * (q[3] - 0.5 / q[0] * (q[1] * q[1] + q[2] * q[2]));
            res[1] += p * (a[1] - b[1]);
            res[2] -= p * (a[0] - b[0]);
        } else {
            double f[4];
            flux(a, b, q, s->qinf, s->adt[m->bedge_cells[i]] * eps, f);
            for (int n = 0; n < 4; n++) res[n] += f[n];
        }
    }
}

double update(const struct mesh *m, const struct state *s)
{
    const double *restrict qold = s->qold, *restrict adt = s->adt;
    double *restrict q = s->q, *restrict res = s->res, rms = 0.0;
    for (int64_t i = 0; i < m->cells; i++) {
        double adti = 1.0 / adt[i];
        for (int n = 0; n < 4; n++) {
            double del = adti * res[4 * i + n];
            q[4 * i + n] = qold[4 * i + n] - del;
            res[4 * i + n] = 0.0;
            rms += del * del;
        }
    }
    return rms;
}

void start(const struct mesh *m, struct state *s)
{
    double mach = 0.4f, u = sqrt(gam) * mach;
    s->qinf[0] = 1.0, s->qinf[1] = u, s->qinf[2] = 0.0, s->qinf[3] = 1.0 / gm1 + 0.5 * u * u;
    for (int64_t i = 0; i < 4 * m->cells; i++) s->q[i] = s->qinf[i % 4], s->res[i] = 0.0;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define TIMED(loop, call)                                                                                                                    \
    do {                                                                                                                                     \
        double cpu_start = now(CLOCK_THREAD_CPUTIME_ID), wall_start = now(CLOCK_MONOTONIC);                                                  \
        call;                                                                                                                                \
        cpu[loop] += now(CLOCK_THREAD_CPUTIME_ID) - cpu_start, wall[loop] += now(CLOCK_MONOTONIC) - wall_start;                              \
    } while (0)

// Runs iterations, adds the seconds of each loop to `cpu` and `wall`, and gives sqrt(rms / cells) of the last stage.
double run(const struct mesh *m, struct state *s, int iterations, double cpu[LOOPS], double wall[LOOPS])
{
    double rms = 0.0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        TIMED(SAVE, save_soln(m, s));
        for (int stage = 0; stage < 2; stage++) {
            TIMED(ADT, adt_calc(m, s));
            TIMED(RES, res_calc(m, s));
            TIMED(BRES, bres_calc(m, s));
            TIMED(UPDATE, rms = update(m, s));
        }
    }
    return sqrt(rms / m->cells);
}

// The same without clocks, which short loops would notice.
double iterate(const struct mesh *m, struct state *s, int iterations)
{
    double rms = 0.0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        save_soln(m, s);
        for (int stage = 0; stage < 2; stage++) {
            adt_calc(m, s);
            res_calc(m, s);
            bres_calc(m, s);
            rms = update(m, s);
        }
    }
    return sqrt(rms / m->cells);
}
