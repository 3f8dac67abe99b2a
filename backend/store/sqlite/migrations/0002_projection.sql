-- Everything below follows from the journal and can be made again from it.

-- n is the seq of the operation's first event. So it is the order of creation, and journal row n has
-- the details and the context.
CREATE TABLE operations (
	n               INTEGER PRIMARY KEY,
	operation_id    TEXT    NOT NULL,
	version         INTEGER NOT NULL,
	agent_id        TEXT    NOT NULL,
	kind            TEXT    NOT NULL,
	state           TEXT    NOT NULL,
	open            INTEGER NOT NULL,
	priority        INTEGER NOT NULL,
	updated         INTEGER NOT NULL, -- Unix time in microseconds
	delivered       INTEGER NOT NULL,
	idempotency_key TEXT    NOT NULL,
	data            TEXT    NOT NULL -- human.Operation.Brief as JSON
) STRICT;

-- Agents, kinds and ends have no index here: the full-text index has them as words.
CREATE UNIQUE INDEX operations_key ON operations (agent_id, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX operations_urgent ON operations (open, priority DESC, n);
CREATE INDEX operations_recent ON operations (updated, n);
CREATE INDEX operations_undelivered ON operations (agent_id, n) WHERE open = 0 AND delivered = 0;

-- The full-text index comes in parts of some ten thousand operations, FTS5 tables named search_1, search_2
-- and so on, each for the operations from its first to the next part's. A search for the newest asks
-- the last part first and seldom needs all, the cost of a prefix that matches everything is bounded, and
-- merging within FTS5 is, too.
CREATE TABLE search_parts (
	part  INTEGER PRIMARY KEY,
	first INTEGER NOT NULL -- operations.n
) STRICT;

-- How far the tables above have come, and by which rules they were made (see projectionRules).
CREATE TABLE projected (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	seq   INTEGER NOT NULL,
	rules INTEGER NOT NULL
) STRICT;

INSERT INTO projected (id, seq, rules) VALUES (1, 0, 0);
