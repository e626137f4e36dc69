// Starts a program as posix_spawn does, with what posix_spawn cannot do: a control group from its first
// instruction on, a controlling terminal, limits, a priority, a mask, a place in the kernel's choice of victims.
//
// The one file here that branches. Between clone and execve the child runs in its parent's memory while the
// parent waits: nothing may allocate, lock or return there, which Swift cannot promise.

#pragma once

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct clinux_limit {
    uint64_t resource;
    uint64_t most;
};

struct clinux_program {
    const char *path;
    char *const *arguments;
    char *const *environment;
    const char *folder;          // null: the parent's
    const int *descriptors;      // become 0, 1, 2 and so on; each is in its place, or above all places
    int descriptor_count;
    int terminal;                // the place of the descriptor that becomes the controlling terminal; -1: none
    int control_group;           // a folder of cgroup2; -1: the parent's
    int mask;                    // -1: the parent's
    int has_priority;
    int priority;
    const struct clinux_limit *limits;
    int limit_count;
    int64_t open_files;          // the soft limit of open files; the hard one stays; -1: the parent's
    const char *oom_score;       // null: the parent's
    // Set by `clinux_start_program`: the signals, by bit, whose defaults the child brings back itself.
    uint64_t unusual_signals;
    // Set when the program was not started.
    const char *failed_call;
    int failed_code;
};

static inline int clinux_program_failed(struct clinux_program *program, const char *call) {
    program->failed_code = errno;
    program->failed_call = call;
    return 127;
}

// What the child does, on its own stack in its parent's memory. Returns only when it failed.
static inline int clinux_program_main(void *argument) {
    extern int ioctl(int, unsigned long, ...);
    struct clinux_program *program = (struct clinux_program *)argument;

    // Before anything is unblocked: a handler of the parent must not run here.
    struct sigaction usual;
    memset(&usual, 0, sizeof usual);
    usual.sa_handler = SIG_DFL;
    for (int number = 1; number <= 64; number++)
        if (program->unusual_signals >> (number - 1) & 1)
            sigaction(number, &usual, (struct sigaction *)0);

    if (setsid() < 0) return clinux_program_failed(program, "setsid");
    for (int place = 0; place < program->descriptor_count; place++) {
        int source = program->descriptors[place];
        int done = source == place ? fcntl(source, F_SETFD, 0) : dup2(source, place);
        if (done < 0) return clinux_program_failed(program, "dup2");
    }
    // Ours close by themselves; this is for those that the parent was started with.
    syscall(SYS_close_range, (unsigned)program->descriptor_count, ~0U, 0U);
    if (program->terminal >= 0 && ioctl(program->terminal, TIOCSCTTY, 0) != 0)
        return clinux_program_failed(program, "ioctl(TIOCSCTTY)");
    if (program->folder && chdir(program->folder) != 0) return clinux_program_failed(program, "chdir");
    if (program->mask >= 0) umask((mode_t)program->mask);
    if (program->has_priority && setpriority(PRIO_PROCESS, 0, program->priority) != 0)
        return clinux_program_failed(program, "setpriority");
    if (program->oom_score) {
        int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (file >= 0) {
            ssize_t ignored = write(file, program->oom_score, strlen(program->oom_score));
            (void)ignored;
            close(file);
        }
    }
    if (program->open_files >= 0) {
        uint64_t both[2];
        if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, (void *)0, both) != 0)
            return clinux_program_failed(program, "getrlimit");
        both[0] = (uint64_t)program->open_files < both[1] ? (uint64_t)program->open_files : both[1];
        if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, both, (void *)0) != 0)
            return clinux_program_failed(program, "setrlimit");
    }
    for (int index = 0; index < program->limit_count; index++) {
        uint64_t both[2] = {program->limits[index].most, program->limits[index].most};
        if (syscall(SYS_prlimit64, 0, (int)program->limits[index].resource, both, (void *)0) != 0)
            return clinux_program_failed(program, "setrlimit");
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, (sigset_t *)0);
    execve(program->path, program->arguments, program->environment);
    return clinux_program_failed(program, "execve");
}

