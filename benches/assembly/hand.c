// Sparsity, assembly, products and columns by hand: plain C on one thread. `problems.py` compiles it with the element kernels in front, so
// that both sides compute the same numbers: `laplace_p1(a, x)`, `laplace_p2(a, x)`, `laplace_tetra(a, x)` and `lump(r, x, f)`.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The compressed rows of a matrix of linear triangles. Columns have room for what a matrix without common nodes would need. Returns how
// many numbers are stored.
int64_t sparsity(int32_t nodes, int32_t cells, const int32_t *restrict cell_nodes, int32_t *restrict starts, int32_t *restrict columns)
{
    // The cells of each node.
    int32_t *restrict first = calloc((size_t)nodes + 1, sizeof *first), *restrict node_cells = malloc(3 * (size_t)cells * sizeof *node_cells);
    int32_t *restrict marker = malloc((size_t)nodes * sizeof *marker);
    for (int64_t i = 0; i < 3 * (int64_t)cells; i++)
        first[cell_nodes[i] + 1]++;
    for (int32_t n = 0; n < nodes; n++)
        first[n + 1] += first[n];
    for (int32_t c = 0; c < cells; c++)
        for (int i = 0; i < 3; i++)
            node_cells[first[cell_nodes[3 * c + i]]++] = c;
    memmove(first + 1, first, (size_t)nodes * sizeof *first);
    first[0] = 0;

    // Row by row, what the marker has not seen, sorted by insertion.
    memset(marker, -1, (size_t)nodes * sizeof *marker);
    int32_t end = 0;
    starts[0] = 0;
    for (int32_t n = 0; n < nodes; n++) {
        int32_t *restrict row = columns + end;
        int32_t count = 1;
        marker[n] = n;
        row[0] = n;
        for (int32_t k = first[n]; k < first[n + 1]; k++) {
            const int32_t *met = cell_nodes + 3 * (int64_t)node_cells[k];
            for (int j = 0; j < 3; j++)
                if (marker[met[j]] != n) {
                    marker[met[j]] = n;
                    row[count++] = met[j];
                }
        }
        for (int32_t i = 1; i < count; i++) {
            int32_t value = row[i], j = i;
            for (; j > 0 && row[j - 1] > value; j--)
                row[j] = row[j - 1];
            row[j] = value;
        }
        end += count;
        starts[n + 1] = end;
    }
    free(first), free(node_cells), free(marker);
    return end;
}

// Where the entries of each element are stored, by a search in each row.
void find_places(int64_t cells, int arity, const int32_t *restrict map, const int32_t *restrict starts, const int32_t *restrict columns,
                 int32_t *restrict places)
{
    for (int64_t c = 0; c < cells; c++)
        for (int i = 0; i < arity; i++)
            for (int j = 0; j < arity; j++) {
                int32_t at = starts[map[arity * c + i]];
                while (columns[at] != map[arity * c + j])
                    at++;
                places[(arity * c + i) * arity + j] = at;
            }
}

// Adds the matrices of elements with `CORNERS` corners in `DIM` dimensions and `NODES` nodes to places that are known.
#define ASSEMBLE(NAME, ELEMENT, CORNERS, DIM, NODES)                                                                                         \
    void NAME(int64_t cells, const int32_t *restrict corners, const int32_t *restrict places, const double *restrict x,                      \
              double *restrict values)                                                                                                       \
    {                                                                                                                                        \
        for (int64_t c = 0; c < cells; c++) {                                                                                                \
            const int32_t *corner = corners + CORNERS * c, *place = places + NODES * NODES * c;                                              \
            double p[CORNERS * DIM], a[NODES * NODES] = {0};                                                                                 \
            for (int i = 0; i < CORNERS; i++)                                                                                                \
                for (int d = 0; d < DIM; d++)                                                                                                \
                    p[DIM * i + d] = x[DIM * corner[i] + d];                                                                                 \
            ELEMENT(a, p);                                                                                                                   \
            for (int k = 0; k < NODES * NODES; k++)                                                                                          \
                values[place[k]] += a[k];                                                                                                    \
        }                                                                                                                                    \
    }
ASSEMBLE(assemble_p1, laplace_p1, 3, 2, 3)
ASSEMBLE(assemble_p2, laplace_p2, 3, 2, 6)
ASSEMBLE(assemble_tetra, laplace_tetra, 4, 3, 4)

// Hexahedra in columns: the bottom corners come from the map of the base, and those of each layer follow one another.
void columns(int64_t count, int64_t layers, const int32_t *restrict map, const double *restrict x, const double *restrict f, double *restrict r)
{
    for (int64_t c = 0; c < count; c++)
        for (int64_t layer = 0; layer < layers; layer++) {
            double p[24], g[8], s[8] = {0};
            for (int i = 0; i < 8; i++) {
                int64_t v = map[8 * c + i] + layer;
                for (int d = 0; d < 3; d++)
                    p[3 * i + d] = x[3 * v + d];
                g[i] = f[v];
            }
            lump(s, p, g);
            for (int i = 0; i < 8; i++)
                r[map[8 * c + i] + layer] += s[i];
        }
}
