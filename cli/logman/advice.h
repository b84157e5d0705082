/* SPDX-License-Identifier: MIT */
/* What to do about the mistakes that people make with logman again and again. */
#ifndef OPENPLA_CLI_LOGMAN_ADVICE_H
#define OPENPLA_CLI_LOGMAN_ADVICE_H

#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* What helps where the line ended with the code; NULL: nothing that is known. */
const char *logman_advice(const struct logman_line *line, HRESULT hr);
/* Adds what the set will not do as whoever wrote the line expects. E_OUTOFMEMORY. */
HRESULT logman_warn(const struct logman_line *line, struct object *set, struct object *collector,
                    struct texts *remarks);

#endif
