/* SPDX-License-Identifier: MIT */
/* Whether any set runs: what the server asks before it ends. */
#include "com/server.h"
#include "engine/os/memory.h"
#include "engine/run/category.h"
#include "engine/run/definition.h"
#include "engine/run/run.h"
#include "engine/store/store.h"

static bool is_running(const char *space, const char *name)
{
    struct run_state state;
    return name && SUCCEEDED(run_query(space, name, &state)) && state.status != RUN_STOPPED;
}

/* Of thousands of stored sets only those are asked for that have ever run. */
static bool stored_is_running(const char *space)
{
    struct stored_stamps stamps;
    bool running = false;
    if (FAILED(store_list_stamps(space, &stamps)))
        return false;
    for (size_t i = 0; i < stamps.count && !running; i++) {
        char *name = NULL;
        running = stamps.items[i].has_run && SUCCEEDED(store_name_in(space, &stamps.items[i], &name)) &&
                  is_running(space, name);
        memory_free(name);
    }
    stored_stamps_free(&stamps);
    return running;
}

static bool shipped_is_running(const char *space)
{
    struct texts names = {0};
    bool running = false;
    if (FAILED(definition_list(&caller_self, space, &names)))
        return false;
    for (size_t i = 0; i < names.count && !running; i++)
        running = is_running(space, names.items[i]);
    texts_free(&names);
    return running;
}

bool server_set_is_running(void)
{
    bool running = false;
    for (const char *const *space = store_namespaces(); *space && !running; space++) {
        const struct category *c = category_of(*space);
        running = c->runs && (c->source == DEFINITION_STORED ? stored_is_running(*space) : shipped_is_running(*space));
    }
    return running;
}
