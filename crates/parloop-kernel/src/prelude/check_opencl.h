/* The first failure of a launch, in a buffer of four numbers; `parloop_record` is a parameter of every function that checks. */
int parloop_check_failed(volatile __global long *record, long site, long index, long limit);
int parloop_check_failed(volatile __global long *record, long site, long index, long limit) {
    if (atomic_cmpxchg((volatile __global int *)record, 0, 1) == 0) {
        record[1] = site;
        record[2] = index;
        record[3] = limit;
    }
    return 0;
}
#define PARLOOP_CHECK(OK, SITE, INDEX, LIMIT) \
    ((OK) ? 1 : parloop_check_failed(parloop_record, (long)(SITE), (long)(INDEX), (long)(LIMIT)))
