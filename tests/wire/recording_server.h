/* SPDX-License-Identifier: MIT */
/* An object with every interface of ours: it keeps what it is called with and gives what it is told to. */
#ifndef OPENPLA_WIRE_RECORDING_SERVER_H
#define OPENPLA_WIRE_RECORDING_SERVER_H

#include "tests/wire/values.h"

struct recording_server {
    IUnknown object;
    LONG references;
    const struct member *member;      /* the member that is called: tells how to read the arguments */
    union value give[MAX_PARAMETERS]; /* for its out parameters */
    HRESULT result;
    void (*raise)(void);               /* called in the method, if not NULL */
    unsigned calls, slot;              /* slot: of the last call */
    union value taken[MAX_PARAMETERS]; /* copies of its in parameters */
};

void recording_server_init(struct recording_server *server);
/* For the next call; frees the copies of the last. */
void recording_server_expect(struct recording_server *server, const struct member *member);

#endif
