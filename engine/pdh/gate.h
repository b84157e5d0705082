/* SPDX-License-Identifier: MIT */
/* Who may ask for this computer's counters by RPC, and where they are offered. */
#ifndef OPENPLA_PCQ_GATE_H
#define OPENPLA_PCQ_GATE_H

#include "engine/base/caller.h"

/* The settings: the environment's OPENPLA_COUNTER_QUERY_PORT and OPENPLA_COUNTER_QUERY_FROM, or the values
   CounterQueryPort (text or number) and CounterQueryFrom of HKLM\Software\OpenPLA. */
#define PCQ_PORT_VALUE "CounterQueryPort"
#define PCQ_FROM_VALUE "CounterQueryFrom"
#define PCQ_FROM_HERE  "127.0.0.1 ::1" /* where it is not set: this computer alone */
struct pcq_settings {
    uint16_t port; /* of TCP; 0: only the named pipe and local calls */
    char *from;    /* addresses with blanks or commas between, * and ? for what may stand there */
};
/* S_FALSE: there is no port, so counters are offered nowhere. E_INVALIDARG with a text that names the setting and the
   value; E_OUTOFMEMORY. *out is empty unless S_OK. */
HRESULT pcq_settings_read(struct pcq_settings *out);
void pcq_settings_free(struct pcq_settings *s);

/* What is known of a call. */
struct pcq_call {
    bool level_known;    /* Wine never tells (behaviour 21) */
    uint32_t level;      /* RPC_C_AUTHN_LEVEL_* */
    const char *address; /* where it came from by TCP; NULL: it came by a pipe or from this computer */
    struct caller caller;
};
/* ERROR_SUCCESS or ERROR_ACCESS_DENIED: packet privacy is asked for where the level is known (MS-PCQ 3.1.4), and an
   administrator or a member of Performance Monitor Users; of TCP the address must be among `from`, and decides alone
   where nothing tells who it is. */
uint32_t pcq_gate(const struct pcq_call *call, const char *from);

#endif
