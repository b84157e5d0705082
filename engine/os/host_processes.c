/* SPDX-License-Identifier: MIT */
#include "engine/os/environment.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/registry.h"

char *environment_setting(const char *variable, const char *name)
{
    char *said = NULL;
    struct registry_key *key = NULL;
    if (environment_get(variable, &said) == S_FALSE && registry_open("Software\\OpenPLA", false, &key) == S_OK)
        (void)registry_read_text(key, name, &said);
    registry_close(key);
    return said;
}

bool host_processes_wanted(void)
{
    char *said = environment_setting("OPENPLA_PROCESSES", "Processes");
    const bool wanted = said && text_equal_nocase(said, "host");
    memory_free(said);
    return wanted;
}
