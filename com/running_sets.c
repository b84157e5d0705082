/* SPDX-License-Identifier: MIT */
/* Whether any set runs: what the server asks before it ends. */
#include "com/server.h"
#include "engine/run/definition.h"
#include "engine/run/run.h"
#include "engine/store/store.h"

bool server_set_is_running(void)
{
    bool running = false;
    for (const char *const *space = store_namespaces(); *space && !running; space++) {
        struct texts names = {0};
        struct run_state state;
        if (FAILED(definition_list(&caller_self, *space, &names)))
            continue;
        for (size_t i = 0; i < names.count && !running; i++)
            running = SUCCEEDED(run_query(*space, names.items[i], &state)) && state.status != RUN_STOPPED;
        texts_free(&names);
    }
    return running;
}
