/* SPDX-License-Identifier: MIT */
/* The A entry points. */
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"

#define ENTRY(name)  name##A
#define FORM         API_ANSI
#define TEXT_IN      LPCSTR
#define LIST_OUT     LPSTR
#define STRUCT(name) name##_A
#include "engine/pdh/api/api_forms.inc"
