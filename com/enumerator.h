/* SPDX-License-Identifier: MIT */
/* IEnumVARIANT over a snapshot of a collection. */
#ifndef OPENPLA_ENUMERATOR_H
#define OPENPLA_ENUMERATOR_H

#include "com/skin.h"

/* A new enumerator over what the collection holds now. Its items are objects; those of sets that a client of ours has
   asked for are arrays of the texts of enum set_text, so that a list costs a call for many sets and not four for each.
 */
enum set_text { SET_TEXT_NAME, SET_TEXT_ACCOUNT, SET_TEXT_XML, SET_TEXTS };
HRESULT enumerator_create(struct object *collection, IUnknown **out);

#endif
