/* SPDX-License-Identifier: MIT */
/* The longest time that a test waits for an event. A wait ends as soon as the event occurs, so this limit costs no
   time. A test that hangs fails with a message that names the missing event, before ctest ends the whole program. */
#ifndef OPENPLA_PATIENCE_H
#define OPENPLA_PATIENCE_H

#define PATIENCE_MS 240000

#endif
