/* SPDX-License-Identifier: MIT */
/* Where this process takes code from. Windows alone. */
#ifndef OPENPLA_LIBRARIES_H
#define OPENPLA_LIBRARIES_H

/* For our programs, first thing: from now on libraries that anybody loads by their names, the system's own code too,
   come from the program's folder and the system's, never from the current folder or PATH. */
void libraries_restrict(void);

#endif
