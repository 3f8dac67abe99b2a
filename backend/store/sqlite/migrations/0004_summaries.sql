CREATE TABLE summaries (
	n            INTEGER PRIMARY KEY,
	summary_id   TEXT    NOT NULL UNIQUE,
	operation_id TEXT    NOT NULL,
	data         TEXT    NOT NULL -- human.Summary as JSON
) STRICT;

CREATE INDEX summaries_operation ON summaries (operation_id, n);

-- Which recordings a summary was made of. What was made of a deleted one goes with it.
CREATE TABLE summarized (
	recording_id TEXT    NOT NULL,
	summary      INTEGER NOT NULL REFERENCES summaries (n) ON DELETE CASCADE,
	PRIMARY KEY (recording_id, summary)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER recording_gone AFTER DELETE ON recordings BEGIN
	DELETE FROM summaries WHERE n IN (SELECT summary FROM summarized WHERE recording_id = old.recording_id);
END;

CREATE TABLE consents (
	consent_id TEXT PRIMARY KEY,
	data       TEXT NOT NULL -- summary.Consent as JSON
) STRICT, WITHOUT ROWID;
