/* SPDX-License-Identifier: MIT */
/* The search for the Linux processes behind Wine's: a process of the same name (Wine gives it the name of its .exe, as
   the kernel cuts it) that started within a second or two. Programs of another prefix may be there under the same name,
   started at almost the same moment: then the size of the address space, which Wine tells exactly, must decide. */
#include "engine/pdh/objects/process_match.h"

#include "engine/base/memory.h"
#include "engine/pdh/objects/process_lists.h"

#include <string.h>

#define SECOND      10000000
#define KERNEL_NAME 15 /* bytes that the kernel keeps of a name */
/* Wine's processes begin as processes of the kernel shortly before Wine enters them; the kernel counts in 10 ms. */
#define TOLERANCE   (2 * SECOND)
#define CLEARLY     (SECOND / 20)

struct process_match {
    void *list; /* the host's */
};

void process_match_close(struct process_match *match)
{
    if (match) {
        process_lister_host.close(match->list);
        memory_free(match);
    }
}

/* Is `kernel` the name that the kernel has of "`name`.exe"? */
static bool same_name(const char *name, const char *kernel)
{
    size_t length = strlen(name), all = length + 4;
    char whole[KERNEL_NAME + 1] = {0};
    memcpy(whole, name, length < KERNEL_NAME ? length : KERNEL_NAME);
    for (size_t i = length; i < all && i < KERNEL_NAME; i++)
        whole[i] = ".exe"[i - length];
    return text_equal_nocase(whole, kernel);
}

static int64_t distance(const struct process_entry *a, const struct process_entry *b)
{
    return a->start > b->start ? a->start - b->start : b->start - a->start;
}

/* The one among the host's processes that is `e`, NULL when none or more than one may be. */
static const struct process_entry *find(const struct process_entry *e, const struct process_entry *host, size_t count)
{
    const struct process_entry *nearest = NULL, *same_size = NULL;
    int64_t second = INT64_MAX;
    unsigned sizes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!same_name(e->name, host[i].name) || distance(e, &host[i]) > TOLERANCE)
            continue;
        if (!nearest || distance(e, &host[i]) < distance(e, nearest)) {
            second = nearest ? distance(e, nearest) : second;
            nearest = &host[i];
        } else if (distance(e, &host[i]) < second) {
            second = distance(e, &host[i]);
        }
        if (host[i].virtual_size == e->virtual_size) {
            same_size = &host[i];
            sizes++;
        }
    }
    if (!nearest || second == INT64_MAX || second - distance(e, nearest) > CLEARLY)
        return nearest;
    return sizes == 1 ? same_size : NULL;
}

HRESULT process_match_find(struct process_match **match, const char *root, const struct process_entry *entries,
                           size_t count, struct process_files *files)
{
    const struct process_entry *host = NULL;
    size_t host_count = 0;
    bool all = true;
    HRESULT hr = S_OK;
    if (!*match) {
        struct process_match *m = memory_zero(1, sizeof *m);
        hr = m ? process_lister_host.open(root, &m->list) : E_OUTOFMEMORY;
        if (FAILED(hr)) {
            memory_free(m);
            return hr;
        }
        *match = m;
    }
    hr = process_lister_host.read((*match)->list, PROCESS_USE, &host, &host_count);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        if (files[i].id)
            continue;
        const struct process_entry *found = find(&entries[i], host, host_count);
        files[i].id = found ? found->id : 0;
        all &= found != NULL;
    }
    return FAILED(hr) || all ? hr : S_FALSE;
}
