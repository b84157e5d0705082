/* SPDX-License-Identifier: MIT */
/* Parses kernel files: named numbers, numbers per processor, and tables of named items. */
#include "engine/pdh/core/kernel_text.h"

#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <string.h>

static struct kernel_key *kernel_keys_find(const struct kernel_keys *k, const char *name, size_t length)
{
    for (size_t i = 0; i < k->count; i++) {
        struct kernel_key *key = &k->keys[i];
        if (key->length == length && key->name[0] == *name && !memcmp(key->name, name, length))
            return key;
    }
    return NULL;
}

HRESULT kernel_keys_add(struct kernel_keys *k, const char *name, size_t length, size_t *slot)
{
    const struct kernel_key *known = length ? kernel_keys_find(k, name, length) : NULL;
    if (known) {
        *slot = (size_t)(known - k->keys);
        return S_OK;
    }
    char *copy = text_copy_n(name, length);
    if (!copy || !memory_grow((void **)&k->keys, &k->capacity, k->count + 1, sizeof *k->keys)) {
        memory_free(copy);
        return E_OUTOFMEMORY;
    }
    *slot = k->count;
    k->keys[k->count++] = (struct kernel_key){copy, length, 0, false};
    return S_OK;
}

void kernel_keys_free(struct kernel_keys *k)
{
    for (size_t i = 0; i < k->count; i++)
        memory_free(k->keys[i].name);
    memory_free(k->keys);
    *k = (struct kernel_keys){0};
}

/* Finds the key "GROUP.name", for example "Tcp.InSegs". */
static struct kernel_key *find_in_group(const struct kernel_keys *k, const char *group, size_t group_length,
                                        const char *name, size_t length)
{
    for (size_t i = 0; i < k->count; i++) {
        struct kernel_key *key = &k->keys[i];
        if (key->length == group_length + 1 + length && key->name[group_length] == '.' &&
            !memcmp(key->name + group_length + 1, name, length) && !memcmp(key->name, group, group_length))
            return key;
    }
    return NULL;
}

/* Sets the value of a key. *found counts the keys that get their first value. */
static void set_key_value(struct kernel_key *key, const char *p, const char *end, size_t *found)
{
    uint64_t v;
    if (key && kernel_number(p, end, &v)) {
        *found += !key->has;
        key->value = v;
        key->has = true;
    }
}

static bool has_group(const struct kernel_keys *k, const char *group, size_t length)
{
    for (size_t i = 0; i < k->count; i++) {
        const struct kernel_key *key = &k->keys[i];
        if (key->length > length && key->name[length] == '.' && !memcmp(key->name, group, length))
            return true;
    }
    return false;
}

/* Parses a line "Tcp: a b" followed by "Tcp: 1 2". */
static void set_pair(struct kernel_keys *k, const char *names, const char *names_end, const char *values,
                     const char *values_end, size_t group_length, size_t *found)
{
    const char *group = names;
    names += group_length + 1;
    values += group_length + 1;
    for (;;) {
        names = kernel_skip(names, names_end);
        values = kernel_skip(values, values_end);
        const char *name_end = kernel_word_end(names, names_end);
        if (name_end == names || values == values_end)
            return;
        set_key_value(find_in_group(k, group, group_length, names, (size_t)(name_end - names)), values, values_end,
                      found);
        names = name_end;
        values = kernel_word_end(values, values_end);
    }
}

HRESULT kernel_keys_parse(const char *text, size_t size, struct kernel_keys *k)
{
    const char *end = text + size, *before = NULL, *before_end = NULL;
    size_t found = 0;
    for (size_t i = 0; i < k->count; i++)
        k->keys[i].has = false;
    for (const char *p = text, *line; p < end && found < k->count; p = line < end ? line + 1 : end) {
        line = kernel_line_end(p, end);
        const char *word = kernel_word_end(p, line);
        size_t length = (size_t)(word - p);
        if (length > 1 && word[-1] == ':') {
            length--;
            if (before && kernel_starts(before, before_end, p, length + 1) && has_group(k, p, length))
                set_pair(k, before, before_end, p, line, length, &found);
            before = p;
            before_end = line;
        }
        if (length)
            set_key_value(kernel_keys_find(k, p, length), word, line, &found);
    }
    return found ? S_OK
                 : error_set(E_FAIL, "cannot parse a kernel file of %u bytes: none of the expected names found",
                             (unsigned)size);
}

