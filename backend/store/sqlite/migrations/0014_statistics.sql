-- What statistics are counted from: for each operation 32 bytes (see fact), in chunks by operations.n, so that a million of them
-- are read in a fraction of a second. They follow from the journal, as all of the projection does.
CREATE TABLE facts (
	chunk INTEGER PRIMARY KEY, -- operations.n / 256
	first INTEGER NOT NULL,    -- the earliest and the latest time of a request in it, Unix time in milliseconds
	last  INTEGER NOT NULL,
	facts BLOB    NOT NULL
) STRICT;

-- The names of kinds, agents and projects that facts have the numbers of.
CREATE TABLE fact_names (
	id   INTEGER PRIMARY KEY,
	name TEXT    NOT NULL UNIQUE
) STRICT;

-- Operations up to this n have no facts yet. Databases of older versions get them when they are opened.
ALTER TABLE projected ADD COLUMN without_facts INTEGER NOT NULL DEFAULT 0;

UPDATE projected SET without_facts = (SELECT coalesce(max(n), 0) FROM operations);
