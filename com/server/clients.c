/* SPDX-License-Identifier: MIT */
/* Which processes the server's objects were made for. */
#include "com/server/clients.h"

#include "com/server/caller.h"
#include "engine/base/memory.h"

#include <windows.h>

struct client {
    DWORD id;
    HANDLE process; /* keeps the id from being used again */
};
static SRWLOCK lock = SRWLOCK_INIT;
static struct client *clients;
static size_t count, capacity;
static bool unknown; /* one could not be told or noted */

static bool note(DWORD id)
{
    for (size_t i = 0; i < count; i++)
        if (clients[i].id == id)
            return true;
    if (!memory_grow((void **)&clients, &capacity, count + 1, sizeof(*clients)))
        return false;
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, id);
    if (!process)
        return false;
    clients[count++] = (struct client){id, process};
    return true;
}

void clients_note_caller(void)
{
    DWORD id = com_caller().process;
    AcquireSRWLockExclusive(&lock);
    if (!id || !note(id))
        unknown = true;
    ReleaseSRWLockExclusive(&lock);
}

bool clients_alive(void)
{
    size_t i = 0;
    AcquireSRWLockExclusive(&lock);
    while (i < count) {
        if (WaitForSingleObject(clients[i].process, 0) == WAIT_TIMEOUT) {
            i++;
            continue;
        }
        CloseHandle(clients[i].process);
        clients[i] = clients[--count];
    }
    bool alive = unknown || count;
    ReleaseSRWLockExclusive(&lock);
    return alive;
}
