/* SPDX-License-Identifier: MIT */
/* Reads DWARF with libdw. libdw is loaded only when a file needs it, because most files have a symbol table, and
   because the program must also start on systems without elfutils. The declarations are those of the documented
   interface of elfutils 0.1xx (libdw.so.1 and libelf.so.1, whose names and structures are stable). The build does not
   need its headers. */
#include "engine/etw/symbols/dwarf_functions.h"

#include <dlfcn.h>

#define LIBRARY "libdw.so.1"

struct die { /* Dwarf_Die */
    void *address;
    void *unit;
    void *abbreviation;
    long padding;
};
enum { ELF_VERSION = 1, DWARF_READ = 0, CONTINUE = 0, STOP = 1 };

#define DWARF_API_LIST(ENTRY)                                                                                          \
    ENTRY(elf_version, unsigned, (unsigned version))                                                                   \
    ENTRY(elf_memory, void *, (char *image, size_t size))                                                              \
    ENTRY(elf_end, int, (void *elf))                                                                                   \
    ENTRY(dwarf_begin_elf, void *, (void *elf, int command, void *section_group))                                      \
    ENTRY(dwarf_end, int, (void *dwarf))                                                                               \
    ENTRY(dwarf_nextcu, int,                                                                                           \
          (void *dwarf, uint64_t at, uint64_t *next, size_t *header, uint64_t *abbreviations, uint8_t *address_size,   \
           uint8_t *offset_size))                                                                                      \
    ENTRY(dwarf_offdie, struct die *, (void *dwarf, uint64_t at, struct die *out))                                     \
    ENTRY(dwarf_getfuncs, ptrdiff_t,                                                                                   \
          (struct die * unit, int (*each)(struct die *, void *), void *context, ptrdiff_t from))                       \
    ENTRY(dwarf_diename, const char *, (struct die *))                                                                 \
    ENTRY(dwarf_lowpc, int, (struct die *, uint64_t *))                                                                \
    ENTRY(dwarf_highpc, int, (struct die *, uint64_t *))

struct dwarf_api {
#define DECLARE_ENTRY(name, type, parameters) type(*name) parameters;
    DWARF_API_LIST(DECLARE_ENTRY)
#undef DECLARE_ENTRY
};

struct reading {
    const struct dwarf_api *api;
    struct symbol_table *table;
    uint64_t base;
    HRESULT hr;
};

static bool library_load(struct dwarf_api *api)
{
#ifdef OPENPLA_STATIC
    return false; /* a static program cannot load a library that was built for another C library */
#endif
    void *module = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        return false;
#define FILL_ENTRY(name, type, parameters)                                                                             \
    api->name = (type(*) parameters)dlsym(module, #name);                                                              \
    if (!api->name)                                                                                                    \
        return false;
    DWARF_API_LIST(FILL_ENTRY)
#undef FILL_ENTRY
    return true;
}

/* Adds a function. Declarations and inlined functions have no address and are skipped. */
static int function_add(struct die *die, void *context)
{
    struct reading *r = context;
    uint64_t low, high;
    const char *name = r->api->dwarf_diename(die);
    if (name && r->api->dwarf_lowpc(die, &low) == 0 && r->api->dwarf_highpc(die, &high) == 0 && low >= r->base &&
        high > low)
        r->hr = symbol_table_add(r->table, low - r->base, high - low, name, strlen(name));
    return r->hr == S_OK ? CONTINUE : STOP;
}

static void units_read(struct reading *r, void *dwarf)
{
    uint64_t at = 0, next, abbreviations;
    size_t header;
    uint8_t address_size, offset_size;
    while (r->hr == S_OK &&
           r->api->dwarf_nextcu(dwarf, at, &next, &header, &abbreviations, &address_size, &offset_size) == 0 &&
           next > at) {
        struct die unit;
        for (ptrdiff_t from = 0; r->hr == S_OK && r->api->dwarf_offdie(dwarf, at + header, &unit);) {
            from = r->api->dwarf_getfuncs(&unit, function_add, r, from);
            if (from <= 0)
                break;
        }
        at = next;
    }
}

HRESULT dwarf_read_functions(const uint8_t *bytes, size_t size, uint64_t base, struct symbol_table *out)
{
    struct dwarf_api api;
    struct reading r = {.api = &api, .table = out, .base = base, .hr = S_OK};
    if (!library_load(&api) || api.elf_version(ELF_VERSION) == 0)
        return S_FALSE;
    void *elf = api.elf_memory((char *)(uintptr_t)bytes, size);
    if (!elf)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "not a valid ELF file");
    void *dwarf = api.dwarf_begin_elf(elf, DWARF_READ, NULL);
    if (dwarf)
        units_read(&r, dwarf);
    if (dwarf)
        api.dwarf_end(dwarf);
    api.elf_end(elf);
    return !dwarf ? S_FALSE : FAILED(r.hr) ? r.hr : S_OK;
}
