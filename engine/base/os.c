/* SPDX-License-Identifier: MIT */
/* Functions that are the same on every host OS: environment variables, settings, random keys and the programs in this
   module's folder. %name% in strings is also replaced here, because the host OSs treat a single '%' differently. */
#include "engine/base/os.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/registry.h"

#include <stdio.h>
#include <string.h>

char *os_expand_environment(const char *t)
{
    struct text_buffer b = {0};
    while (*t) {
        const char *percent = strchr(t, '%'), *end = percent ? strchr(percent + 1, '%') : NULL;
        char *name, *value = NULL;
        HRESULT hr;
        if (!end) {
            text_buffer_add(&b, t);
            break;
        }
        text_buffer_add_n(&b, t, (size_t)(percent - t));
        name = text_copy_n(percent + 1, (size_t)(end - percent - 1));
        hr = !name ? E_OUTOFMEMORY : *name ? environment_get(name, &value) : S_FALSE;
        memory_free(name);
        if (FAILED(hr))
            b.failed = true;
        if (value) {
            text_buffer_add(&b, value);
            t = end + 1;
        } else {
            /* The second percent sign can be the beginning of another name. */
            text_buffer_add_n(&b, percent, (size_t)(end - percent));
            t = end;
        }
        memory_free(value);
    }
    return text_buffer_take(&b);
}

static HRESULT read_value(struct registry_key *key, const char *name, char **out)
{
    struct registry_value v;
    uint64_t number;
    HRESULT hr = registry_read(key, name, &v);
    if (hr != S_OK)
        return hr;
    const bool is_text = v.type == REGISTRY_TEXT || v.type == REGISTRY_EXPAND_TEXT;
    registry_value_free(&v);
    if (is_text)
        return registry_read_text(key, name, out);
    hr = registry_read_number(key, name, &number);
    if (hr != S_OK)
        return hr;
    *out = text_format("%llu", (unsigned long long)number);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT environment_read_setting(const char *variable, const char *name, char **out)
{
    struct registry_key *key = NULL;
    HRESULT hr = environment_get(variable, out);
    if (hr == S_FALSE)
        hr = registry_open("Software\\OpenPLA", false, &key);
    if (hr == S_OK && key)
        hr = read_value(key, name, out);
    registry_close(key);
    return hr;
}

char *environment_setting(const char *variable, const char *name)
{
    char *said = NULL;
    (void)environment_read_setting(variable, name, &said);
    return said;
}

bool os_processes_wanted(void)
{
    char *said = environment_setting("OPENPLA_PROCESSES", "Processes");
    const bool wanted = said && text_equal_nocase(said, "host");
    memory_free(said);
    return wanted;
}

/* ---- random keys, and programs in this module's folder ---- */

HRESULT shared_new_key(char key[SHARED_KEY_DIGITS + 1])
{
    GUID random;
    unsigned char bytes[sizeof random];
    HRESULT hr = os_new_guid(&random);
    if (FAILED(hr))
        return hr;
    memcpy(bytes, &random, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    return S_OK;
}

/* Returns the folder of OpenPLA's programs, which are 64-bit. DLLs for 32-bit programs are in a folder below it. */
static char *program_folder(void)
{
    char *own = os_module_folder();
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
