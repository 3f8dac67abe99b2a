-- A desk may leave a team, and join it again or another one.
CREATE TABLE teams (
	id       INTEGER PRIMARY KEY,
	identity TEXT    NOT NULL DEFAULT '', -- what no other team has
	desk     TEXT    NOT NULL DEFAULT '', -- this desk's name there
	left_at  INTEGER NOT NULL DEFAULT 0,  -- Unix time in microseconds; 0: this desk is in it
	place    INTEGER NOT NULL DEFAULT 0,
	stamp    INTEGER NOT NULL DEFAULT 0,
	whole    INTEGER NOT NULL DEFAULT 0,
	snapshot INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO teams (id, place, stamp, whole, snapshot) SELECT id, place, stamp, whole, snapshot FROM team;
DROP TABLE team;
ALTER TABLE teams RENAME TO team;
CREATE UNIQUE INDEX team_current ON team (left_at) WHERE left_at = 0;
ALTER TABLE team_operations ADD COLUMN team INTEGER NOT NULL DEFAULT 1; -- whose journal it is in
ALTER TABLE team_operations ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0; -- this desk had another name there then
