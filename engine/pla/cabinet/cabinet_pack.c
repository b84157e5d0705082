/* SPDX-License-Identifier: MIT */
/* Validates the members of a new cabinet by the same rules as the reader, and calls the packer of the host OS. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/cabinet/cabinet_format.h"

static HRESULT bad_member(const struct cabinet_member *member, const char *fault)
{
    char *shown = cabinet_name_shown(member->name);
    if (!shown)
        return E_OUTOFMEMORY;
    const HRESULT hr = error_set(PLA_E_CABAPI_FAILURE, "cannot pack '%s': %s", shown, fault);
    memory_free(shown);
    return hr;
}

static HRESULT check_members(const struct cabinet_source *source, uint64_t *whole)
{
    *whole = 0;
    if (!source->count || source->count > CABINET_FILES_MAX)
        return error_set(PLA_E_CABAPI_FAILURE, "cannot pack %llu files: a cabinet has 1 to %u",
                         (unsigned long long)source->count, CABINET_FILES_MAX);
    for (size_t i = 0; i < source->count; i++) {
        const struct cabinet_member *member = &source->members[i];
        const char *fault = cabinet_name_fault(member->name);
        if (!fault && member->size > CABINET_FILE_MAX)
            fault = "it is larger than 2,147,450,880 bytes, the limit for a file in a cabinet";
        if (fault)
            return bad_member(member, fault);
        *whole += member->size;
    }
    return S_OK;
}

static HRESULT check_clashes(const struct cabinet_source *source)
{
    char **names = memory_zero(source->count, sizeof *names);
    HRESULT hr = names ? S_OK : E_OUTOFMEMORY;
    size_t first = 0, second = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < source->count; i++) {
        names[i] = cabinet_name_copy(source->members[i].name);
        hr = names[i] ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = cabinet_names_clash((const char *const *)names, source->count, &first, &second);
    if (hr == S_FALSE)
        hr =
            bad_member(&source->members[first], "another file has this name or the name of its folder (ignoring case)");
    for (size_t i = 0; names && i < source->count; i++)
        memory_free(names[i]);
    memory_free(names);
    return hr;
}

struct packed_row packing_row(const struct cabinet_member *member)
{
    struct packed_row row;
    const uint32_t kept = FILE_TRAIT_READ_ONLY | FILE_TRAIT_HIDDEN | FILE_TRAIT_SYSTEM;
    row.attributes = (uint16_t)((member->attributes & kept) | FILE_TRAIT_ARCHIVE);
    for (const char *at = member->name; *at; at++)
        if ((unsigned char)*at >= 0x80)
            row.attributes |= CABINET_NAME_IS_UTF8;
    cabinet_dos_time(clock_utc_to_local(member->written), &row.date, &row.time);
    return row;
}

HRESULT packing_read(struct packing *p, size_t member, struct file *in, uint64_t at, void *data, size_t size)
{
    size_t got;
    HRESULT hr = file_read_at(in, at, data, size, &got);
    if (SUCCEEDED(hr) && got < size)
        return bad_member(&p->source->members[member], "it became shorter while it was read");
    p->done += size;
    return SUCCEEDED(hr) ? cabinet_go_on(p->watch, p->done, p->whole) : hr;
}

bool packing_begins_folder(const struct cabinet_member *member, uint64_t taken)
{
    return taken && taken + member->size > CABINET_FILE_MAX;
}

HRESULT packing_too_large(void)
{
    return error_set(PLA_E_CABAPI_FAILURE, "the cabinet would be larger than the limit of 2 GB");
}

HRESULT cabinet_pack(const struct cabinet_source *source, struct file *out, const struct cabinet_watch *watch)
{
    struct packing p = {.source = source, .out = out, .watch = watch};
    HRESULT hr = check_members(source, &p.whole);
    if (SUCCEEDED(hr))
        hr = check_clashes(source);
    if (SUCCEEDED(hr))
        hr = cabinet_go_on(watch, 0, p.whole);
    return SUCCEEDED(hr) ? packing_write(&p) : hr;
}
