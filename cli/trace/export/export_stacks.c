/* SPDX-License-Identifier: MIT */
/* Converts stacks of addresses to stacks of named frames. The trace has a tree of addresses, and the export has a tree
   of frames. Within one process, each node of the tree of addresses corresponds to one node of the tree of frames.
   Caches store this correspondence, so most stacks need only two lookups. */
#include "cli/trace/export/export.h"
#include "cli/trace/export/threads.h"
#include "engine/base/memory.h"

enum {
    MOST_NODES = 4 << 20,
    MOST_CACHED = 1 << 20, /* maximum number of entries per cache; later entries replace earlier ones */
    MOST_FRAMES = 1 << 20, /* maximum number of frames; if there are more, the name of a frame without a known function
                              is only its module */
    MOST_NAME = 1024,      /* maximum bytes of a frame's name */
};

/* An entry of the cache of recent stacks, in which most stacks are found. */
struct export_latest {
    uint64_t process, stack; /* `process`: id and epoch; `stack`: user and kernel node */
    uint32_t node;
};
enum { LATEST_BITS = 16, LATEST = 1 << LATEST_BITS };

static HRESULT no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the stacks of the export");
}

static uint64_t cache_key(uint64_t a, uint64_t b)
{
    const uint64_t key = hash_number(hash_number(HASH_START, a), b);
    return key != 0 ? key : 1;
}

static uint32_t *cache_put(struct id_map *cache, uint64_t key)
{
    cache->item_size = sizeof(uint32_t);
    cache->most = MOST_CACHED;
    return id_map_put(cache, key);
}

/* ---- frames ---- */

static HRESULT frame_add(struct export *x, struct text_buffer *name, size_t module_bytes,
                         const struct trace_frame *from, uint32_t *index)
{
    void *frames = x->frame;
    if (!memory_grow(&frames, &x->frame_capacity, x->frame_count + 1, sizeof *x->frame))
        return no_memory();
    x->frame = frames;
    struct export_frame *f = &x->frame[x->frame_count];
    const size_t blocks = name->length / EXPORT_NAME_BLOCK + 1;
    *f = (struct export_frame){.name = memory_zero(blocks, EXPORT_NAME_BLOCK), .name_length = name->length};
    if (!f->name)
        return no_memory();
    memcpy(f->name, name->text, name->length);
    f->function = f->name + module_bytes;
    if (from) {
        f->module = from->place.module;
        f->kernel = from->address >= UINT64_C(0x8000000000000000);
        f->address = from->place.module ? from->place.offset - (from->function ? from->offset : 0) : from->address;
    }
    *index = (uint32_t)x->frame_count++;
    return S_OK;
}

/* Finds or adds a frame. Frames with the same name are the same frame. */
static HRESULT frame_intern(struct export *x, struct text_buffer *name, size_t module_bytes,
                            const struct trace_frame *from, uint32_t *index)
{
    *index = 0;
    if (name->failed)
        return no_memory();
    uint64_t key = hash_text(HASH_START, name->text);
    key = key != 0 ? key : 1;
    x->frame_of_name.item_size = sizeof(uint32_t);
    const uint32_t *known = id_map_find(&x->frame_of_name, key);
    if (known && strcmp(x->frame[*known].name, name->text) == 0) {
        *index = *known;
        return S_OK;
    }
    HRESULT hr = frame_add(x, name, module_bytes, from, index);
    uint32_t *item = SUCCEEDED(hr) ? id_map_put(&x->frame_of_name, key) : NULL;
    if (SUCCEEDED(hr) && !item)
        hr = no_memory();
    if (item)
        *item = *index;
    return hr;
}

