/* SPDX-License-Identifier: MIT */
/* The child that keeps Wine up while a service has work to do. */
#include "com/server/idle_child.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <wchar.h>

HRESULT server_child_start(const char *option, struct process **child)
{
    char *program = program_beside_module("openplasrv"), *own = text_format("%lu", GetCurrentProcessId());
    HRESULT hr = E_OUTOFMEMORY;
    *child = NULL;
    if (program && own)
        hr = process_start(
            &(struct program){.path = program, .arguments = (const char *[]){option, own}, .argument_count = 2}, child);
    memory_free(program);
    memory_free(own);
    return hr;
}

HRESULT idle_child_start(struct process **child)
{
    return server_child_start("/idle", child);
}

void idle_child_end(struct process *child)
{
    if (!child)
        return;
    process_terminate(process_id(child), process_start_time(process_id(child)));
    process_close(child);
}

int idle_child_main(const WCHAR *parent)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, wcstoul(parent, NULL, 10));
    if (!process)
        return 1;
    WaitForSingleObject(process, INFINITE);
    CloseHandle(process);
    return 0;
}
