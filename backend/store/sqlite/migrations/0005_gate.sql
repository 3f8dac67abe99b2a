-- The gatekeeper's log.
CREATE TABLE decisions (
	n            INTEGER PRIMARY KEY,
	decision_id  TEXT    NOT NULL UNIQUE,
	at           INTEGER NOT NULL, -- Unix time in microseconds
	decision     TEXT    NOT NULL,
	agent_id     TEXT    NOT NULL,
	project      TEXT    NOT NULL,
	operation_id TEXT    NOT NULL, -- of the question; empty where nobody was asked
	outcome      TEXT    NOT NULL, -- of the question
	answered     INTEGER NOT NULL, -- by an operator, Unix time in microseconds; 0: not
	call         TEXT    NOT NULL, -- for the search, in lower case
	data         TEXT    NOT NULL  -- keeper.Decision as JSON
) STRICT;

CREATE INDEX decisions_at ON decisions (at, decision);
CREATE INDEX decisions_kind ON decisions (decision, n);
CREATE INDEX decisions_project ON decisions (project, n);
CREATE UNIQUE INDEX decisions_operation ON decisions (operation_id) WHERE operation_id <> '';
CREATE INDEX decisions_waiting ON decisions (n) WHERE outcome = 'waiting';
CREATE INDEX decisions_answered ON decisions (answered) WHERE answered <> 0;

-- Files that sessions of agents made.
CREATE TABLE made (
	session TEXT NOT NULL,
	path    TEXT NOT NULL,
	PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;

-- The operators' rules, and how often each rule of theirs and of files was used.
CREATE TABLE gate_rules (
	rule_id TEXT PRIMARY KEY,
	data    TEXT NOT NULL -- human.GateRule as JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE gate_rule_uses (
	rule_id TEXT PRIMARY KEY,
	uses    INTEGER NOT NULL,
	last    INTEGER NOT NULL -- Unix time in microseconds
) STRICT, WITHOUT ROWID;

-- Proposals that operators do not want to see again.
CREATE TABLE dismissed (
	key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
