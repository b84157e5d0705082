/* SPDX-License-Identifier: MIT */
/* The objects GPU Engine, GPU Process Memory and GPU Adapter Memory, from the open files of graphics drivers. Instances
   are named as on Windows: the luid is built from the card's location on its bus, because this location never changes,
   and pid is the host OS' process id. */
#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"
#include "engine/pdh/objects/parsers.h"

#include <stdio.h>
#include <string.h>

/* The open files of graphics drivers are found by checking every open file of every process that this user may inspect.
   Each sample checks a limited number of files, and a scan of all files begins at most every ten seconds. The files
   found are read through handles that stay open. Without a graphics card nothing is inspected. */

/* The use of one card by one process. */
struct drm_process {
    uint32_t id, device; /* process id on the host OS; number of the card from drm_device() */
    struct drm_engine engines[DRM_ENGINES];
    size_t engine_count;
    struct drm_memory memory;
};
/* A client of a card in one process. Two files of a process may share a client. A shared client is counted only
   once. */
struct drm_client {
    uint32_t process, device;
    uint64_t id;
    bool has_id;
    struct drm_memory memory;
};
struct drm_place {
    uint32_t process, file;
};
/* Zero-initialise. */
struct drm_files {
    struct kept_files kept;
    struct kept_folder cards; /* /sys/class/drm: "card0", and its connectors, "card0-DP-1" */
    struct drm_place *places; /* files of graphics drivers, sorted */
    size_t place_count, place_capacity;
    uint32_t *ids; /* the processes to inspect in the current scan */
    size_t id_count, id_next;
    uint64_t scanned_at; /* when the scan began (clock_monotonic_ms()); 0: never */
    struct drm_process *processes;
    size_t process_count, process_capacity;
    struct drm_client *clients;
    size_t client_count, client_capacity;
};

/* The functions up to drm_file_parse parse the keys that graphics drivers write to fdinfo (the kernel's
   drm-usage-stats). Examples are "drm-engine-render: 5 ns", "drm-engine-capacity-render: 2", "drm-resident-vram0: 8
   KiB" and "drm-total-vram0". Older drivers write "drm-memory-vram". */

static bool starts(const char *p, const char *end, const char *word)
{
    return kernel_starts(p, end, word, strlen(word));
}

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* Returns the number of a PCI device from the text "0000:03:00.0": domain, bus, device and function in 16, 8, 5 and 3
   bits. 0 if the text is invalid. */
static uint32_t drm_device(const char *p, const char *end)
{
    static const char form[] = "xxxx:xx:xx.x";
    uint32_t parts[4] = {0};
    size_t part = 0;
    p = kernel_skip(p, end);
    for (size_t i = 0; form[i]; i++, p++) {
        if (p >= end)
            return 0;
        if (form[i] == 'x' && hex_digit(*p) < 16)
            parts[part] = parts[part] * 16 + hex_digit(*p);
        else if (form[i] != 'x' && *p == form[i])
            part++;
        else
            return 0;
    }
    return parts[0] << 16 | parts[1] << 8 | (parts[2] & 31) << 3 | (parts[3] & 7);
}

const char *drm_engine_type(const char *name)
{
    static const char *const types[][2] = {{"gfx", "3D"},
                                           {"render", "3D"},
                                           {"rcs", "3D"},
                                           {"gpu", "3D"},
                                           {"fragment", "3D"},
                                           {"copy", "Copy"},
                                           {"dma", "Copy"},
                                           {"bcs", "Copy"},
                                           {"compute", "Compute"},
                                           {"ccs", "Compute"},
                                           {"dec", "VideoDecode"},
                                           {"video", "VideoDecode"},
                                           {"vcs", "VideoDecode"},
                                           {"jpeg", "VideoJPEG"},
                                           {"enc", "VideoEncode"},
                                           {"video-enhance", "VideoProcessing"},
                                           {"vecs", "VideoProcessing"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i][0], name))
            return types[i][1];
    return name;
}

