-- Of a desk that is in a team: how far the team's journal is here, and what of each operation is in it.
CREATE TABLE team (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	place INTEGER NOT NULL, -- everything up to this place of the team's journal is here
	stamp INTEGER NOT NULL, -- when the team's server got the message at that place, in nanoseconds
	whole INTEGER NOT NULL DEFAULT 0 -- everything that was here before is there, or waits
) STRICT;
CREATE TABLE team_operations (
	operation_id TEXT PRIMARY KEY,
	place        INTEGER NOT NULL, -- of its last message in the team's journal
	shared       INTEGER NOT NULL  -- how many of its versions are there
) STRICT, WITHOUT ROWID;
CREATE TABLE team_waiting (
	n            INTEGER PRIMARY KEY, -- in the order in which they began to wait
	operation_id TEXT    NOT NULL UNIQUE,
	in_doubt     INTEGER NOT NULL     -- sent, and no answer came
) STRICT;
