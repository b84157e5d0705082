/* SPDX-License-Identifier: MIT */
/* Host and starter program of the run tests: what openplahost does, and faults on demand.
   <namespace> <name> <run key>: a host. start <namespace> <name>: a starter; exits with 0, 3 (in use) or 1. */
#include "engine/os/memory.h"
#include "engine/os/text.h"
#include "engine/os/host.h"
#include "engine/run/run.h"

#include <string.h>
#ifndef _WIN32
#include <signal.h>
#include <sys/resource.h>
#endif

static uint64_t number_of(const char *variable)
{
    char *text = host_expand_environment(variable);
    uint64_t number = 0;
    if (text && !text_to_u64(text, &number))
        number = 0;
    memory_free(text);
    return number;
}

static void limit_files(void)
{
#ifndef _WIN32
    /* Files cannot grow above this, as on a full disk. */
    struct rlimit limit = {number_of("%TEST_FILE_LIMIT%"), RLIM_INFINITY};
    if (limit.rlim_cur) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
#endif
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "start") == 0) {
        HRESULT hr = run_start(argv[2], argv[3], true);
        return hr == S_OK ? 0 : hr == PLA_E_DCS_IN_USE ? 3 : 1;
    }
    if (number_of("%TEST_HOST_DIES%"))
        return 7;
    limit_files();
    return run_host_main(argv[1], argv[2], argv[3]);
}
