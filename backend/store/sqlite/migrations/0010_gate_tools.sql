-- What MCP servers said of their tools, as far as an operator knows it: an agent's first call of a tool, or a change that was
-- allowed.
CREATE TABLE gate_tools (
	agent TEXT    NOT NULL,
	tool  TEXT    NOT NULL,
	at    INTEGER NOT NULL, -- Unix time in microseconds
	text  TEXT    NOT NULL, -- canonical JSON of the description, input schema and annotations
	PRIMARY KEY (agent, tool, text)
) STRICT, WITHOUT ROWID;