/* Adds without overflow. A missing value counts as 0; the sum of two missing values is missing. */
static int64_t drm_sum(int64_t a, int64_t b)
{
    if (a == INT64_MIN || b == INT64_MIN)
        return a == INT64_MIN ? b : a;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Parses "12 KiB" as bytes. Numbers without a unit are bytes. */
static bool parse_byte_count(const char *p, const char *end, int64_t *out)
{
    uint64_t value;
    p = kernel_number(p, end, &value);
    if (!p)
        return false;
    p = kernel_skip(p, end);
    uint64_t unit = starts(p, end, "KiB") ? 1024 : starts(p, end, "MiB") ? 1048576 : 1;
    *out = value > INT64_MAX / unit ? INT64_MAX : (int64_t)(value * unit);
    return true;
}

/* Sums of the sizes in all keys with one prefix, such as "drm-resident-". Different kernel versions write different
   prefixes. */
struct sizes {
    int64_t dedicated, shared;
};

static void set_size(struct sizes *s, const char *region, const char *end)
{
    int64_t size;
    const char *colon = text_find(region, end, ':');
    if (!colon || !parse_byte_count(colon + 1, end, &size))
        return;
    bool own = starts(region, end, "vram") || starts(region, end, "local");
    int64_t *to = own ? &s->dedicated : &s->shared;
    *to = drm_sum(*to, size);
}

/* Returns the engine with this name, and adds it if there is room; NULL otherwise. */
static struct drm_engine *engine_of(struct drm_file *f, const char *name, size_t length)
{
    length = length < DRM_ENGINE_NAME - 1 ? length : DRM_ENGINE_NAME - 1;
    for (size_t i = 0; i < f->engine_count; i++)
        if (strlen(f->engines[i].name) == length && !memcmp(f->engines[i].name, name, length))
            return &f->engines[i];
    if (!length || f->engine_count == DRM_ENGINES)
        return NULL;
    struct drm_engine *e = &f->engines[f->engine_count++];
    *e = (struct drm_engine){.busy = INT64_MIN};
    memcpy(e->name, name, length);
    return e;
}

/* Parses the rest of a key after "drm-engine-". `capacity` has one element per engine. */
static void set_engine(struct drm_file *f, uint64_t *capacity, const char *name, const char *end)
{
    static const char word[] = "capacity-";
    bool is_capacity = starts(name, end, word);
    name += is_capacity ? sizeof word - 1 : 0;
    const char *colon = text_find(name, end, ':');
    uint64_t value;
    if (!colon || !kernel_number(colon + 1, end, &value))
        return;
    struct drm_engine *e = engine_of(f, name, (size_t)(colon - name));
    if (e && is_capacity)
        capacity[e - f->engines] = value;
    else if (e)
        e->busy = value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

bool drm_file_parse(const char *text, size_t size, struct drm_file *out)
{
    static const struct sizes none = {INT64_MIN, INT64_MIN};
    struct sizes total = none, resident = none, memory = none;
    static const char total_key[] = "drm-total-", resident_key[] = "drm-resident-", memory_key[] = "drm-memory-";
    static const char engine_key[] = "drm-engine-", device_key[] = "drm-pdev:", client_key[] = "drm-client-id:";
    uint64_t capacity[DRM_ENGINES] = {0};
    bool is_one = false;
    *out = (struct drm_file){0};
    for (const char *p = text, *end = text + size, *line; p < end; p = line + 1) {
        line = kernel_line_end(p, end);
        is_one |= starts(p, line, "drm-driver:");
        if (starts(p, line, engine_key))
            set_engine(out, capacity, p + sizeof engine_key - 1, line);
        else if (starts(p, line, resident_key))
            set_size(&resident, p + sizeof resident_key - 1, line);
        else if (starts(p, line, total_key))
            set_size(&total, p + sizeof total_key - 1, line);
        else if (starts(p, line, memory_key))
            set_size(&memory, p + sizeof memory_key - 1, line);
        else if (starts(p, line, device_key))
            out->device = drm_device(p + sizeof device_key - 1, line);
        else if (starts(p, line, client_key))
            out->has_client = kernel_number(p + sizeof client_key - 1, line, &out->client) != NULL;
    }
    for (size_t i = 0; i < out->engine_count; i++)
        if (capacity[i] > 1 && out->engines[i].busy > 0)
            out->engines[i].busy /= (int64_t)(capacity[i] > 1024 ? 1024 : capacity[i]);
    const struct sizes *now = memcmp(&resident, &none, sizeof none) ? &resident : &memory;
    const struct sizes *all = memcmp(&total, &none, sizeof none) ? &total : now;
    out->memory = (struct drm_memory){drm_sum(all->dedicated, all->shared), now->dedicated, now->shared};
    return is_one;
}

/* ---- finding and reading the drivers' files ---- */

#define SCAN_AGAIN_MS     10000
#define FILES_PER_SAMPLE  1024 /* a sample scans no further process after this many files */
#define FILES_PER_PROCESS 1024 /* only the first files of a process are scanned, because programs open a card early */
#define PLACES_MOST       4096
#define PATH_ROOM         512

/* Finds the cards. Fails with HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if there is no card. `root` is a prefix for the
   paths. */
static HRESULT drm_files_cards(struct drm_files *d, const char *root)
{
    char folder[PATH_ROOM];
    snprintf(folder, sizeof folder, "%s/sys/class/drm", root);
    HRESULT hr = kept_folder_follow(&d->cards, folder, "card");
    if (SUCCEEDED(hr) && !d->cards.names.count)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "'%s' has no graphics card", folder);
    return hr;
}

static void path_of(char *path, const char *root, struct drm_place place)
{
    snprintf(path, PATH_ROOM, "%s/proc/%u/fdinfo/%u", root, (unsigned)place.process, (unsigned)place.file);
}

static bool before(struct drm_place a, struct drm_place b)
{
    return a.process != b.process ? a.process < b.process : a.file < b.file;
}

static HRESULT add_place(struct drm_files *d, struct drm_place place)
{
    size_t at = d->place_count;
    while (at && before(place, d->places[at - 1]))
        at--;
    if (d->place_count >= PLACES_MOST || (at && !before(d->places[at - 1], place)))
        return S_OK; /* the place is already known, or there is no room for another */
    if (!memory_grow((void **)&d->places, &d->place_capacity, d->place_count + 1, sizeof *d->places))
        return E_OUTOFMEMORY;
    memmove(d->places + at + 1, d->places + at, (d->place_count++ - at) * sizeof *d->places);
    d->places[at] = place;
    return S_OK;
}

/* Checks the files of one process and adds their number to *checked. Processes of other users cannot be listed and are
   skipped. */
static HRESULT scan_process(struct drm_files *d, const char *root, uint32_t id, size_t *checked)
{
    char path[PATH_ROOM];
    uint32_t *files;
    size_t count;
    snprintf(path, sizeof path, "%s/proc/%u/fdinfo", root, (unsigned)id);
    HRESULT hr = kernel_folder_numbers(path, &files, &count);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    for (size_t i = 0; hr != E_OUTOFMEMORY && i < count && i < FILES_PER_PROCESS; i++, ++*checked) {
        struct drm_place place = {id, files[i]};
        struct drm_file file;
        char *text;
        size_t size;
        path_of(path, root, place);
        hr = kernel_file_text(path, &text, &size);
        if (SUCCEEDED(hr) && drm_file_parse(text, size, &file))
            hr = add_place(d, place);
        memory_free(text);
    }
    memory_free(files);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Continues the current scan, or begins a new scan if the last scan is old enough. */
static HRESULT drm_files_scan(struct drm_files *d, const char *root)
{
    uint64_t now = clock_monotonic_ms();
    if (d->id_next == d->id_count && (!d->scanned_at || clock_passed_ms(d->scanned_at, now) >= SCAN_AGAIN_MS)) {
        char path[PATH_ROOM];
        uint32_t *ids;
        size_t count;
        snprintf(path, sizeof path, "%s/proc", root);
        HRESULT hr = kernel_folder_numbers(path, &ids, &count);
        if (FAILED(hr))
            return hr == E_OUTOFMEMORY ? hr : S_OK;
        memory_free(d->ids);
        d->ids = ids;
        d->id_count = count;
        d->id_next = 0;
        d->scanned_at = now | 1;
    }
    HRESULT hr = S_OK;
    for (size_t checked = 0; SUCCEEDED(hr) && d->id_next < d->id_count && checked < FILES_PER_SAMPLE;)
        hr = scan_process(d, root, d->ids[d->id_next++], &checked);
    return hr;
}

/* Returns the entry of this process and card, and adds it if it does not exist. NULL if memory runs out. */
static struct drm_process *process_of(struct drm_files *d, uint32_t id, uint32_t device)
{
    for (size_t i = d->process_count; i-- > 0 && d->processes[i].id == id;)
        if (d->processes[i].device == device)
            return &d->processes[i];
    if (!memory_grow((void **)&d->processes, &d->process_capacity, d->process_count + 1, sizeof *d->processes))
        return NULL;
    struct drm_process *p = &d->processes[d->process_count++];
    *p = (struct drm_process){.id = id, .device = device, .memory = {INT64_MIN, INT64_MIN, INT64_MIN}};
    return p;
}

static void add_engine(struct drm_process *p, const struct drm_engine *e)
{
    size_t i = 0;
    while (i < p->engine_count && strcmp(p->engines[i].name, e->name) != 0)
        i++;
    if (i < p->engine_count)
        p->engines[i].busy = drm_sum(p->engines[i].busy, e->busy);
    else if (i < DRM_ENGINES)
        p->engines[p->engine_count++] = *e;
}

static HRESULT add_file(struct drm_files *d, uint32_t id, const struct drm_file *file)
{
    for (size_t i = d->client_count; i-- > 0 && d->clients[i].process == id;)
        if (file->has_client && d->clients[i].has_id && d->clients[i].id == file->client &&
            d->clients[i].device == file->device)
            return S_OK;
    struct drm_process *p = process_of(d, id, file->device);
    if (!p || !memory_grow((void **)&d->clients, &d->client_capacity, d->client_count + 1, sizeof *d->clients))
        return E_OUTOFMEMORY;
    d->clients[d->client_count++] = (struct drm_client){id, file->device, file->client, file->has_client, file->memory};
    for (size_t i = 0; i < file->engine_count; i++)
        add_engine(p, &file->engines[i]);
    p->memory.committed = drm_sum(p->memory.committed, file->memory.committed);
    p->memory.dedicated = drm_sum(p->memory.dedicated, file->memory.dedicated);
    p->memory.shared = drm_sum(p->memory.shared, file->memory.shared);
    return S_OK;
}

/* Fills `processes` and `clients`. Fails with E_OUTOFMEMORY. */
static HRESULT drm_files_read(struct drm_files *d, const char *root)
{
    HRESULT hr = drm_files_scan(d, root);
    size_t left = 0;
    d->process_count = d->client_count = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < d->place_count; i++) {
        char path[PATH_ROOM];
        const char *text;
        size_t size;
        struct drm_file file;
        path_of(path, root, d->places[i]);
        HRESULT read = kept_files_text(&d->kept, path, &text, &size);
        if (read == E_OUTOFMEMORY)
            return read;
        if (FAILED(read) || !drm_file_parse(text, size, &file))
            continue; /* the file was closed, or its process exited */
        hr = add_file(d, d->places[i].process, &file);
        d->places[left++] = d->places[i];
    }
    if (SUCCEEDED(hr))
        d->place_count = left;
    return hr;
}

static void drm_files_close(struct drm_files *d)
{
    kept_files_close(&d->kept);
    kept_folder_close(&d->cards);
    memory_free(d->places);
    memory_free(d->ids);
    memory_free(d->processes);
    memory_free(d->clients);
}

/* ---- the objects ---- */

/* GPU Engine. Times are in nanoseconds. */
#define GPU_ENGINE_ROWS                                                                                                \
    COLUMN(ENGINE_BUSY, "busy")                                                                                        \
    COUNTER("Utilization Percentage", PERF_PRECISION_100NS_TIMER, 0, 0, NO_TOTAL, "busy / 100",                        \
            "Share of the time in which this engine of the graphics card worked for this process.")                    \
    COUNTER(                                                                                                           \
        "Running Time", PERF_COUNTER_LARGE_RAWCOUNT, 0, -7, NO_TOTAL, "busy / 100",                                    \
        "Total time that this engine of the graphics card has worked for this process, in units of 100 nanoseconds.")

/* GPU Process Memory and GPU Adapter Memory. Sizes are in bytes. */
#define GPU_MEMORY_ROWS                                                                                                \
    COLUMN(GPU_COMMITTED, "committed")                                                                                 \
    COLUMN(GPU_DEDICATED, "dedicated")                                                                                 \
    COLUMN(GPU_SHARED, "shared")                                                                                       \
    COUNTER("Total Committed", PERF_COUNTER_LARGE_RAWCOUNT, 0, -6, NO_TOTAL, "committed",                              \
            "Memory committed by the graphics card's driver, in bytes.")                                               \
    COUNTER("Dedicated Usage", PERF_COUNTER_LARGE_RAWCOUNT, 0, -6, NO_TOTAL, "dedicated",                              \
            "Graphics card memory that is in use, in bytes.")                                                          \
    COUNTER("Shared Usage", PERF_COUNTER_LARGE_RAWCOUNT, 0, -6, NO_TOTAL, "shared",                                    \
            "System memory that is in use for the graphics card, in bytes.")

#define OBJECT gpu_engine
#define ROWS   GPU_ENGINE_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT gpu_memory
#define ROWS   GPU_MEMORY_ROWS
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

/* Reads the processes of this sample. */
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

/* Returns the memory of all clients of a card. A client that two processes share, such as a client that a window server
   passes on, is counted only once. */
static struct drm_memory memory_of(const struct drm_files *d, uint32_t device)
{
    struct drm_memory sum = {INT64_MIN, INT64_MIN, INT64_MIN};
    for (size_t i = 0; i < d->client_count; i++) {
        const struct drm_client *c = &d->clients[i];
        bool is_counted = c->device != device;
        for (size_t k = 0; k < i && c->has_id && !is_counted; k++)
            is_counted = d->clients[k].device == device && d->clients[k].has_id && d->clients[k].id == c->id;
        if (is_counted)
            continue;
        sum.committed = drm_sum(sum.committed, c->memory.committed);
        sum.dedicated = drm_sum(sum.dedicated, c->memory.dedicated);
        sum.shared = drm_sum(sum.shared, c->memory.shared);
    }
    return sum;
}

/* Finds the card's location on its bus from the line "PCI_SLOT_NAME=0000:03:00.0" of its device; 0 if the line does not
   exist. */
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

/* Reads the values that a driver such as amdgpu reports for the whole card. Other values are sums over the card's
   clients. */
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

#define FILES "/proc/PROCESS/fdinfo/FILE of graphics drivers (each client of a process counts once)"
#define MEMORY                                                                                                         \
    ", the lines drm-total-*, and drm-resident-* or drm-memory-*; memory whose name begins with vram or local is "     \
    "dedicated, all other memory is shared"
const struct counter_object_type pdh_gpu_adapter_memory = {
    .name = "GPU Adapter Memory",
    .help = "The memory of each graphics card.",
    .has_instances = true,
    TABLE_OBJECT(gpu_memory, ALL_OF, struct gpu_state, gather_cards, close_state,
                 "the files mem_info_vram_used and mem_info_gtt_used in /sys/class/drm/CARD/device; if the driver does "
                 "not provide these files, the sum over the clients in " FILES MEMORY)};
const struct counter_object_type pdh_gpu_engine = {
    .name = "GPU Engine",
    .help = "The work of each graphics card engine for each process of the host OS.",
    .has_instances = true,
    TABLE_OBJECT(gpu_engine, ALL_OF, struct gpu_state, gather_engines, close_state,
                 FILES ", the line drm-engine-NAME divided by the line drm-engine-capacity-NAME, in nanoseconds")};
const struct counter_object_type pdh_gpu_process_memory = {
    .name = "GPU Process Memory",
    .help = "Graphics memory of each process of the host OS.",
    .has_instances = true,
    TABLE_OBJECT(gpu_memory, ALL_OF, struct gpu_state, gather_processes, close_state, FILES MEMORY)};
