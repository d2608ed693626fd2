/* The interpreter of an environment under test: starts of faultwire are asked of a server that has imported it
 * already (server.py), everything else is the real interpreter, by exec.
 *
 * Compiled with REAL, the interpreter; SELF, the path that this program stands at; SCRIPT, the console script;
 * CHILD_MAIN, the path of child_main.py; SOCKETS, the folder of the servers' sockets.
 *
 * Whoever started this process sees its pid, its end and its exit code. Signals to it are passed on. The server's
 * process is in the process group that this one was in, which this one leaves: a signal to the group comes once.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_FDS 250 /* SCM_MAX_FD is 253 */
extern char **environ;
static sigset_t before;

static void cold(char **argv) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    argv[0] = SELF; /* by it the interpreter finds its environment */
    execv(REAL, argv);
    _exit(127);
}

/* Which server: NULL is none. */
static const char *server(int argc, char **argv) {
    int at = 1;
    if (getenv("COLD_START")) return NULL;
    if (argc > 2 && !strcmp(argv[1], "-m") && !strcmp(argv[2], "faultwire")) return "command";
    if (argc > 1 && !strcmp(argv[1], SCRIPT)) return "command";
    if (argc < 4 || strcmp(argv[at++], "-I")) return NULL;
    int optimised = !strcmp(argv[at], "-O");
    at += optimised;
    if (at + 1 >= argc || strcmp(argv[at], CHILD_MAIN)) return NULL;
    if (optimised && !strcmp(argv[at + 1], "faultwire.mitm")) return "engine";
    if (!optimised && !strcmp(argv[at + 1], "faultwire.mock")) return "mock";
    return NULL;
}

static int connected(const char *name) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(SOCKETS) + strlen(name) + 2 > sizeof to.sun_path) return -1;
    strcat(strcat(strcpy(to.sun_path, SOCKETS), "/"), name);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (struct sockaddr *)&to, sizeof to)) {
        close(s);
        return -1;
    }
    return s;
}

/* The open descriptors besides `s`; -1 where they are too many. */
static int descriptors(int s, int32_t *numbers) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    if (!folder) return -1;
    for (struct dirent *one; (one = readdir(folder));) {
        int fd = atoi(one->d_name);
        if (one->d_name[0] == '.' || fd == s || fd == dirfd(folder)) continue;
        if (count == MOST_FDS) {
            closedir(folder);
            return -1;
        }
        numbers[count++] = fd;
    }
    closedir(folder);
    return count;
}

static int all(int s, const char *data, size_t size) {
    while (size) {
        ssize_t sent = send(s, data, size, MSG_NOSIGNAL);
        if (sent <= 0) return 0;
        data += sent;
        size -= sent;
    }
    return 1;
}

static size_t strings(char **list, char *to) {
    size_t size = 0;
    for (; *list; list++) {
        size_t length = strlen(*list) + 1;
        if (to) memcpy(to + size, *list, length);
        size += length;
    }
    return size;
}

/* Descriptors, arguments and environment, the working directory as the first descriptor. */
static int asked(int s, char **argv) {
    int32_t head[3 + MOST_FDS];
    int fds[MOST_FDS + 1];
    int count = descriptors(s, head + 3);
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (count < 0 || here < 0) return 0;
    head[0] = count;
    head[1] = strings(argv, NULL);
    head[2] = strings(environ, NULL);
    fds[0] = here;
    for (int n = 0; n < count; n++) fds[n + 1] = head[3 + n];
    size_t size = (count + 1) * sizeof(int);
    char control[CMSG_SPACE(sizeof fds)] = {0};
    struct iovec part = {head, (3 + count) * sizeof(int32_t)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = CMSG_SPACE(size)};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(rights), fds, size);
    int sent = sendmsg(s, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
    close(here);
    char *text = malloc(head[1] + head[2]);
    if (!sent || !text) return 0;
    strings(environ, text + strings(argv, text));
    return all(s, text, head[1] + head[2]);
}

static void ended(int status) {
    if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
    sigset_t none;
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status)); /* blocked until now */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    _exit(128 + WTERMSIG(status));
}

int main(int argc, char **argv) {
    sigset_t every;
    sigfillset(&every);
    sigprocmask(SIG_BLOCK, &every, &before);
    const char *name = server(argc, argv);
    int s = name && sigisemptyset(&before) ? connected(name) : -1;
    char answer = 0;
    if (s < 0 || !asked(s, argv) || read(s, &answer, 1) != 1 || answer != 'w') cold(argv);

    struct ucred peer;
    socklen_t size = sizeof peer;
    getsockopt(s, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    setpgid(0, getpgid(peer.pid));
    dup2(s, 3); /* nothing else stays open here: an end of a pipe would be noticed too late */
    close_range(4, ~0U, 0);
    for (int fd = 0; fd < 3; fd++) close(fd);
    int signals = signalfd(-1, &every, 0);
    struct pollfd watched[] = {{3, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
        poll(watched, 2, -1);
        if (watched[0].revents) {
            int32_t status;
            if (recv(3, &status, sizeof status, MSG_WAITALL) != sizeof status) _exit(70); /* the server died */
            ended(status);
        }
        if (watched[1].revents) {
            struct signalfd_siginfo one;
            if (read(signals, &one, sizeof one) != sizeof one || one.ssi_signo == SIGCHLD) continue;
            char number = one.ssi_signo;
            send(3, &number, 1, MSG_NOSIGNAL);
        }
    }
}
