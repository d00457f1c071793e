-- SPDX-License-Identifier: MIT
--
-- The format of Quern's cache, file quern-1.db: the tables with their meaning, and every statement
-- that is run on them. This file is compiled into the library; a line that is three dashes and a
-- name in capitals begins the piece that the library knows by that name.
--
-- The number in the file's name is user_version. Another format gets another number and another
-- file, so that two versions of Quern share a folder without knowing of each other. A file whose
-- user_version is not the one of its name is damaged, and is set aside.

--- SETTINGS
-- For each connection. What is not said here is SQLite's default for a reason, too: mmap_size stays
-- 0, because a file that another process cuts short while it is mapped kills this one (SIGBUS);
-- cache_size stays at 2 MB, the memory a process may lose to its cache.
PRAGMA synchronous = OFF;         -- until the journal is set: a new file has nothing to lose
PRAGMA temp_store = MEMORY;       -- sorting what eviction removes needs no files
PRAGMA trusted_schema = OFF;      -- a doctored file may not call functions from its schema
PRAGMA cell_size_check = ON;      -- notice damaged pages when they are read

--- JOURNAL_LOCAL
-- Readers never wait for a writer, and a commit waits for no disk.
PRAGMA journal_mode = WAL;
-- A lost last entry is compiled again; a broken file is not risked.
PRAGMA synchronous = NORMAL;
-- The journal stays beside the file, so that a process that only reads makes no files. The last that
-- closes empties it; until then it keeps its length, because cutting 64 MB off takes 12 ms, and the
-- put that begins it anew would do that.
PRAGMA journal_size_limit = 134217728;
-- Moving the journal into the file waits for the disk: left to the last that closes and, when the
-- journal is long, to a thread (checkpoint.c).
PRAGMA wal_autocheckpoint = 0;

--- LOOK_AT_JOURNAL
PRAGMA schema_version;

--- JOURNAL_NETWORK
-- WAL needs memory shared by all its processes, which two machines do not have.
PRAGMA journal_mode = DELETE;
PRAGMA synchronous = NORMAL;

--- EMPTY
-- For a new file, before CREATE and its transaction: what is evicted can be given back.
PRAGMA auto_vacuum = INCREMENTAL;

--- CREATE
PRAGMA application_id = 0x7175726e; -- "qurn": file(1) can tell
PRAGMA user_version = 1;

-- One row per image, without its bytes: small, so that listing and eviction read little.
CREATE TABLE image (
    id            INTEGER PRIMARY KEY,  -- of the row in payload
    key           BLOB NOT NULL,        -- XXH3-128 of payload.material, big end first
    compiler      TEXT NOT NULL,        -- build id of the libnvrtc that made it
    compiler_text TEXT NOT NULL,        -- the same for people: "NVRTC 13.0"
    kind          INTEGER NOT NULL,     -- 1 cubin, 2 PTX, 3 fatbin
    arch          INTEGER NOT NULL,     -- compute capability: 90
    checksum      BLOB NOT NULL,        -- XXH3-128 over key, compiler, kind, arch and the payload
    name          TEXT NOT NULL,        -- of the kernel
    compile_ms    REAL NOT NULL,        -- what a hit saves
    bytes         INTEGER NOT NULL,     -- in the file, rounded up to pages: what the limit counts
    created       INTEGER NOT NULL,     -- seconds since 1970
    last_used     INTEGER NOT NULL,     -- the same; written at most once a day
    hits          INTEGER NOT NULL,     -- look-ups answered; counted at most once a day
    UNIQUE (key, compiler)
);

-- Eviction goes through it from the oldest on, and needs nothing but what it holds.
CREATE INDEX image_by_use ON image (last_used, bytes);

-- What a hit gives. Written with its row in image, deleted with it, never changed.
CREATE TABLE payload (
    id       INTEGER PRIMARY KEY,
    material BLOB NOT NULL,             -- what key is the hash of (key.c): compared on every hit
    lowered  BLOB NOT NULL,             -- names of template instances, each ended by a zero byte;
                                        -- then, where the compiler warned, byte 1, its words, zero
    image    BLOB NOT NULL              -- the code
);

-- The sums over image, so that a put need not read the table.
CREATE TABLE total (
    entries INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
);
INSERT INTO total VALUES (0, 0);

CREATE TRIGGER image_comes AFTER INSERT ON image BEGIN
    UPDATE total SET entries = entries + 1, bytes = bytes + new.bytes;
END;
CREATE TRIGGER image_goes AFTER DELETE ON image BEGIN
    DELETE FROM payload WHERE id = old.id;
    UPDATE total SET entries = entries - 1, bytes = bytes - old.bytes;
END;

--- FIND
-- ?1 key, ?2 compiler
SELECT i.id, i.compiler, i.kind, i.arch, i.checksum, i.last_used, p.material, p.lowered, p.image,
       i.compile_ms
FROM image AS i JOIN payload AS p ON p.id = i.id
WHERE i.key = ?1 AND i.compiler = ?2;

--- FIND_ANY
-- ?1 key; of several compilers' images the newest
SELECT i.id, i.compiler, i.kind, i.arch, i.checksum, i.last_used, p.material, p.lowered, p.image,
       i.compile_ms
FROM image AS i JOIN payload AS p ON p.id = i.id
WHERE i.key = ?1 ORDER BY i.created DESC, i.id DESC LIMIT 1;

--- TOUCH
-- ?1 id, ?2 now
UPDATE image SET last_used = ?2, hits = hits + 1 WHERE id = ?1;

--- REMOVE_ID
DELETE FROM image WHERE id = ?1;

--- REMOVE
-- ?1 key, ?2 compiler, or NULL for those of all compilers
DELETE FROM image WHERE key = ?1 AND (?2 IS NULL OR compiler = ?2);

