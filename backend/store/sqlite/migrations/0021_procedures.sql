-- What people taught (human.Procedure): each version is its file.
CREATE TABLE procedures (
	name     TEXT    NOT NULL,
	version  INTEGER NOT NULL,
	file     TEXT    NOT NULL, -- YAML
	digest   TEXT    NOT NULL, -- SHA-256 of file, in hex
	saved_at TEXT    NOT NULL,
	saved_by TEXT    NOT NULL,
	note     TEXT    NOT NULL,
	PRIMARY KEY (name, version)
) STRICT;

-- What became of runs (human.RunOfProcedure), one for each operation.
CREATE TABLE procedure_runs (
	operation_id TEXT    PRIMARY KEY,
	name         TEXT    NOT NULL,
	started_at   TEXT    NOT NULL,
	over         INTEGER NOT NULL, -- 1: it has ended
	data         TEXT    NOT NULL  -- JSON
) STRICT;
CREATE INDEX procedure_runs_by_name ON procedure_runs (name, started_at);
