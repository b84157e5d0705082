/* SPDX-License-Identifier: MIT */
/* TCP connections on Windows: the calls that differ between host OSs. socket_calls.inc contains the others. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <stdio.h>
#include <winsock2.h>
#include <ws2tcpip.h>
#include <mstcpip.h>
#include <string.h>

typedef SOCKET host_socket;
#define NO_SOCKET             INVALID_SOCKET
#define wait_sockets          WSAPoll
#define close_socket          closesocket
#define socket_error()        WSAGetLastError()
#define IS_INTERRUPTED(error) ((error) == WSAEINTR)
#define IS_UNDER_WAY(error)   ((error) == WSAEWOULDBLOCK)
#define MSG_NOSIGNAL          0
#define ACCESS_DENIED         WSAEACCES
#define PORT_IN_USE           WSAEADDRINUSE
#define END_OF_SENDING        SD_SEND
/* On Windows, SO_REUSEADDR would let a second program take over the connections of a used port. Wine passes the option
   to the host OS, where it has a different meaning. */
#define PORT_OPTION           (os_is_wine() ? SO_REUSEADDR : SO_EXCLUSIVEADDRUSE)

/* Converts socket errors to the results that the POSIX code returns, because the system has no messages for socket
   errors. */
static HRESULT socket_failed_by(int error, const char *what)
{
    static const struct {
        int error;
        DWORD result;
    } results[] = {
        {WSAECONNREFUSED, ERROR_CONNECTION_REFUSED},
        {WSAECONNRESET, ERROR_CONNECTION_ABORTED},
        {WSAECONNABORTED, ERROR_CONNECTION_ABORTED},
        {WSAESHUTDOWN, ERROR_CONNECTION_ABORTED},
        {WSAENETUNREACH, ERROR_HOST_UNREACHABLE},
        {WSAEHOSTUNREACH, ERROR_HOST_UNREACHABLE},
        {WSAETIMEDOUT, ERROR_TIMEOUT},
        {WSAEACCES, ERROR_ACCESS_DENIED},
    };
    DWORD result = (DWORD)error;
    for (size_t i = 0; i < ARRAYSIZE(results); i++)
        if (results[i].error == error)
            result = results[i].result;
    return win32_failed(result, what);
}

static HRESULT socket_failed(const char *what)
{
    return socket_failed_by(WSAGetLastError(), what);
}

/* Starts Winsock once and never stops it, because a stop would affect other code in this process. */
static HRESULT begin_sockets(void)
{
    static volatile LONG begun;
    WSADATA data;
    if (begun)
        return S_OK;
    int error = WSAStartup(MAKEWORD(2, 2), &data);
    if (error)
        return win32_failed((DWORD)error, "WSAStartup");
    InterlockedExchange(&begun, 1);
    return S_OK;
}

static void set_blocking(host_socket s, bool blocking)
{
    u_long without_waiting = !blocking;
    (void)ioctlsocket(s, (long)FIONBIO, &without_waiting);
}

/* If another thread starts a program, that program must not keep the port or the connection open after this process
   exits. */
static void keep_from_children(host_socket s)
{
    (void)SetHandleInformation((HANDLE)s, HANDLE_FLAG_INHERIT, 0);
}

static void set_time(host_socket s, int option, uint32_t ms)
{
    DWORD time = ms;
    (void)setsockopt(s, SOL_SOCKET, option, (const char *)&time, sizeof time);
}

/* Sets options so that the wait for an answer ends within about two minutes if the other computer has disappeared
   without notice. */
static void notice_dead_host(host_socket s)
{
    struct tcp_keepalive times = {.onoff = 1, .keepalivetime = 60000, .keepaliveinterval = 6000};
    DWORD done;
    (void)WSAIoctl(s, SIO_KEEPALIVE_VALS, &times, sizeof times, NULL, 0, &done, NULL, NULL);
}

#include "engine/base/socket_calls.inc"
