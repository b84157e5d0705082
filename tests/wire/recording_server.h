/* SPDX-License-Identifier: MIT */
/* An object that implements every interface of OpenPLA. It records the arguments of a call and returns values that the
   test sets. */
#ifndef OPENPLA_WIRE_RECORDING_SERVER_H
#define OPENPLA_WIRE_RECORDING_SERVER_H

#include "tests/wire/values.h"

struct recording_server {
    IUnknown object;
    LONG references;
    const struct member *member;      /* the called member, which defines the arguments */
    union value give[MAX_PARAMETERS]; /* values for its out parameters */
    HRESULT result;
    void (*raise)(void);               /* called in the method, if not NULL */
    unsigned calls, slot;              /* slot of the last call */
    union value taken[MAX_PARAMETERS]; /* copies of the received in parameters */
};

void recording_server_init(struct recording_server *server);
/* Prepares the next call, and frees the copies from the previous call. */
void recording_server_expect(struct recording_server *server, const struct member *member);

#endif
