/* SPDX-License-Identifier: MIT
 *
 * The part of the command that reads, writes and cleans up after arrays: what its files offer, with
 * a banner for each.
 */
#ifndef QUERN_CLI_FILES_H
#define QUERN_CLI_FILES_H

#include "cli.h"

#include <sys/stat.h>

/* ---- place_in_file.c ------------------------------------------------------------------------ */

typedef enum cli_place { CLI_NO_PLACE, CLI_BAD_PLACE, CLI_PLACE } cli_place;

/* Read a value that names a file; CLI_NO_PLACE when nothing in it does. */
cli_place cli_place_parse(cli_value *out, const char *text, cli_problem *problem);
/* The same, also for names without the ending, in which a "/" shows that they are paths. */
cli_place cli_place_parse_any(cli_value *out, const char *text, cli_problem *problem);
/* What follows a file or generator, from text[at]: a view, and where it is saved. */
bool cli_place_parse_rest(cli_value *out, const char *text, size_t at, cli_problem *problem);
/* Whether a path is that of an archive. */
bool cli_is_archive(const char *path);

/* ---- npy_header.c --------------------------------------------------------------------------- */

typedef struct cli_npy {
    quern_dtype dtype;
    bool fortran_order;
    int ndim;
    int64_t shape[QUERN_MAX_NDIM];
    int64_t bytes;      /* of the data */
    size_t data_offset; /* of the data in the file */
} cli_npy;

/* Read the header of an NPY file of `size` bytes, and check that the data is there. If `wanted` is
 * QUERN_BFLOAT16, two-byte void elements are taken as that; it may be QUERN_DTYPE_NONE. */
bool cli_npy_parse(cli_npy *out, const uint8_t *file, size_t size, quern_dtype wanted,
                   cli_problem *problem);
/* How long the header is, as far as its first `have` bytes (at least 8) say. */
size_t cli_npy_header_bytes(const uint8_t *file, size_t have);
/* The header of a file in C order; returns its length. `header` has room for as much as
 * cli_npy_header_room() says: CLI_NPY_HEADER, and what the dtype needs. */
#define CLI_NPY_HEADER 1024
size_t cli_npy_header_room(quern_dtype dtype);
size_t cli_npy_header(char *header, quern_dtype dtype, int ndim, const int64_t *shape);

/* ---- input.c -------------------------------------------------------------------------------- */

typedef struct cli_inflater cli_inflater;

/* An array that is being read. */
typedef struct cli_input {
    cli_npy npy;
    const char *name, *path; /* of the argument, and where it comes from */
    const char *member;      /* of an archive */
    int file;
    bool opened, archive, ended;
    uint64_t size;     /* of the whole; UINT64_MAX when it is not known */
    uint64_t at, left; /* the place in the file, and what may still be read of it */
    uint32_t crc, wanted_crc;
    cli_inflater *inflater; /* of a member that is deflated */
    uint8_t *buffer;
    const uint8_t *from;
    size_t buffered;
} cli_input;

/* Open it, and read its header. `member` may be NULL, and `wanted` QUERN_DTYPE_NONE. Close it,
 * whatever the status is. */
int cli_input_open(cli_input *in, const char *name, const char *path, const char *member,
                   quern_dtype wanted);
/* The next bytes of its data: all of them, or a failure. */
int cli_input_read(cli_input *in, void *to, size_t bytes);
/* Once all data are read, check that they were not damaged. */
int cli_input_finish(cli_input *in);
void cli_input_close(cli_input *in);

/* ---- map.c ---------------------------------------------------------------------------------- */

/* The data of a large file as memory, without a copy; NULL if it has to be read. Call *release with
 * *context when it is no longer used. */
void *cli_input_map(cli_input *in, void (**release)(void *), void **context);

/* ---- target.c ------------------------------------------------------------------------------- */

/* What exists where an output should go, and how to write it: as a stream, in place, or else under
 * a temporary name that is then renamed. */
typedef struct cli_target {
    const char *path; /* as the user gave it */
    bool exists;
    struct stat info; /* of what exists */
    int folder;       /* a descriptor of the folder that the file is in, links followed; -1: none */
    struct stat folder_info; /* of that folder */
    const char *file;        /* its name there */
    const char *in_place;    /* why it can only be written in place; NULL when it need not */
    int stream;              /* the descriptor that the path means, or -1 */
    bool opens;              /* a device or pipe, to be opened and written to */
} cli_target;

/* Find it, and check that it may be written. `name`, of the argument, may be NULL. */
int cli_target_find(cli_target *target, const char *name, const char *path);
void cli_target_close(cli_target *target);
bool cli_target_is_stream(const cli_target *target);
/* Whether both are one file, however it is spelt. */
bool cli_target_same(const cli_target *a, const cli_target *b);
/* Give the open new file the owner, access lists and attributes of the file that it replaces; false
 * if not all of them can be kept. The mode comes last, because writing takes bits of it away. */
bool cli_target_keep_attributes(const cli_target *target, int temporary);
/* "NAME: cannot DOING "PATH": what errno says"; `name` may be NULL. CLI_FAILURE. */
int cli_fail_errno(const char *name, const char *doing, const char *path);

/* ---- descriptors.c -------------------------------------------------------------------------- */

/* First of all: remember which descriptors the command was started with. */
void cli_descriptors_note(void);
/* The descriptor that "-", /dev/stdout, /dev/fd/3 and their like mean, or -1. */
int cli_descriptor_of(const char *path, bool writing);

/* ---- save.c --------------------------------------------------------------------------------- */

typedef struct cli_piece {
    const void *data;
    size_t bytes;
} cli_piece;

/* Write all of it, waiting where that takes a while; false with errno. */
bool cli_write_all(int file, const void *from, size_t bytes);

/* Prepare the file `path`, made of pieces of memory that stay until cli_save_discard. Nothing is at
 * `path` until cli_save_publish, which puts all files into their places and, unless `quiet`, names
 * those that it writes in place. */
int cli_save_stage(const char *path, const cli_piece *pieces, size_t count);
int cli_save_publish(bool quiet);
/* Drop what is staged and not yet published. */
void cli_save_discard(void);
/* The same at the very end of the process: from then on no file is put into its place. */
void cli_save_abandon(void);

/* ---- archive.c ------------------------------------------------------------------------------ */

/* An array as a file and, if it goes into an archive, as a member. */
typedef struct cli_array_file {
    const char *member;
    cli_piece header, data;
} cli_array_file;
/* As cli_save_stage, for the archive `path` with these arrays and those that it held before. */
int cli_archive_stage(const char *path, const cli_array_file *files, size_t count);

/* ---- interrupt.c ---------------------------------------------------------------------------- */

/* From here on Ctrl-C, SIGTERM and SIGHUP remove temporary files before they end the command. */
void cli_interrupt_install(void);
/* Around fork(), which is for processes of one thread: between these two nothing waits for signals,
 * and those that come wait. */
void cli_interrupt_pause(void);
void cli_interrupt_resume(void);
/* Before another program takes the place of this one: signals are its own business. */
void cli_signals_as_before(void);
/* Call these around what may launch on `engine`: an interrupted launch can then still print what
 * its kernel has printed. */
void cli_launch_begins(quern_engine *engine);
void cli_launch_ends(void);
/* Call this when a signal ends the command, before it does. */
void cli_on_interrupt(void (*function)(void));
/* End as the signal ends a program that does not handle it. */
_Noreturn void cli_die_by(int signal_number);

#endif /* QUERN_CLI_FILES_H */
