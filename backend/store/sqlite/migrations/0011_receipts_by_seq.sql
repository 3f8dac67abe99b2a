-- A receipt's place in the log has the number of its event in the journal, and nothing else to look it up by: its number in the
-- log and its operation are in the proof and in the journal.
CREATE TABLE placed (
	seq   INTEGER PRIMARY KEY,
	proof TEXT    NOT NULL -- receipt.LogProof as JSON
) STRICT;

INSERT INTO placed (seq, proof) SELECT seq, proof FROM receipts;

DROP TABLE receipts;

ALTER TABLE placed RENAME TO receipts;
