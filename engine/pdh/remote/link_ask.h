/* SPDX-License-Identifier: MIT */
/* One method called over a link: its parameters written, its answer read, and asked for again with more room where it
   did not fit. */
#ifndef OPENPLA_PCQ_LINK_ASK_H
#define OPENPLA_PCQ_LINK_ASK_H

#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/ndr.h"

/* Zero-initialise. */
struct link_answer {
    uint8_t *reply; /* what `data` lies in */
    struct ndr_reply said;
};
/* `room` 0 becomes what the method's answers usually need. A failure is the link's, which is then of no more use, or
   E_OUTOFMEMORY; what the method itself says is answer->said.status. Frees what the answer held before. */
HRESULT link_ask(struct link *l, struct ndr_call *call, struct link_answer *answer);
void link_answer_free(struct link_answer *answer); /* and makes it empty */

/* What the method said as an HRESULT. */
HRESULT link_answer_result(const struct link_answer *answer);

#endif
