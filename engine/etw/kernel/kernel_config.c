/* SPDX-License-Identifier: MIT */
/* Writes the computer's configuration in the layouts of Windows' SystemConfig classes: processors and memory, disks and
   partitions, network adapters and addresses, interrupts, sleep states. Fields that Linux does not report are 0 or "";
   classes without any data on Linux (video, services, plug and play) are missing. */
#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { CONFIG_VERSION = 2, NEWER_VERSION = 3, SECTOR = 512, MOST_TEXT = 512 };

struct configuration {
    struct kernel_tracer *k;
    const struct tracepoint_event *at;
    char *mounts; /* contents of /proc/mounts; NULL: the file is unreadable */
};

/* ---- strings and numbers ---- */

/* Reads the first line of the file; "" if the file cannot be read. */
static void line_of(const char *path, char *out, size_t room)
{
    char *text;
    *out = 0;
    if (SUCCEEDED(kernel_file_text(path, &text, NULL)))
        snprintf(out, room, "%.*s", (int)strcspn(text, "\n"), text);
    memory_free(text);
}

static uint64_t number_of(const char *path)
{
    char line[32];
    line_of(path, line, sizeof line);
    return strtoull(line, NULL, 10);
}

static uint64_t number_below(const char *folder, const char *file)
{
    char path[MOST_TEXT];
    return snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path ? number_of(path) : 0;
}

/* Appends exactly `units` units of UTF-16; the last unit is a NUL. */
static void put_fixed(struct kernel_data *d, const char *text, size_t units)
{
    const size_t from = d->size;
    kernel_data_text(d, text, units - 1);
    while (!d->failed && d->size < from + 2 * units)
        kernel_data_u16(d, 0);
}

static HRESULT configuration_emit(const struct configuration *c, uint32_t type, uint8_t version)
{
    return kernel_emit_of(c->k, c->at, (enum kernel_hook)(HOOK_CONFIGURATION + type), version, 0, 0);
}

/* ---- processors and memory ---- */

