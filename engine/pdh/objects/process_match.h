/* SPDX-License-Identifier: MIT */
/* Which Linux process is a Windows process of Wine? Wine does not say. */
#ifndef OPENPLA_PDH_PROCESS_MATCH_H
#define OPENPLA_PDH_PROCESS_MATCH_H

#include "engine/pdh/objects/process_files.h"

struct process_match;
/* Sets those files[i].id that are 0 to the Linux process behind entries[i], by name, start time and address space;
   where two come into question it stays 0. S_FALSE: not all were found. *match is NULL at first. */
HRESULT process_match_find(struct process_match **match, const char *root, const struct process_entry *entries,
                           size_t count, struct process_files *files);
void process_match_close(struct process_match *match); /* NULL is allowed */

#endif
