/* SPDX-License-Identifier: MIT */
/* Where all operations on files pass by. */
#include "engine/base/file_operation.h"

#include "engine/base/error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Whether any thread has ever had an observer; a thread's own variables are slow to come by with some compilers. */
static atomic_bool observed;
static _Thread_local file_observer *observer;
static _Thread_local void *observing;

void file_observe(file_observer *o, void *user)
{
    observer = o;
    observing = user;
    atomic_store_explicit(&observed, true, memory_order_relaxed);
}

HRESULT file_operation(enum file_operation operation, const char *path)
{
    if (!atomic_load_explicit(&observed, memory_order_relaxed) || !observer)
        return S_OK;
    HRESULT hr = observer(observing, operation, path);
    return FAILED(hr) ? error_set(hr, "\"%s\": %s", path, error_standard_text(hr)) : hr;
}
