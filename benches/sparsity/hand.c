// The pattern of a matrix of linear triangles by hand: plain C on one thread. `benches/sparsity/main.rs` compiles and runs it.
//
// It reads the cells from a file and then does the work once for each line of its input. For each it prints the CPU seconds of the pattern
// and of the positions, and a checksum of each.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct pattern {
    int64_t *starts;
    int32_t *columns;
};

static struct pattern make_pattern(int32_t nodes, int32_t cells, const int32_t *restrict cell_nodes)
{
    // The cells of each node.
    int32_t *restrict first = calloc((size_t)nodes + 1, sizeof *first), *restrict node_cells = malloc(3 * (size_t)cells * sizeof *node_cells);
    for (int32_t i = 0; i < 3 * cells; i++)
        first[cell_nodes[i] + 1]++;
    for (int32_t n = 0; n < nodes; n++)
        first[n + 1] += first[n];
    for (int32_t c = 0; c < cells; c++)
        for (int i = 0; i < 3; i++)
            node_cells[first[cell_nodes[3 * c + i]]++] = c;
    memmove(first + 1, first, (size_t)nodes * sizeof *first);
    first[0] = 0;

    // Row by row, what the marker has not seen, sorted by insertion. The room is what a matrix without common nodes would need.
    int32_t *restrict marker = malloc((size_t)nodes * sizeof *marker);
    memset(marker, -1, (size_t)nodes * sizeof *marker);
    int64_t *restrict starts = malloc(((size_t)nodes + 1) * sizeof *starts);
    int32_t *restrict columns = malloc((9 * (size_t)cells + (size_t)nodes) * sizeof *columns);
    int64_t end = 0;
    starts[0] = 0;
    for (int32_t n = 0; n < nodes; n++) {
        int32_t *restrict row = columns + end;
        int32_t count = 1;
        marker[n] = n;
        row[0] = n;
        for (int32_t k = first[n]; k < first[n + 1]; k++) {
            const int32_t *met = cell_nodes + 3 * node_cells[k];
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
    return (struct pattern){starts, realloc(columns, (size_t)end * sizeof *columns)};
}

static int32_t *make_positions(struct pattern p, int32_t cells, const int32_t *restrict cell_nodes)
{
    int32_t *restrict positions = malloc(9 * (size_t)cells * sizeof *positions);
    for (int32_t c = 0; c < cells; c++)
        for (int i = 0; i < 3; i++) {
            int64_t start = p.starts[cell_nodes[3 * c + i]];
            for (int j = 0; j < 3; j++) {
                int64_t at = start;
                while (p.columns[at] != cell_nodes[3 * c + j])
                    at++;
                positions[9 * c + 3 * i + j] = (int32_t)at;
            }
        }
    return positions;
}

static uint64_t checksum(const int32_t *values, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum = sum * 31 + (uint64_t)values[i];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 1;
    int32_t nodes = atoi(argv[2]), cells = atoi(argv[3]);
    int32_t *cell_nodes = malloc(3 * (size_t)cells * sizeof *cell_nodes);
    FILE *file = fopen(argv[1], "rb");
    if (!file || fread(cell_nodes, sizeof *cell_nodes, 3 * (size_t)cells, file) != 3 * (size_t)cells)
        return 1;
    fclose(file);
    while (getchar() != EOF) {
        double start = cpu_seconds();
        struct pattern p = make_pattern(nodes, cells, cell_nodes);
        double middle = cpu_seconds();
        int32_t *positions = make_positions(p, cells, cell_nodes);
        double end = cpu_seconds();
        printf("%.9f %.9f %llu %llu\n", middle - start, end - middle, (unsigned long long)checksum(p.columns, p.starts[nodes]),
               (unsigned long long)checksum(positions, 9 * (int64_t)cells));
        fflush(stdout);
        free(p.starts), free(p.columns), free(positions);
    }
    return 0;
}
