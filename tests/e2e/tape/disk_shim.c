/* Stands between a process and its disk (LD_PRELOAD): counts the calls that reach files below one
 * folder, makes the nth fail, kills the process at it, or writes all of them down.
 *
 * disk_arm(folder, n, how, log): `how` is an errno, or 0 (nothing fails), -1 (killed before the call),
 * -2 (killed with half of a write done), -3 (killed after the call). A negative n makes every call
 * from the nth on fail. `log` is a file descriptor, or -1.
 *
 * Without any of that, a disk that hangs: below the folder that DISK_FOLDER names no sync returns while
 * there is a file that DISK_GATE names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 4096
static char folder[PATH_MAX];
static size_t folder_size;
static long at, seen;
static int how, log_fd = -1;
static unsigned char watched[FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct entry {
    int32_t op, fd;
    int64_t offset;
    uint32_t first, second;
};

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void disk_arm(const char *place, long n, int what, int log) {
    pthread_mutex_lock(&lock);
    strncpy(folder, place, sizeof folder - 1);
    folder_size = strlen(folder);
    at = n, how = what, log_fd = log, seen = 0;
    memset(watched, 0, sizeof watched);
    pthread_mutex_unlock(&lock);
}

long disk_calls(void) { return seen; }

static const char *gate;

__attribute__((constructor)) static void begun(void) {
    const char *place = getenv("DISK_FOLDER");
    gate = getenv("DISK_GATE");
    if (place) {
        strncpy(folder, place, sizeof folder - 1);
        folder_size = strlen(folder);
    }
}

static int below(const char *path) {
    return folder_size && path && strncmp(path, folder, folder_size) == 0;
}

static int ours(int fd) { return fd >= 0 && fd < FDS && watched[fd]; }

static void hang(int fd) {
    while (gate && ours(fd) && access(gate, F_OK) == 0) usleep(1000);
}

static void put(int op, int fd, int64_t offset, const void *a, size_t first, const void *b, size_t second) {
    if (log_fd < 0) return;
    REAL(writev);
    struct entry head = {op, fd, offset, (uint32_t)first, (uint32_t)second};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)a, first}, {(void *)b, second}};
    (void)!real(log_fd, parts, 3);
}

void disk_mark(int64_t number) {
    pthread_mutex_lock(&lock);
    put('A', -1, number, "", 0, "", 0);
    pthread_mutex_unlock(&lock);
}

/* 0: go on; 1: fail with errno; 2: be killed half way; 3: be killed right after. */
static int judged(void) {
    long n = ++seen;
    if (!at || (at > 0 ? n != at : n < -at) || how == 0) return 0;
    if (how == -1) kill(getpid(), SIGKILL);
    if (how < 0) return -how;
    errno = how;
    return 1;
}

#define CALL(is_ours, result, call, failed, log_it, half)         \
    if (!(is_ours)) return call;                                  \
    pthread_mutex_lock(&lock);                                    \
    int verdict = judged();                                       \
    if (verdict == 1) { pthread_mutex_unlock(&lock); return failed; } \
    if (verdict == 2) { half; kill(getpid(), SIGKILL); }          \
    result = call;                                                \
    if (result != failed) { log_it; }                             \
    if (verdict == 3) kill(getpid(), SIGKILL);                    \
    int kept = errno;                                             \
    pthread_mutex_unlock(&lock);                                  \
    errno = kept;                                                 \
    return result;

static void opened(int fd, const char *path, int flags) {
    if (fd >= 0 && fd < FDS) watched[fd] = 1;
    put('O', fd, flags, path, strlen(path), "", 0);
}

#define MODE(flags) mode_t mode = 0; if ((flags) & O_CREAT) { va_list args; va_start(args, flags); mode = va_arg(args, mode_t); va_end(args); }

