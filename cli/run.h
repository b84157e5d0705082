/* SPDX-License-Identifier: MIT */
/* openpla run: starts a program and waits for it. */
#ifndef OPENPLA_RUN_H
#define OPENPLA_RUN_H

/* argv contains the verb's options, then the program, then its arguments. Returns the program's exit code, or prints a
   message and returns an enum cli_exit. Only for Windows and Wine. */
int run_program(int argc, char **argv);

#endif
