/* SPDX-License-Identifier: MIT */
/* How long a test waits for what must come. A wait ends as soon as the event occurs, so this limit costs nothing. It
   ends a test that hangs and names the missing event, before ctest ends the whole program. */
#ifndef OPENPLA_PATIENCE_H
#define OPENPLA_PATIENCE_H

#define PATIENCE_MS 240000

#endif
