/* SPDX-License-Identifier: MIT */
/* The host process of one performance extension DLL: where the DLL is, what the registry says of it, and the channel.
 */
#ifndef OPENPLA_PDH_EXTENSION_HOST_H
#define OPENPLA_PDH_EXTENSION_HOST_H

#include "engine/base/process.h"
#include "engine/base/text.h"

/* Where the DLL is that a service's key names as its Library. */

/* The full path of what `library` (environment variables replaced already) names: a full path stands as it is, a bare
   name is in the folder `system` and nowhere else. E_INVALIDARG with a text for what depends on a current folder or is
   empty. *out from memory_alloc. */
HRESULT extension_library_path(const char *library, const char *system, char **out);

/* What the system tells of performance extension DLLs: services with a key Performance, and the table of names that
   their installers extend. Nothing natively. */

/* Names of the services that have Library, Open, Collect and Close under Performance and are not disabled. */
HRESULT extension_services(struct texts *out);
/* The English names and help: number, text, number, text ... of Perflib\009, values Counter and Help, and of the
   services' own: Wine keeps no such table and lets nobody write one, so there a service's key Performance may hold its
   part as the values "Counter 009" and "Help 009" (REG_MULTI_SZ), in the same form, as `openpla lodctr` writes them. */
HRESULT extension_names(const struct texts *services, struct texts *out);
/* Starts the process that loads the service's DLL and serves the channel of this name (extension_host.h). */
HRESULT extension_start(const char *channel, const char *service, struct process **out);

/* One performance extension DLL in a process of its own, so that its crash or hang is its own alone: our side asks
   through a shared section and two signals, and never waits longer than it wants. All queries of a program share the
   DLL's process. */
#define EXTENSION_DATA_BYTES (8u << 20)

enum extension_state { EXTENSION_STARTING, EXTENSION_READY, EXTENSION_FAILED };

/* The shared section. The host writes everything but the first five members, and `data` only between a request and its
   reply; which nothing here relies on. */
struct extension_channel {
    uint32_t version, owner; /* process */
    uint64_t owner_start;
    uint32_t request; /* number of the last one; atomic */
    uint32_t parked;  /* 1: nobody uses the host now; it ends after EXTENSION_PARKED_MS of that; atomic */
    uint32_t reply;   /* number of the request that was answered last; atomic */
    uint32_t state;   /* enum extension_state; atomic */
    uint32_t error;   /* Windows' code of the last Open or Collect */
    uint32_t objects, size;
    uint32_t unused;
    int64_t ticks, frequency, utc; /* of the collection */
    uint8_t data[EXTENSION_DATA_BYTES];
};
#define EXTENSION_VERSION   2u
#define EXTENSION_PARKED_MS 10000
/* The host's exit code when it ends because nobody uses it: none that a DLL's own end would have. */
#define EXTENSION_EXIT_IDLE 0x0D1E0001u

/* A private copy of what the DLL gave. */
struct extension_reply {
    uint32_t references; /* the host's lock covers it */
    uint32_t objects;
    size_t size;
    int64_t ticks, frequency, utc;
    uint8_t data[];
};

struct extension_host;
/* The process of the service's DLL that this program has, or will have: nothing is started yet. */
HRESULT extension_host_open(const char *service, struct extension_host **out);
/* Asks for the data of now, unless an earlier question is still unanswered; starts the process if it does not run.
   One that has died is started again after a while, which doubles with each death. */
void extension_host_request(struct extension_host *h);
/* Waits for the answer to the last request, at most timeout_ms for all calls after it. *out is for
   extension_reply_release. ERROR_TIMEOUT's HRESULT; E_ABORT when the process has died or cannot be started; E_FAIL with
   a text when the DLL reports a failure. */
HRESULT extension_host_reply(struct extension_host *h, uint32_t timeout_ms, struct extension_reply **out);
void extension_reply_release(struct extension_host *h, struct extension_reply *reply); /* NULL is allowed */

/* When nobody has the host any more, its process ends: at once if it hangs, else after a while, for who asks again.
   NULL is allowed. */
void extension_host_close(struct extension_host *h);

/* The names of the channel's signals. From memory_alloc. */
char *extension_request_signal(const char *channel);
char *extension_reply_signal(const char *channel);

#endif