/* ---- numbers per processor ---- */

#define STARTS(p, end, literal) kernel_starts(p, end, literal, sizeof(literal) - 1)

/* Parses "cpu0 user nice system idle iowait irq softirq ..."; false if the line ends before idle. */
static bool parse_cpu(const char *p, const char *end, struct kernel_cpu *cpu)
{
    uint64_t id = 0;
    size_t n = 0;
    *cpu = (struct kernel_cpu){0};
    p = kernel_number(p, end, &id);
    while (p && n < CPU_TIMES && (p = kernel_number(p, end, &cpu->times[n])))
        n++;
    cpu->id = (uint32_t)id;
    return n > CPU_IDLE && id <= UINT32_MAX;
}

HRESULT kernel_cpus_parse(const char *text, size_t size, struct kernel_cpus *out)
{
    const char *end = text + size;
    out->count = 0;
    /* The processors' lines are at the beginning. */
    for (const char *p = text, *line; p < end && STARTS(p, end, "cpu"); p = line + 1) {
        struct kernel_cpu cpu;
        line = kernel_line_end(p, end);
        if (line - p <= 3 || p[3] < '0' || p[3] > '9' || !parse_cpu(p + 3, line, &cpu))
            continue;
        if (!memory_grow((void **)&out->cpus, &out->capacity, out->count + 1, sizeof *out->cpus))
            return E_OUTOFMEMORY;
        out->cpus[out->count++] = cpu;
    }
    return out->count ? S_OK
                      : error_set(E_FAIL, "cannot parse '/proc/stat': no processor in its %u bytes", (unsigned)size);
}

void kernel_cpus_free(struct kernel_cpus *cpus)
{
    memory_free(cpus->cpus);
    *cpus = (struct kernel_cpus){0};
}

/* Parses the header "   CPU0   CPU1". */
static HRESULT parse_columns(const char *p, const char *end, struct kernel_counts *out)
{
    uint64_t id;
    while (p = kernel_skip(p, end), STARTS(p, end, "CPU") && (p = kernel_number(p + 3, end, &id))) {
        if (!memory_grow((void **)&out->counts, &out->capacity, out->count + 1, sizeof *out->counts))
            return E_OUTOFMEMORY;
        out->counts[out->count++] = (struct kernel_count){.cpu = (uint32_t)id};
    }
    return out->count ? S_OK : E_FAIL;
}

/* Parses " 24:   1   0  text" and adds the counts of the line if the line has a count for every column. */
static void add_line(const char *p, const char *end, struct kernel_counts *out)
{
    const char *label = kernel_skip(p, end);
    const char *colon = text_find(label, end, ':');
    uint64_t v;
    size_t n = 0;
    /* the line CAL already includes TLB */
    if (!colon || (colon - label == 3 && !memcmp(label, "TLB", 3)))
        return;
    for (const char *at = colon + 1; n < out->count && (at = kernel_number(at, end, &v));)
        n++;
    if (n < out->count)
        return; /* like the line ERR, this line has only a sum over all processors */
    bool clock = colon - label == 3 && !memcmp(label, "LOC", 3);
    const char *at = colon + 1;
    for (n = 0; n < out->count && (at = kernel_number(at, end, &v)); n++) {
        out->counts[n].sum += v;
        out->counts[n].clock = clock ? v : out->counts[n].clock;
    }
    out->has_clock |= clock;
}

HRESULT kernel_columns_parse(const char *text, size_t size, struct kernel_counts *out)
{
    out->count = 0;
    out->has_clock = false;
    HRESULT hr = parse_columns(text, kernel_line_end(text, text + size), out);
    return hr == E_FAIL ? error_set(hr, "cannot parse a table of interrupts: no processor in its first line") : hr;
}

HRESULT kernel_counts_parse(const char *text, size_t size, struct kernel_counts *out)
{
    const char *end = text + size, *line = kernel_line_end(text, end);
    HRESULT hr = kernel_columns_parse(text, size, out);
    for (const char *p = line; SUCCEEDED(hr) && p < end; p = line) {
        line = kernel_line_end(p + 1, end);
        add_line(p + 1, line, out);
    }
    return hr;
}

void kernel_counts_free(struct kernel_counts *counts)
{
    memory_free(counts->counts);
    *counts = (struct kernel_counts){0};
}

