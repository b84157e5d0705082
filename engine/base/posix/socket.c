/* SPDX-License-Identifier: MIT */
/* TCP connections on POSIX systems: the calls that differ between host OSs. socket_calls.inc contains the others. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/posix/posix_call.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

typedef int host_socket;
#define NO_SOCKET             (-1)
#define wait_sockets          poll
#define close_socket          close
#define socket_error()        errno
#define IS_INTERRUPTED(error) ((error) == EINTR)
#define IS_UNDER_WAY(error)   ((error) == EINPROGRESS)
#define ACCESS_DENIED         EACCES
#define PORT_IN_USE           EADDRINUSE
#define END_OF_SENDING        SHUT_WR
#define PORT_OPTION           SO_REUSEADDR

static HRESULT socket_failed_by(int error, const char *what)
{
    return posix_failed(error, what);
}

static HRESULT socket_failed(const char *what)
{
    return posix_failed(errno == EAGAIN ? ETIMEDOUT : errno, what);
}

static HRESULT begin_sockets(void)
{
    return S_OK;
}

static void set_blocking(host_socket s, bool blocking)
{
    int flags = fcntl(s, F_GETFL);
    (void)fcntl(s, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* If another thread starts a program, that program must not keep the port or the connection open after this process
   exits. */
static void keep_from_children(host_socket s)
{
    (void)fcntl(s, F_SETFD, FD_CLOEXEC);
}

static void set_time(host_socket s, int option, uint32_t ms)
{
    struct timeval time = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000) * 1000};
    (void)setsockopt(s, SOL_SOCKET, option, &time, sizeof time);
}

/* Sets options so that the wait for an answer ends within about two minutes if the other computer has disappeared
   without notice. */
static void notice_dead_host(host_socket s)
{
    static const struct {
        int level, option, value;
    } options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, 60},
                   {IPPROTO_TCP, TCP_KEEPINTVL, 10},
                   {IPPROTO_TCP, TCP_KEEPCNT, 6},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT, 120000 /* ms that sent bytes may stay unacknowledged */}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        (void)setsockopt(s, options[i].level, options[i].option, &options[i].value, sizeof options[i].value);
}

#include "engine/base/socket_calls.inc"
