-- What operators let run without them (procedure.Unattended): the last that was given for each procedure.
CREATE TABLE unattended (
	name TEXT PRIMARY KEY, -- of the procedure
	data TEXT NOT NULL     -- JSON
) STRICT;