/* Parses " 38:   0   20710   PCI-MSIX-0000:00:03.0   1-edge   virtio2-input.0". The last word (`user`) is the name that
   the driver gave the interrupt. Several names are separated by commas. */
static bool parse_interrupt(const char *p, const char *end, struct kernel_interrupt *out)
{
    uint64_t count;
    p = kernel_number(p, end, &out->number);
    if (!p || p == end || *p != ':')
        return false;
    out->counts = ++p;
    out->end = end;
    for (const char *next; (next = kernel_number(p, end, &count));)
        p = next;
    const char *last = end;
    while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    out->user = last;
    while (out->user > p && out->user[-1] != ' ' && out->user[-1] != '\t')
        out->user--;
    const char *before = out->user;
    while (before > p && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    out->user_length = before > p && before[-1] != ',' ? (size_t)(last - out->user) : 0;
    return true;
}

bool kernel_interrupt_next(const char **at, const char *end, struct kernel_interrupt *out)
{
    bool found = false;
    while (!found && *at < end) {
        const char *line = kernel_line_end(*at, end);
        *out = (struct kernel_interrupt){0};
        found = parse_interrupt(*at, line, out);
        *at = line < end ? line + 1 : end;
    }
    return found;
}

/* Parses "cpu MHz\t\t: 2299.998" as thousandths. */
static bool parse_mhz(const char *p, const char *end, uint64_t *thousandths)
{
    const char *colon = text_find(p, end, ':');
    uint64_t whole;
    p = colon ? kernel_number(colon + 1, end, &whole) : NULL;
    if (!p || whole > UINT32_MAX)
        return false;
    *thousandths = whole * 1000;
    if (p < end && *p == '.') {
        uint64_t unit = 100;
        for (p++; p < end && *p >= '0' && *p <= '9' && unit; p++, unit /= 10)
            *thousandths += (uint64_t)(*p - '0') * unit;
    }
    return true;
}

bool kernel_cpuinfo_next(const char **at, const char *end, struct kernel_row *row)
{
    bool found = false;
    const char *p = *at;
    for (const char *line; p < end; p = line < end ? line + 1 : end) {
        line = kernel_line_end(p, end);
        if (STARTS(p, line, "processor\t")) {
            const char *colon = text_find(p, line, ':');
            if (found)
                break;
            *row = (struct kernel_row){.count = 1};
            found = colon && kernel_number(colon + 1, line, &row->values[0]);
        } else if (found && STARTS(p, line, "cpu MHz") && parse_mhz(p, line, &row->values[1])) {
            row->count = 2;
        }
    }
    *at = p;
    return found;
}

bool kernel_list_has(const char *text, size_t size, uint64_t number)
{
    const char *end = text + size;
    const char *p = text;
    uint64_t first, last;
    while ((p = kernel_number(p, end, &first))) {
        last = first;
        if (p < end && *p == '-' && !(p = kernel_number(p + 1, end, &last)))
            return false;
        if (number >= first && number <= last)
            return true;
        p += p < end && *p == ',';
    }
    return false;
}

/* ---- tables of named things ---- */

/* Parses the numbers from `p` on and appends them to the row. */
static void add_values(struct kernel_row *row, const char *p, const char *end)
{
    while (row->count < KERNEL_ROW_VALUES && (p = kernel_number(p, end, &row->values[row->count])))
        row->count++;
}

/* Returns the first line that parses, and skips the lines before it. */
static bool next_parsed_row(const char **at, const char *end, struct kernel_row *row,
                            bool (*parse)(const char *p, const char *end, struct kernel_row *row))
{
    bool found = false;
    while (!found && *at < end) {
        const char *line = kernel_line_end(*at, end);
        *row = (struct kernel_row){0};
        found = parse(*at, line, row);
        *at = line < end ? line + 1 : end;
    }
    return found;
}

static bool parse_disk(const char *p, const char *end, struct kernel_row *row)
{
    p = kernel_number(p, end, &row->values[0]);
    p = p ? kernel_number(p, end, &row->values[1]) : NULL;
    if (!p)
        return false;
    row->name = kernel_skip(p, end);
    p = kernel_word_end(row->name, end);
    row->length = (size_t)(p - row->name);
    row->count = 2;
    add_values(row, p, end);
    return row->length && row->count > 2;
}

bool kernel_disk_next(const char **at, const char *end, struct kernel_row *row)
{
    return next_parsed_row(at, end, row, parse_disk);
}

static bool parse_interface(const char *p, const char *end, struct kernel_row *row)
{
    row->name = kernel_skip(p, end);
    /* an alias such as "eth0:1" contains another colon */
    const char *colon = end;
    while (colon > row->name && colon[-1] != ':')
        colon--;
    if (colon <= row->name + 1)
        return false;
    row->length = (size_t)(colon - 1 - row->name);
    add_values(row, colon, end);
    return row->count >= 2;
}

bool kernel_interface_next(const char **at, const char *end, struct kernel_row *row)
{
    return next_parsed_row(at, end, row, parse_interface);
}

static bool parse_swap(const char *p, const char *end, struct kernel_row *row)
{
    if (p == end || *p != '/')
        return false; /* the heading */
    row->name = p;
    p = kernel_word_end(p, end);
    row->length = (size_t)(p - row->name);
    p = kernel_skip(p, end);
    add_values(row, kernel_word_end(p, end), end); /* skips the column with the type */
    return row->count >= 2;
}

bool kernel_swap_next(const char **at, const char *end, struct kernel_row *row)
{
    return next_parsed_row(at, end, row, parse_swap);
}

/* Parses "27 1 254:0 / /mnt rw ...": id, parent, device, root within the device, mount point. */
static bool parse_mount(const char *p, const char *end, struct kernel_row *row)
{
    uint64_t ignored;
    p = kernel_number(p, end, &ignored);
    p = p ? kernel_number(p, end, &ignored) : NULL;
    p = p ? kernel_number(p, end, &row->values[0]) : NULL;
    p = p && p < end && *p == ':' ? kernel_number(p + 1, end, &row->values[1]) : NULL;
    if (!p)
        return false;
    p = kernel_word_end(kernel_skip(p, end), end);
    row->name = kernel_skip(p, end);
    row->length = (size_t)(kernel_word_end(row->name, end) - row->name);
    row->count = 2;
    return row->length > 0;
}

bool kernel_mount_next(const char **at, const char *end, struct kernel_row *row)
{
    return next_parsed_row(at, end, row, parse_mount);
}

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
}

