/* SPDX-License-Identifier: MIT */
/* A server of data collector sets for tests of remote clients. It implements MS-PLA's classes through IDispatch, with
   sets in memory that never run, on a free port of 127.0.0.1. */
#ifndef OPENPLA_TESTS_SET_SERVER_H
#define OPENPLA_TESTS_SET_SERVER_H

#include "engine/base/error.h"
#include "engine/base/wintypes.h"

enum { SET_SERVER_MOST = 8 };
struct served_set {
    char name[64]; /* "": a free slot */
    char space[16];
    char *xml; /* as SetXml received it; from memory_alloc */
    uint32_t status, serial, mode;
    bool was_synchronous;
    char account[64], password[64]; /* set by SetCredentials */
};
extern struct served_set served_sets[SET_SERVER_MOST];
extern bool set_server_filters;        /* whether lists are filtered, as OpenPLA's server does; other servers ignore the
                                          filter */
extern HRESULT set_server_query_fails; /* returned by Query instead of the set */

/* Starts the server; call it only one time. The account is "tester" with the password "secret of tests". */
HRESULT set_server_begin(uint16_t *port);
struct served_set *set_server_find(const char *name); /* Returns NULL if no such set exists. */
void set_server_forget_sets(void);
/* Discards the clients' objects, as a restart of the server does. */
void set_server_drop_objects(void);
size_t set_server_objects(void); /* Returns the number of objects that clients have. */

#endif
