/* SPDX-License-Identifier: MIT */
/* Implements bcrypt with crypt(3). The library with crypt(3) is loaded if the -web file contains passwords. */
#include "cli/http/security.h"
#include "engine/base/memory.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libcrypt.so.1"

enum { CRYPT_DATA_BYTES = 32768 }; /* at least sizeof (struct crypt_data) */

static char *(*crypt_rn)(const char *phrase, const char *setting, void *data, int size);

HRESULT password_library_load(void)
{
#ifdef OPENPLA_STATIC
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "this program is linked statically and cannot load crypt(3) (use the package openpla-tools)");
#endif
    void *module = crypt_rn ? NULL : dlopen(LIBRARY, RTLD_NOW);
    if (module)
        crypt_rn = (char *(*)(const char *, const char *, void *, int))dlsym(module, "crypt_rn");
    if (crypt_rn)
        return S_OK;
    return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND),
                     "basic authentication requires crypt(3): cannot use '%s' (install the package libcrypt1)",
                     LIBRARY);
}

bool password_hash(const char *password, const char *other, char out[PASSWORD_HASH_BYTES])
{
    char *data = memory_zero(1, CRYPT_DATA_BYTES);
    const char *computed = data ? crypt_rn(password, other, data, CRYPT_DATA_BYTES) : NULL;
    const bool is_hash = computed && strlen(computed) == PASSWORD_HASH_BYTES - 1;
    if (is_hash)
        memcpy(out, computed, PASSWORD_HASH_BYTES);
    if (data)
        memory_wipe(data, CRYPT_DATA_BYTES);
    memory_free(data);
    return is_hash;
}
