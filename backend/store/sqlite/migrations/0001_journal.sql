-- The truth. seq is given out by the one writer, without gaps. The bytes an agent sent as details and
-- context stand here exactly and only once: JSON inside JSON would be reformatted, and every later
-- change of an operation would carry them along.
CREATE TABLE journal (
	seq          INTEGER PRIMARY KEY,
	operation_id TEXT    NOT NULL,
	version      INTEGER NOT NULL,
	type         TEXT    NOT NULL,
	at           INTEGER NOT NULL, -- Unix time in microseconds, for people who look with other tools; payload has it exactly
	payload      TEXT    NOT NULL, -- human.Event as JSON, without details and context
	details      BLOB,
	context      BLOB,
	UNIQUE (operation_id, version)
) STRICT;

CREATE TABLE keys (
	id         TEXT    PRIMARY KEY,
	name       TEXT    NOT NULL,
	hash       BLOB    NOT NULL, -- SHA-256 of the whole key
	ephemeral  INTEGER NOT NULL,
	created_at INTEGER NOT NULL, -- Unix time in microseconds, as every time here
	last_seen  INTEGER,
	revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_name ON keys (name);

CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
