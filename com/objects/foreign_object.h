/* SPDX-License-Identifier: MIT */
/* Objects of another process that are given to ours as arguments. */
#ifndef OPENPLA_FOREIGN_OBJECT_H
#define OPENPLA_FOREIGN_OBJECT_H

#include "com/objects/skin.h"

/* As skin_model for any class; but a trace data provider, or a collection of them, that another process made is taken
   as a copy. Clients have those in their own process (DECISIONS 17) and give them to collectors that may be the
   server's. Whatever else another process made stays E_INVALIDARG. */
HRESULT skin_model_or_copy(IUnknown *pointer, const char *argument, struct object **model);

#endif
