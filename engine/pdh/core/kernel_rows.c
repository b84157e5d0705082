/* SPDX-License-Identifier: MIT */
/* Parsers of files that are tables of named things. */
#include "engine/base/kernel_number.h"
#include "engine/pdh/core/kernel_text.h"

/* The numbers from `p` on, behind those the row has. */
static void add_values(struct kernel_row *row, const char *p, const char *end)
{
    while (row->count < KERNEL_ROW_VALUES && (p = kernel_number(p, end, &row->values[row->count])))
        row->count++;
}

/* Goes through the lines until one parses. */
static bool next(const char **at, const char *end, struct kernel_row *row,
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
    return next(at, end, row, parse_disk);
}

static bool parse_interface(const char *p, const char *end, struct kernel_row *row)
{
    row->name = kernel_skip(p, end);
    /* An alias, "eth0:1", has a colon of its own. */
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
    return next(at, end, row, parse_interface);
}

static bool parse_swap(const char *p, const char *end, struct kernel_row *row)
{
    if (p == end || *p != '/')
        return false; /* the heading */
    row->name = p;
    p = kernel_word_end(p, end);
    row->length = (size_t)(p - row->name);
    p = kernel_skip(p, end);
    add_values(row, kernel_word_end(p, end), end); /* behind the type */
    return row->count >= 2;
}

bool kernel_swap_next(const char **at, const char *end, struct kernel_row *row)
{
    return next(at, end, row, parse_swap);
}

/* "27 1 254:0 / /mnt rw ...": id, parent, device, root in it, mount point. */
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
    return next(at, end, row, parse_mount);
}

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
}

/* "  0: 0100007F:0016 00000000:0000 0A ...": the addresses are 8 digits, or 32 in tcp6. */
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
