/* SPDX-License-Identifier: MIT */
/* openpla run -apis: a trace of the calls of the started program. */
#ifndef OPENPLA_RUN_APIS_H
#define OPENPLA_RUN_APIS_H

#include "engine/base/text.h"

/* The command line's options; lists are separated by commas. */
struct run_apis_options {
    const char *log; /* NULL: calls are not traced */
    const char *modules, *include, *exclude;
    bool names_only, recursive;
};
struct run_apis;
/* Claims the program, a full path, and starts the session that writes the log, which must not exist. */
HRESULT run_apis_begin(const struct run_apis_options *options, const char *program, struct run_apis **out);
/* Stops the session and frees it; NULL is allowed. *lost: the number of events missing in the log. */
HRESULT run_apis_end(struct run_apis *a, uint32_t *lost);

#endif
