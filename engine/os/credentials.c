/* SPDX-License-Identifier: MIT */
/* Names of accounts, and which logon is used. */
#include "engine/os/credentials.h"

#include "engine/os/credentials_host.h"
#include "engine/os/memory.h"

#include <string.h>

static const struct logon *logon_instead;

const struct logon *host_logon(void)
{
    return logon_instead ? logon_instead : logon_of_host();
}

void host_logon_use(const struct logon *instead)
{
    logon_instead = instead;
}

bool account_is_service(const char *account, bool *is_system)
{
    static const struct {
        const char *name;
        bool is_system;
    } names[] = {
        {"SYSTEM", true},
        {"LocalSystem", true},
        {"NT AUTHORITY\\SYSTEM", true},
        {"NT AUTHORITY\\LocalSystem", true},
        {"LocalService", false},
        {"LOCAL SERVICE", false},
        {"NT AUTHORITY\\LocalService", false},
        {"NT AUTHORITY\\LOCAL SERVICE", false},
        {"NetworkService", false},
        {"NETWORK SERVICE", false},
        {"NT AUTHORITY\\NetworkService", false},
        {"NT AUTHORITY\\NETWORK SERVICE", false},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!text_equal_nocase(names[i].name, account))
            continue;
        *is_system = names[i].is_system;
        return true;
    }
    *is_system = false;
    return false;
}

const char *account_name_fault(const char *account)
{
    const char *mark = strchr(account, '\\');
    if (!*account)
        return "it is empty";
    if (text_utf16_length(account) > 511) /* 255 of a domain, 255 of a user (Windows' bounds are smaller) */
        return "it is longer than any account's";
    if (!account[strspn(account, " .")])
        return "it is blanks and dots alone";
    for (const char *c = account; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F || strchr("\"/[]:;|=,+*?<>", *c))
            return "it holds a character that no account's name has";
    if (mark && (mark == account || !mark[1] || strchr(mark + 1, '\\')))
        return "it is not of the form domain\\user";
    return NULL;
}

bool secret_key_is_one(const char *key)
{
    return strspn(key, "0123456789abcdef") == SHARED_KEY_DIGITS && !key[SHARED_KEY_DIGITS];
}

HRESULT secret_is_too_long(const char *text)
{
    return text_utf16_length(text) > SECRET_MOST
               ? error_set(E_INVALIDARG, "the passwords of the set are longer than %u characters together",
                           (unsigned)SECRET_MOST)
               : S_OK;
}

char *secret_folder(void)
{
    char *data = host_data_folder(), *folder = data ? path_join(data, "secrets") : NULL;
    memory_free(data);
    return folder;
}

char *secret_path(const char *key)
{
    char *folder = secret_folder(), *path = folder ? path_join(folder, key) : NULL;
    memory_free(folder);
    return path;
}

HRESULT secret_list(struct texts *out)
{
    struct texts names = {0};
    char *folder = secret_folder();
    *out = (struct texts){0};
    HRESULT hr = folder ? folder_list(folder, false, &names) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
        if (secret_key_is_one(names.items[i]))
            hr = texts_add(out, names.items[i]);
    memory_free(folder);
    texts_free(&names);
    if (hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
        return S_OK;
    if (FAILED(hr))
        texts_free(out);
    return hr;
}
