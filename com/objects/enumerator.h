/* SPDX-License-Identifier: MIT */
/* IEnumVARIANT over a snapshot of a collection. */
#ifndef OPENPLA_ENUMERATOR_H
#define OPENPLA_ENUMERATOR_H

#include "com/objects/skin.h"

/* A new enumerator over what the collection holds now. */
HRESULT enumerator_create(struct object *collection, IUnknown **out);

#endif
