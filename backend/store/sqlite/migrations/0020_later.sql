-- What an operator decided while this desk was not connected to its team (human.Later), until it is done or discarded.
CREATE TABLE later (
	n            INTEGER PRIMARY KEY, -- in the order in which it was decided
	operation_id TEXT    NOT NULL UNIQUE,
	decided      TEXT    NOT NULL     -- JSON
) STRICT;
