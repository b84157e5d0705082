/* SPDX-License-Identifier: MIT */
/* The child that keeps Wine up: wineserver ends services when the last program that is no service has ended, so a
   service with work to do keeps one such program, which does nothing and ends with it. */
#ifndef OPENPLA_IDLE_CHILD_H
#define OPENPLA_IDLE_CHILD_H

#include "engine/base/process.h"

#include <windows.h>

/* Starts openplasrv.exe with the arguments `option` and this process' id; *child, NULL on failure, is for
   idle_child_end. */
HRESULT server_child_start(const char *option, struct process **child);
/* The same with `/idle`. */
HRESULT idle_child_start(struct process **child);
void idle_child_end(struct process *child); /* NULL is allowed */
/* The child's main program: waits for the end of the process with the id in `parent`. Exit code. */
int idle_child_main(const WCHAR *parent);

#endif
