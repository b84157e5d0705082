/* SPDX-License-Identifier: MIT */
/* The objects GPU Engine, GPU Process Memory and GPU Adapter Memory. Their instances are called as on Windows; the luid
   is made of where the card is on its bus, which stays the same, and pid is the host's number of the process. */
#include "engine/base/kernel_number.h"
#include "engine/pdh/objects/drm_files.h"
#include "engine/pdh/objects/providers.h"

#include <stdio.h>
#include <string.h>

#define OBJECT gpu_engine
#define ROWS   "engine/pdh/objects/gpu_engine_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT gpu_memory
#define ROWS   "engine/pdh/objects/gpu_memory_counters.def"
#include "engine/pdh/core/counter_rows.inc"

#define LUID      "luid_0x00000000_0x%08X_phys_0"
#define NAME_ROOM 128
#define PATH_ROOM 512

struct gpu_state {
    struct table_state table;
    struct drm_files files;
    uint32_t *shown; /* the cards that have a row in this sample */
    size_t shown_count, shown_capacity;
};

static void close_state(void *state)
{
    struct gpu_state *s = state;
    drm_files_close(&s->files);
    memory_free(s->shown);
}

/* The processes of this sample. */
static HRESULT read_processes(struct gpu_state *s, const char *root)
{
    HRESULT hr = drm_files_cards(&s->files, root);
    if (SUCCEEDED(hr))
        hr = drm_files_read(&s->files, root);
    kept_files_sweep(&s->files.kept);
    return hr;
}

static HRESULT gather_engines(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct gpu_state *s = o->state;
    HRESULT hr = read_processes(s, source_root(source));
    for (size_t i = 0; SUCCEEDED(hr) && i < s->files.process_count; i++) {
        const struct drm_process *p = &s->files.processes[i];
        for (size_t k = 0; k < p->engine_count; k++) {
            char name[NAME_ROOM];
            int length = snprintf(name, sizeof name, "pid_%u_" LUID "_eng_%u_engtype_%s", (unsigned)p->id,
                                  (unsigned)p->device, (unsigned)k, drm_engine_type(p->engines[k].name));
            int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, (size_t)length, 0);
            if (!cells)
                return E_OUTOFMEMORY;
            cells[ENGINE_BUSY] = p->engines[k].busy;
        }
    }
    return hr;
}

static HRESULT add_memory(struct gpu_state *s, const char *name, int length, const struct drm_memory *memory)
{
    int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, (size_t)length, 0);
    if (!cells)
        return E_OUTOFMEMORY;
    cells[GPU_COMMITTED] = memory->committed;
    cells[GPU_DEDICATED] = memory->dedicated;
    cells[GPU_SHARED] = memory->shared;
    return S_OK;
}

static HRESULT gather_processes(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct gpu_state *s = o->state;
    HRESULT hr = read_processes(s, source_root(source));
    table_know_columns(&s->table, (1ull << gpu_memory_width) - 1);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->files.process_count; i++) {
        const struct drm_process *p = &s->files.processes[i];
        char name[NAME_ROOM];
        int length = snprintf(name, sizeof name, "pid_%u_" LUID, (unsigned)p->id, (unsigned)p->device);
        hr = add_memory(s, name, length, &p->memory);
    }
    return hr;
}

/* What all clients of a card have of it. One that two processes share, as a window's server hands it on, counts once.
 */
static struct drm_memory memory_of(const struct drm_files *d, uint32_t device)
{
    struct drm_memory sum = {INT64_MIN, INT64_MIN, INT64_MIN};
    for (size_t i = 0; i < d->client_count; i++) {
        const struct drm_client *c = &d->clients[i];
        bool told = c->device != device;
        for (size_t k = 0; k < i && c->has_id && !told; k++)
            told = d->clients[k].device == device && d->clients[k].has_id && d->clients[k].id == c->id;
        if (told)
            continue;
        sum.committed = drm_sum(sum.committed, c->memory.committed);
        sum.dedicated = drm_sum(sum.dedicated, c->memory.dedicated);
        sum.shared = drm_sum(sum.shared, c->memory.shared);
    }
    return sum;
}

