/* SPDX-License-Identifier: MIT */
/* The work of a host while its set runs. */
#ifndef OPENPLA_RUN_LOOP_H
#define OPENPLA_RUN_LOOP_H

#include "engine/pla/run/host_run.h"

/* Samples until the run is over; `began` is called once, when the first samples are taken. */
void run_loop(struct run *r, void (*began)(void *user), void *user);

#endif
