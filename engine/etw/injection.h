/* SPDX-License-Identifier: MIT */
/* Under Wine, injects openetw.dll into programs that do not use it (DECISIONS 44). Reads the image of a program, in its
   file or in a suspended process, and makes the DLL its first import. */
#ifndef OPENPLA_INJECTION_H
#define OPENPLA_INJECTION_H

#include "engine/base/error.h"

/* The added import names one of these functions of openetw.dll. The first one is for the program alone; with the second
   one, the DLL is also injected into child processes. When the DLL finds this import, it redirects the program's event
   functions to itself. */
#define INJECTION_ENTRY          "OpenEtwRun"
#define INJECTION_ENTRY_CHILDREN "OpenEtwRunChildren"

struct injection_source {
    /* Reads exactly `size` bytes at `offset` from the start of the image. */
    HRESULT (*read)(void *user, uint64_t offset, void *to, size_t size);
    void *user;
};

/* RVA and size of the imports and the bound imports, from the headers. */
struct injection_entries {
    uint32_t imports, imports_size, bound, bound_size;
};
struct injection_image {
    uint32_t size;         /* size of the image in memory, in bytes */
    uint32_t import_entry; /* offset of the header's 8-byte entry for imports */
    uint32_t bound_entry;  /* offset of the entry for bound imports; 0: no such entry */
    struct injection_entries entries;
};

/* Checks a program. *narrow is true if the program is for 32-bit x86, and false if it is for x64. Returns
   HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) for files that are not programs, programs for another processor, .NET
   programs, DLLs and corrupt headers; `name` is used in the error text. */
HRESULT injection_program_read(const struct injection_source *from, const char *name, bool *narrow);
/* Reads the parts of the headers that are identical in a file and in memory. Returns the errors of
   injection_program_read; also rejects 32-bit programs. */
HRESULT injection_image_read(const struct injection_source *from, const char *name, struct injection_image *out);

/* Returns S_FALSE if the first import of an image in memory is neither of the two functions. Otherwise returns S_OK.
   Then *children is true for INJECTION_ENTRY_CHILDREN, and *before contains the original header entries. */
HRESULT injection_image_has_import(const struct injection_source *from, const struct injection_image *image,
                                   bool *children, struct injection_entries *before);

/* A new import directory and the data to which it refers. It lists our DLL before the DLLs that the image imports. */
struct injection_block {
    uint8_t *bytes; /* from memory_alloc */
    size_t size;
    uint32_t directory; /* bytes of the import directory, which is at the beginning */
};
/* Builds the block for an image in memory. `dll` is a path in the form that Wine's loader expects in imports: each byte
   is one UTF-16 unit. */
HRESULT injection_block_make(const struct injection_source *from, const struct injection_image *image, const char *name,
                             const char *dll, const char *function, struct injection_block *out);
/* Relocates the block to this RVA. Call it only once. The RVA plus the block's size must be below 2^32. */
void injection_block_place(struct injection_block *block, uint32_t rva);

/* ---- processes ---- */

/* Returns the path of openetw.dll in the form that Wine's loader expects in imports (each byte is one UTF-16 unit);
   uses the short name of `folder` (UTF-8) if necessary. *out is from memory_alloc. Returns
   HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME) if the path cannot be expressed. */
HRESULT injection_dll_path(const char *folder, char **out);

/* Makes the DLL the first import of a process (a HANDLE with all access) whose program has not started; `name` is used
   in error texts. Returns S_FALSE if it is already the first import. Returns the errors of injection_image_read, and
   HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY) if the address space after the image is occupied. A failure leaves the
   process unchanged. */
HRESULT injection_into_process(void *process, const char *name, const char *dll, bool children);

/* Returns whether the DLL was injected into this process. *children is true if it must also be injected into child
   processes. Call this function once: it restores the original header entries for programs that walk their own
   imports. */
bool injection_restore_self(bool *children);

/* Returns an executable copy of ntdll's system call of this name. Callers need the copy after one of our functions has
   replaced the original. Returns NULL if this Wine's ntdll lacks the function, if the code of the function is unknown,
   or if memory runs out. */
void *injection_system_call_copy(const char *name);
/* Returns whether the system call has the known code or has already been replaced by one of our functions. */
bool injection_system_call_is_known(const char *name);

/* ---- exports ---- */

/* Adds exports that Windows' version of a module has and Wine's version lacks. Without them, GetProcAddress fails and a
   program assumes that the system lacks the feature (DECISIONS 122). GetProcAddress reads the export directory in the
   module's memory. Therefore a larger directory is placed after the module, and the module's header is changed to refer
   to it:

       export directory | functions | names | ordinals | forwarders, new names | padding | thunks
       `---------------------------- directory ------------------------------'

   The loader treats every export that points into the directory's range as a forwarder. Therefore the forwarders are
   copied into the range, and the thunks follow after it. A thunk is needed because a function can be farther from the
   module than an RVA (32 bits) can express. */
struct injection_export {
    const char *name;
    const void *function;
};

/* The block to build. The image and the names are borrowed. */
struct injection_exports {
    const uint8_t *image;
    const struct injection_export *more;
    struct injection_name *names; /* old and new names, in the order in which the loader searches them */
    uint32_t name_count, function_count, new_count;
    uint32_t texts;      /* offset of the forwarders */
    uint32_t directory;  /* bytes of the directory */
    uint32_t size;       /* bytes of the whole block */
    uint32_t entry;      /* offset, in the image, of the header's 8-byte entry for exports */
    uint32_t image_size; /* size of the image in memory, in bytes */
};
/* Plans the block. `image`: a 64-bit module as mapped by the loader; it is trusted. Skips names that the module already
   exports. Returns S_FALSE if the module exports all names or has no export directory, and E_OUTOFMEMORY if memory runs
   out. */
HRESULT injection_exports_plan(const uint8_t *image, const struct injection_export *more, size_t count,
                               struct injection_exports *out);
/* Writes e->size bytes to `block`. The block will be at this RVA of the image. */
void injection_exports_build(const struct injection_exports *e, uint32_t rva, uint8_t *block);
void injection_exports_free(struct injection_exports *e);

/* Adds exports to a module of this process, so that GetProcAddress finds them. Returns S_FALSE if the module already
   exports all names, E_OUTOFMEMORY if memory runs out, and HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY) if the address
   space after the module is occupied. */
HRESULT injection_exports_add(void *module, const struct injection_export *more, size_t count);

/* These two functions return our replacements for NtQuerySystemInformation and NtSetSystemInformation. The replacements
   handle the class SystemPerformanceTraceInformation (engine/etw/controller/system_trace.h) and pass all other classes
   to Wine's original function. Both functions return NULL in the same cases as injection_system_call_copy. */
void *injection_query_system_begin(void);
void *injection_set_system_begin(void);

/* Returns S_OK if the DLL can be injected into child processes: ntdll's NtCreateUserProcess has the code known from
   Wine, or this process was injected and the function has already been replaced. In all other cases, returns
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) with an error text. */
HRESULT injection_children_supported(void);
/* Returns our replacement for NtCreateUserProcess, which injects the DLL into each new process. The replacement stays
   in use until the process exits. Returns NULL if the original function cannot be copied or memory runs out. */
void *injection_children_begin(const char *dll);

/* For openetw.dll's DllMain. If this process was injected (injection_restore_self), redirects the event functions of
   ntdll, advapi32, sechost and kernelbase to those that `module` exports. */
void injection_begin(void *module);

#endif
