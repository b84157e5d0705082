/* SPDX-License-Identifier: MIT */
/* What a set may ask for and this version keeps without doing it. */
#ifndef OPENPLA_UNSUPPORTED_H
#define OPENPLA_UNSUPPORTED_H

#include "engine/pla/model.h"

/* Tells of each such property with PLA_S_PROPERTY_IGNORED, which is there for it (MS-PLA 2.2.2.11): who has retention
   in mind must not find out from a full disk. */
HRESULT unsupported_validate(struct object *set, struct object *issues);

#endif
