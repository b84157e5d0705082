/* SPDX-License-Identifier: MIT */
/* Calls of the eight methods of PerflibV2 in NDR (MS-PCQ 3.1.4.1, C706 14), little-endian, and their answers. */
#ifndef OPENPLA_PDH_NDR_H
#define OPENPLA_PDH_NDR_H

#include "engine/base/text.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/link.h"

/* What goes over the wire for the eight methods of PerflibV2 (MS-PCQ 3.1.4.1), in NDR (C706 14) with little-endian
   numbers. What comes from another computer is held to its own length, and a reply to what was asked for. */

/* A context handle as it travels; all zero: none. */
#define NDR_HANDLE_BYTES 20

struct ndr_call {
    enum pcq_method method;
    const char *machine;              /* 0 to 3 */
    GUID set;                         /* 1, 2 */
    uint32_t code, language;          /* 1: enum pcq_request, LCID */
    uint8_t handle[NDR_HANDLE_BYTES]; /* 4 to 7 */
    uint32_t room;                    /* 0, 1, 2, 5, 6: dwInSize, GUIDs or bytes */
    const uint8_t *data;              /* 7: pcq_identifiers */
    uint32_t size;
    bool add; /* 7 */
};
struct ndr_reply {
    uint32_t status;                  /* the method's own: a Win32 error */
    uint32_t needed;                  /* 0, 1, 2, 5, 6: pdwRtnSize */
    uint8_t handle[NDR_HANDLE_BYTES]; /* 3, 4 */
    const uint8_t *data;              /* 0, 1, 2, 5, 6, 7: within the reply; GUIDs are their bytes */
    size_t size;                      /* bytes */
};

/* The server's side: what the method was called with; `data` is within the bytes, the machine is not looked at.
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) when it is none, E_INVALIDARG when a size is beyond the IDL's range. */
HRESULT ndr_read_request(enum pcq_method method, const uint8_t *bytes, size_t size, struct ndr_call *out);
/* The reply to `r`, from memory_alloc. E_OUTOFMEMORY. */
HRESULT ndr_write_reply(const struct ndr_call *r, const struct ndr_reply *reply, uint8_t **out, size_t *size);

/* One method called over a link: its parameters written, its answer read, and asked for again with more room where it
   did not fit. */

/* Zero-initialise. */
struct link_answer {
    uint8_t *reply; /* what `data` lies in */
    struct ndr_reply decoded;
};
/* `room` 0 becomes what the method's answers usually need. A failure is the link's, which is then of no more use, or
   E_OUTOFMEMORY; what the method itself says is answer->decoded.status. Frees what the answer held before. */
HRESULT link_ask(struct link *l, struct ndr_call *call, struct link_answer *answer);
void link_answer_free(struct link_answer *answer); /* and makes it empty */

/* What the method said as an HRESULT. */
HRESULT link_answer_result(const struct link_answer *answer);

#endif
