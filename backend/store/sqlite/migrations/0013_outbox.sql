-- What is to be delivered outside the journal, for each sink, and how far the journal was read for it.
CREATE TABLE outbox (
	sink         TEXT NOT NULL,
	operation_id TEXT NOT NULL,
	seq          INTEGER NOT NULL, -- the event that ended it
	attempts     INTEGER NOT NULL DEFAULT 0,
	noted        INTEGER NOT NULL, -- microseconds since 1970
	problem      TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (sink, operation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_next ON outbox (sink, attempts, seq);
CREATE TABLE outbox_read (seq INTEGER NOT NULL) STRICT;
INSERT INTO outbox_read SELECT coalesce(max(seq), 0) FROM journal;
