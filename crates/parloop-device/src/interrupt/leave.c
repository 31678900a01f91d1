/* Signals that reach a running kernel: SIGINT, which is noted, and one of our own, by which a thread leaves its kernel.
 *
 * What is here runs in signal handlers or around the call of a kernel, so that only frames of C are ever jumped over. Who decides when
 * handlers are installed and who gets which signal is watcher.rs. The structs are those of sys.rs. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef void entry_point(void *const *arguments, int64_t begin, int64_t end);

/* The machine code of a kernel's library. */
struct parloop_code {
    uintptr_t begin, end;
};

/* What one thread is doing. Slots are never freed, and each is changed by its thread alone. */
struct parloop_slot {
    _Atomic int tid;
    _Atomic(sigjmp_buf *) back; /* null outside of a kernel */
    const struct parloop_code *_Atomic code;
};

/* What the thread that signals are for is doing: Python's main thread. */
struct parloop_main {
    _Atomic uintptr_t thread;        /* its pthread_t; 0: nobody listens */
    _Atomic uint64_t turn;           /* odd while something runs that may take long */
    _Atomic uint64_t call;           /* changes when Python calls */
    _Atomic(const char *) text;      /* what is running, for the first Ctrl-C */
    _Atomic size_t text_length;
    _Atomic uint64_t noted_turn;     /* what ran at the last Ctrl-C that was noted */
    _Atomic uint64_t noted_call;
    _Atomic uint64_t abandoned_turn; /* what is not to be waited for any more */
    _Atomic uint32_t watcher;        /* see watcher.rs */
    struct parloop_slot slot;
};

HIDDEN struct parloop_main parloop_main = {.noted_call = UINT64_MAX};

static int leave_signal;
static struct sigaction first, previous;
static _Atomic uintptr_t inside;

static int is_main(void) {
    return (uintptr_t)pthread_self() == atomic_load_explicit(&parloop_main.thread, memory_order_relaxed);
}

HIDDEN int parloop_is_main(void) { return is_main(); }

HIDDEN int parloop_thread_id(void) { return (int)syscall(SYS_gettid); }

/* Sends our signal to a thread; a null slot stands for a SIGINT that came to another one. */
HIDDEN int parloop_signal(int tid, struct parloop_slot *slot) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = leave_signal;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = slot;
    return leave_signal == 0 ? -1 : (int)syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, leave_signal, &info);
}

/* A Ctrl-C, on the main thread: what runs there cannot end meanwhile, so that its text is there. */
static void note(void) {
    struct parloop_main *m = &parloop_main;
    uint64_t turn = m->turn, call = m->call;
    if (turn % 2 == 0)
        return;
    if (m->noted_turn == turn || m->noted_call == call) {
        m->abandoned_turn = turn;
        return;
    }
    m->noted_turn = turn;
    m->noted_call = call;
    ssize_t written = write(STDERR_FILENO, m->text, m->text_length);
    (void)written;
}

static void chain(const struct sigaction *to, int signal, siginfo_t *info, void *context) {
    if (to->sa_flags & SA_SIGINFO)
        to->sa_sigaction(signal, info, context);
    else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN)
        to->sa_handler(signal);
}

static void on_interrupt(int signal, siginfo_t *info, void *context) {
    int error = errno;
    uintptr_t self = (uintptr_t)pthread_self();
    /* A handler that was installed over this one may call it, and is what this one calls. */
    if (inside == self) {
        chain(&first, signal, info, context);
        return;
    }
    inside = self;
    if (is_main())
        note();
    else if (parloop_main.slot.tid != 0)
        parloop_signal(parloop_main.slot.tid, NULL);
    chain(&previous, signal, info, context);
    inside = 0;
    errno = error;
}

static uintptr_t program_counter(const void *context) {
    const ucontext_t *interrupted = context;
#if defined(__x86_64__)
    return (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)interrupted->uc_mcontext.pc;
#else
    (void)interrupted;
    return 0;
#endif
}

/* Leaves the kernel, if the thread is in the kernel's own code. In the C library it may hold a lock; the signal is sent again. */
static void on_leave(int signal, siginfo_t *info, void *context) {
    (void)signal;
    struct parloop_slot *slot = info->si_value.sival_ptr;
    if (info->si_code != SI_QUEUE || info->si_pid != getpid())
        return;
    if (slot == NULL) {
        int error = errno;
        if (is_main())
            note();
        errno = error;
        return;
    }
    sigjmp_buf *back = slot->back;
    if (back == NULL || slot->tid != parloop_thread_id() || parloop_main.abandoned_turn != parloop_main.turn)
        return;
    const struct parloop_code *code = slot->code;
    uintptr_t at = program_counter(context);
    if (at < code->begin || at >= code->end)
        return;
    siglongjmp(*back, 1);
}

