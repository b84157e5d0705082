/* SPDX-License-Identifier: MIT */
/* Whether any set runs: what the server asks before it ends. */
#include "com/server.h"
#include "engine/os/memory.h"
#include "engine/run/category.h"
#include "engine/run/definition.h"
#include "engine/run/run.h"
#include "engine/store/store.h"

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
static bool see_stored(const char *space, each_running each)
{
    struct stored_stamps stamps;
    bool enough = false;
    if (FAILED(store_list_stamps(space, &stamps)))
        return false;
    for (size_t i = 0; i < stamps.count && !enough; i++) {
        char *name = NULL;
        enough = stamps.items[i].has_run && SUCCEEDED(store_name_in(space, &stamps.items[i], &name)) &&
                 see(space, name, each);
        memory_free(name);
    }
    stored_stamps_free(&stamps);
    return enough;
}

static bool see_shipped(const char *space, each_running each)
{
    struct texts names = {0};
    bool enough = false;
    if (FAILED(definition_list(&caller_self, space, &names)))
        return false;
    for (size_t i = 0; i < names.count && !enough; i++)
        enough = see(space, names.items[i], each);
    texts_free(&names);
    return enough;
}

static bool see_running(each_running each)
{
    bool enough = false;
    for (const char *const *space = store_namespaces(); *space && !enough; space++) {
        const struct category *c = category_of(*space);
        enough = c->runs && (c->source == DEFINITION_STORED ? see_stored(*space, each) : see_shipped(*space, each));
    }
    return enough;
}

static bool enough_at_once(const char *space, const char *name)
{
    (void)space, (void)name;
    return true;
}

bool server_set_is_running(void)
{
    return see_running(enough_at_once);
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
    see_running(stop_them ? stop : tell);
    return server_set_is_running();
}
