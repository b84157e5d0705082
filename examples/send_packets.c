/* SPDX-License-Identifier: MIT */
/* The network provider as a separate program, for control_provider.vbs and .js. Sends packets to and from two
   addresses, ten times per second, until the provider was enabled and then disabled, or until the time has passed.
   Usage: send_packets [seconds] */
#include "examples/network_provider.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const ULONG seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 60;
    if (!provider_begin())
        return 1;
    puts("Registered");
    fflush(stdout);
    for (ULONG i = 0; i < 10 * seconds && !provider_was_enabled(); i++) {
        provider_traffic("12.84.150.40");
        provider_traffic("10.0.0.1");
        Sleep(100);
    }
    provider_end();
    return 0;
}
