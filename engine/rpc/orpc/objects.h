/* SPDX-License-Identifier: MIT */
/* The resources that remote clients hold: objects by OID, their interfaces by IPID, and sets of OIDs that are pinged
   together. */
#ifndef OPENPLA_RPC_OBJECTS_H
#define OPENPLA_RPC_OBJECTS_H

#include "engine/base/os.h"
#include "engine/rpc/orpc.h"

enum { PING_SETS = 256, PING_SET_OIDS = 256, BUCKETS = 256 };

struct orpc_session {
    struct orpc_server *server;
    struct dual_strings bindings;
    uint64_t used_ms;
    unsigned array_form;
};

struct remote_interface {
    struct remote_interface *next, *next_in_bucket;
    struct remote_object *object;
    GUID ipid, iid;
    void *pointer;
    uint32_t references;
};

struct remote_object {
    struct remote_object *next, *next_in_bucket;
    struct remote_interface *interfaces;
    void *identity; /* its IUnknown */
    uint64_t oid;
    char account[AUTH_NAME_BYTES];
    struct orpc_session *session; /* latest user of the object; its calls keep the object alive; NULL: closed */
    uint64_t used_ms;
    unsigned pins;   /* number of calls that run on it */
    bool is_removed; /* removed from the tables; freed with the last pin */
};

struct ping_set {
    struct ping_set *next;
    uint64_t id, used_ms;
    size_t count;
    uint64_t oids[PING_SET_OIDS];
};

struct orpc_server {
    struct orpc_handler handler;
    struct orpc_limits limits;
    uint64_t oxid;
    GUID rem_unknown;
    struct lock lock; /* protects all members below; never held while a handler is called */
    struct remote_object *objects, *by_oid[BUCKETS];
    struct remote_interface *by_ipid[BUCKETS];
    size_t object_count;
    struct ping_set *sets;
    size_t set_count;
};

/* Adds a reference to an interface of an object, and exports the interface if necessary. */
HRESULT objects_export(struct orpc_session *s, void *object, const GUID *iid, const char *account, uint32_t references,
                       uint64_t now_ms, struct std_objref *out);
/* Copies the interface with this IPID, and keeps it alive until objects_unpin. False: the account does not hold the
   interface. */
bool objects_pin(struct orpc_session *s, const GUID *ipid, const char *account, uint64_t now_ms,
                 struct remote_interface *copy);
void objects_unpin(struct orpc_server *s, struct remote_object *object);
/* These functions add or release references. False: the account holds no such interface, or the count would
   overflow. */
bool objects_add_references(struct orpc_server *s, const GUID *ipid, const char *account, uint32_t references);
bool objects_release_references(struct orpc_server *s, const GUID *ipid, const char *account, uint32_t references);
void objects_forget_session(struct orpc_session *s);
void objects_free_all(struct orpc_server *s);

/* Performs a call of IObjectExporter (MS-DCOM 3.1.2.5.1), which needs no ORPCTHIS and no authentication. */
uint32_t exporter_call(struct orpc_session *s, const struct rpc_call *call, uint64_t now_ms, struct ndr_reader *in,
                       struct ndr_writer *out);
/* The caller must hold the lock. */
void ping_sets_run_down(struct orpc_server *s, uint64_t now_ms, uint32_t period_ms);

/* These functions perform calls of the activation interfaces and of IRemUnknown(2). `in` begins after ORPCTHIS, `out`
   after ORPCTHAT. */
uint32_t activator_call(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out);
uint32_t activation_call(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out);
uint32_t rem_unknown_call(struct orpc_call *call, struct ndr_reader *in, struct ndr_writer *out);
/* Writes the object references of several interfaces after an array of pointers, and fills `results`. */
void write_interfaces(struct orpc_call *call, void *object, const GUID *iids, HRESULT *results, size_t count,
                      struct ndr_writer *out);
void write_version(struct ndr_writer *w); /* COMVERSION 5.7 */

/* ---- activation properties (MS-DCOM 2.2.22) ---- */

enum { PROPERTIES_MOST = 10 };
struct activation_property {
    GUID clsid;
    const uint8_t *bytes; /* after its serialization header */
    size_t size;
};
struct activation_properties {
    size_t count;
    struct activation_property items[PROPERTIES_MOST];
};
/* Reads the properties from the data of an OBJREF_CUSTOM. */
void properties_read(struct ndr_reader *r, struct activation_properties *out);
/* Finds a property by its CLSID. NULL: it is not in the list. */
const struct activation_property *properties_find(const struct activation_properties *p, const GUID *clsid);
/* Writes the properties as an OBJREF_CUSTOM after a pointer. */
void properties_write(struct ndr_writer *w, const GUID *iid, const GUID *clsid, const struct activation_properties *p);
extern const GUID properties_in_iid, properties_in_clsid, properties_out_iid, properties_out_clsid,
    property_instantiation, property_context, property_location, property_scm_request, property_props_out,
    property_scm_reply;

#endif
