#include <setjmp.h>
/* The first failure of a launch. The threads of a launch are done when it is taken. Where the site is -1, the text says what failed. */
static struct { int64_t claimed, site, index, limit; char text[512]; } parloop_check_record;
__attribute__((noinline, cold, unused)) static int parloop_check_failed(int64_t site, int64_t index, int64_t limit) {
    int64_t nobody = 0;
    if (__atomic_compare_exchange_n(&parloop_check_record.claimed, &nobody, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        parloop_check_record.site = site;
        parloop_check_record.index = index;
        parloop_check_record.limit = limit;
    }
    return 0;
}
/* Compilers call this function where an integer is about to be divided by zero. The division cannot be done, so the part of the launch
   ends here. The first words of `what` are the name of the file and the line. */
static _Thread_local jmp_buf parloop_leave;
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline, cold, visibility("hidden"))) void __ubsan_handle_divrem_overflow(void *what, void *dividend, void *divisor) {
    struct { const char *file; uint32_t line, column; } place;
    int64_t nobody = 0;
    (void)dividend, (void)divisor;
    memcpy(&place, what, sizeof place);
    if (__atomic_compare_exchange_n(&parloop_check_record.claimed, &nobody, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        parloop_check_record.site = -1;
        snprintf(parloop_check_record.text, sizeof parloop_check_record.text, "integer division by zero in line %u of %s",
                 (unsigned)place.line, place.file ? place.file : "the source");
    }
    longjmp(parloop_leave, 1);
}
#ifdef __cplusplus
extern "C"
#endif
void parloop_entry_parloop_take_check(void **args, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    memcpy(*(void **)args[0], &parloop_check_record, sizeof parloop_check_record);
    parloop_check_record.claimed = 0;
}
#define PARLOOP_CHECK(OK, SITE, INDEX, LIMIT) \
    ((OK) ? 1 : parloop_check_failed((int64_t)(SITE), (int64_t)(INDEX), (int64_t)(LIMIT)))
