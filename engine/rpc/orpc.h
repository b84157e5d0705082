/* SPDX-License-Identifier: MIT */
/* DCOM (MS-DCOM) above RPC. This header declares a server that activates classes, returns object references and passes
   method calls to a handler. It also declares functions that write and read the bodies of a client's requests and
   answers.

   The server keeps the objects that remote clients hold. Each belongs to the account that received it; OXID, OIDs and
   IPIDs are random. An object is released when it has no references, or was not used or pinged for a while. Pointers to
   objects are opaque here: the handler queries and releases them. */
#ifndef OPENPLA_RPC_ORPC_H
#define OPENPLA_RPC_ORPC_H

#include "engine/rpc/automation.h"
#include "engine/rpc/connection.h"

extern const GUID orpc_iid_unknown, orpc_iid_class_factory, orpc_iid_object_exporter, orpc_iid_activation,
    orpc_iid_scm_activator, orpc_iid_rem_unknown, orpc_iid_rem_unknown2;

enum { ORPC_IIDS_MOST = 64, ORPC_REFERENCES = 5 };
#define ORPC_CLASS_NOT_REGISTERED ((HRESULT)0x80040154)

/* ---- server ---- */

/* One method call while it is being executed. */
struct orpc_call {
    struct orpc_session *session;
    const char *account; /* the caller's account */
    enum auth_level level;
    GUID iid, causality;
    uint16_t opnum;
    uint64_t now_ms;
    unsigned *array_form;         /* the form that this client uses, for ndr_read_array and ndr_write_array */
    struct ndr_writer error_info; /* an OBJREF of an IErrorInfo from the handler, sent with the result */
};

/* The functions that the owner of the objects provides. Calls of several connections run in parallel. */
struct orpc_handler {
    void *user;
    /* Whether methods of this interface can be called. Other interfaces are never returned to clients. */
    bool (*serves)(void *user, const GUID *iid);
    /* Creates an object, or returns the class object, with a new reference. Fails with ORPC_CLASS_NOT_REGISTERED or
       another error. */
    HRESULT (*activate)(void *user, const struct orpc_call *call, const GUID *clsid, bool is_factory, void **object);
    /* Returns another interface of an object, with a new reference. The pointer of IUnknown identifies the object. */
    HRESULT (*query)(void *user, void *object, const GUID *iid, void **pointer);
    void (*release)(void *user, void *pointer);
    /* Calls a method. `in` begins after ORPCTHIS, `out` after ORPCTHAT. The function either writes the [out] parameters
       and the HRESULT and returns 0, or returns a fault; in the second case its output is discarded. */
    uint32_t (*call)(void *user, struct orpc_call *call, void *pointer, struct ndr_reader *in, struct ndr_writer *out);
};

/* 0 means the default, which each comment gives first. */
struct orpc_limits {
    size_t objects, objects_of_account; /* 16384; 4096 */
    uint32_t run_down_ms;               /* 6 min: three ping periods of 2 min */
};

struct orpc_server;
HRESULT orpc_server_open(const struct orpc_handler *handler, const struct orpc_limits *limits,
                         struct orpc_server **out);
/* Releases all objects. No session may be open. */
void orpc_server_close(struct orpc_server *s);
/* Implements rpc_service.serves. The server offers the interfaces of DCOM, the handler's interfaces, and the management
   interface (MS-RPCE), which some clients use only to log on. */
bool orpc_server_serves(struct orpc_server *s, const GUID *iid, uint32_t version);
/* Releases the objects that were not used or pinged for run_down_ms. Call this function every few seconds, with the
   same clock as orpc_session_call. */
void orpc_server_run_down(struct orpc_server *s, uint64_t now_ms);
size_t orpc_server_objects(struct orpc_server *s);

/* A session is one connection. `bindings` contains the addresses at which this client reaches the server, beginning
   with the server's own address. The function copies `bindings`. */
struct orpc_session;
HRESULT orpc_session_open(struct orpc_server *s, const struct dual_strings *bindings, struct orpc_session **out);
void orpc_session_close(struct orpc_session *s); /* NULL is allowed; objects stay until they are run down */
/* Performs a call; returns 0 and the stub of the answer, or a fault. */
uint32_t orpc_session_call(struct orpc_session *s, const struct rpc_call *call, uint64_t now_ms,
                           struct ndr_writer *out);

/* Called by the handler during a call. Returns an object reference for the caller. The object reference includes
   ORPC_REFERENCES references. Fails with E_NOINTERFACE if the interface is not served, or with
   HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA) if there are too many objects. */
HRESULT orpc_export(struct orpc_call *call, void *object, const GUID *iid, struct objref *out);
/* Finds the object to which a reference from the caller refers, and returns its interface `iid` with a new reference.
   Returns 0 on success. Returns a fault if the caller holds no such object of this server, or if the object lacks the
   interface. The references that `reference` includes are released. */
uint32_t orpc_import(struct orpc_call *call, const struct objref *reference, const GUID *iid, void **pointer);

/* ---- client: bodies of requests and answers ---- */

void orpc_write_this(struct ndr_writer *w, const GUID *causality);
/* Reads ORPCTHAT. *error_info (`error_info` may be NULL) is an IErrorInfo's OBJREF from an extension, or empty. */
void orpc_read_that(struct ndr_reader *r, struct ndr_reader *error_info);

/* IRemoteSCMActivator: opnum 4 RemoteCreateInstance, 3 RemoteGetClassObject (`is_factory`). `count` is 1 to
   ORPC_IIDS_MOST. */
void orpc_write_activation(struct ndr_writer *w, const GUID *causality, const GUID *clsid, const GUID *iids,
                           size_t count, bool is_factory);
struct orpc_activated {
    uint64_t oxid;
    GUID rem_unknown; /* IPID of the server's IRemUnknown */
    struct dual_strings bindings;
    size_t count;
    struct objref *objects[ORPC_IIDS_MOST]; /* NULL where results[i] failed */
    HRESULT results[ORPC_IIDS_MOST];
};
/* Returns the activation's HRESULT. Sets the fault of `r` if the body is malformed. */
HRESULT orpc_read_activation(struct ndr_reader *r, struct ndr_arena *arena, struct orpc_activated *out);

/* Writes and reads the bodies of IRemUnknown: opnum 3 RemQueryInterface, 4 RemAddRef, 5 RemRelease. */
void orpc_write_query(struct ndr_writer *w, const GUID *causality, const GUID *ipid, uint32_t references,
                      const GUID *iids, size_t count);
HRESULT orpc_read_query(struct ndr_reader *r, size_t count, struct std_objref *objects, HRESULT *results);
struct orpc_references {
    GUID ipid;
    uint32_t count;
};
void orpc_write_references(struct ndr_writer *w, const GUID *causality, const struct orpc_references *items,
                           size_t count);

/* IObjectExporter: opnum 2 ComplexPing, 1 SimplePing. If `set` is 0, the server creates a new set. */
void orpc_write_complex_ping(struct ndr_writer *w, uint64_t set, uint16_t sequence, const uint64_t *add,
                             uint16_t add_count, const uint64_t *remove, uint16_t remove_count);
/* Returns the status; *set is the set's id. */
uint32_t orpc_read_complex_ping(struct ndr_reader *r, uint64_t *set);

#endif
