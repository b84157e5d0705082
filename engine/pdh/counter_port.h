/* SPDX-License-Identifier: MIT */
/* The TCP port where this computer's counters are offered without the host's RPC. */
#ifndef OPENPLA_PCQ_COUNTER_PORT_H
#define OPENPLA_PCQ_COUNTER_PORT_H

#include "engine/pdh/gate.h"
#include "engine/pdh/methods.h"

/* At most so many connections at once of addresses that may ask; one more is ended at once. */
#define COUNTER_PORT_CONNECTIONS 256

/* Listens at settings->port from now on until the process ends, each connection with a thread of its own; both
   arguments are borrowed for good. The system's reason with a text that names the port. */
HRESULT counter_port_open(struct pcq_server *server, const struct pcq_settings *settings);

#endif
