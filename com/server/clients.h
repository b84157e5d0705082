/* SPDX-License-Identifier: MIT */
/* Which processes the server's objects were made for. Wine never releases the references of a process that ended
   without doing so (a script that calls WScript.Quit is one), so the server looks whether its clients live. */
#ifndef OPENPLA_CLIENTS_H
#define OPENPLA_CLIENTS_H

#include <stdbool.h>

/* Notes the process whose call this thread is in. One that cannot be told counts as a client that lives for ever. */
void clients_note_caller(void);
/* Whether any process that was noted still lives; those that ended are forgotten. */
bool clients_alive(void);

#endif
