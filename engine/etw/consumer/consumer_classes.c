/* SPDX-License-Identifier: MIT */
/* Callbacks for single classes of events (SetTraceCallback), of the whole process. */
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/consumer/consumer_table.h"

#include <stdatomic.h>

static struct host_lock lock = HOST_LOCK_INIT;
static struct class
{
    GUID guid;
    PEVENT_CALLBACK callback;
} * classes;
static size_t capacity;
static _Atomic size_t count; /* changed under the lock; without any no event pays for it */

/* `count` when it is none. */
static size_t find(const GUID *guid)
{
    size_t i = 0;
    while (i < count && !guid_equal(&classes[i].guid, guid))
        i++;
    return i;
}

ULONG consumer_set_class(const GUID *class, PEVENT_CALLBACK callback)
{
    if (!class || !callback)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "the GUID of a class or its callback: is missing");
    host_lock_enter(&lock);
    const size_t at = find(class);
    void *grown = classes;
    const bool ok = memory_grow(&grown, &capacity, at + 1, sizeof *classes);
    classes = grown;
    if (ok) {
        classes[at] = (struct class){*class, callback};
        count += at == count;
    }
    host_lock_leave(&lock);
    return ok ? ERROR_SUCCESS : consumer_code(error_set(E_OUTOFMEMORY, "out of memory for a class's callback"));
}

ULONG consumer_remove_class(const GUID *class)
{
    if (!class)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "the GUID of a class or its callback: is missing");
    host_lock_enter(&lock);
    const size_t at = find(class);
    const bool there = at < count;
    if (there)
        classes[at] = classes[--count];
    if (count == 0) {
        memory_free(classes);
        classes = NULL;
        capacity = 0;
    }
    host_lock_leave(&lock);
    return there ? ERROR_SUCCESS : consumer_refuse(ERROR_WMI_GUID_NOT_FOUND, "this class of events has no callback");
}

PEVENT_CALLBACK consumer_class_callback(const GUID *class)
{
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0)
        return NULL;
    host_lock_enter(&lock);
    const size_t at = find(class);
    PEVENT_CALLBACK callback = at < count ? classes[at].callback : NULL;
    host_lock_leave(&lock);
    return callback;
}
