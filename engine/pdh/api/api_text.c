/* SPDX-License-Identifier: MIT */
/* Converts UTF-16 and ANSI strings in the buffers of PDH's callers. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/api/api.h"

#include <string.h>

static size_t unit_size(enum api_form form)
{
    return form == API_WIDE ? sizeof(WCHAR) : 1;
}

/* Returns the number of units before the NUL; `most` + 1 if there are more than `most`. */
static size_t units_of(enum api_form form, const void *text, size_t most)
{
    size_t units = 0;
    while (units <= most && (form == API_WIDE ? ((const WCHAR *)text)[units] : ((const BYTE *)text)[units]))
        units++;
    return units;
}

PDH_STATUS api_text_in(enum api_form form, const void *text, size_t most, DWORD otherwise, char **out)
{
    *out = NULL;
    if (!text)
        return ERROR_SUCCESS;
    size_t units = units_of(form, text, most);
    if (units > most)
        return (PDH_STATUS)otherwise;
    HRESULT hr = form == API_WIDE ? text_from_utf16(text, units, false, out) : text_from_ansi(text, units, false, out);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : (PDH_STATUS)otherwise;
    return ERROR_SUCCESS;
}

PDH_STATUS api_list_in(enum api_form form, const void *list, size_t most, DWORD otherwise, struct texts *out)
{
    const BYTE *at = list;
    while (at && units_of(form, at, most)) {
        char *text;
        PDH_STATUS status = api_text_in(form, at, most, otherwise, &text);
        if (status == ERROR_SUCCESS && FAILED(texts_add(out, text)))
            status = PDH_MEMORY_ALLOCATION_FAILURE;
        memory_free(text);
        if (status != ERROR_SUCCESS)
            return status;
        at += (units_of(form, at, most) + 1) * unit_size(form);
    }
    return ERROR_SUCCESS;
}

/* Converts the string to the form, from memory_alloc; NULL if memory runs out. *units excludes the NUL. */
static void *convert_to_form(enum api_form form, const char *text, size_t *units)
{
    WCHAR *wide = NULL;
    char *ansi = NULL;
    HRESULT hr = form == API_WIDE ? text_to_utf16(text, &wide, units) : text_to_ansi(text, &ansi, units);
    return FAILED(hr) ? NULL : form == API_WIDE ? (void *)wide : (void *)ansi;
}

/* Computes the number of units that copy_in_form will write. False if memory runs out. */
static bool measure_in_form(enum api_form form, const char *text, size_t *units)
{
    if (form == API_WIDE) {
        *units = text_utf16_length(text);
        return true;
    }
    void *converted = convert_to_form(form, text, units);
    memory_free(converted);
    return converted != NULL;
}

/* Copies the string with its NUL. */
static bool copy_in_form(enum api_form form, const char *text, void *to, size_t *units)
{
    void *converted = convert_to_form(form, text, units);
    if (!converted)
        return false;
    memcpy(to, converted, (*units + 1) * unit_size(form));
    memory_free(converted);
    return true;
}

/* Checks that the buffer has room for `need` units. *units becomes `need`. */
static PDH_STATUS ask_for(size_t need, const void *buffer, LPDWORD units)
{
    if (!units || (!buffer && *units))
        return PDH_INVALID_ARGUMENT;
    if (need > UINT32_MAX)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    DWORD have = *units;
    *units = (DWORD)need;
    return have < need ? (PDH_STATUS)PDH_MORE_DATA : ERROR_SUCCESS;
}

PDH_STATUS api_text_out(enum api_form form, const char *text, void *buffer, LPDWORD units)
{
    size_t length;
    if (!measure_in_form(form, text, &length))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    PDH_STATUS status = ask_for(length + 1, buffer, units);
    if (status == ERROR_SUCCESS && !copy_in_form(form, text, buffer, &length))
        status = PDH_MEMORY_ALLOCATION_FAILURE;
    return status;
}

PDH_STATUS api_list_out(enum api_form form, const struct texts *list, bool none_is_nothing, void *buffer, LPDWORD units)
{
    size_t need = list->count || !none_is_nothing ? 1 : 0, length;
    for (size_t i = 0; i < list->count; i++) {
        if (!measure_in_form(form, list->items[i], &length))
            return PDH_MEMORY_ALLOCATION_FAILURE;
        need += length + 1;
    }
    PDH_STATUS status = ask_for(need, buffer, units);
    if (status != ERROR_SUCCESS || need == 0)
        return status;
    BYTE *at = buffer;
    for (size_t i = 0; i < list->count; i++) {
        if (!copy_in_form(form, list->items[i], at, &length))
            return PDH_MEMORY_ALLOCATION_FAILURE;
        at += (length + 1) * unit_size(form);
    }
    memset(at, 0, unit_size(form));
    return ERROR_SUCCESS;
}

PDH_STATUS api_block_begin(struct api_block *b, enum api_form form, void *base, const DWORD *size, size_t head)
{
    if (!size || (!base && *size))
        return PDH_INVALID_ARGUMENT;
    *b = (struct api_block){form, base, *size, head, false};
    return ERROR_SUCCESS;
}

void *api_block_add(struct api_block *b, const char *text)
{
    size_t length;
    if (!text)
        return NULL;
    if (!measure_in_form(b->form, text, &length)) {
        b->failed = true;
        return NULL;
    }
    size_t at = b->used;
    b->used += (length + 1) * unit_size(b->form);
    if (!b->base || b->used > b->size)
        return NULL;
    if (!copy_in_form(b->form, text, b->base + at, &length)) {
        b->failed = true;
        return NULL;
    }
    return b->base + at;
}

PDH_STATUS api_block_end(const struct api_block *b, LPDWORD size)
{
    if (b->failed || b->used > UINT32_MAX)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    *size = (DWORD)b->used;
    return b->used > b->size || !b->base ? (PDH_STATUS)PDH_MORE_DATA : ERROR_SUCCESS;
}