/* Calls a kernel; 1 if it was left before its end. */
HIDDEN int parloop_call(struct parloop_slot *slot, const struct parloop_code *code, entry_point *entry, void *const *arguments, int64_t begin, int64_t end) {
    sigjmp_buf back;
    /* The mask of signals is not saved: our signal does not block itself. */
    if (sigsetjmp(back, 0) != 0) {
        atomic_store_explicit(&slot->back, NULL, memory_order_relaxed);
        return 1;
    }
    atomic_store_explicit(&slot->code, code, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&slot->back, &back, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    entry(arguments, begin, end);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&slot->back, NULL, memory_order_relaxed);
    return 0;
}

/* Takes a signal that nobody uses. */
static void claim_signal(void) {
    struct sigaction found, ours;
    memset(&ours, 0, sizeof ours);
    sigemptyset(&ours.sa_mask);
    ours.sa_sigaction = on_leave;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    for (int signal = SIGRTMAX - 1; leave_signal == 0 && signal >= SIGRTMIN; signal--)
        if (sigaction(signal, NULL, &found) == 0 && !(found.sa_flags & SA_SIGINFO) && found.sa_handler == SIG_DFL && sigaction(signal, &ours, NULL) == 0)
            leave_signal = signal;
}

/* Puts our handler in front of the one for SIGINT, unless it is there, or the signal is ignored or ends the process. One thread at a time. */
HIDDEN void parloop_install(void) {
    struct sigaction found, ours;
    if (sigaction(SIGINT, NULL, &found) != 0)
        return;
    if (found.sa_flags & SA_SIGINFO ? found.sa_sigaction == on_interrupt : found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN)
        return;
    if (leave_signal == 0) {
        claim_signal();
        first = found;
    }
    previous = found;
    ours = found;
    ours.sa_sigaction = on_interrupt;
    ours.sa_flags = (found.sa_flags & (SA_ONSTACK | SA_RESTART)) | SA_SIGINFO;
    sigaction(SIGINT, &ours, NULL);
}

/* A forked child has one thread, which is the main one, and runs nothing. */
static void in_child(void) {
    struct parloop_main *m = &parloop_main;
    if (m->thread != 0)
        m->thread = (uintptr_t)pthread_self();
    m->turn += m->turn % 2;
    m->watcher = 0;
    m->slot.tid = 0;
    m->slot.back = NULL;
    inside = 0;
}

/* From here on SIGINT is for the thread with this pthread_t. */
HIDDEN void parloop_listen(uintptr_t thread) {
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&registered))
        pthread_atfork(NULL, NULL, in_child);
    parloop_main.thread = thread;
}

/* No signal is handled by this thread. */
HIDDEN void parloop_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* When this returns, every thread has seen what this one stored before, and the other way round. */
HIDDEN void parloop_barrier(void) {
    atomic_thread_fence(memory_order_seq_cst);
#ifdef SYS_membarrier
    /* 1 is MEMBARRIER_CMD_GLOBAL. */
    if (syscall(SYS_membarrier, 1, 0, 0) == 0)
        return;
#endif
    usleep(10000);
}

/* Finds the machine code around an address. It is empty where there is none. The list of all libraries is not walked (dl_iterate_phdr): a
 * child that is forked meanwhile would find it locked for ever. */
HIDDEN void parloop_find_code(uintptr_t address, struct parloop_code *code) {
    Dl_info library;
    code->begin = code->end = 0;
    if (dladdr((void *)address, &library) == 0 || library.dli_fbase == NULL)
        return;
    const char *base = library.dli_fbase;
    const ElfW(Ehdr) *header = (const void *)base;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    const ElfW(Phdr) *parts = (const void *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        uintptr_t begin = (uintptr_t)base + parts[i].p_vaddr;
        if (parts[i].p_type == PT_LOAD && (parts[i].p_flags & PF_X) && address - begin < parts[i].p_memsz) {
            code->begin = begin;
            code->end = begin + parts[i].p_memsz;
            return;
        }
    }
}

#ifdef __GLIBC__
static void end_at_once(int status, void *unused) {
    (void)unused;
    fflush(NULL);
    _exit(status);
}
#endif

/* The process ends without the handlers that were registered so far: drivers wait there for work that may never end. */
HIDDEN void parloop_exit_without_drivers(void) {
#ifdef __GLIBC__
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&registered))
        on_exit(end_at_once, NULL);
#endif
}