/* Creates the name without the offset in the function, so that all calls in a function are one frame. */
static size_t frame_name(const struct export *x, struct trace_frame *f, struct text_buffer *name)
{
    const char *module = f->place.module ? f->place.module->name : f->place.method_module;
    size_t module_bytes = 0;
    if (module) {
        text_buffer_add(name, module);
        module_bytes = name->length;
        if (x->frame_count >= MOST_FRAMES && !f->function)
            return 0;
        text_buffer_add(name, f->function ? "!" : "+");
        module_bytes += f->function ? 1 : 0;
    }
    if (f->function)
        text_buffer_add(name, f->function);
    else if (x->frame_count >= MOST_FRAMES)
        text_buffer_add(name, "?");
    else
        text_buffer_add_hex(name, module ? f->place.offset : f->address, 1);
    if (!name->failed && name->length > MOST_NAME)
        name->text[name->length = MOST_NAME] = 0;
    return module_bytes < name->length ? module_bytes : 0;
}

static HRESULT frame_of(struct export *x, uint64_t address, bool innermost, uint32_t process, uint32_t epoch,
                        uint64_t number, uint32_t *index)
{
    const bool kernel = address >= UINT64_C(0x8000000000000000);
    const uint64_t back = innermost ? 0 : 1;
    *index = 0;
    uint32_t *cached = cache_put(
        &x->frame_of_address, cache_key((kernel ? 0 : process) | (uint64_t)epoch << 32, (address - back) << 1 | back));
    if (!cached)
        return no_memory();
    if (*cached != 0) {
        *index = *cached - 1;
        return S_OK;
    }
    struct trace_frame f;
    struct text_buffer name = {0};
    trace_frames_find(x->frames, process, address, innermost, number, &f);
    const size_t module_bytes = frame_name(x, &f, &name);
    const HRESULT hr = frame_intern(x, &name, module_bytes, &f, index);
    text_buffer_free(&name);
    if (SUCCEEDED(hr))
        *cached = *index + 1;
    return hr;
}

HRESULT export_named_frame(struct export *x, const char *name, uint32_t *index)
{
    struct text_buffer copy = {0};
    text_buffer_add(&copy, name);
    const HRESULT hr = frame_intern(x, &copy, 0, NULL, index);
    text_buffer_free(&copy);
    return hr;
}

/* ---- stacks ---- */

/* Finds or adds a node. S_FALSE if the tree is full. */
static HRESULT node_add(struct export *x, uint32_t parent, uint32_t frame, uint32_t *node)
{
    const uint64_t refused = x->tree.refused;
    x->tree.most = MOST_NODES;
    const uint32_t added = stack_tree_add(&x->tree, parent, (uint64_t)frame + 1);
    if (added == 0)
        return x->tree.refused != refused ? S_FALSE : no_memory();
    *node = added;
    return S_OK;
}

struct part {
    uint32_t process, epoch;
    uint64_t number, context; /* `context`: together with a node of the tree of addresses, determines the node
                                 of the tree of frames */
    struct id_map *cache;
    bool innermost; /* the first frame is the address that was executed */
};

/* Returns true if the node is cached. Only some nodes of a path are cached; from any other node, a few steps lead to a
   cached node. */
static bool part_is_cached(size_t depth, uint32_t node)
{
    enum { STEPS = 4 };
    return depth == 0 || node % STEPS == 0;
}

static uint64_t part_key(const struct part *p, size_t depth, uint32_t node)
{
    return cache_key(p->context, (uint64_t)node << 1 | (depth == 0 && p->innermost));
}

/* Finds the frames of path[from - 1] to path[to], outermost first. */
static HRESULT part_frames(struct export *x, const struct part *p, const uint32_t *path, size_t from, size_t to,
                           uint32_t *frames)
{
    const struct stack_tree *t = stack_joiner_tree(x->frames->stacks.joiner);
    HRESULT hr = S_OK;
    while (from > to && SUCCEEDED(hr)) {
        const size_t depth = --from;
        hr = frame_of(x, stack_tree_value(t, path[depth]), depth == 0 && p->innermost, p->process, p->epoch, p->number,
                      &frames[depth]);
    }
    return hr;
}

