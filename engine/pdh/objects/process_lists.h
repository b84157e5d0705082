/* SPDX-License-Identifier: MIT */
/* The kinds of process lists; process_list.c chooses. */
#ifndef OPENPLA_PDH_PROCESS_LISTS_H
#define OPENPLA_PDH_PROCESS_LISTS_H

#include "engine/pdh/objects/process_list.h"

struct process_lister {
    HRESULT (*open)(const char *root, void **list);
    HRESULT (*read)(void *list, uint32_t figures, const struct process_entry **entries, size_t *count);
    void (*close)(void *list);
};
/* The host's, and (not natively) the Windows processes. */
extern const struct process_lister process_lister_host, process_lister_windows;

#endif
