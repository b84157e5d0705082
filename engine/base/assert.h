/* SPDX-License-Identifier: MIT */
/* assert() for invariants of the code: what a file, a script or another process sends is checked and refused with
   an error instead.

   The build decides whether assertions are on, by its option OPENPLA_ASSERTS: on in the builds that are tested, off in
   what is installed. A failed one writes a line like those of the trace switch (debug_trace.h) and ends the process at
   once, natively with a core. Windows' own assert() shows a message box in programs without a console, where a server
   or a script would wait for a click that nobody can make. */
#ifndef OPENPLA_ASSERT_H
#define OPENPLA_ASSERT_H

#include <openpla_settings.h>

#if OPENPLA_ASSERTS
#define assert(claim) ((claim) ? (void)0 : assert_failed(#claim, __FILE__, __LINE__))
#else
#define assert(claim) ((void)sizeof(!(claim))) /* compiled, not evaluated */
#endif

#define ASSERT_EXIT_CODE 0xC0000420u /* STATUS_ASSERTION_FAILURE; natively the process ends by SIGABRT */
/* For assert alone; exists in builds with assertions. installer/prefix.sh knows them by its message. */
_Noreturn void assert_failed(const char *claim, const char *file, int line);

#endif
