/* SPDX-License-Identifier: MIT */
#include "engine/pdh/remote_counters.h"

#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/remote_computer.h"

void remote_counters_by_tcp(void)
{
    remote_computer_links(&link_tcp);
    catalogue_set_remote(&remote_catalogue_functions);
}
