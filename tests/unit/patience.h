/* SPDX-License-Identifier: MIT */
/* How long a test waits for what must come. A wait ends when that comes, so this limit costs nothing on a machine of
   any load; it ends a test that hangs, with the name of what it waited for, before ctest ends the whole program. */
#ifndef OPENPLA_PATIENCE_H
#define OPENPLA_PATIENCE_H

#define PATIENCE_MS 240000

#endif
