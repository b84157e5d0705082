/* SPDX-License-Identifier: MIT */
/* What /proc and, of Wine's processes, Windows tell of a process while it lives, kept for the event of its end. */
#include "engine/base/kernel_number.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"

#include <string.h>

/* With blanks between its arguments; *first: length of the first. NULL: it cannot be read, or has none. From
   memory_alloc. */
static char *command_line(const struct kernel_tracer *k, uint32_t process, size_t *first)
{
    char *text;
    size_t size;
    if (FAILED(kernel_process_text(k, process, "cmdline", &text, &size)))
        return NULL;
    *first = strlen(text);
    while (size != 0 && text[size - 1] == 0)
        size--;
    if (size == 0) {
        memory_free(text);
        return NULL;
    }
    for (size_t i = *first; i < size; i++)
        if (text[i] == 0)
            text[i] = ' ';
    return text;
}

/* False: it has gone. */
static bool user_of(const struct kernel_tracer *k, uint32_t process, uint32_t *user)
{
    char *text;
    size_t size;
    uint64_t value = 0;
    bool found = false;
    if (FAILED(kernel_process_text(k, process, "status", &text, &size)))
        return false;
    const char *line = strstr(text, "\nUid:");
    if (line)
        found = kernel_number(line + sizeof "\nUid:" - 1, text + size, &value) != NULL;
    *user = (uint32_t)value;
    memory_free(text);
    return found;
}

/* S-1-5-18 for the host's root, S-1-22-1-N for its user N, as Samba has it. */
static void put_host_user(struct kernel_data *d, uint32_t user)
{
    static const uint8_t nt[6] = {0, 0, 0, 0, 0, 5}, unix_users[6] = {0, 0, 0, 0, 0, 22};
    const bool root = user == 0;
    kernel_data_u8(d, 1);
    kernel_data_u8(d, root ? 1 : 2);
    kernel_data_bytes(d, root ? nt : unix_users, 6);
    kernel_data_u32(d, root ? 18 : 1);
    if (!root)
        kernel_data_u32(d, user);
}

/* Behind the shell of a TOKEN_USER, whose pointers say nothing. */
void told_put_user(struct kernel_data *d, const struct kernel_told *t)
{
    if (!t->has_user && t->windows.sid_size == 0) {
        kernel_data_u32(d, 0);
        return;
    }
    kernel_data_u64(d, 1);
    kernel_data_u64(d, 0);
    if (t->windows.sid_size != 0)
        kernel_data_bytes(d, t->windows.sid, t->windows.sid_size);
    else
        put_host_user(d, t->user);
}

/* Without memory for it, it is not told. */
void told_read(struct kernel_tracer *k, uint32_t process)
{
    struct kernel_told *t = id_map_put(&k->lives, process);
    const uint32_t windows = t ? kernel_windows_process(k, process) : 0;
    struct windows_process now;
    uint32_t user;
    size_t first;
    char *command = t ? command_line(k, process, &first) : NULL;
    if (command) {
        memory_free(t->command);
        t->command = command;
        t->first = first;
    }
    if (t && user_of(k, process, &user)) {
        t->user = user;
        t->has_user = true;
    }
    if (windows != 0 && windows_process_read(windows, &now) == S_OK)
        t->windows = now;
}

void told_forget(struct kernel_tracer *k, uint32_t process)
{
    struct kernel_told *t = id_map_find(&k->lives, process);
    if (t)
        memory_free(t->command);
    id_map_remove(&k->lives, process);
}

void told_free(struct kernel_tracer *k)
{
    size_t at = 0;
    for (struct kernel_told *t; (t = id_map_next(&k->lives, &at, NULL)) != NULL;)
        memory_free(t->command);
    id_map_free(&k->lives);
}
