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
	overdue         INTEGER NOT NULL,
	priority        INTEGER NOT NULL,
	risk            TEXT    NOT NULL,
	created         INTEGER NOT NULL,
	updated         INTEGER NOT NULL,
	expires         INTEGER,
	delivered       INTEGER NOT NULL,
	session_id      TEXT    NOT NULL,
	idempotency_key TEXT    NOT NULL,
	data            TEXT    NOT NULL -- human.Operation.Brief as JSON
) STRICT;

CREATE UNIQUE INDEX operations_key ON operations (agent_id, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX operations_urgent ON operations (open, priority DESC, n);
CREATE INDEX operations_recent ON operations (updated, n);
CREATE INDEX operations_agent ON operations (agent_id, n);
CREATE INDEX operations_kind ON operations (kind, n);
CREATE INDEX operations_ended ON operations (state, n) WHERE open = 0;
CREATE INDEX operations_undelivered ON operations (agent_id, n) WHERE open = 0 AND delivered = 0;

CREATE VIRTUAL TABLE search USING fts5 (
	body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3'
);

-- How far the tables above have come, and by which rules they were made (see projectionRules).
CREATE TABLE projected (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	seq   INTEGER NOT NULL,
	rules INTEGER NOT NULL
) STRICT;

INSERT INTO projected (id, seq, rules) VALUES (1, 0, 0);
