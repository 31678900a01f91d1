/* The same halo exchange by calls of MPI: rows are packed, sent to the other of two processes, and unpacked. Prints microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    int provided;
    // As a library must that may be called by several threads; a fifth argument says so.
    if (argc > 5) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else MPI_Init(&argc, &argv);
    int rank, rows = atoi(argv[1]), ghosts = atoi(argv[2]), total = atoi(argv[3]), turns = atoi(argv[4]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double(*data)[4] = calloc(total + ghosts, sizeof *data), *times = malloc(turns * sizeof *times);
    int *exports = malloc(rows * sizeof *exports);
    for (int i = 0; i < rows; i++) exports[i] = (int)((long)i * total / rows);
    char *out = malloc(rows * 32L), *in = malloc(ghosts * 32L);
    for (int turn = 0; turn < turns; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Request requests[2];
        for (int i = 0; i < rows; i++) memcpy(out + i * 32L, data[exports[i]], 32);
        MPI_Irecv(in, ghosts * 32, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, rows * 32, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < ghosts; i++) memcpy(data[total + i], in + i * 32L, 32);
        times[turn] = 1e6 * (MPI_Wtime() - start);
    }
    qsort(times, turns, sizeof *times, compare);
    if (rank == 0) printf("%.2f\n", times[turns / 2]);
    MPI_Finalize();
    return 0;
}
