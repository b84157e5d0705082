/* SPDX-License-Identifier: MIT */
/* Converts decoded values of a remote call to COM values and back. COM values are copies; decoded values borrow from
   COM values or are in the call's arena. */
#ifndef OPENPLA_REMOTE_VALUES_H
#define OPENPLA_REMOTE_VALUES_H

#include "engine/rpc/orpc.h"

#include <windows.h>
#include <ole2.h>

struct remote_call {
    struct orpc_call *orpc;
    struct ndr_arena arena;
};

/* These functions convert received values. Each function returns 0, or the fault for the answer; after a fault *out is
   empty. */
uint32_t remote_bstr_in(const struct ndr_bstr *s, BSTR *out);
uint32_t remote_array_in(struct remote_call *c, const struct ndr_array *a, SAFEARRAY **out);
/* For a reference (VT_BYREF), stores the target in *referent, which then owns the target, and makes *out point to the
   target. If `referent` is NULL, a reference is rejected as malformed. */
uint32_t remote_variant_in(struct remote_call *c, const struct ndr_variant *v, VARIANT *out, VARIANT *referent);
/* Finds an object that the caller holds, and returns its interface `iid`. A null pointer is allowed. */
uint32_t remote_object_in(struct remote_call *c, const struct objref *o, const GUID *iid, void **out);

/* These functions convert values for sending. They fail with DISP_E_BADVARTYPE if the type cannot be sent, with
   E_OUTOFMEMORY, or as orpc_export does; remote_bstr_out never fails. */
struct ndr_bstr remote_bstr_out(BSTR s);
HRESULT remote_array_out(struct remote_call *c, SAFEARRAY *a, struct ndr_array **out);
HRESULT remote_variant_out(struct remote_call *c, const VARIANT *v, struct ndr_variant *out);
/* Exports an object. *out is NULL if `pointer` is NULL. */
HRESULT remote_object_out(struct remote_call *c, IUnknown *pointer, const GUID *iid, struct objref **out);

/* Called after a failure. Copies the thread's IErrorInfo, if there is one, to the call's error information (MS-DCOM
   2.2.21). */
void remote_error_out(struct orpc_call *call);

#endif