/* Parses "  0: 0100007F:0016 00000000:0000 0A ...". The addresses have 8 digits, or 32 in tcp6. */
static void add_connection(const char *p, const char *end, struct kernel_connections *c)
{
    static const char mapped[] = "0000000000000000FFFF0000";
    const char *colon = text_find(p, end, ':');
    if (!colon)
        return;
    const char *local = kernel_skip(colon + 1, end), *local_end = text_find(local, end, ':');
    const char *remote = kernel_skip(kernel_word_end(local, end), end);
    const char *state = kernel_skip(kernel_word_end(remote, end), end);
    if (!local_end || end - state < 2)
        return;
    unsigned value = hex_digit(state[0]) * 16 + hex_digit(state[1]);
    c->under_way |= value == 2 || value == 3 || value == 8; /* SYN_SENT, SYN_RECV, CLOSE_WAIT */
    if (value != 1 && value != 8)                           /* ESTABLISHED */
        return;
    if (local_end - local == 8 || kernel_starts(local, local_end, mapped, sizeof mapped - 1))
        c->ipv4++;
    else
        c->ipv6++;
}

bool kernel_connections_add(const char *text, size_t size, struct kernel_connections *c)
{
    const char *end = text + size, *line = kernel_line_end(text, end);
    if (!kernel_starts(kernel_skip(text, line), line, "sl", 2))
        return false;
    for (const char *p = line; p < end; p = line) {
        line = kernel_line_end(p + 1, end);
        add_connection(p + 1, line, c);
    }
    return true;
}

/* Parses "TCP: inuse 5 orphan 0 tw 17 alloc 7 mem 1". */
bool kernel_sockets_in_use(const char *text, size_t size, const char *protocol, uint64_t *count)
{
    const char *end = text + size;
    const size_t length = strlen(protocol);
    for (const char *p = text, *line; p < end; p = line + 1) {
        line = kernel_line_end(p, end);
        if (kernel_starts(p, line, protocol, length) && kernel_starts(p + length, line, ": inuse ", 8))
            return kernel_number(p + length + 8, line, count) != NULL;
    }
    return false;
}
