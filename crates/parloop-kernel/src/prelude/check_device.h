/* The first failure of a launch, taken when the launch is done. */
__device__ int parloop_check_claimed = 0;
__device__ int64_t parloop_check_record[3] = {0, 0, 0};
__device__ __noinline__ int parloop_check_failed(int64_t site, int64_t index, int64_t limit) {
    if (atomicCAS(&parloop_check_claimed, 0, 1) == 0) {
        parloop_check_record[0] = site;
        parloop_check_record[1] = index;
        parloop_check_record[2] = limit;
    }
    return 0;
}
extern "C" __global__ void parloop_take_check(int64_t *out) {
    out[0] = parloop_check_claimed;
    for (int i = 0; i < 3; i++) out[i + 1] = parloop_check_record[i];
    parloop_check_claimed = 0;
}
#define PARLOOP_CHECK(OK, SITE, INDEX, LIMIT) \
    ((OK) ? 1 : parloop_check_failed((int64_t)(SITE), (int64_t)(INDEX), (int64_t)(LIMIT)))
