/* SPDX-License-Identifier: MIT */
/* openpla run -apis: starts a program and traces its calls. */
#ifndef OPENPLA_RUN_APIS_H
#define OPENPLA_RUN_APIS_H

#include "engine/base/text.h"

/* The options of the command line. Lists are separated by commas. */
struct run_apis_options {
    const char *log; /* path of the log; NULL if calls are not traced */
    const char *modules, *include, *exclude;
    bool names_only, recursive;
};
struct run_apis;
/* Claims the program, whose full path is `program`, and starts the session that writes the log. The log must not
   exist. */
HRESULT run_apis_begin(const struct run_apis_options *options, const char *program, struct run_apis **out);
/* Stops the session and frees `a`; NULL is allowed. *lost is the number of events missing from the log. */
HRESULT run_apis_end(struct run_apis *a, uint32_t *lost);

#endif
