/* SPDX-License-Identifier: MIT */
/* A server of data collector sets for tests of remote clients: what MS-PLA's classes do by IDispatch, with sets in
   memory that run nothing, on a free port of 127.0.0.1. */
#ifndef OPENPLA_TESTS_SET_SERVER_H
#define OPENPLA_TESTS_SET_SERVER_H

#include "engine/base/error.h"
#include "engine/base/wintypes.h"

enum { SET_SERVER_MOST = 8 };
struct served_set {
    char name[64]; /* "": a free place */
    char space[16];
    char *xml; /* as SetXml put it; from memory_alloc */
    uint32_t status, serial, mode;
    bool was_synchronous;
    char account[64], password[64]; /* of SetCredentials */
};
extern struct served_set served_sets[SET_SERVER_MOST];
extern bool set_server_filters;        /* like OpenPLA's server; else the filter is ignored, as by others */
extern HRESULT set_server_query_fails; /* instead of the set */

/* Once; the account is "tester" with the password "secret of tests". */
HRESULT set_server_begin(uint16_t *port);
struct served_set *set_server_find(const char *name); /* NULL: none */
void set_server_forget_sets(void);
/* As a restart of the server does: objects of clients are gone. */
void set_server_drop_objects(void);
size_t set_server_objects(void); /* that clients hold */

#endif
