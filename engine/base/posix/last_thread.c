/* SPDX-License-Identifier: MIT */
#include "engine/base/last_thread.h"

void last_thread_leaves(void)
{
}

bool last_thread_is_own(uint32_t others)
{
    (void)others;
    return false;
}

void last_thread_end_process(void)
{
}
