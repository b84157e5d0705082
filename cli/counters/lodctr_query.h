/* SPDX-License-Identifier: MIT */
/* What lodctr /Q shows of extension DLLs. */
#ifndef OPENPLA_CLI_LODCTR_QUERY_H
#define OPENPLA_CLI_LODCTR_QUERY_H

#include "engine/pdh/extension_registration.h"

/* In the form of Windows' lodctr; as JSON an object. */
void lodctr_query_text(const struct registered_extensions *list);
void lodctr_query_json(const struct registered_extensions *list);

#endif
