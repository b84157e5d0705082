/* SPDX-License-Identifier: MIT */
/* Countersets of Perflib V2 providers, those that are registered and those of live ones, as objects like all others.
   One counterset of several processes is one object with the instances of all; one that is registered is so without
   any. */
#ifndef OPENPLA_PDH_COUNTERSET_OBJECT_H
#define OPENPLA_PDH_COUNTERSET_OBJECT_H

#include "engine/pdh/core/catalogue.h"

struct countersets;
HRESULT countersets_open(struct countersets **out);
/* Adds the objects of the countersets that were not met before to `c`, with what is registered of them before what
   their providers say. */
HRESULT countersets_add_objects(struct countersets *s, struct catalogue *c);
/* A sample is about to be taken: which providers live is looked at anew if an object of them is used. */
void countersets_begin(struct countersets *s);
void countersets_close(struct countersets *s); /* its objects must be closed before; NULL is allowed */

#endif
