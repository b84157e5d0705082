/* SPDX-License-Identifier: MIT */
/* Implements bcrypt with libxcrypt's code, for programs that cannot load a crypt library. */
#include "cli/http/bundled/crypt-port.h"
#include "cli/http/security.h"
#include "engine/base/memory.h"

#include <string.h>

HRESULT password_library_load(void)
{
    return S_OK;
}

bool password_hash(const char *password, const char *other, char out[PASSWORD_HASH_BYTES])
{
    void *work = memory_zero(1, ALG_SPECIFIC_SIZE);
    if (!work)
        return false;
    memset(out, 0, PASSWORD_HASH_BYTES);
    bundled_bcrypt(password, strlen(password), other, strlen(other), (uint8_t *)out, PASSWORD_HASH_BYTES, work,
                   ALG_SPECIFIC_SIZE);
    memory_wipe(work, ALG_SPECIFIC_SIZE);
    memory_free(work);
    return strlen(out) == PASSWORD_HASH_BYTES - 1;
}
