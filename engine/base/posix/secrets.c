/* SPDX-License-Identifier: MIT */
/* Secrets in the native build, which has only one account: files that only their owner can open, in a folder with the
   same protection. */
#include "engine/base/base_private.h"
#include "engine/base/memory.h"

#include <string.h>

#define FILE_MOST (SECRET_MOST * 3) /* bytes of UTF-8 */

const struct logon *logon_of_os(void)
{
    return NULL;
}

HRESULT secret_store(const char *key, const char *text)
{
    HRESULT hr = secret_key_is_one(key) ? secret_is_too_long(text) : E_INVALIDARG;
    return SUCCEEDED(hr) ? secret_file_write(key, text, strlen(text)) : hr;
}

HRESULT secret_load(const char *key, char **text)
{
    size_t size;
    *text = NULL;
    if (!secret_key_is_one(key))
        return S_FALSE;
    HRESULT hr = secret_file_read(key, FILE_MOST, text, &size);
    if (hr != S_OK || (strlen(*text) == size && text_is_utf8(*text, size)))
        return hr;
    memory_free_secret(*text);
    *text = NULL;
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot read a set's passwords: the file is corrupt");
}

HRESULT secret_delete(const char *key)
{
    return secret_key_is_one(key) ? secret_file_delete(key) : S_FALSE;
}
