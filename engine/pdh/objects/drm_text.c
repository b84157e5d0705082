/* SPDX-License-Identifier: MIT */
/* Parser of the keys that graphics drivers write into fdinfo (the kernel's drm-usage-stats): "drm-engine-render: 5 ns",
   "drm-engine-capacity-render: 2", "drm-resident-vram0: 8 KiB", "drm-total-vram0", "drm-memory-vram" of older ones. */
#include "engine/pdh/objects/drm_text.h"

#include "engine/base/kernel_number.h"

static bool starts(const char *p, const char *end, const char *word)
{
    return kernel_starts(p, end, word, strlen(word));
}

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

uint32_t drm_device(const char *p, const char *end)
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

int64_t drm_sum(int64_t a, int64_t b)
{
    if (a == INT64_MIN || b == INT64_MIN)
        return a == INT64_MIN ? b : a;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The bytes of "12 KiB"; without a unit they are bytes. */
static bool bytes(const char *p, const char *end, int64_t *out)
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

/* Memory of one form of keys, as different kernels have different ones. */
struct sizes {
    int64_t dedicated, shared;
};

static void set_size(struct sizes *s, const char *region, const char *end)
{
    int64_t size;
    const char *colon = text_find(region, end, ':');
    if (!colon || !bytes(colon + 1, end, &size))
        return;
    bool own = starts(region, end, "vram") || starts(region, end, "local");
    int64_t *to = own ? &s->dedicated : &s->shared;
    *to = drm_sum(*to, size);
}

/* The engine of this name, added if there is room; NULL: there is none. */
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

/* "drm-engine-" has been read. `capacity` has a place for each engine. */
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
