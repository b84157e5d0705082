/* SPDX-License-Identifier: MIT */
/* The host process of one performance extension DLL: the path of the DLL, its registry entries, and the channel between
   this program and the host process. extension_host.c describes the protocol. */
#ifndef OPENPLA_PDH_EXTENSION_HOST_H
#define OPENPLA_PDH_EXTENSION_HOST_H

#include "engine/base/process.h"
#include "engine/base/text.h"

/* Returns the full path of the DLL that `library` names. Environment variables must already be expanded. A full path is
   returned unchanged; a bare file name is searched only in the folder `system`. Fails with E_INVALIDARG and a message
   if the name is empty or relative to the current folder. *out is from memory_alloc. */
HRESULT extension_library_path(const char *library, const char *system, char **out);

/* The registry entries of performance extension DLLs. In native builds the lists are empty. */

/* Lists the services whose key Performance has the values Library, Open, Collect and Close. Omits a service if this
   key also has a value "Disable Performance Counters" other than 0. */
HRESULT extension_services(struct texts *out);
/* Lists the English names and help strings as number, string, number, string ... The strings come from the values
   Counter and Help of Perflib\009 and from the services. Wine does not have these two values and does not allow
   programs to write them. Therefore a service can store its own strings in its key Performance, in the same form, as
   the values "Counter 009" and "Help 009" (REG_MULTI_SZ). `openpla lodctr` writes these values. */
HRESULT extension_names(const struct texts *services, struct texts *out);
/* Starts the host process, which loads the service's DLL and serves the channel with this name. */
HRESULT extension_start(const char *channel, const char *service, struct process **out);

/* A performance extension DLL in a separate process, so that its crashes and hangs do not harm this program. All
   queries of a program share the process. */
#define EXTENSION_DATA_BYTES (8u << 20)

enum extension_state { EXTENSION_STARTING, EXTENSION_READY, EXTENSION_FAILED };

/* The shared section. The client writes the members up to `parked`, the host process writes the others. The host
   process writes `data` only between a request and its reply, but neither side relies on that. */
struct extension_channel {
    uint32_t version, owner; /* owner: process id of the client */
    uint64_t owner_start;    /* start time of the client */
    uint32_t request;        /* number of the last request; atomic */
    uint32_t parked;         /* 1: unused, so the host process exits after EXTENSION_PARKED_MS; atomic */
    uint32_t reply;          /* number of the last request that was answered; atomic */
    uint32_t state;          /* enum extension_state; atomic */
    uint32_t error;          /* Win32 error of the last Open or Collect */
    uint32_t objects, size;
    uint32_t unused;
    int64_t ticks, frequency, utc; /* when the data was collected */
    uint8_t data[EXTENSION_DATA_BYTES];
};
#define EXTENSION_VERSION   2u
#define EXTENSION_PARKED_MS 10000
/* The exit code of a host process that exits because it is unused. A DLL is unlikely to terminate the host process with
   this exit code. */
#define EXTENSION_EXIT_IDLE 0x0D1E0001u

/* A private copy of the data that the DLL returned. */
struct extension_reply {
    uint32_t references; /* protected by the extension host's lock */
    uint32_t objects;
    size_t size;
    int64_t ticks, frequency, utc;
    uint8_t data[];
};

struct extension_host;
/* Returns this program's extension host of the service. Does not start the host process yet. */
HRESULT extension_host_open(const char *service, struct extension_host **out);
/* Requests current data, unless an earlier request is still unanswered. Starts the host process if it is not running.
   After a crash, the process is restarted only after a pause, which doubles with each crash. */
void extension_host_request(struct extension_host *h);
/* Waits for the reply to the last request. `timeout_ms` counts from the time of the request, so that several calls
   share one time limit. Release *out with extension_reply_release. Fails with HRESULT_FROM_WIN32(ERROR_TIMEOUT), with
   E_ABORT if the host process exited or cannot be started, or with E_FAIL and a message if the DLL reports a
   failure. */
HRESULT extension_host_reply(struct extension_host *h, uint32_t timeout_ms, struct extension_reply **out);
void extension_reply_release(struct extension_host *h, struct extension_reply *reply); /* NULL is allowed */

/* Releases the extension host. After the last release, its process is terminated immediately if a request is
   unanswered; otherwise the process exits when it has been unused for a while. NULL is allowed. */
void extension_host_close(struct extension_host *h);

/* Return the names of the channel's signals, from memory_alloc. */
char *extension_request_signal(const char *channel);
char *extension_reply_signal(const char *channel);

#endif
