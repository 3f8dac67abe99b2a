-- The full-text index of the gatekeeper's decisions, in parts like that of operations (see search_parts).
CREATE TABLE decided_parts (
	part  INTEGER PRIMARY KEY,
	first INTEGER NOT NULL -- decisions.n
) STRICT;

-- What a recording that has ended is found by: what windows, pages, elements and commands were called.
CREATE TABLE recorded_texts (
	recording INTEGER PRIMARY KEY REFERENCES recordings (n) ON DELETE CASCADE,
	moments   TEXT    NOT NULL, -- [[nanoseconds, text], ...] as JSON, in their order
	body      TEXT    NOT NULL  -- as the index has it
) STRICT;

-- It forgets what is deleted at once: a deleted recording must not be in the file.
CREATE VIRTUAL TABLE recorded_search USING fts5 (body, content = 'recorded_texts', content_rowid = 'recording', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO recorded_search (recorded_search, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER recorded_texts_added AFTER INSERT ON recorded_texts BEGIN
	INSERT INTO recorded_search (rowid, body) VALUES (new.recording, new.body);
END;

CREATE TRIGGER recorded_texts_gone AFTER DELETE ON recorded_texts BEGIN
	INSERT INTO recorded_search (recorded_search, rowid, body) VALUES ('delete', old.recording, old.body);
END;
