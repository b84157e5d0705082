/* SPDX-License-Identifier: MIT */
/* Defines assert() for invariants of the code. Data from a file, a script or another process is not checked with
   assert(): invalid data is rejected with an error.

   The build option OPENPLA_ASSERTS decides whether assertions are on: on in test builds, off in installed programs. A
   failed assertion writes a line like those of the trace switch (debug_trace.h) and terminates the process immediately;
   in the native build the process also dumps core. Windows' own assert() shows a message box in programs without a
   console, so a server or a script would wait for a click that nobody can make. */
#ifndef OPENPLA_ASSERT_H
#define OPENPLA_ASSERT_H

#include <openpla_settings.h>

#if OPENPLA_ASSERTS
#define assert(claim) ((claim) ? (void)0 : assert_failed(#claim, __FILE__, __LINE__))
#else
#define assert(claim) ((void)sizeof(!(claim))) /* compiled but not evaluated */
#endif

#define ASSERT_EXIT_CODE 0xC0000420u /* STATUS_ASSERTION_FAILURE; the native build raises SIGABRT instead */
/* Called only by assert(); exists only in builds with assertions. installer/prefix.sh recognizes such builds by the
   function's message. */
_Noreturn void assert_failed(const char *claim, const char *file, int line);

#endif
