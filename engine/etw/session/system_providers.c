/* SPDX-License-Identifier: MIT */
/* GUIDs and keywords are those of Microsoft's page on system providers. What a keyword stands for beyond the flags of
   old has no events here. */
#include "engine/etw/session/system_providers.h"

#include "engine/etw/kernel_event.h"

enum { MOST_KEYWORDS = 9 };

static const struct system_provider {
    GUID guid;
    struct {
        uint32_t keyword, flags;
    } row[MOST_KEYWORDS]; /* up to one without flags */
} providers[] = {
    /* Process */
    {{0x151F55DC, 0x467D, 0x471F, {0x83, 0xB5, 0x5F, 0x88, 0x9D, 0x46, 0xFF, 0x66}},
     {{0x1, FLAG_PROCESS},
      {0x8, FLAG_PROCESS_COUNTERS},
      {0x80, FLAG_DEBUG_EVENTS},
      {0x100, FLAG_DEBUG_PRINT},
      {0x200, FLAG_JOB},
      {0x800, FLAG_THREAD},
      {0x1000, FLAG_IMAGE_LOAD}}},
    /* Config: what sessions tell of the machine anyway */
    {{0xFEF3A8B6, 0x318D, 0x4B67, {0xA9, 0x6A, 0x3B, 0x0F, 0x6B, 0x8F, 0x18, 0xFE}}, {{0}}},
    /* Io */
    {{0x3D5C43E3, 0x0F1C, 0x4202, {0xB8, 0x17, 0x17, 0x4C, 0x00, 0x70, 0xDC, 0x79}},
     {{0x1, FLAG_DISK},
      {0x2, FLAG_DISK_INIT},
      {0x4, FLAG_DISK_FILE},
      {0x8, FLAG_SPLIT_IO},
      {0x10, FLAG_FILE_IO},
      {0x80, FLAG_DRIVER | FLAG_DISK_FILE},
      {0x200, FLAG_NETWORK},
      {0x400, FLAG_FILE_IO_INIT}}},
    /* Scheduler */
    {{0x599A2A76, 0x4D91, 0x4910, {0x9A, 0xC7, 0x7D, 0x33, 0xF2, 0xE9, 0x7A, 0x6C}},
     {{0x2, FLAG_DISPATCHER}, {0x200, FLAG_SWITCH}}},
    /* Memory */
    {{0x82958CA9, 0xB6CD, 0x47F8, {0xA3, 0xA8, 0x03, 0xAE, 0x85, 0xA4, 0xBC, 0x24}},
     {{0x2, FLAG_HARD_FAULTS}, {0x4, FLAG_PAGE_FAULTS}, {0x400, FLAG_VIRTUAL_ALLOC}, {0x4000, FLAG_MAPPING}}},
    /* Interrupt */
    {{0xD4BBEE17, 0xB545, 0x4888, {0x85, 0x8B, 0x74, 0x41, 0x69, 0x01, 0x5B, 0x25}},
     {{0x1, FLAG_INTERRUPT}, {0x4, FLAG_DPC}}},
    /* Profile, Syscall, Registry, Alpc */
    {{0xBFEB0324, 0x1CEE, 0x496F, {0xA4, 0x09, 0x2A, 0xC2, 0xB4, 0x8A, 0x63, 0x22}}, {{0x1, FLAG_PROFILE}}},
    {{0x434286F7, 0x6F1B, 0x45BB, {0xB3, 0x7E, 0x95, 0xF6, 0x23, 0x04, 0x6C, 0x7C}}, {{0x1, FLAG_SYSTEM_CALL}}},
    {{0x16156BD9, 0xFAB4, 0x4CFA, {0xA2, 0x32, 0x89, 0xD1, 0x09, 0x90, 0x58, 0xE3}}, {{0x1, FLAG_REGISTRY}}},
    {{0xFCB9BAAF, 0xE529, 0x4980, {0x92, 0xE9, 0xCE, 0xD1, 0xA6, 0xAA, 0xDF, 0xDF}}, {{0x1, FLAG_ALPC}}},
    /* Power, Cpu, Hypervisor, Object, IoFilter, Lock, Timer */
    {{0xC134884A, 0x32D5, 0x4488, {0x80, 0xE5, 0x14, 0xED, 0x7A, 0xBB, 0x82, 0x69}}, {{0}}},
    {{0xC6C5265F, 0xEAE8, 0x4650, {0xAA, 0xE4, 0x9D, 0x48, 0x60, 0x3D, 0x85, 0x10}}, {{0}}},
    {{0xBAFA072A, 0x918A, 0x4BED, {0xB6, 0x22, 0xBC, 0x15, 0x20, 0x97, 0x09, 0x8F}}, {{0}}},
    {{0xFEBD7460, 0x3D1D, 0x47EB, {0xAF, 0x49, 0xC9, 0xEE, 0xB1, 0xE1, 0x46, 0xF2}}, {{0}}},
    {{0xFBD09363, 0x9E22, 0x4661, {0xB8, 0xBF, 0xE7, 0xA3, 0x4B, 0x53, 0x5B, 0x8C}}, {{0}}},
    {{0x721DDFD3, 0xDACC, 0x4E1E, {0xB2, 0x6A, 0xA2, 0xCB, 0x31, 0xD4, 0x70, 0x5A}}, {{0}}},
    {{0x4F061568, 0xE215, 0x499F, {0xAB, 0x2E, 0xED, 0xA0, 0xAE, 0x89, 0x0A, 0x5B}}, {{0}}},
};

static const struct system_provider *find(const GUID *guid)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (guid_equal(&providers[i].guid, guid))
            return &providers[i];
    return NULL;
}

bool system_provider_is_one(const GUID *provider)
{
    return find(provider) != NULL;
}

uint32_t system_provider_flags(const GUID *provider, uint64_t keywords)
{
    const struct system_provider *p = find(provider);
    uint32_t flags = 0;
    for (size_t i = 0; p && i < MOST_KEYWORDS && p->row[i].flags != 0; i++)
        if (keywords == 0 || (keywords & p->row[i].keyword) != 0)
            flags |= p->row[i].flags;
    return flags;
}

HRESULT system_providers_enabled(struct directory *d, const struct directory_session *s, uint32_t *flags)
{
    struct directory_enable *enables;
    uint64_t generation;
    size_t count;
    *flags = 0;
    const HRESULT hr = directory_enables(d, NULL, &enables, &count, &generation);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (enables[i].logger == s->logger && enables[i].turn == s->turn)
            *flags |= system_provider_flags(&enables[i].provider, enables[i].any);
    directory_enables_free(enables, count); /* none when they could not be had */
    return hr;
}