/* The card's place on its bus, by the line "PCI_SLOT_NAME=0000:03:00.0" of its device; 0 when it is on none. */
static HRESULT find_device(struct gpu_state *s, const char *folder, const char *card, uint32_t *device)
{
    static const char key[] = "PCI_SLOT_NAME=";
    char path[PATH_ROOM];
    const char *text;
    size_t size;
    *device = 0;
    snprintf(path, sizeof path, "%s/%s/device/uevent", folder, card);
    HRESULT hr = kept_files_text(&s->files.kept, path, &text, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    for (const char *p = text, *end = text + size, *line; p < end; p = line + 1) {
        line = kernel_line_end(p, end);
        if (kernel_starts(p, line, key, sizeof key - 1))
            *device = drm_device(p + sizeof key - 1, line);
    }
    return S_OK;
}

/* What the driver tells of the whole card, as amdgpu does; what it does not tell is the sum of its clients'. */
static HRESULT read_card(struct gpu_state *s, const char *folder, const char *card, uint32_t device,
                         struct drm_memory *memory)
{
    char path[PATH_ROOM];
    int64_t vram, gtt;
    snprintf(path, sizeof path, "%s/%s/device/mem_info_vram_used", folder, card);
    HRESULT hr = kept_files_number(&s->files.kept, path, &vram);
    if (hr == S_OK) {
        snprintf(path, sizeof path, "%s/%s/device/mem_info_gtt_used", folder, card);
        hr = kept_files_number(&s->files.kept, path, &gtt);
    }
    if (hr == S_OK)
        *memory = (struct drm_memory){drm_sum(vram, gtt), vram, gtt};
    else
        *memory = memory_of(&s->files, device);
    return FAILED(hr) ? hr : S_OK;
}

static bool is_shown(const struct gpu_state *s, uint32_t device)
{
    size_t i = 0;
    while (i < s->shown_count && s->shown[i] != device)
        i++;
    return i < s->shown_count;
}

static HRESULT add_card(struct gpu_state *s, const char *folder, const char *card)
{
    uint32_t device;
    struct drm_memory memory;
    char name[NAME_ROOM];
    HRESULT hr = find_device(s, folder, card, &device);
    if (FAILED(hr) || is_shown(s, device))
        return hr;
    if (!memory_grow((void **)&s->shown, &s->shown_capacity, s->shown_count + 1, sizeof *s->shown))
        return E_OUTOFMEMORY;
    s->shown[s->shown_count++] = device;
    hr = read_card(s, folder, card, device, &memory);
    int length = snprintf(name, sizeof name, LUID, (unsigned)device);
    return SUCCEEDED(hr) ? add_memory(s, name, length, &memory) : hr;
}

static HRESULT gather_cards(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct gpu_state *s = o->state;
    const char *root = source_root(source);
    const struct texts *cards = &s->files.cards.names;
    char folder[PATH_ROOM / 2];
    snprintf(folder, sizeof folder, "%s/sys/class/drm", root);
    s->shown_count = 0;
    table_know_columns(&s->table, (1ull << gpu_memory_width) - 1);
    HRESULT hr = drm_files_cards(&s->files, root);
    if (SUCCEEDED(hr))
        hr = drm_files_read(&s->files, root);
    for (size_t i = 0; SUCCEEDED(hr) && i < cards->count; i++)
        if (!strchr(cards->items[i], '-') && strlen(cards->items[i]) < 64)
            hr = add_card(s, folder, cards->items[i]);
    kept_files_sweep(&s->files.kept);
    return hr;
}

#define FILES  "/proc/PROCESS/fdinfo/FILE of graphics drivers, each client of a process once"
#define MEMORY ", drm-total-*, and drm-resident-* or drm-memory-*: dedicated vram and local, shared all others"
const struct provider pdh_gpu_adapter_memory = {
    .name = "GPU Adapter Memory",
    .help = "The memory of each graphics card.",
    .has_instances = true,
    TABLE_PROVIDER(
        gpu_memory, ALL_OF, struct gpu_state, gather_cards, close_state,
        "/sys/class/drm/CARD/device/mem_info_vram_used and mem_info_gtt_used, or, where the driver has none, "
        "the sum over the clients of " FILES MEMORY)};
const struct provider pdh_gpu_engine = {
    .name = "GPU Engine",
    .help = "What each engine of the graphics cards does for each process of the host.",
    .has_instances = true,
    TABLE_PROVIDER(gpu_engine, ALL_OF, struct gpu_state, gather_engines, close_state,
                   FILES ", drm-engine-NAME / drm-engine-capacity-NAME, in nanoseconds")};
const struct provider pdh_gpu_process_memory = {
    .name = "GPU Process Memory",
    .help = "Memory of and for the graphics cards that each process of the host has.",
    .has_instances = true,
    TABLE_PROVIDER(gpu_memory, ALL_OF, struct gpu_state, gather_processes, close_state, FILES MEMORY)};
