/* SPDX-License-Identifier: MIT */
/* Names by which processes find what is theirs: random keys, and programs beside our module. */
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"

#include <stdio.h>
#include <string.h>

HRESULT shared_new_key(char key[SHARED_KEY_DIGITS + 1])
{
    GUID random;
    unsigned char bytes[sizeof random];
    HRESULT hr = host_new_guid(&random);
    if (FAILED(hr))
        return hr;
    memcpy(bytes, &random, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    return S_OK;
}

/* Our DLLs for 32-bit programs are in a folder below that of the programs, which have 64 bits. */
static char *program_folder(void)
{
    char *own = host_module_folder();
    if (sizeof(void *) == 8 || !own)
        return own;
    char *above = path_folder(own);
    memory_free(own);
    return above;
}

char *program_beside_module(const char *name)
{
    char *folder = program_folder(), *plain = folder ? path_join(folder, name) : NULL;
    char *windows = plain ? text_format("%s.exe", plain) : NULL;
    memory_free(folder);
    if (windows && file_exists(windows)) {
        memory_free(plain);
        return windows;
    }
    memory_free(windows);
    return plain;
}
