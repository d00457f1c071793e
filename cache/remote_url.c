/* SPDX-License-Identifier: MIT
 *
 * Addresses of stores, and secrets. In: what the user gave. Out: the parts of an address; a secret,
 * from the environment or from a file that only the user may read.
 *
 * An address goes into messages, so it may hold no secret: a user or a password in it is refused,
 * and so is a file with a secret that others may read.
 */
#include "cache/fleet.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- addresses ------------------------------------------------------------------------------ */

static quern_status refuse(const char *url, const char *why)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "\"%s\" is no address of a remote store: %s; write https://HOST:PORT/PATH or "
                   "redis://HOST:PORT/NUMBER",
                   url, why);
}

static bool is_plain(qn_str text, const char *also)
{
    for (size_t k = 0; k < text.length; k++) {
        unsigned char c = (unsigned char)text.data[k];
        if (!isalnum(c) && !strchr(also, c)) {
            return false;
        }
    }
    return text.length > 0;
}

/* The host and its port: what is between "://" and the first slash. */
static bool read_host(qn_remote_url *out, qn_str place)
{
    size_t end = place.length;
    const char *bracket = memchr(place.data, ']', place.length);
    const char *from = bracket ? bracket : place.data;
    const char *colon = memchr(from, ':', (size_t)(place.data + place.length - from));
    if (colon) {
        end = (size_t)(colon - place.data);
        for (const char *digit = colon + 1; digit < place.data + place.length; digit++) {
            if (!isdigit((unsigned char)*digit) || out->port > 65535) {
                return false;
            }
            out->port = out->port * 10 + (*digit - '0');
        }
        if (out->port == 0 || out->port > 65535) {
            return false;
        }
    }
    if (end >= sizeof out->host || !is_plain((qn_str){place.data, end}, "-._[]:%")) {
        return false;
    }
    memcpy(out->host, place.data, end);
    out->host[end] = '\0';
    return true;
}

quern_status qn_remote_url_read(qn_remote_url *out, const char *url)
{
    *out = (qn_remote_url){.path = ""};
    const char *colon = strstr(url, "://");
    size_t length = colon ? (size_t)(colon - url) : 0;
    const char *rest = colon ? colon + 3 : url;
    const size_t end = strcspn(rest, "/?#");
    if (memchr(rest, '@', end)) { /* first: it must not be repeated in a message */
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the address of the remote store has a user or a password in it; put them "
                       "into QUERN_REMOTE_AUTH, as USER:PASSWORD or @FILE");
    }
    if (length == 0 || length >= sizeof out->scheme || !is_plain((qn_str){url, length}, "+-.")) {
        return refuse(url, "it does not begin with http://, https://, redis:// or rediss://");
    }
    memcpy(out->scheme, url, length);
    if (!read_host(out, (qn_str){rest, end})) {
        return refuse(url, "there is no host, or no port, where they should be");
    }
    if (rest[end] == '?' || rest[end] == '#' || strpbrk(rest, "?# \t\r\n\"<>\\")) {
        return refuse(url, "a path may have no '?', '#', '\"', '<', '>', '\\' or spaces");
    }
    out->path = rest + end;
    return QUERN_OK;
}

/* ---- secrets -------------------------------------------------------------------------------- */

quern_status qn_check_owned(const char *variable, const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0) {
        return qn_fail(QUERN_ERROR_IO, "%s: cannot read %s: %s", variable, path, strerror(errno));
    }
    if ((facts.st_uid != geteuid() && facts.st_uid != 0) || (facts.st_mode & 022)) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "%s: others may change %s (owner %u, mode %04o): it must be yours or root's, "
            "and chmod go-w",
            variable, path, (unsigned)facts.st_uid, facts.st_mode & 07777u);
    }
    return QUERN_OK;
}

quern_status qn_secret_file(char **out, const char *variable, const char *path)
{
    struct stat facts;
    size_t size;
    *out = NULL;
    if (stat(path, &facts) == 0 &&
        (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() || (facts.st_mode & 077))) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: %s is not a file that only you may read (owner %u, mode %04o): "
                       "chmod 600 it",
                       variable, path, (unsigned)facts.st_uid, facts.st_mode & 07777u);
    }
    QN_TRY(qn_file_read(path, out, &size));
    while (size > 0 && isspace((unsigned char)(*out)[size - 1])) {
        (*out)[--size] = '\0';
    }
    return QUERN_OK;
}

quern_status qn_secret_read(char **out, const char *variable, const char *text)
{
    *out = NULL;
    if (!text || !text[0]) {
        return QUERN_OK;
    }
    if (text[0] == '@') {
        return qn_secret_file(out, variable, text + 1);
    }
    *out = qn_strdup(text);
    return *out ? QUERN_OK : qn_fail_memory("reading a secret");
}

void qn_secret_free(char *secret)
{
    if (secret) {
        explicit_bzero(secret, strlen(secret));
        qn_free(secret);
    }
}
