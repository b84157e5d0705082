/* SPDX-License-Identifier: MIT */
/* Files that are mapped and that another program may shorten. The host ends a program that touches a page behind the
   end of its file, so whoever shortens such a file (a script that tidies up /dev/shm, a full disk that is cleaned by
   hand) would end every program that traces. Instead the fault gives the file its size again, the page reads as zeros,
   and the program goes on at the same instruction; that the content is gone is found by whoever checks it.

   The list is read inside of handlers of faults, at any instruction of any thread: its entries are never freed, only
   used again, and no lock is taken to read it. */
#ifndef OPENPLA_MAPPED_FILE_H
#define OPENPLA_MAPPED_FILE_H

#include "engine/base/host.h"

#include <stdatomic.h>

struct mapped_file {
    _Atomic uintptr_t from;  /* 0: not in use */
    _Atomic uintptr_t size;  /* bytes, of the mapping and of the file */
    _Atomic intptr_t file;   /* the host's handle, open for writing */
    _Atomic uint32_t futile; /* faults since the last one after which the file was too short */
    struct mapped_file *next;
};

/* From now on the mapping of `size` bytes at `from` survives that `file` is shortened. Both stay as they are until
   mapped_file_remove. E_OUTOFMEMORY, or the system's reason. */
HRESULT mapped_file_add(void *from, size_t size, intptr_t file, struct mapped_file **out);
void mapped_file_remove(struct mapped_file *m); /* NULL is allowed */
/* In a handler: the mapping that the address lies in; NULL: none of ours. */
struct mapped_file *mapped_file_at(uintptr_t address);

/* By the host: has faults of this process come to mapped_file_at. To be called more than once. */
HRESULT mapped_file_watch(void);

#endif