/* Adds the frames of `from`, a node of the trace's tree, below *node. If a frame of the path is cached, its callers are
   not looked up again. */
static HRESULT part_add(struct export *x, uint32_t from, const struct part *p, uint32_t *node)
{
    enum { AHEAD = 4 };
    const struct stack_tree *t = stack_joiner_tree(x->frames->stacks.joiner);
    uint32_t path[STACK_MOST_FRAMES], frames[STACK_MOST_FRAMES];
    size_t depth = 0;
    for (; from != 0 && depth < STACK_MOST_FRAMES; from = stack_tree_parent(t, from)) {
        const uint32_t *known = part_is_cached(depth, from) ? id_map_find(p->cache, part_key(p, depth, from)) : NULL;
        if (known && *known != 0) {
            *node = *known;
            break;
        }
        path[depth++] = from;
    }
    /* If the tree may become full, look up the frames one at a time, because a full tree accepts no more nodes. */
    const bool has_room = x->tree.count + depth < MOST_NODES;
    HRESULT hr = has_room ? part_frames(x, p, path, depth, 0, frames) : S_OK;
    while (depth-- > 0 && SUCCEEDED(hr)) {
        if (!has_room)
            hr = part_frames(x, p, path, depth + 1, depth, frames);
        else if (depth >= AHEAD) /* prefetches the tree's entry for the node of frames[depth - AHEAD]; assumes that all
                                    nodes before it are new */
            stack_tree_prefetch(&x->tree, (uint32_t)x->tree.count + AHEAD, (uint64_t)frames[depth - AHEAD] + 1);
        if (SUCCEEDED(hr))
            hr = node_add(x, *node, frames[depth], node);
        if (hr != S_OK)
            return hr;
        if (!part_is_cached(depth, path[depth]))
            continue;
        uint32_t *cached = cache_put(p->cache, part_key(p, depth, path[depth]));
        if (!cached)
            return no_memory();
        *cached = *node;
    }
    return hr;
}

static HRESULT stack_add(struct export *x, const struct event_stack *stack, uint32_t owner, uint32_t epoch,
                         uint64_t number, uint32_t *node)
{
    struct part p = {.process = owner,
                     .epoch = epoch,
                     .number = number,
                     .context = owner | (uint64_t)epoch << 32,
                     .cache = &x->node_of_user,
                     .innermost = stack->kernel == 0};
    *node = 0;
    HRESULT hr = stack->user != 0 ? part_add(x, stack->user, &p, node) : S_OK;
    if (hr != S_OK || stack->kernel == 0)
        return SUCCEEDED(hr) ? S_OK : hr;
    p.context = *node;
    p.cache = &x->node_of_kernel;
    p.innermost = true;
    hr = part_add(x, stack->kernel, &p, node);
    return SUCCEEDED(hr) ? S_OK : hr;
}

/* Returns the place of a stack in the table of the latest stacks. The place does not depend on the epoch, because the
   epoch is unknown when the place is prefetched. */
static struct export_latest *latest_of(const struct export *x, const struct event_stack *stack)
{
    const uint64_t nodes = stack->user | (uint64_t)stack->kernel << 32;
    return &x->latest[(cache_key(stack->process, nodes) * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - LATEST_BITS)];
}

static bool latest_has(const struct export_latest *l, const struct event_stack *stack)
{
    return l->node != 0 && l->stack == (stack->user | (uint64_t)stack->kernel << 32) &&
           (uint32_t)l->process == stack->process;
}

static uint64_t user_key(const struct export *x, const struct event_stack *stack)
{
    const uint64_t epoch = live_process_epoch(x->live, stack->process);
    const struct part p = {.context = stack->process | epoch << 32, .innermost = stack->kernel == 0};
    return part_key(&p, 0, stack->user);
}

