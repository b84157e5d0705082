/* SPDX-License-Identifier: MIT */
#include "engine/os/environment.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/registry.h"

bool host_processes_wanted(void)
{
    char *said = NULL;
    struct registry_key *key = NULL;
    if (environment_get("OPENPLA_PROCESSES", &said) == S_FALSE &&
        registry_open("Software\\OpenPLA", false, &key) == S_OK)
        (void)registry_read_text(key, "Processes", &said);
    registry_close(key);
    const bool wanted = said && text_equal_nocase(said, "host");
    memory_free(said);
    return wanted;
}
