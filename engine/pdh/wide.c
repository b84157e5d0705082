/* SPDX-License-Identifier: MIT */
/* UTF-16 texts in the buffers of PDH's callers. */
#include "engine/pdh/wide.h"
#include "engine/os/memory.h"
#include <string.h>

PDH_STATUS wide_in(LPCWSTR text, size_t most, DWORD otherwise, char **out)
{
    *out = NULL;
    if (!text) {
        return ERROR_SUCCESS;
    }
    size_t units = 0;
    while (text[units]) {
        if (++units > most) {
            return (PDH_STATUS)otherwise;
        }
    }
    HRESULT hr = text_from_utf16(text, units, false, out);
    if (FAILED(hr)) {
        return hr == E_OUTOFMEMORY ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : (PDH_STATUS)otherwise;
    }
    return ERROR_SUCCESS;
}

/* Copies with the NUL. */
static bool put(const char *text, WCHAR *to)
{
    WCHAR *wide = NULL;
    size_t units = 0;
    if (FAILED(text_to_utf16(text, &wide, &units))) {
        return false;
    }
    memcpy(to, wide, (units + 1) * sizeof *wide);
    memory_free(wide);
    return true;
}

/* Is there room for `need` units? *units becomes `need`. */
static PDH_STATUS ask_for(size_t need, const WCHAR *buffer, LPDWORD units)
{
    if (!units || (!buffer && *units)) {
        return PDH_INVALID_ARGUMENT;
    }
    if (need > UINT32_MAX) {
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    DWORD have = *units;
    *units = (DWORD)need;
    return have < need ? (PDH_STATUS)PDH_MORE_DATA : ERROR_SUCCESS;
}

PDH_STATUS wide_out(const char *text, LPWSTR buffer, LPDWORD units)
{
    PDH_STATUS status = ask_for(text_utf16_length(text) + 1, buffer, units);
    if (status == ERROR_SUCCESS && !put(text, buffer)) {
        status = PDH_MEMORY_ALLOCATION_FAILURE;
    }
    return status;
}

PDH_STATUS wide_out_list(const struct texts *list, bool none_is_nothing, LPWSTR buffer, LPDWORD units)
{
    size_t need = list->count || !none_is_nothing ? 1 : 0;
    for (size_t i = 0; i < list->count; i++) {
        need += text_utf16_length(list->items[i]) + 1;
    }
    PDH_STATUS status = ask_for(need, buffer, units);
    if (status != ERROR_SUCCESS || need == 0) {
        return status;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!put(list->items[i], buffer)) {
            return PDH_MEMORY_ALLOCATION_FAILURE;
        }
        buffer += text_utf16_length(list->items[i]) + 1;
    }
    *buffer = 0;
    return ERROR_SUCCESS;
}

PDH_STATUS wide_block_begin(struct wide_block *b, void *base, const DWORD *size, size_t head)
{
    if (!size || (!base && *size)) {
        return PDH_INVALID_ARGUMENT;
    }
    *b = (struct wide_block){base, *size, head, false};
    return ERROR_SUCCESS;
}

LPWSTR wide_block_add(struct wide_block *b, const char *text)
{
    if (!text) {
        return NULL;
    }
    size_t at = b->used, bytes = (text_utf16_length(text) + 1) * sizeof(WCHAR);
    b->used += bytes;
    if (!b->base || b->used > b->size) {
        return NULL;
    }
    LPWSTR to = (LPWSTR)(void *)(b->base + at);
    if (!put(text, to)) {
        b->failed = true;
        return NULL;
    }
    return to;
}

PDH_STATUS wide_block_end(const struct wide_block *b, LPDWORD size)
{
    if (b->failed || b->used > UINT32_MAX) {
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    *size = (DWORD)b->used;
    return b->used > b->size || !b->base ? (PDH_STATUS)PDH_MORE_DATA : ERROR_SUCCESS;
}
