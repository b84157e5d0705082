/* SPDX-License-Identifier: MIT */
/* Sets in a client's process: they hold their properties themselves and leave the verbs to the server (DECISIONS 17).
 */
#ifndef OPENPLA_FACADE_H
#define OPENPLA_FACADE_H

#include "engine/pla/model.h"

/* As sets_create and sets_collection_create. What they are asked to do with a set goes to the class of its namespace in
   the server, on this machine or, on Windows, on the one that is named; nothing is started before that is needed. A
   server that has ended is asked for anew. */
HRESULT facade_set_create(const char *category, struct object **out);
HRESULT facade_collection_create(const char *category, struct object **out);

#endif
