/* SPDX-License-Identifier: MIT */
/* Finding and ending the process that hosts a set's run. */
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/pla/run.h"

#include <stdio.h>
#include <string.h>

char *run_host_program(void)
{
    static const char variable[] = "%OPENPLA_HOST%";
    char *program = host_expand_environment(variable);
    if (!program || strcmp(program, variable) != 0)
        return program;
    memory_free(program);
    return program_beside_module("openplahost");
}

/* Whether a process holds the run lock. Who tries has it for a moment if nobody does, which a host that starts waits
   for. What cannot be known counts as held. */
static HRESULT lock_is_held(const char *space, const char *name, bool *held)
{
    struct file_lock *lock = NULL;
    char *path = store_run_lock_path(space, name);
    if (!path)
        return E_OUTOFMEMORY;
    HRESULT hr = file_find(path) == S_FALSE ? S_FALSE : file_lock_take(path, 0, &lock);
    *held = FAILED(hr);
    file_lock_release(lock);
    memory_free(path);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT run_host_find(const char *space, const char *name, struct run_host *out)
{
    bool held = false;
    HRESULT hr = store_load_host(space, name, out);
    if (hr == S_OK && run_host_lives(out))
        hr = lock_is_held(space, name, &held);
    return SUCCEEDED(hr) && !held ? S_FALSE : hr;
}

bool run_host_lives(const struct run_host *host)
{
    return host->process_id && process_alive(host->process_id, host->process_start);
}

HRESULT run_host_end(const char *space, const char *name, const struct run_host *host)
{
    struct run_host now;
    char *program = NULL, *ours = NULL;
    HRESULT hr = run_host_find(space, name, &now);
    if (hr == S_OK && strcmp(now.key, host->key) != 0)
        hr = S_FALSE;
    if (hr == S_OK)
        hr = process_program(now.process_id, now.process_start, &program);
    if (hr == S_OK && !(ours = run_host_program()))
        hr = E_OUTOFMEMORY;
    if (hr == S_OK && !text_equal_nocase(path_name(program), path_name(ours)))
        hr = error_set(E_ACCESSDENIED,
                       "the set \"%s\\%s\": its process %u runs \"%s\", which is no host, and is not ended", space,
                       name, (unsigned)now.process_id, program);
    if (hr == S_OK)
        hr = process_terminate(now.process_id, now.process_start);
    memory_free(program);
    memory_free(ours);
    return hr;
}
