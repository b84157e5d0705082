/* SPDX-License-Identifier: MIT */
/* Objects of extension DLLs and of Perflib V2 providers, as counter objects like all others. */
#ifndef OPENPLA_PDH_EXTENSION_OBJECT_H
#define OPENPLA_PDH_EXTENSION_OBJECT_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/extension/extension_host.h"

/* The objects that performance extension DLLs give in their blocks of data, as objects like all others. */

/* The system's table of names and help by their numbers. Zero-initialise. */
struct extension_name {
    uint32_t index;
    char *text;
};
struct extension_names_table {
    struct extension_name *items; /* in the order of the numbers */
    size_t count, capacity;
};
/* Takes number, name, number, name ...; what is no number is passed over with its name. */
HRESULT extension_names_read(struct extension_names_table *t, const struct texts *pairs);
/* NULL: it has none. */
const char *extension_name(const struct extension_names_table *t, uint32_t index);
void extension_names_free(struct extension_names_table *t);

struct extension;
/* One service's DLL; nothing is loaded yet. */
HRESULT extension_open(const char *service, struct extension **out);
/* Asks its process for data; the answer is waited for by what comes next. */
void extension_ask(struct extension *e);
/* As extension_ask, but only when a counter of it is used. */
void extension_ask_if_used(struct extension *e);
/* Adds the objects to `c` that the DLL gives and that were not met before; waits up to timeout_ms for them. A DLL that
   fails or does not answer adds none: S_FALSE. */
HRESULT extension_add_objects(struct extension *e, const struct extension_names_table *names, struct catalogue *c,
                              uint32_t timeout_ms);
void extension_close(struct extension *e); /* its objects must be closed before */

/* Countersets of Perflib V2 providers, those that are registered and those of live ones, as objects like all others.
   One counterset of several processes is one object with the instances of all; one that is registered is so without
   any. */
struct countersets;
HRESULT countersets_open(struct countersets **out);
/* Adds the objects of the countersets that were not met before to `c`, with what is registered of them before what
   their providers say. */
HRESULT countersets_add_objects(struct countersets *s, struct catalogue *c);
/* A sample is about to be taken: which providers live is looked at anew if an object of them is used. */
void countersets_begin(struct countersets *s);
void countersets_close(struct countersets *s); /* its objects must be closed before; NULL is allowed */

#endif