int open(const char *path, int flags, ...) {
    MODE(flags) REAL(open); int fd;
    CALL(below(path), fd, real(path, flags, mode), -1, opened(fd, path, flags), (void)0)
}
int open64(const char *path, int flags, ...) {
    MODE(flags) REAL(open64); int fd;
    CALL(below(path), fd, real(path, flags, mode), -1, opened(fd, path, flags), (void)0)
}
int openat(int dir, const char *path, int flags, ...) {
    MODE(flags) REAL(openat); int fd;
    CALL(below(path), fd, real(dir, path, flags, mode), -1, opened(fd, path, flags), (void)0)
}
int openat64(int dir, const char *path, int flags, ...) {
    MODE(flags) REAL(openat64); int fd;
    CALL(below(path), fd, real(dir, path, flags, mode), -1, opened(fd, path, flags), (void)0)
}
int close(int fd) {
    REAL(close);
    if (fd >= 0 && fd < FDS) watched[fd] = 0;
    return real(fd);
}
ssize_t write(int fd, const void *data, size_t size) {
    REAL(write); ssize_t n;
    off_t where = ours(fd) ? lseek(fd, 0, SEEK_CUR) : 0;
    CALL(ours(fd), n, real(fd, data, size), -1, put('W', fd, where, data, n, "", 0), (void)!real(fd, data, size / 2))
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t where) {
    REAL(pwrite); ssize_t n;
    CALL(ours(fd), n, real(fd, data, size, where), -1, put('W', fd, where, data, n, "", 0), (void)!real(fd, data, size / 2, where))
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t where) {
    REAL(pwrite64); ssize_t n;
    CALL(ours(fd), n, real(fd, data, size, where), -1, put('W', fd, where, data, n, "", 0), (void)!real(fd, data, size / 2, where))
}
int fsync(int fd) {
    REAL(fsync); int n;
    hang(fd);
    CALL(ours(fd), n, real(fd), -1, put('S', fd, 0, "", 0, "", 0), (void)0)
}
int fdatasync(int fd) {
    REAL(fdatasync); int n;
    hang(fd);
    CALL(ours(fd), n, real(fd), -1, put('S', fd, 0, "", 0, "", 0), (void)0)
}
int ftruncate(int fd, off_t size) {
    REAL(ftruncate); int n;
    CALL(ours(fd), n, real(fd, size), -1, put('T', fd, size, "", 0, "", 0), (void)0)
}
int ftruncate64(int fd, off64_t size) {
    REAL(ftruncate64); int n;
    CALL(ours(fd), n, real(fd, size), -1, put('T', fd, size, "", 0, "", 0), (void)0)
}
int link(const char *from, const char *to) {
    REAL(link); int n;
    CALL(below(to), n, real(from, to), -1, put('L', -1, 0, from, strlen(from), to, strlen(to)), (void)0)
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    REAL(linkat); int n;
    CALL(below(to), n, real(a, from, b, to, flags), -1, put('L', -1, 0, from, strlen(from), to, strlen(to)), (void)0)
}
int rename(const char *from, const char *to) {
    REAL(rename); int n;
    CALL(below(to), n, real(from, to), -1, put('R', -1, 0, from, strlen(from), to, strlen(to)), (void)0)
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat); int n;
    CALL(below(to), n, real(a, from, b, to), -1, put('R', -1, 0, from, strlen(from), to, strlen(to)), (void)0)
}
int unlink(const char *path) {
    REAL(unlink); int n;
    CALL(below(path), n, real(path), -1, put('U', -1, 0, path, strlen(path), "", 0), (void)0)
}
int unlinkat(int dir, const char *path, int flags) {
    REAL(unlinkat); int n;
    CALL(below(path), n, real(dir, path, flags), -1, put('U', -1, 0, path, strlen(path), "", 0), (void)0)
}
int chmod(const char *path, mode_t mode) {
    REAL(chmod); int n;
    CALL(below(path), n, real(path, mode), -1, put('C', -1, mode, path, strlen(path), "", 0), (void)0)
}
int fchmodat(int dir, const char *path, mode_t mode, int flags) {
    REAL(fchmodat); int n;
    CALL(below(path), n, real(dir, path, mode, flags), -1, put('C', -1, mode, path, strlen(path), "", 0), (void)0)
}
