/* SPDX-License-Identifier: MIT */
/* Page faults of programs. What one was is told by what its thread does next: whether a file's page was mapped, and
   whether it waited for a disk. A soft one keeps its place at its own time; a hard one is an event of its end. */
#include "engine/etw/kernel/tracepoint.h"

enum { FAULT_ADDRESS, FAULT_CODE_AT, FAULT_CODE };
enum { FILE_INODE, FILE_DEVICE, FILE_PAGE };
enum { CODE_PROTECTION = 1, CODE_WRITE = 2, PAGE_BYTES = 4096, FAULT_VERSION = 2 };
enum file_seen { NO_FILE, FILE_MAPPED, FILE_FAULTED };

struct kernel_fault {
    uint64_t time, address, instruction, file, offset;
    uint32_t bytes;
    uint8_t code, seen; /* enum file_seen */
    bool has_place, waited;
    size_t entry;
};

void fault_begin(struct kernel_tracer *k)
{
    k->faults = (struct id_map){.item_size = sizeof(struct kernel_fault)};
}

static enum kernel_hook soft_kind(const struct kernel_fault *f)
{
    const bool write = (f->code & CODE_WRITE) != 0;
    if (write && ((f->code & CODE_PROTECTION) != 0 || f->seen == FILE_FAULTED))
        return HOOK_FAULT_COPY;
    return f->seen != NO_FILE ? HOOK_FAULT_TRANSITION : HOOK_FAULT_ZERO;
}

static HRESULT fill_soft(struct kernel_tracer *k, uint32_t thread, struct kernel_fault *f)
{
    if (!f->has_place)
        return S_OK;
    f->has_place = false;
    kernel_data_clear(&k->data);
    kernel_data_u64(&k->data, f->address);
    kernel_data_u64(&k->data, f->instruction);
    const HRESULT hr = kernel_queue_fill(&k->queue, f->entry, soft_kind(f), &k->data);
    return SUCCEEDED(hr) ? stack_soft_fault(k, thread, f->time, soft_kind(f)) : hr;
}

static HRESULT emit_hard(struct kernel_tracer *k, const struct tracepoint_event *e, const struct kernel_fault *f,
                         uint32_t thread)
{
    struct kernel_data *d = &k->data;
    kernel_data_clear(d);
    kernel_data_u64(d, f->time);
    kernel_data_u64(d, f->offset);
    kernel_data_u64(d, f->address);
    kernel_data_u64(d, f->file);
    kernel_data_u32(d, kernel_thread_id(k, thread));
    kernel_data_u32(d, f->bytes ? f->bytes : PAGE_BYTES);
    const HRESULT hr = kernel_emit(k, e, HOOK_HARD_FAULT, FAULT_VERSION);
    return SUCCEEDED(hr) ? stack_hard_fault(k, e, thread) : hr;
}

HRESULT fault_settle(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread)
{
    struct kernel_fault *found = id_map_find(&k->faults, thread);
    if (!found)
        return S_OK;
    struct kernel_fault f = *found;
    id_map_remove(&k->faults, thread);
    if (f.waited && f.seen != NO_FILE && kernel_wants(k, FLAG_HARD_FAULTS))
        return emit_hard(k, e, &f, thread);
    return f.waited && f.seen != NO_FILE ? S_OK : fill_soft(k, thread, &f);
}

/* What waits still may become a hard one; its place goes with the queue. */
void fault_settle_all(struct kernel_tracer *k)
{
    size_t at = 0;
    uint64_t thread;
    for (struct kernel_fault *f; (f = id_map_next(&k->faults, &at, &thread)) != NULL;) {
        if (!f->waited)
            (void)fill_soft(k, (uint32_t)thread, f);
        f->has_place = false;
    }
}

void fault_waits(struct kernel_tracer *k, uint32_t thread, uint32_t bytes)
{
    struct kernel_fault *f = id_map_find(&k->faults, thread);
    if (!f)
        return;
    f->waited = true;
    f->bytes = bytes ? bytes : f->bytes;
}

static HRESULT take_fault(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    HRESULT hr = fault_settle(k, e, e->thread);
    struct kernel_fault *f = SUCCEEDED(hr) ? id_map_put(&k->faults, e->thread) : NULL;
    if (!f)
        return FAILED(hr) ? hr : e->thread == 0 ? S_OK : E_OUTOFMEMORY;
    *f = (struct kernel_fault){
        .time = e->time,
        .address = (uint64_t)tracepoint_number(e, FAULT_ADDRESS),
        .instruction = (uint64_t)tracepoint_number(e, FAULT_CODE_AT),
        .code = (uint8_t)tracepoint_number(e, FAULT_CODE),
    };
    stack_expect_fault(k, e);
    if (!kernel_wants(k, FLAG_PAGE_FAULTS))
        return S_OK;
    const struct kernel_event event = {.time = e->time, .processor = (uint16_t)e->processor, .version = FAULT_VERSION};
    hr = kernel_queue_keep_place(&k->queue, &event, &f->entry);
    f->has_place = SUCCEEDED(hr);
    return hr;
}

static void see_file(struct kernel_tracer *k, const struct tracepoint_event *e, enum file_seen seen)
{
    struct kernel_fault *f = id_map_find(&k->faults, e->thread);
    if (!f || f->seen == FILE_FAULTED)
        return;
    f->seen = (uint8_t)seen;
    f->file = (uint64_t)tracepoint_number(e, FILE_INODE) ^ (uint64_t)tracepoint_number(e, FILE_DEVICE) << 44;
    f->offset = (uint64_t)tracepoint_number(e, FILE_PAGE) * PAGE_BYTES;
}

static HRESULT take_file_fault(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    see_file(k, e, FILE_FAULTED);
    return S_OK;
}

static HRESULT take_file_map(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    see_file(k, e, FILE_MAPPED);
    return S_OK;
}

#define OF_FILE                                                                                                        \
    {                                                                                                                  \
        [FILE_INODE] = "i_ino", [FILE_DEVICE] = "s_dev", [FILE_PAGE] = "index"                                         \
    }

const struct tracepoint fault_tracepoints[] = {
    {"exceptions",
     "page_fault_user",
     NULL,
     FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS,
     FLAG_PAGE_FAULTS,
     take_fault,
     {[FAULT_ADDRESS] = "address", [FAULT_CODE_AT] = "ip", [FAULT_CODE] = "error_code"}},
    {"filemap", "mm_filemap_fault", NULL, FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS, FLAG_HARD_FAULTS, take_file_fault,
     OF_FILE},
    {"filemap", "mm_filemap_map_pages", NULL, FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS, 0, take_file_map, OF_FILE},
    {0},
};
