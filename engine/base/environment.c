/* SPDX-License-Identifier: MIT */
/* %name% in texts: by one rule on every host, where the systems' own differ in what they do with a lone '%'. */
#include "engine/base/environment.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"

#include <string.h>

char *host_expand_environment(const char *t)
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
            /* The second sign may begin a name that is known. */
            text_buffer_add_n(&b, percent, (size_t)(end - percent));
            t = end;
        }
        memory_free(value);
    }
    return text_buffer_take(&b);
}
