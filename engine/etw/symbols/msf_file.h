/* SPDX-License-Identifier: MIT */
/* Reads the container of PDB files, which has numbered streams. Each stream is a list of blocks of the same size.

     block 0   magic, block size, number of blocks, bytes of the directory, block of the directory's block list
     directory number of streams, size of each stream, then the blocks of each stream */
#ifndef OPENPLA_MSF_FILE_H
#define OPENPLA_MSF_FILE_H

#include "engine/etw/symbols/pdb_file.h"

struct msf_stream {
    uint32_t size;
    uint32_t first; /* index of the stream's first block in `blocks` */
};
struct msf_file {
    const struct pdb_source *source;
    uint32_t block_size, block_count;
    struct msf_stream *streams;
    uint32_t stream_count;
    uint32_t *blocks;
};
/* Opens the container and checks that the blocks of all streams are in the file. Errors: those of pdb_read_identity.
   Free *out even after a failure. */
HRESULT msf_open(const struct pdb_source *source, struct msf_file *out);
/* Returns the size of a stream, or 0 if the stream does not exist. */
uint32_t msf_size(const struct msf_file *m, uint32_t stream);
/* Reads a part of a stream. Fails if the stream is shorter. */
HRESULT msf_read(const struct msf_file *m, uint32_t stream, uint32_t offset, void *bytes, uint32_t size);
void msf_close(struct msf_file *m);
HRESULT pdb_corrupt(const char *what);

#endif
