// What Linux has and Swift's Glibc module lacks: headers, and one-liners for macros and variadics.
// Nothing here branches; whatever decides is written in Swift, or in spawn.h where Swift cannot run.

#pragma once

// _GNU_SOURCE stays undefined: with it the headers shared with Swift's Glibc module (fd_set, rusage)
// would have two definitions in one program. What it hides is declared below, beside its use.

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Processes

static inline int clinux_pidfd_open(pid_t pid, unsigned int flags) {
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int clinux_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, (void *)0, 0);
}

// PIDFD_GET_INFO with its first size, 64 bytes; older headers lack it.
static inline unsigned long clinux_pidfd_get_info(void) { return 0xC040FF0BUL; }

static inline int clinux_set_child_subreaper(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
}

static inline int clinux_set_parent_death_signal(int signal) {
    return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0UL, 0UL, 0UL);
}

static inline int clinux_set_process_name(const char *name) {
    return prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}

static inline int clinux_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
    extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
    return sem_clockwait(semaphore, clock, until);
}

static inline int clinux_set_thread_name(const char *name) {
    extern int pthread_setname_np(pthread_t, const char *);
    return pthread_setname_np(pthread_self(), name);
}

static inline int clinux_close_range(unsigned int first, unsigned int last, unsigned int flags) {
    return (int)syscall(SYS_close_range, first, last, flags);
}

static inline pid_t clinux_wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    extern pid_t wait4(pid_t, int *, int, struct rusage *);
    return wait4(pid, status, options, usage);
}

static inline int clinux_wifexited(int status) { return WIFEXITED(status); }
static inline int clinux_wexitstatus(int status) { return WEXITSTATUS(status); }
static inline int clinux_wifsignaled(int status) { return WIFSIGNALED(status); }
static inline int clinux_wtermsig(int status) { return WTERMSIG(status); }

// Descriptors

static inline int clinux_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

static inline int clinux_o_path(void) { return 010000000; }  // O_PATH, behind _GNU_SOURCE

static inline int clinux_openat(int folder, const char *path, int flags, mode_t mode) {
    return openat(folder, path, flags, mode);
}

static inline int clinux_fcntl(int descriptor, int command, int argument) {
    return fcntl(descriptor, command, argument);
}

static inline int clinux_memfd_create(const char *name, unsigned int flags) {
    return (int)syscall(SYS_memfd_create, name, flags);
}

static inline int clinux_pipe2(int *both, int flags) {
    extern int pipe2(int[2], int);
    return pipe2(both, flags);
}

static inline ssize_t clinux_splice(int from, int to, size_t length, unsigned int flags) {
    return syscall(SYS_splice, from, (void *)0, to, (void *)0, length, flags);
}

static inline int clinux_accept4(int socket, int flags) {
    extern int accept4(int, struct sockaddr *, socklen_t *, int);
    return accept4(socket, (struct sockaddr *)0, (socklen_t *)0, flags);
}

// Terminals

// <sys/ioctl.h> stays out for the same reason as _GNU_SOURCE: `struct winsize` is Glibc's.

static inline int clinux_ioctl(int descriptor, unsigned long request, void *argument) {
    extern int ioctl(int, unsigned long, ...);
    return ioctl(descriptor, request, argument);
}

static inline int clinux_ioctl_number(int descriptor, unsigned long request, unsigned long argument) {
    extern int ioctl(int, unsigned long, ...);
    return ioctl(descriptor, request, argument);
}

static inline unsigned long clinux_tiocsptlck(void) { return TIOCSPTLCK; }
static inline unsigned long clinux_tiocgptpeer(void) { return TIOCGPTPEER; }
static inline unsigned long clinux_tiocswinsz(void) { return TIOCSWINSZ; }
static inline unsigned long clinux_tiocgpgrp(void) { return TIOCGPGRP; }

// Ancillary data

static inline size_t clinux_cmsg_len(size_t length) { return CMSG_LEN(length); }
static inline size_t clinux_cmsg_space(size_t length) { return CMSG_SPACE(length); }
static inline unsigned char *clinux_cmsg_data(struct cmsghdr *header) { return CMSG_DATA(header); }
static inline struct cmsghdr *clinux_cmsg_first(struct msghdr *message) { return CMSG_FIRSTHDR(message); }

static inline struct cmsghdr *clinux_cmsg_next(struct msghdr *message, struct cmsghdr *header) {
    return CMSG_NXTHDR(message, header);
}

// `struct ucred`, as the kernel lays it out.

struct clinux_ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

static inline int clinux_so_peercred(void) { return SO_PEERCRED; }
static inline int clinux_so_passcred(void) { return SO_PASSCRED; }
static inline int clinux_scm_rights(void) { return SCM_RIGHTS; }
// SCM_CREDENTIALS, which <sys/socket.h> has under _GNU_SOURCE only.
static inline int clinux_scm_credentials(void) { return 2; }
