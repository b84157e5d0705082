/* SPDX-License-Identifier: MIT */
/* Whether any set runs: what the server asks before it ends. */
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "engine/pla/definition.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"

#include <stdio.h>

static bool is_running(const char *space, const char *name)
{
    struct run_state state;
    return name && SUCCEEDED(run_query(space, name, &state)) && state.status != RUN_STOPPED;
}

/* Called for each set that runs; true: enough. */
typedef bool (*each_running)(const char *space, const char *name);

static bool see(const char *space, const char *name, each_running each)
{
    return is_running(space, name) && each(space, name);
}

/* Of thousands of stored sets only those are asked for that have ever run. */
static HRESULT see_stored(const char *space, each_running each, bool *enough)
{
    struct stored_stamps stamps;
    HRESULT hr = store_list_stamps(space, &stamps);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < stamps.count && !*enough; i++) {
        char *name = NULL;
        *enough = stamps.items[i].has_run && SUCCEEDED(store_name_in(space, &stamps.items[i], &name)) &&
                  see(space, name, each);
        memory_free(name);
    }
    stored_stamps_free(&stamps);
    return S_OK;
}

static HRESULT see_shipped(const char *space, each_running each, bool *enough)
{
    struct texts names = {0};
    HRESULT hr = definition_list(&caller_self, space, &names);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < names.count && !*enough; i++)
        *enough = see(space, names.items[i], each);
    texts_free(&names);
    return S_OK;
}

/* S_FALSE: it was told enough. Fails with the last namespace that could not be read, when all were seen. */
static HRESULT see_running(each_running each)
{
    bool enough = false;
    HRESULT failed = S_OK;
    for (const char *const *space = store_namespaces(); *space && !enough; space++) {
        const struct category *c = category_of(*space);
        if (!c->runs)
            continue;
        HRESULT hr =
            c->source == DEFINITION_STORED ? see_stored(*space, each, &enough) : see_shipped(*space, each, &enough);
        if (FAILED(hr))
            failed = hr;
    }
    return enough ? S_FALSE : failed;
}

static bool enough_at_once(const char *space, const char *name)
{
    (void)space, (void)name;
    return true;
}

bool server_set_is_running(void)
{
    return see_running(enough_at_once) == S_FALSE;
}

static bool tell(const char *space, const char *name)
{
    printf("%s\\%s runs\n", space, name);
    return false;
}

static bool stop(const char *space, const char *name)
{
    HRESULT hr = run_stop(space, name, true);
    if (FAILED(hr) && hr != PLA_E_DCS_NOT_RUNNING)
        printf("%s\\%s: 0x%08lX %s\n", space, name, (unsigned long)hr, error_text(hr));
    else
        printf("%s\\%s has been stopped\n", space, name);
    return false;
}

bool server_tell_sets(bool stop_them)
{
    HRESULT hr = see_running(stop_them ? stop : tell);
    if (SUCCEEDED(hr))
        hr = see_running(enough_at_once);
    if (FAILED(hr))
        fprintf(stderr, "openplasrv: which sets run cannot be told: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
    return hr != S_OK;
}