--- ADD_IMAGE
INSERT INTO image (key, compiler, compiler_text, kind, arch, checksum, name, compile_ms, bytes,
                   created, last_used, hits)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, 0);

--- ADD_PAYLOAD
INSERT OR REPLACE INTO payload (id, material, lowered, image)
VALUES (last_insert_rowid(), ?1, ?2, ?3);

--- BYTES
SELECT bytes FROM total;

--- ENTRIES
SELECT entries FROM total;

--- OLDEST
-- ?1 rows, ?2 only what was used before. The least recently used first.
SELECT id FROM image WHERE last_used < ?2 ORDER BY last_used, id LIMIT ?1;

--- FUTURE
-- ?1 rows, ?2 now. Used in the future, that is, under a clock that was wrong: they go first.
SELECT id FROM image WHERE last_used > ?2 ORDER BY last_used DESC LIMIT ?1;

--- PAGES
PRAGMA page_count;

--- FREE_PAGES
PRAGMA freelist_count;

--- GIVE_BACK
-- Some pages at a time, so that nobody waits for it.
PRAGMA incremental_vacuum(64);

--- NAMED
-- ?1 name: the newest entry of that name among the newest of all, and whether the index leads to it.
SELECT lower(hex(i.key)), i.compiler, p.material,
       EXISTS (SELECT 1 FROM image AS x WHERE x.key = i.key AND x.compiler = i.compiler)
FROM (SELECT id, key, compiler, name FROM image ORDER BY id DESC LIMIT 500) AS i
JOIN payload AS p ON p.id = i.id
WHERE i.name = ?1 ORDER BY i.id DESC LIMIT 1;

--- LIST
SELECT id FROM image ORDER BY last_used DESC, id DESC;

--- LIST_RANGE
-- ?1 the first key, ?2 the last: the index leads to them.
SELECT id FROM image WHERE key BETWEEN ?1 AND ?2 ORDER BY last_used DESC, id DESC;

--- SHOW
SELECT i.key, i.name, i.kind, i.arch, i.compiler, i.compiler_text, i.compile_ms, i.created,
       i.last_used, i.hits, p.material, p.image
FROM image AS i JOIN payload AS p ON p.id = i.id
WHERE i.id = ?1;

--- CHECK
-- ?1 id: as FIND, with the key; also of a row whose payload is gone
SELECT i.id, i.compiler, i.kind, i.arch, i.checksum, i.last_used, p.material, p.lowered, p.image,
       i.compile_ms, i.key
FROM image AS i LEFT JOIN payload AS p ON p.id = i.id WHERE i.id = ?1;

--- MEND
-- Payloads without their row.
DELETE FROM payload WHERE id NOT IN (SELECT id FROM image);

--- SUM
DELETE FROM total;
INSERT INTO total SELECT count(*), coalesce(sum(bytes), 0) FROM image;

--- STRUCTURE
-- Of the whole file: every page and every index.
PRAGMA quick_check(1);

--- EXPORT
-- ?1 id
SELECT i.key, i.name, i.kind, i.arch, i.compiler, i.compiler_text, i.compile_ms, i.checksum,
       p.material, p.lowered, p.image
FROM image AS i JOIN payload AS p ON p.id = i.id
WHERE i.id = ?1;

--- CLEAR
-- Payloads first and all at once: far faster than row by row through the trigger.
DELETE FROM payload;
DELETE FROM image;

--- VERSION
PRAGMA user_version;

--- SCHEMA_SIZE
SELECT count(*) FROM sqlite_schema;

--- BEGIN
-- IMMEDIATE: waits for its turn here, and cannot fail later for want of it.
BEGIN IMMEDIATE;

--- COMMIT
COMMIT;

--- ROLLBACK
ROLLBACK;

--- SHRINK
-- After CLEAR and for 'quern cache prune': give the space back. A file of Quern 0.1 can give pages
-- back one by one from then on. VACUUM makes a copy as large as the contents of the file, so the
-- copy goes to a file as well, not to memory.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA temp_store = FILE;
VACUUM;
PRAGMA temp_store = MEMORY;

--- EMPTY_JOURNAL
-- After SHRINK, when no thread moves the journal: it would refuse this at once, without a word.
PRAGMA wal_checkpoint(TRUNCATE);

--- TUNING
-- What was measured to be the fastest way to launch a kernel (quern/tune.h). Files of Quern 0.1 and
-- 0.2 may lack the table: it is made when something is first kept in it. A row is a wish, not a
-- truth: whatever it says, the answer of a call is the same.
CREATE TABLE IF NOT EXISTS tuning (
    key     BLOB PRIMARY KEY,           -- XXH3-128 over device, kernel, dtypes, layout and sizes
    setting TEXT NOT NULL,              -- "pack=8 block=128"; '' for what the rules choose
    about   TEXT NOT NULL,              -- the calls it is for, for people
    us      REAL NOT NULL,              -- device time with it, in microseconds
    rule_us REAL NOT NULL,              -- and without
    created INTEGER NOT NULL            -- seconds since 1970
);

--- TUNING_IS_THERE
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'tuning';

--- FIND_TUNING
-- ?1 key
SELECT setting FROM tuning WHERE key = ?1;

--- ADD_TUNING
-- ?1 key, ?2 setting, ?3 about, ?4 us, ?5 rule_us, ?6 now
INSERT OR REPLACE INTO tuning (key, setting, about, us, rule_us, created)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

--- TRIM_TUNING
-- Rows are small, and few are ever made; beyond ?1 of them the oldest go.
DELETE FROM tuning WHERE rowid <= (SELECT max(rowid) FROM tuning) - ?1;

--- CLEAR_TUNING
DELETE FROM tuning;
