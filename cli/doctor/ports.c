/* SPDX-License-Identifier: MIT */
/* openpla doctor: where this computer's counters are to be offered to others, somebody listens. */
#include "cli/doctor/doctor.h"
#include "engine/base/memory.h"
#include "engine/pdh/pcq_server.h"

#include <winsock2.h>

#define ANSWER_SECONDS 2

/* Whether a connection from this computer is taken. */
static bool is_open(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    u_long without_waiting = 1;
    fd_set done, failed;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const SOCKET s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (s == INVALID_SOCKET)
        return false;
    bool open = false;
    if (!ioctlsocket(s, (long)FIONBIO, &without_waiting)) {
        open = !connect(s, (struct sockaddr *)&to, sizeof to);
        FD_ZERO(&done);
        FD_ZERO(&failed);
        FD_SET(s, &done);
        FD_SET(s, &failed);
        if (!open && WSAGetLastError() == WSAEWOULDBLOCK)
            open = select(0, NULL, &done, &failed, &limit) > 0 && FD_ISSET(s, &done) && !FD_ISSET(s, &failed);
    }
    closesocket(s);
    return open;
}

/* Without the service nobody listens, which has a finding of its own. */
static bool is_expected(const struct doctor *d)
{
    for (size_t i = 0; i < d->count; i++)
        switch (d->items[i].id) {
        case DOCTOR_FOUND_NO_SERVICE:
        case DOCTOR_FOUND_SERVICE_MISSING:
        case DOCTOR_FOUND_SERVICE_DISABLED:
        case DOCTOR_FOUND_SERVICE_STOPPED:
        case DOCTOR_FOUND_SERVICE_DEAD:
            return false;
        default:
            break;
        }
    return d->folder != NULL;
}

HRESULT doctor_check_ports(struct doctor *d)
{
    struct pcq_settings settings;
    WSADATA data;
    HRESULT hr = pcq_settings_read(&settings);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr))
        return doctor_find(d, DOCTOR_FOUND_PORT_SETTING, NULL, "%s", error_text(hr));
    const uint16_t port = hr == S_OK ? settings.port : 0;
    if (hr == S_OK)
        pcq_settings_free(&settings);
    if (!port || !is_expected(d) || WSAStartup(MAKEWORD(2, 2), &data))
        return S_OK;
    hr = S_OK;
    if (!is_open(port))
        hr = doctor_find(d, DOCTOR_FOUND_PORT_CLOSED, NULL,
                         "counters are to be offered at the TCP port %u, and nobody listens there", (unsigned)port);
    WSACleanup();
    return hr;
}