/* Returns the number in the first line with this name; 0 if it is missing. */
static uint32_t cpuinfo_number(const char *cpuinfo, const char *name)
{
    const char *at = strstr(cpuinfo, name), *colon = at ? strchr(at, ':') : NULL;
    return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

static bool has_word(const char *text, const char *name, const char *word)
{
    /* `name` includes the line feed before it, so it is only found at the beginning of a line. */
    const char *at = strstr(text, name), *end = at ? strchr(at + 1, '\n') : NULL;
    const char *found = at ? strstr(at, word) : NULL;
    return found && (!end || found < end);
}

static HRESULT put_processors(const struct configuration *c)
{
    enum { TYPE = 10, PAGE = 4096, GRANULARITY = 65536, NAME_UNITS = 256, DOMAIN_UNITS = 134, AMD64 = 9, ARM64 = 12 };
    struct kernel_data *d = &c->k->data;
    char domain[256], *computer = os_computer_name(), *cpuinfo = NULL;
    (void)kernel_file_text("/proc/cpuinfo", &cpuinfo, NULL);
    const char *info = cpuinfo ? cpuinfo : "";
    uint32_t count = 0;
    for (const char *at = info; (at = strstr(at, "processor\t:")) != NULL; at++)
        count++;
    count = count ? count : c->k->processors;
    const bool threads = number_of("/sys/devices/system/cpu/smt/active") != 0;
    line_of("/proc/sys/kernel/domainname", domain, sizeof domain);
    kernel_data_clear(d);
    kernel_data_u32(d, clock_cpu_mhz());
    kernel_data_u32(d, count);
    kernel_data_u32(d, (uint32_t)(os_memory_bytes() >> 20));
    kernel_data_u32(d, PAGE);
    kernel_data_u32(d, GRANULARITY);
    put_fixed(d, computer, NAME_UNITS);
    put_fixed(d, strcmp(domain, "(none)") == 0 ? "" : domain, DOMAIN_UNITS);
    kernel_data_u64(d, !threads ? 0 : count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX);
    kernel_data_u64(d, UINT64_C(0x00007FFFFFFEFFFF)); /* highest user address in Wine and Windows */
    kernel_data_u16(d, strstr(info, "CPU implementer") ? ARM64 : AMD64);
    kernel_data_u16(d, (uint16_t)cpuinfo_number(info, "cpu family"));
    kernel_data_u16(d, (uint16_t)(cpuinfo_number(info, "model\t") << 8 | cpuinfo_number(info, "stepping")));
    kernel_data_u8(d, has_word(info, "\nflags", " pae"));
    kernel_data_u8(d, has_word(info, "\nflags", " nx"));
    kernel_data_u32(d, 0); /* speed of the memory */
    memory_free(computer);
    memory_free(cpuinfo);
    return configuration_emit(c, TYPE, NEWER_VERSION);
}

/* ---- disks ---- */

/* Returns the folder and the file system type of the device's first mount. Returns false if the device is not
   mounted. */
static bool mount_of(const struct configuration *c, const char *device, char folder[MOST_TEXT], char system[32])
{
    char name[MOST_TEXT];
    for (const char *line = c->mounts; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (sscanf(line, "/dev/%500s %511s %31s", name, folder, system) == 3 && strcmp(name, device) == 0)
            return true;
    return false;
}

/* Writes a partition or, with `number` 0, a whole disk without partitions. */
static HRESULT put_volume(const struct configuration *c, const char *device, const char *folder, uint32_t disk,
                          uint32_t number)
{
    enum { TYPE = 12, PARTITION = 1, VOLUME = 2, CLUSTER = 4096, SIZE = 112, LETTER_UNITS = 4, SYSTEM_UNITS = 16 };
    struct kernel_data *d = &c->k->data;
    char where[MOST_TEXT] = "", system[32] = "";
    uint64_t size = 0, free = 0;
    const bool mounted = mount_of(c, device, where, system);
    if (mounted && FAILED(kernel_folder_space(where, &size, &free)))
        size = free = 0;
    kernel_data_clear(d);
    kernel_data_u64(d, number_below(folder, "start") * SECTOR);
    kernel_data_u64(d, number_below(folder, "size") * SECTOR);
    kernel_data_u32(d, disk);
    kernel_data_u32(d, SIZE);
    kernel_data_u32(d, number ? PARTITION : VOLUME);
    put_fixed(d, strcmp(where, "/") == 0 ? "Z:" : "", LETTER_UNITS); /* Wine maps drive Z: to the root folder */
    kernel_data_u32(d, 0);
    kernel_data_u32(d, number);
    kernel_data_u32(d, CLUSTER / SECTOR);
    kernel_data_u32(d, SECTOR);
    kernel_data_u32(d, 0);
    kernel_data_u64(d, free / CLUSTER);
    kernel_data_u64(d, size / CLUSTER);
    put_fixed(d, system, SYSTEM_UNITS);
    kernel_data_u32(d, 0);
    kernel_data_u32(d, 0);
    return mounted || number ? configuration_emit(c, TYPE, CONFIG_VERSION) : S_OK;
}

static HRESULT put_disk(const struct configuration *c, const char *name, uint32_t disk, uint32_t partitions)
{
    enum { TYPE = 11, TRACK = 63, CYLINDER = 255, MAKER_UNITS = 256, LETTER_UNITS = 3, SPARE_UNITS = 2 };
    struct kernel_data *d = &c->k->data;
    char path[MOST_TEXT], vendor[64], model[128], maker[200], cache[32];
    snprintf(path, sizeof path, "/sys/block/%.200s/device/vendor", name);
    line_of(path, vendor, sizeof vendor);
    snprintf(path, sizeof path, "/sys/block/%.200s/device/model", name);
    line_of(path, model, sizeof model);
    snprintf(path, sizeof path, "/sys/block/%.200s/queue/write_cache", name);
    line_of(path, cache, sizeof cache);
    /* Omit the vendor if it is a number, which is not useful to readers. */
    snprintf(maker, sizeof maker, "%s%s%s", strncmp(vendor, "0x", 2) ? vendor : "", *model ? " " : "", model);
    snprintf(path, sizeof path, "/sys/block/%.200s", name);
    const uint32_t block = (uint32_t)number_below(path, "queue/logical_block_size");
    kernel_data_clear(d);
    kernel_data_u32(d, disk);
    kernel_data_u32(d, block ? block : SECTOR);
    kernel_data_u32(d, TRACK);
    kernel_data_u32(d, CYLINDER);
    kernel_data_u64(d, number_below(path, "size") * SECTOR / (block ? block : SECTOR) / (TRACK * CYLINDER));
    for (int address = 0; address < 4; address++)
        kernel_data_u32(d, 0); /* SCSI port, path, target and logical unit */
    put_fixed(d, maker[0] == ' ' ? maker + 1 : maker, MAKER_UNITS);
    kernel_data_u32(d, partitions);
    kernel_data_u8(d, strcmp(cache, "write back") == 0);
    kernel_data_u8(d, 0);
    put_fixed(d, "", LETTER_UNITS);
    put_fixed(d, "", SPARE_UNITS);
    return configuration_emit(c, TYPE, CONFIG_VERSION);
}

static HRESULT put_disk_with_volumes(const struct configuration *c, const char *name, uint32_t disk)
{
    char path[MOST_TEXT];
    struct texts below = {0};
    uint32_t partitions = 0;
    snprintf(path, sizeof path, "/sys/block/%.200s", name);
    HRESULT hr = kernel_folder_names(path, &below);
    for (size_t i = 0; SUCCEEDED(hr) && i < below.count; i++)
        partitions += strncmp(below.items[i], name, strlen(name)) == 0;
    hr = put_disk(c, name, disk, partitions);
    if (SUCCEEDED(hr) && partitions == 0)
        hr = put_volume(c, name, path, disk, 0);
    for (size_t i = 0; SUCCEEDED(hr) && i < below.count; i++) {
        if (strncmp(below.items[i], name, strlen(name)) != 0)
            continue;
        snprintf(path, sizeof path, "/sys/block/%.200s/%.200s", name, below.items[i]);
        hr = put_volume(c, below.items[i], path, disk, (uint32_t)number_below(path, "partition"));
    }
    texts_free(&below);
    return hr;
}

static HRESULT put_disks(struct configuration *c)
{
    struct texts names = {0};
    HRESULT hr = disk_names(&names);
    (void)kernel_file_text("/proc/mounts", &c->mounts, NULL);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
        hr = put_disk_with_volumes(c, names.items[i], (uint32_t)i);
    memory_free(c->mounts);
    texts_free(&names);
    return hr;
}

/* ---- adapters, interrupts, power ---- */

static HRESULT put_adapter(const struct configuration *c, const char *name)
{
    enum { TYPE = 13, MOST_ADDRESS = 8 };
    struct kernel_data *d = &c->k->data;
    char folder[MOST_TEXT], path[MOST_TEXT + 16], physical[64], *addresses, *servers;
    uint64_t address = 0;
    uint32_t bytes = 0;
    if (snprintf(folder, sizeof folder, "/sys/class/net/%s", name) >= (int)sizeof folder)
        return S_OK;
    snprintf(path, sizeof path, "%s/address", folder);
    line_of(path, physical, sizeof physical);
    for (char *at = physical, *end; *at && bytes < MOST_ADDRESS; at = end + (*end == ':'), bytes++) {
        const unsigned long byte = strtoul(at, &end, 16);
        if (end == at)
            break;
        address |= (uint64_t)(byte & 0xFF) << (8 * bytes);
    }
    const uint32_t index = (uint32_t)number_below(folder, "ifindex");
    HRESULT hr = adapter_addresses(name, &addresses);
    if (FAILED(hr))
        return hr;
    hr = adapter_name_servers(&servers);
    if (SUCCEEDED(hr)) {
        kernel_data_clear(d);
        kernel_data_u64(d, address);
        kernel_data_u32(d, bytes);
        kernel_data_u32(d, index);
        kernel_data_u32(d, index);
        kernel_data_text(d, name, MOST_TEXT);
        kernel_data_text(d, addresses, MOST_TEXT * 4);
        kernel_data_text(d, servers, MOST_TEXT * 4);
        hr = configuration_emit(c, TYPE, CONFIG_VERSION);
    }
    memory_free(servers);
    memory_free(addresses);
    return hr;
}

static HRESULT put_adapters(const struct configuration *c)
{
    struct texts names = {0};
    HRESULT hr = kernel_folder_names("/sys/class/net", &names);
    hr = hr == E_OUTOFMEMORY ? hr : S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
        hr = put_adapter(c, names.items[i]);
    texts_free(&names);
    return hr;
}

/* Writes the numbered lines of /proc/interrupts. In each line, the name follows the counts of all processors. */
static HRESULT put_interrupts(const struct configuration *c)
{
    enum { TYPE = 21 };
    struct kernel_data *d = &c->k->data;
    char *text, path[64], affinity[64], what[MOST_TEXT];
    HRESULT hr = S_OK;
    if (FAILED(kernel_file_text("/proc/interrupts", &text, NULL)))
        return S_OK;
    for (const char *line = text; SUCCEEDED(hr) && line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *at;
        const unsigned long number = strtoul(line, &at, 10);
        if (at == line || *at++ != ':')
            continue;
        for (char *end;
             at += strspn(at, " "), (void)strtoull(at, &end, 10), end != at && (*end == ' ' || *end == '\n');)
            at = end;
        snprintf(what, sizeof what, "%.*s", (int)strcspn(at, "\n"), at);
        snprintf(path, sizeof path, "/proc/irq/%lu/smp_affinity", number);
        line_of(path, affinity, sizeof affinity);
        /* The last word of the mask contains the lowest 32 processors. */
        const char *low = strrchr(affinity, ',') ? strrchr(affinity, ',') + 1 : affinity;
        kernel_data_clear(d);
        kernel_data_u64(d, strtoull(low, NULL, 16));
        kernel_data_u16(d, 0);
        kernel_data_u16(d, 0);
        kernel_data_u32(d, (uint32_t)number);
        const size_t length_at = d->size;
        kernel_data_u32(d, 0);
        kernel_data_text(d, what, MOST_TEXT);
        if (!d->failed)
            put_u32(d->bytes + length_at, (uint32_t)(d->size - length_at - 4));
        hr = configuration_emit(c, TYPE, NEWER_VERSION);
    }
    memory_free(text);
    return hr;
}

/* Writes the sleep states: S1 is standby, S3 is sleep to memory, and S4 is sleep to disk. S5 is always available,
   because any computer can be switched off. */
static HRESULT put_power(const struct configuration *c)
{
    enum { TYPE = 16 };
    struct kernel_data *d = &c->k->data;
    char states[128];
    line_of("/sys/power/state", states, sizeof states);
    kernel_data_clear(d);
    kernel_data_u8(d, strstr(states, "standby") != NULL);
    kernel_data_u8(d, 0);
    kernel_data_u8(d, strstr(states, "mem") != NULL);
    kernel_data_u8(d, strstr(states, "disk") != NULL);
    kernel_data_u8(d, 1);
    for (int pad = 0; pad < 3; pad++)
        kernel_data_u8(d, 0);
    return *states ? configuration_emit(c, TYPE, CONFIG_VERSION) : S_OK;
}

HRESULT configuration_rundown(struct kernel_tracer *k, const struct tracepoint_event *at)
{
    struct configuration c = {.k = k, .at = at};
    HRESULT hr = put_processors(&c);
    if (SUCCEEDED(hr))
        hr = put_disks(&c);
    if (SUCCEEDED(hr))
        hr = put_adapters(&c);
    hr = hr == E_OUTOFMEMORY ? hr : put_interrupts(&c);
    return SUCCEEDED(hr) ? put_power(&c) : hr;
}

enum { MOST_NAME = 64 };

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

/* Returns whether the list already has the address. The kernel's tables can list an address several times, but the
   result must have it only once. */
static bool list_has_address(const struct text_buffer *list, const char *address)
{
    const size_t length = strlen(address);
    for (const char *at = list->text; at && *at; at += strcspn(at, ";"), at += *at == ';')
        if (strcspn(at, ";") == length && strncmp(at, address, length) == 0)
            return true;
    return false;
}

static void list_add_address(struct text_buffer *out, const char *address)
{
    if (!list_has_address(out, address))
        text_buffer_format(out, "%s%s", out->length ? ";" : "", address);
}

/* ---- IPv4 ---- */

/* Finds the narrowest route through the adapter to the address, and returns the number of bits in its mask; -1: no
   route matches. `address` is in network byte order, as the kernel writes it. */
static int route_of(const char *routes, const char *name, uint32_t address)
{
    int best = -1;
    for (const char *line = routes; line && *line; line = next_line(line)) {
        char adapter[MOST_NAME];
        uint32_t destination, mask;
        if (sscanf(line, "%63s %" SCNx32 " %*x %*x %*u %*u %*d %" SCNx32, adapter, &destination, &mask) != 3 ||
            strcmp(adapter, name) != 0 || (address & mask) != destination)
            continue;
        int bits = 0;
        for (; mask; mask &= mask - 1)
            bits++;
        best = bits > best ? bits : best;
    }
    return best;
}

/* Returns the address as the number that /proc/net/route shows for it. */
static uint32_t in_memory(const unsigned bytes[4])
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool is_address_of_adapter(const char *routes, const char *name, const unsigned bytes[4])
{
    if (bytes[0] == 127) /* /proc/net/route has no routes for loopback addresses */
        return strcmp(name, "lo") == 0;
    return route_of(routes, name, in_memory(bytes)) > 0;
}

void adapter_ipv4(const char *trie, const char *routes, const char *name, struct text_buffer *out)
{
    unsigned bytes[4] = {0};
    char address[16];
    for (const char *line = trie; line && *line; line = next_line(line)) {
        unsigned read[4];
        const char *at = line + strspn(line, " ");
        if (sscanf(at, "|-- %3u.%3u.%3u.%3u", &read[0], &read[1], &read[2], &read[3]) == 4) {
            for (int i = 0; i < 4; i++)
                bytes[i] = read[i] & 0xFF;
            continue;
        }
        if (strncmp(at, "/32 host LOCAL", 14) != 0 || !is_address_of_adapter(routes, name, bytes))
            continue;
        snprintf(address, sizeof address, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
        list_add_address(out, address);
    }
}

/* ---- IPv6 ---- */

void adapter_ipv6(const char *table, const char *name, struct text_buffer *out)
{
    for (const char *line = table; line && *line; line = next_line(line)) {
        char digits[33], adapter[MOST_NAME], address[40];
        if (sscanf(line, "%32[0-9a-f] %*x %*x %*x %*x %63s", digits, adapter) != 2 || strlen(digits) != 32 ||
            strcmp(adapter, name) != 0)
            continue;
        char *to = address;
        for (int i = 0; i < 32; i++) {
            if (i != 0 && i % 4 == 0)
                *to++ = ':';
            *to++ = digits[i];
        }
        *to = 0;
        list_add_address(out, address);
    }
}

/* ---- configuration of this computer ---- */

static HRESULT list_take_text(struct text_buffer *b, char **out)
{
    text_buffer_add(b, "");
    *out = text_buffer_take(b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT adapter_addresses(const char *name, char **out)
{
    char *trie, *routes, *table;
    struct text_buffer b = {0};
    (void)kernel_file_text("/proc/net/fib_trie", &trie, NULL);
    (void)kernel_file_text("/proc/net/route", &routes, NULL);
    (void)kernel_file_text("/proc/net/if_inet6", &table, NULL);
    adapter_ipv4(trie, routes, name, &b);
    adapter_ipv6(table, name, &b);
    memory_free(table);
    memory_free(routes);
    memory_free(trie);
    return list_take_text(&b, out);
}

HRESULT adapter_name_servers(char **out)
{
    char *text, server[64];
    struct text_buffer b = {0};
    (void)kernel_file_text("/etc/resolv.conf", &text, NULL);
    for (const char *line = text; line && *line; line = next_line(line))
        if (sscanf(line, "nameserver %63s", server) == 1)
            list_add_address(&b, server);
    memory_free(text);
    return list_take_text(&b, out);
}
