-- What agents tried that only a person may do.
CREATE TABLE attempts (
	attempt_id TEXT    PRIMARY KEY,
	last       INTEGER NOT NULL, -- Unix time in microseconds
	dismissed  INTEGER NOT NULL, -- the same; 0: not
	data       TEXT    NOT NULL  -- human.Attempt as JSON
) STRICT, WITHOUT ROWID;

CREATE INDEX attempts_open ON attempts (last) WHERE dismissed = 0;
