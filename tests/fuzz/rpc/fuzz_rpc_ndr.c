/* SPDX-License-Identifier: MIT */
/* NDR's types from any bytes. Values that were read are written and read again; both times the written bytes are the
   same. */
#include "engine/base/memory.h"
#include "engine/rpc/dispatch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a value of one kind, and writes it if it was complete. */
static bool copy_value(uint8_t kind, struct ndr_reader *r, struct ndr_writer *w)
{
    struct ndr_arena arena = {0};
    struct ndr_variant variant;
    struct ndr_array *array;
    struct ndr_bstr text;
    struct objref *object;
    struct dual_strings *strings = NULL;
    unsigned form = 2;
    struct dispatch_names names;
    struct dispatch_invoke *invoke = NULL;
    struct dispatch_result *result = NULL;
    struct ndr_variant *values;
    uint32_t count;
    switch (kind % 9) {
    case 0:
        ndr_read_variant(r, &arena, &variant);
        if (!r->fault)
            ndr_write_variant(w, &variant);
        break;
    case 1:
        ndr_read_array(r, &arena, &form, &array);
        if (!r->fault)
            ndr_write_array(w, 2, array);
        break;
    case 2:
        ndr_read_bstr(r, &text);
        if (!r->fault)
            ndr_write_bstr(w, &text);
        break;
    case 3:
        ndr_read_object(r, &arena, &object);
        if (!r->fault)
            ndr_write_object(w, object);
        break;
    case 4:
        dispatch_read_names(r, &names);
        if (!r->fault)
            dispatch_write_names(w, &names);
        break;
    case 5:
        invoke = memory_alloc(sizeof *invoke);
        if (!invoke)
            abort();
        dispatch_read_invoke(r, &arena, invoke);
        if (!r->fault)
            dispatch_write_invoke(w, invoke);
        break;
    case 6:
        result = memory_alloc(sizeof *result);
        if (!result)
            abort();
        dispatch_read_result(r, &arena, result);
        if (!r->fault)
            dispatch_write_result(w, result);
        break;
    case 7: {
        const HRESULT hr = enum_read_values(r, &arena, &values, &count);
        if (!r->fault)
            enum_write_values(w, count, values, count, hr);
        break;
    }
    default:
        strings = memory_alloc(sizeof *strings);
        if (!strings)
            abort();
        dual_strings_read(r, true, strings);
        if (!r->fault)
            dual_strings_write(w, true, strings);
    }
    memory_free(strings);
    memory_free(invoke);
    memory_free(result);
    ndr_arena_free(&arena);
    return !r->fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ndr_writer once = {0}, twice = {0};
    if (!size)
        return 0;
    struct ndr_reader r = ndr_reader_over(data + 1, size - 1);
    if (copy_value(*data, &r, &once) && !once.failed) {
        r = ndr_reader_over(once.bytes, once.size);
        if (!copy_value(*data, &r, &twice) || once.size != twice.size ||
            memcmp(once.bytes, twice.bytes, once.size) != 0)
            abort();
    }
    ndr_writer_free(&once);
    ndr_writer_free(&twice);
    return 0;
}
