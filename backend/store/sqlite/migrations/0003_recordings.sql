CREATE TABLE recordings (
	n            INTEGER PRIMARY KEY,
	recording_id TEXT    NOT NULL UNIQUE,
	operation_id TEXT    NOT NULL,
	running      INTEGER NOT NULL, -- 1 in the states recording and paused
	last         INTEGER NOT NULL, -- the seq of its last event
	data         TEXT    NOT NULL, -- human.Recording as JSON
	edits        TEXT    NOT NULL  -- human.Edits as JSON, '' before the first
) STRICT;

CREATE INDEX recordings_operation ON recordings (operation_id, n);
CREATE INDEX recordings_running ON recordings (n) WHERE running = 1;

-- The events of recordings, in chunks as they were appended. They never change.
CREATE TABLE recorded (
	recording INTEGER NOT NULL REFERENCES recordings (n) ON DELETE CASCADE,
	first     INTEGER NOT NULL,
	last      INTEGER NOT NULL,
	counts    TEXT    NOT NULL, -- events by source, as JSON
	events    BLOB    NOT NULL, -- human.RecordedEvent as JSON lines under zstd, with its checksum
	PRIMARY KEY (recording, first)
) STRICT, WITHOUT ROWID;
