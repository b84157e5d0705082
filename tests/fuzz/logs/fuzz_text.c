/* SPDX-License-Identifier: MIT */
/* Any UTF-16 units become valid UTF-8, which can be converted back. Numbers and wildcards are parsed from any text, and
   any texts are compared. */
#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void units_both_ways(const WCHAR *units, size_t count)
{
    size_t replaced_count, strict_count;
    char *strict, *replaced;
    WCHAR *back;
    HRESULT hr = text_from_utf16(units, count, false, &strict);
    expect(text_from_utf16(units, count, true, &replaced) == S_OK);
    expect(text_is_utf8(replaced, strlen(replaced)));
    expect(text_to_utf16(replaced, &back, &replaced_count) == S_OK);
    expect(replaced_count == text_utf16_length(replaced) && replaced_count == count);
    if (SUCCEEDED(hr))
        expect(!strcmp(strict, replaced) && (!count || !memcmp(back, units, count * sizeof(WCHAR))));
    else
        expect(hr == E_INVALIDARG && !strict && (count && memcmp(back, units, count * sizeof(WCHAR)) != 0));
    memory_free(back);
    char *fold = text_fold(replaced);
    char *again = text_fold(fold);
    expect(!strcmp(fold, again) && text_equal_nocase(fold, replaced) && text_equal_nocase(again, replaced));
    expect(text_to_utf16(fold, &back, &strict_count) == S_OK && strict_count == count);
    memory_free(back);
    memory_free(again);
    memory_free(fold);
    memory_free(strict);
    memory_free(replaced);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t half = size / 2;
    WCHAR *units = memory_copy(data, half * sizeof(WCHAR));
    char *a = text_copy_n((const char *)data, half), *b = text_copy_n((const char *)data + half, size - half);
    uint64_t u;
    int64_t i;
    GUID guid;
    char text[39];
    units_both_ways(units, half);
    if (text_to_i64(a, &i) && i >= 0)
        expect(text_to_u64(a, &u) && u == (uint64_t)i);
    if (text_to_guid(b, &guid)) {
        text_from_guid(&guid, text);
        expect(text_equal_nocase(b[0] == '{' ? b : "{", b[0] == '{' ? text : "{"));
    }
    expect((text_compare_nocase(a, b) < 0) == (text_compare_nocase(b, a) > 0));
    text_matches(a, b);
    memory_free(a);
    memory_free(b);
    memory_free(units);
    return 0;
}