/* If all nodes of a stack were added at the same time, they are adjacent in the tree. */
static void prefetch_nodes(const struct export *x, uint32_t node)
{
    enum { LINE = 64, VALUES = 4, PARENTS = 2 };
    for (size_t i = 0; i < VALUES && i * LINE / sizeof *x->tree.values < node; i++)
        __builtin_prefetch(&x->tree.values[node - 1 - i * LINE / sizeof *x->tree.values]);
    for (size_t i = 0; i < PARENTS && i * LINE / sizeof *x->tree.parents < node; i++)
        __builtin_prefetch(&x->tree.parents[node - 1 - i * LINE / sizeof *x->tree.parents]);
}

/* The data of all stacks is larger than the processor's cache. Therefore, without prefetching, each step of the search
   for a stack would wait for memory. The search first reads the stack's place among the latest stacks. If this place
   contains the stack, the search then reads the stack's nodes. Otherwise it reads the cache entry of the stack's user
   part, and then the entry of its kernel part. Therefore each call prefetches for the next three stacks: for the third
   one, its place; for the second one, its user entry; for the first one, its nodes or its kernel entry. */
void export_stacks_prefetch(const struct export *x)
{
    enum { PLACE = 3, USER = 2, NODES = 1 };
    struct event_stack stack;
    if (!x->latest)
        return;
    if (stack_joiner_ahead(x->frames->stacks.joiner, PLACE, &stack))
        __builtin_prefetch(latest_of(x, &stack));
    if (stack_joiner_ahead(x->frames->stacks.joiner, USER, &stack) && !latest_has(latest_of(x, &stack), &stack))
        id_map_prefetch(&x->node_of_user, user_key(x, &stack));
    if (!stack_joiner_ahead(x->frames->stacks.joiner, NODES, &stack))
        return;
    const struct export_latest *l = latest_of(x, &stack);
    if (latest_has(l, &stack)) {
        prefetch_nodes(x, l->node);
        return;
    }
    const uint32_t *user = id_map_find(&x->node_of_user, user_key(x, &stack));
    const struct part kernel = {.context = user ? *user : 0, .innermost = true};
    if (stack.kernel != 0)
        id_map_prefetch(&x->node_of_kernel, part_key(&kernel, 0, stack.kernel));
}

HRESULT export_stack(struct export *x, const struct event_stack *stack, uint32_t process, uint32_t epoch,
                     uint64_t number, uint32_t *node)
{
    const uint32_t owner = stack->process != UINT32_MAX ? stack->process : process;
    const uint64_t context = owner | (uint64_t)epoch << 32, nodes = stack->user | (uint64_t)stack->kernel << 32;
    if (!x->latest && !(x->latest = memory_zero(LATEST, sizeof *x->latest)))
        return no_memory();
    struct export_latest *l = latest_of(x, stack);
    if (l->node != 0 && l->process == context && l->stack == nodes) {
        *node = l->node;
        return S_OK;
    }
    const HRESULT hr = stack_add(x, stack, owner, epoch, number, node);
    if (SUCCEEDED(hr))
        *l = (struct export_latest){context, nodes, *node};
    return hr;
}

HRESULT export_address(struct export *x, uint64_t address, uint32_t process, uint32_t epoch, uint64_t number,
                       uint32_t *node)
{
    uint32_t frame;
    *node = 0;
    HRESULT hr = frame_of(x, address, true, process, epoch, number, &frame);
    if (SUCCEEDED(hr))
        hr = node_add(x, 0, frame, node);
    return SUCCEEDED(hr) ? S_OK : hr;
}

void export_stacks_free(struct export *x)
{
    for (size_t i = 0; i < x->frame_count; i++)
        memory_free(x->frame[i].name);
    memory_free(x->frame);
    stack_tree_free(&x->tree);
    id_map_free(&x->frame_of_address);
    id_map_free(&x->frame_of_name);
    id_map_free(&x->node_of_user);
    id_map_free(&x->node_of_kernel);
    memory_free(x->latest);
}
