/* SPDX-License-Identifier: MIT */
/* Encodes and decodes calls of PerflibV2's eight methods in NDR, and repeats calls with larger buffers. */
#ifndef OPENPLA_PDH_NDR_H
#define OPENPLA_PDH_NDR_H

#include "engine/base/text.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/link.h"

/* The wire format of PerflibV2's eight methods (MS-PCQ 3.1.4.1) in NDR (C706 14) with little-endian numbers. The parser
   never reads past the end of the data from a remote computer, and accepts no reply that is larger than requested. */

/* A context handle on the wire; all zeros: none. */
#define NDR_HANDLE_BYTES 20

struct ndr_call {
    enum pcq_method method;
    const char *machine;              /* methods 0 to 3 */
    GUID set;                         /* methods 1 and 2 */
    uint32_t code, language;          /* method 1: enum pcq_request and LCID */
    uint8_t handle[NDR_HANDLE_BYTES]; /* methods 4 to 7 */
    uint32_t room;                    /* methods 0, 1, 2, 5 and 6: dwInSize, in GUIDs or bytes */
    const uint8_t *data;              /* method 7: pcq_identifiers */
    uint32_t size;
    bool add; /* method 7 */
};
struct ndr_reply {
    uint32_t status;                  /* the method's result: a Win32 error */
    uint32_t needed;                  /* methods 0, 1, 2, 5 and 6: pdwRtnSize */
    uint8_t handle[NDR_HANDLE_BYTES]; /* methods 3 and 4 */
    const uint8_t *data;              /* methods 0, 1, 2, 5, 6 and 7: points into the reply; GUIDs are bytes too */
    size_t size;                      /* in bytes */
};

/* Decodes the parameters on the server's side. `data` points into the bytes; the machine's name is ignored. Fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the parameters are invalid, or E_INVALIDARG if a size exceeds the IDL's
   range. */
HRESULT ndr_read_request(enum pcq_method method, const uint8_t *bytes, size_t size, struct ndr_call *out);
/* Encodes the reply to `r`, from memory_alloc. Fails with E_OUTOFMEMORY. */
HRESULT ndr_write_reply(const struct ndr_call *r, const struct ndr_reply *reply, uint8_t **out, size_t *size);

/* Calls one method over a link: encodes the parameters, decodes the answer, and repeats the call with a larger buffer
   if the answer did not fit. */

/* Zero-initialise. */
struct link_answer {
    uint8_t *reply; /* the bytes into which `data` points */
    struct ndr_reply decoded;
};
/* Calls the method. If call->room is 0, uses the usual size of the method's answers. Fails with E_OUTOFMEMORY, or with
   the link's error, after which the link is unusable. The method's result is answer->decoded.status. Frees the previous
   content of `answer`. */
HRESULT link_ask(struct link *l, struct ndr_call *call, struct link_answer *answer);
void link_answer_free(struct link_answer *answer); /* frees the content and zeroes *answer */

/* Returns the method's result as an HRESULT. */
HRESULT link_answer_result(const struct link_answer *answer);

#endif
