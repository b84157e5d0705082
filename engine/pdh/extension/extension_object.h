/* SPDX-License-Identifier: MIT */
/* Counter objects of extension DLLs and of Perflib V2 countersets. */
#ifndef OPENPLA_PDH_EXTENSION_OBJECT_H
#define OPENPLA_PDH_EXTENSION_OBJECT_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/extension/extension_host.h"

/* Objects that performance extension DLLs return in their data blocks. */

/* The system's names and help strings by number. Zero-initialise. */
struct extension_name {
    uint32_t index;
    char *text;
};
struct extension_names_table {
    struct extension_name *items; /* sorted by number */
    size_t count, capacity;
};
/* Reads number, name, number, name ... and skips pairs without a valid number. */
HRESULT extension_names_read(struct extension_names_table *t, const struct texts *pairs);
/* Returns the name with the number, or NULL. */
const char *extension_name(const struct extension_names_table *t, uint32_t index);
void extension_names_free(struct extension_names_table *t);

struct extension;
/* Opens the extension DLL of one service, but does not load it yet. */
HRESULT extension_open(const char *service, struct extension **out);
/* Requests data from the DLL's host process. The functions that need the data wait for the reply. */
void extension_ask(struct extension *e);
/* Like extension_ask, but does nothing if no counter of the DLL is in use. */
void extension_ask_if_used(struct extension *e);
/* Adds the DLL's new objects to `c`, and waits for them up to timeout_ms. S_FALSE if the DLL fails or does not
   respond. */
HRESULT extension_add_objects(struct extension *e, const struct extension_names_table *names, struct catalogue *c,
                              uint32_t timeout_ms);
void extension_close(struct extension *e); /* close the DLL's objects first */

/* The countersets of Perflib V2 providers, both registered countersets and countersets of running providers. If several
   processes provide a counterset, it is one object with the instances of all these processes. A registered counterset
   without a running provider is an object without instances. */
struct countersets;
HRESULT countersets_open(struct countersets **out);
/* Adds new countersets to `c` as objects. A counterset's registration takes precedence over the record in a provider's
   section. */
HRESULT countersets_add_objects(struct countersets *s, struct catalogue *c);
/* Called before a sample is taken: refreshes the list of running providers if one of their objects is in use. */
void countersets_begin(struct countersets *s);
void countersets_close(struct countersets *s); /* close the countersets' objects first; NULL is allowed */

#endif
