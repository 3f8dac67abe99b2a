-- What a repair could not bring back: entries of the journal from first to last are not there. The chain continues after link, which
-- is that of the last of them.
CREATE TABLE gaps (
	first INTEGER PRIMARY KEY,
	last  INTEGER NOT NULL,
	link  BLOB    NOT NULL,
	at    INTEGER NOT NULL -- when it was repaired, Unix time in microseconds
) STRICT;
