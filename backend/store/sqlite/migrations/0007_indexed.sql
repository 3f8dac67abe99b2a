-- How far the full-text index has come: it knows the texts of all operations as they were at this seq of the journal.
ALTER TABLE projected ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;

UPDATE projected SET indexed = seq;
