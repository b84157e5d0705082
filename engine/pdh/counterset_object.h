/* SPDX-License-Identifier: MIT */
/* Countersets of the live Perflib V2 providers as objects like all others. One counterset of several processes is one
   object with the instances of all. */
#ifndef OPENPLA_PDH_COUNTERSET_OBJECT_H
#define OPENPLA_PDH_COUNTERSET_OBJECT_H

#include "engine/pdh/catalogue.h"

struct countersets;
HRESULT countersets_open(struct countersets **out);
/* Adds the objects of the countersets that were not met before to `c`. */
HRESULT countersets_add_objects(struct countersets *s, struct catalogue *c);
/* A sample is about to be taken: which providers live is looked at anew if an object of them is used. */
void countersets_begin(struct countersets *s);
void countersets_close(struct countersets *s); /* its objects must be closed before; NULL is allowed */

#endif
