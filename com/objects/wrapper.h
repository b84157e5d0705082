/* SPDX-License-Identifier: MIT */
/* The COM wrapper of a model object: the vtable of its interface and the reference count that clients see. An object
   has at most one wrapper at a time. */
#ifndef OPENPLA_WRAPPER_H
#define OPENPLA_WRAPPER_H

#include "engine/pla/model.h"
#include "mspla.h"

#include <windows.h>
#include <ole2.h>

/* A class of model objects, as COM sees it. */
struct com_class {
    const struct class *model;
    const IID *interface_id;
    const IID *base_id; /* interface from which `interface_id` inherits besides IDispatch; NULL: none */
    const void *vtable;
    ITypeInfo *type_info; /* loaded at first use, kept for the module's life */
};
extern struct com_class com_classes[];
extern const size_t com_classes_count;

struct wrapper {
    const void *vtable; /* must be first: an interface pointer points to it */
    ISupportErrorInfo error_info;
    LONG references;
    struct object *model;      /* a reference */
    struct client_use *client; /* client whose quota counts this wrapper; NULL: not counted (this process's object) */
    struct com_class *class;
};
static inline struct wrapper *wrapper_of(void *interface_pointer)
{
    return interface_pointer;
}
static inline struct object *model_of(void *interface_pointer)
{
    return wrapper_of(interface_pointer)->model;
}

/* Returns the class's row in com_classes. */
struct com_class *com_class_of(const struct class *model);
/* Returns the object's wrapper with a reference added, and creates it if the object has none. Does not load deferred
   contents (object_complete): the methods that need them do so. Fails with HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA)
   if the client has too many objects, or with E_OUTOFMEMORY. */
HRESULT wrapper_get(struct object *model, void **interface_pointer);
/* Must be the last call of a method that returns an object. Takes ownership of the reference to `model`. Returns `hr`
   if `hr` is a failure, otherwise the result of wrapper_get. If interface_pointer is NULL, the function only releases
   the model. */
HRESULT wrapper_give(HRESULT hr, struct object *model, void **interface_pointer);
/* Returns a reference to the model behind an interface pointer. Fails with E_POINTER for NULL. Fails with E_INVALIDARG
   if the pointer is not a wrapper of this process, or if the wrapped object has another class than `class` (NULL allows
   any class). The message names `argument`. */
HRESULT wrapper_model(IUnknown *pointer, const struct class *class, const char *argument, struct object **model);

HRESULT wrapper_query(struct wrapper *s, REFIID iid, void **out);
ULONG wrapper_add_reference(struct wrapper *s);
ULONG wrapper_release(struct wrapper *s);
/* Returns a reference to the type information of the class's interface. */
HRESULT class_type_info(const struct class *class, ITypeInfo **out);

/* DISPIDs of methods that neither the type library nor GetIDsOfNames lists. Each method replaces several calls between
   processes with a single call. OpenPLA's clients call these methods; other servers do not have them. */
enum own_member {
    OWN_WHOLE_COMMIT = 0x504c4101, /* belongs to a set: com/facade/own_members.h */
    OWN_STATUSES,                  /* this DISPID and the next two belong to a collection of sets */
    OWN_NAMES,
    OWN_DEFINITIONS,
    OWN_WHOLE_QUERY, /* belongs to a set */
};

/* These functions implement IDispatch of every object (dispatch.c). */
HRESULT dispatch_get_type_info(struct wrapper *s, UINT index, ITypeInfo **out);
HRESULT dispatch_get_ids(struct wrapper *s, REFIID iid, LPOLESTR *names, UINT count, DISPID *ids);
HRESULT dispatch_invoke(struct wrapper *s, DISPID id, REFIID iid, WORD flags, DISPPARAMS *params, VARIANT *result,
                        EXCEPINFO *exception, UINT *bad_argument);

/* Returns hr, and for a failure sets the thread's IErrorInfo to the engine's message. Every method of an object must
   return through this function. */
HRESULT com_result(void *interface_pointer, HRESULT hr);
/* Returns E_POINTER, with the argument's name in the message. */
HRESULT com_no_pointer(void *interface_pointer, const char *argument);

/* Declares each interface's vtable, which is defined in the file that implements the interface. Also declares the type
   COM_OBJECT_<model class>, which is a pointer to the interface. */
#define CLASS(model, I, base)                                                                                          \
    extern const I##Vtbl I##_vtable;                                                                                   \
    typedef I *COM_OBJECT_##model;
#include "engine/pla/classes.def"
#undef CLASS

/* Keeps the server's interfaces registered with Wine's RPC layer as long as the process lives.
   Wine unregisters an interface when the last object that has this interface is released. While doing so, it holds a
   lock and waits for the interface's calls to end. A call that needs this lock never ends, and the server stops
   answering. Therefore one object, which no client receives, keeps each interface registered. Call this function in the
   multithreaded apartment. */
HRESULT kept_interfaces_begin(void);

#endif