// The signals this process ignores, by bit: what it was started with, and SIGPIPE, which is all it may ignore itself.
//
// Looked at once: the kernel answers for one signal at a time.
static inline uint64_t clinux_ignored_signals(void) {
    static uint64_t known = 0;
    uint64_t ignored = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (ignored) return ignored;
    ignored = 1ULL << (SIGPIPE - 1);
    for (int number = 1; number <= 64; number++) {
        struct sigaction now;
        if (sigaction(number, (struct sigaction *)0, &now) == 0 && now.sa_handler == SIG_IGN)
            ignored |= 1ULL << (number - 1);
    }
    __atomic_store_n(&known, ignored, __ATOMIC_RELAXED);
    return ignored;
}

// clone3 with a stack for the child, which calls `body` on it and ends with what that returns.
//
// The C library has no call for it, and the child cannot share the parent's stack, whose frames it would write over.
// A sanitizer takes the library's clone for a fork, and changes in the child what it keeps of the parent's thread.
// The child has no handlers; what was ignored still is.
// Returns the child's id, or -1 with errno: ENOSYS or EPERM where only the older call is allowed, EINVAL where the
// kernel is too old for what is asked of it.
static inline int clinux_clone3(
    int control_group, char *stack, size_t size, int (*body)(void *), void *argument) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
            set_tid_size, cgroup;
    } arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.flags = 0x100 | 0x4000 | 0x100000000ULL;  // CLONE_VM, CLONE_VFORK, CLONE_CLEAR_SIGHAND
    arguments.exit_signal = SIGCHLD;
    arguments.stack = (uint64_t)(uintptr_t)stack;
    arguments.stack_size = size;
    if (control_group >= 0) {
        arguments.flags |= 0x200000000ULL;  // CLONE_INTO_CGROUP
        arguments.cgroup = (uint64_t)control_group;
    }
    long result = -ENOSYS;
#if defined(__x86_64__)
    register int (*function)(void *) __asm__("r12") = body;
    register void *given __asm__("r13") = argument;
    __asm__ volatile(
        "syscall\n\t"
        "testq %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xorl %%ebp, %%ebp\n\t"
        "movq %%r13, %%rdi\n\t"
        "callq *%%r12\n\t"
        "movl %%eax, %%edi\n\t"
        "movl $231, %%eax\n\t"  // exit_group
        "syscall\n\t"
        "hlt\n"
        "1:"
        : "=a"(result)
        : "0"(435L), "D"(&arguments), "S"(sizeof arguments), "r"(function), "r"(given)
        : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = 435;
    register long first __asm__("x0") = (long)&arguments;
    register long second __asm__("x1") = (long)sizeof arguments;
    register int (*function)(void *) __asm__("x19") = body;
    register void *given __asm__("x20") = argument;
    __asm__ volatile(
        "svc #0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, #0\n\t"
        "mov x0, x20\n\t"
        "blr x19\n\t"
        "mov x8, #94\n\t"  // exit_group
        "svc #0\n"
        "1:"
        : "+r"(first)
        : "r"(number), "r"(second), "r"(function), "r"(given)
        : "memory");
    result = first;
#endif
    if (result >= 0) return (int)result;
    errno = (int)-result;
    return -1;
}

// Starts the program, the leader of its own session, with every signal unblocked and at its default.
//
// Returns its id; or -1 with `failed_call` and `failed_code` set, and nothing is left of it.
static inline pid_t clinux_start_program(struct clinux_program *program) {
    extern int clone(int (*)(void *), void *, int, void *, ...);
    extern int pthread_sigmask(int, const sigset_t *, sigset_t *);
    _Alignas(16) char stack[32768];
    sigset_t all, before;
    sigfillset(&all);
    program->failed_call = (const char *)0;
    program->failed_code = 0;
    program->unusual_signals = clinux_ignored_signals();
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int pid = clinux_clone3(
        program->control_group, stack, sizeof stack, clinux_program_main, program);
    if (pid < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL) && program->control_group < 0) {
        program->unusual_signals = ~0ULL;
        pid = clone(
            clinux_program_main, stack + sizeof stack, 0x100 | 0x4000 | SIGCHLD, program);
    }
    if (pid < 0) clinux_program_failed(program, "clone");
    pthread_sigmask(SIG_SETMASK, &before, (sigset_t *)0);
    if (!program->failed_call) return pid;
    if (pid > 0) {
        while (waitpid(pid, (int *)0, 0) < 0 && errno == EINTR) {}
    }
    return -1;
}
