/* SPDX-License-Identifier: MIT */
/* What is in the kernel's folders, and a file's whole text. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"

#include <string.h>

static HRESULT add_name(void *list, const char *name)
{
    return *name == '.' ? S_OK : texts_add(list, name);
}

HRESULT kernel_folder_names(const char *path, struct texts *names)
{
    return kernel_folder_each(path, add_name, names);
}

HRESULT kernel_file_text(const char *path, char **text, size_t *size)
{
    struct kernel_file *f;
    const char *read;
    size_t length = 0;
    *text = NULL;
    HRESULT hr = kernel_file_open(path, &f);
    if (SUCCEEDED(hr) && SUCCEEDED(hr = kernel_file_read(f, &read, &length)) &&
        (*text = memory_alloc(length + 1)) != NULL)
        memcpy(*text, read, length + 1);
    else if (SUCCEEDED(hr))
        hr = E_OUTOFMEMORY;
    if (size)
        *size = *text ? length : 0;
    kernel_file_close(f);
    return hr;
}

struct id_list {
    void *ids;
    size_t count, capacity;
};

static HRESULT add_id(void *user, const char *name)
{
    struct id_list *list = user;
    uint32_t id = 0;
    const char *c = name;
    while (*c >= '0' && *c <= '9')
        id = id * 10 + (uint32_t)(*c++ - '0');
    if (*c || c == name)
        return S_OK;
    if (!memory_grow(&list->ids, &list->capacity, list->count + 1, sizeof(uint32_t)))
        return E_OUTOFMEMORY;
    ((uint32_t *)list->ids)[list->count++] = id;
    return S_OK;
}

HRESULT kernel_folder_numbers(const char *path, uint32_t **ids, size_t *count)
{
    struct id_list list = {0};
    HRESULT hr = kernel_folder_each(path, add_id, &list);
    if (FAILED(hr)) {
        memory_free(list.ids);
        list = (struct id_list){0};
    }
    *ids = list.ids;
    *count = list.count;
    return hr;
}

HRESULT kernel_process_ids(uint32_t **ids, size_t *count)
{
    return kernel_folder_numbers("/proc", ids, count);
}
