/* SPDX-License-Identifier: MIT */
/* The objects of this computer, as a query sees them: our own, and once they are asked for those of extension DLLs and
   of Perflib V2 providers. */
#include "engine/os/memory.h"
#include "engine/pdh/catalogue.h"
#include "engine/pdh/counterset_object.h"
#include "engine/pdh/extension_object.h"
#include "engine/pdh/extension_system.h"

/* For the start of an extension's process and its first data, once per query. */
#define START_MS 5000

struct real_time {
    struct catalogue catalogue; /* first */
    bool looked;                /* for extensions */
    struct extension **extensions;
    size_t count;
    struct extension_names_table names;
    struct countersets *countersets;
};

static void close_real_time(struct catalogue *c)
{
    struct real_time *r = (struct real_time *)c;
    for (size_t i = 0; i < r->count; i++)
        extension_close(r->extensions[i]);
    countersets_close(r->countersets);
    extension_names_free(&r->names);
    memory_free(r->extensions);
    memory_free(r);
}

static HRESULT find_extensions(struct real_time *r)
{
    struct texts services = {0}, names = {0};
    HRESULT hr = extension_services(&services);
    if (SUCCEEDED(hr) && services.count) {
        r->extensions = memory_zero(services.count, sizeof *r->extensions);
        hr = r->extensions ? extension_names(&services, &names) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = extension_names_read(&r->names, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < services.count; i++) {
        hr = extension_open(services.items[i], &r->extensions[i]);
        r->count += SUCCEEDED(hr);
    }
    texts_free(&services);
    texts_free(&names);
    return hr;
}

/* All are asked before the first answer is waited for. */
static PDH_STATUS refresh(struct catalogue *c)
{
    struct real_time *r = (struct real_time *)c;
    HRESULT hr = r->looked ? S_OK : find_extensions(r);
    r->looked = true;
    for (size_t i = 0; SUCCEEDED(hr) && i < r->count; i++)
        extension_ask(r->extensions[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < r->count; i++)
        hr = extension_add_objects(r->extensions[i], &r->names, c, START_MS);
    if (SUCCEEDED(hr) && !r->countersets)
        hr = countersets_open(&r->countersets);
    if (SUCCEEDED(hr))
        hr = countersets_add_objects(r->countersets, c);
    return pdh_status_of(hr, PDH_CSTATUS_NO_OBJECT);
}

/* The extensions work on their answers while our own objects are sampled. */
static void begin(struct catalogue *c)
{
    struct real_time *r = (struct real_time *)c;
    for (size_t i = 0; i < r->count; i++)
        extension_ask_if_used(r->extensions[i]);
    if (r->countersets)
        countersets_begin(r->countersets);
}

static const struct catalogue_functions functions = {.refresh = refresh, .begin = begin, .close = close_real_time};

PDH_STATUS catalogue_open_real_time(struct catalogue **out)
{
    struct real_time *r = memory_zero(1, sizeof *r);
    bool ok = r != NULL;
    *out = NULL;
    if (ok)
        r->catalogue.functions = &functions;
    for (size_t i = 0; ok && i < pdh_provider_count; i++)
        ok = catalogue_add(&r->catalogue, pdh_providers[i]);
    if (!ok) {
        catalogue_close(r ? &r->catalogue : NULL);
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    *out = &r->catalogue;
    return ERROR_SUCCESS;
}
