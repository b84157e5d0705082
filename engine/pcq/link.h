/* SPDX-License-Identifier: MIT */
/* The way to the PerflibV2 interface of one computer: the bytes of a call there, the bytes of its answer back. */
#ifndef OPENPLA_PCQ_LINK_H
#define OPENPLA_PCQ_LINK_H

#include "engine/os/error.h"

/* First member of each kind's own struct. One call at a time. */
struct link;
struct link_kind {
    /* `machine` without backslashes. May be content before anything was connected. Waits as long as the host makes it
       wait. */
    HRESULT (*open)(const char *machine, struct link **out);
    /* *reply from memory_alloc. A failure ends the link: what was asked may or may not have been done. */
    HRESULT(*call)
    (struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply, size_t *reply_size);
    void (*close)(struct link *l);
};
struct link {
    const struct link_kind *kind;
};

#ifdef _WIN32
/* By the host's RPC. "name:port" is TCP there; a name in the setting CounterHosts is where that says; any other one is
   the pipe \PIPE\winreg of that computer (MS-PCQ 1.9), which under Wine is not there. On Windows each call has packet
   privacy, or there is none. */
extern const struct link_kind link_remote;
#endif

#endif
