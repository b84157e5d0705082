/* SPDX-License-Identifier: MIT */
/* The library's handles and results, and the checks of its arguments.

   A handle is a number, not an address. The number consists of the object's slot in a table and a generation. The
   generation is different for every handle. A call with a closed handle therefore finds another generation or an empty
   slot, and a concurrent call with the same handle finds the slot in use. The table's lock is held only for the
   lookup. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/logs/sql_log.h"
#include "library/logs/library.h"

#include <string.h>

enum { SLOT_BITS = 16, MOST_HANDLES = (1 << SLOT_BITS) - 1 };
#define RESULT_INVALID_HANDLE ((HRESULT)0x80070006)
#define RESULT_BUSY           ((HRESULT)0x800700AA)

struct handle_slot {
    void *object; /* NULL: a free slot */
    uintptr_t generation;
    enum handle_kind kind;
    bool in_use;
};

static struct {
    struct lock lock;
    struct handle_slot *slots;
    size_t count, capacity;
    uintptr_t generation; /* generation of the newest handle */
} handles = {.lock = LOCK_INIT};

static const char *const kind_names[] = {[HANDLE_LOG] = "log", [HANDLE_WRITER] = "writer", [HANDLE_TRACE] = "trace"};

/* Returns the slot of a handle, or NULL if the handle is not valid. The caller holds the lock. */
static struct handle_slot *find_slot(const void *handle)
{
    const uintptr_t number = (uintptr_t)handle;
    const size_t place = (size_t)(number & MOST_HANDLES);
    if (place == 0 || place > handles.count)
        return NULL;
    struct handle_slot *slot = &handles.slots[place - 1];
    return slot->object && slot->generation == number >> SLOT_BITS ? slot : NULL;
}

HRESULT handle_open(enum handle_kind kind, void *object, void **out)
{
    size_t place = 0;
    HRESULT hr = S_OK;
    lock_enter(&handles.lock);
    while (place < handles.count && handles.slots[place].object)
        place++;
    if (place == handles.count) {
        void *slots = handles.slots;
        if (place >= MOST_HANDLES)
            hr = error_set(E_OUTOFMEMORY, "too many handles: %d are open (close some)", (int)place);
        else if (!memory_grow(&slots, &handles.capacity, place + 1, sizeof *handles.slots))
            hr = error_set(E_OUTOFMEMORY, "out of memory for the handle of a %s", kind_names[kind]);
        else
            handles.slots = slots;
        handles.count += SUCCEEDED(hr);
    }
    if (SUCCEEDED(hr)) {
        handles.generation = (handles.generation + 1) & (UINTPTR_MAX >> SLOT_BITS);
        handles.slots[place] = (struct handle_slot){.object = object, .generation = handles.generation, .kind = kind};
        /* *out is a number; nobody dereferences the pointer */
        *out = (void *)(handles.generation << SLOT_BITS | (place + 1));
    }
    lock_leave(&handles.lock);
    return hr;
}

HRESULT handle_enter(enum handle_kind kind, const void *handle, const char *function, void **object)
{
    HRESULT hr = S_OK;
    lock_enter(&handles.lock);
    struct handle_slot *slot = find_slot(handle);
    if (!slot || slot->kind != kind) {
        hr = RESULT_INVALID_HANDLE;
    } else if (slot->in_use) {
        hr = RESULT_BUSY;
    } else {
        slot->in_use = true;
        *object = slot->object;
    }
    lock_leave(&handles.lock);
    if (hr == RESULT_INVALID_HANDLE)
        return error_set(hr, "%s: '%s': %s", function, kind_names[kind],
                         handle ? "the handle is closed or has a different type" : "the handle is NULL");
    if (hr == RESULT_BUSY)
        return error_set(hr, "%s: '%s': another thread uses the handle (wait for it, or open another one)", function,
                         kind_names[kind]);
    return hr;
}

void handle_leave(const void *handle)
{
    lock_enter(&handles.lock);
    find_slot(handle)->in_use = false;
    lock_leave(&handles.lock);
}

void handle_close(const void *handle)
{
    lock_enter(&handles.lock);
    *find_slot(handle) = (struct handle_slot){0};
    lock_leave(&handles.lock);
}

/* ---- results ---- */

static _Thread_local struct error_kept last_error;

openpla_result library_result(HRESULT hr)
{
    if (FAILED(hr))
        last_error = error_keep(hr);
    return hr;
}

const char *openpla_error(void)
{
    return last_error.text;
}

const char *openpla_logs_version(void)
{
    return OPENPLA_VERSION;
}

HRESULT library_name_error(HRESULT hr, const char *verb, const char *name)
{
    if (SUCCEEDED(hr) || strstr(error_text(hr), name))
        return hr;
    return error_prefix(hr, "cannot %s '%s'", verb, name);
}

const char *library_short_name(const char *path)
{
    return sql_source_is(path) ? "SQL:..." : path;
}

HRESULT library_check_pointer(const void *pointer, const char *function, const char *argument)
{
    return pointer ? S_OK : error_set(E_INVALIDARG, "%s: '%s': is NULL", function, argument);
}

HRESULT library_check_text(const char *text, bool may_be_null, const char *function, const char *argument)
{
    if (!text)
        return may_be_null ? S_OK : library_check_pointer(text, function, argument);
    return text_is_utf8(text, strlen(text)) ? S_OK
                                            : error_set(E_INVALIDARG, "%s: '%s': is not UTF-8", function, argument);
}

HRESULT library_take_options(const void *options, void *own, size_t size, const char *function)
{
    size_t given;
    if (!options)
        return S_OK;
    memcpy(&given, options, sizeof given);
    if (given < sizeof given || given > 4096)
        return error_set(E_INVALIDARG, "%s: 'options': size is %zu (set it to the structure's size)", function, given);
    for (size_t i = size; i < given; i++)
        if (((const char *)options)[i] != 0)
            return error_set(E_INVALIDARG,
                             "%s: 'options': contains fields that library " OPENPLA_VERSION " does not know", function);
    memcpy(own, options, given < size ? given : size);
    return S_OK;
}

/* ---- times ---- */

#define UNIX_EPOCH INT64_C(116444736000000000)

int64_t openpla_time_to_unix_ns(int64_t time)
{
    int64_t ticks, ns;
    if (__builtin_sub_overflow(time, UNIX_EPOCH, &ticks) || __builtin_mul_overflow(ticks, 100, &ns))
        return time < UNIX_EPOCH ? INT64_MIN : INT64_MAX;
    return ns;
}

int64_t openpla_time_from_unix_ns(int64_t ns)
{
    return ns / 100 - (ns % 100 < 0) + UNIX_EPOCH;
}
