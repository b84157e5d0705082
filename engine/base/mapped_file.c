/* SPDX-License-Identifier: MIT */
/* The list of mapped files that fault handlers search. */
#include "engine/base/guard.h"
#include "engine/base/memory.h"

static _Atomic(struct mapped_file *) first;
static struct lock adding = LOCK_INIT;

/* The caller must hold the lock. */
static struct mapped_file *find_free(void)
{
    for (struct mapped_file *m = atomic_load(&first); m; m = m->next)
        if (atomic_load(&m->from) == 0)
            return m;
    struct mapped_file *m = memory_zero(1, sizeof *m);
    if (!m)
        return NULL;
    m->next = atomic_load(&first);
    atomic_store(&first, m);
    return m;
}

HRESULT mapped_file_add(void *from, size_t size, intptr_t file, struct mapped_file **out)
{
    *out = NULL;
    HRESULT hr = mapped_file_watch();
    if (FAILED(hr))
        return hr;
    lock_enter(&adding);
    struct mapped_file *m = find_free();
    if (m) {
        atomic_store(&m->size, size);
        atomic_store(&m->file, file);
        atomic_store(&m->futile, 0);
        atomic_store(&m->from, (uintptr_t)from); /* written last */
    }
    lock_leave(&adding);
    *out = m;
    return m ? S_OK : E_OUTOFMEMORY;
}

void mapped_file_remove(struct mapped_file *m)
{
    if (m)
        atomic_store(&m->from, 0);
}

struct mapped_file *mapped_file_at(uintptr_t address)
{
    for (struct mapped_file *m = atomic_load(&first); m; m = m->next) {
        const uintptr_t from = atomic_load(&m->from);
        if (from != 0 && address >= from && address - from < atomic_load(&m->size))
            return m;
    }
    return NULL;
}
