-- The journal's chain: link is SHA-256 over the link before it and every column of the row (see receipt.Link). Rows of older
-- versions get theirs when the file is opened. receipts has the place of each receipt in the log of receipts; the receipt
-- itself is in the payload of its event.
ALTER TABLE journal ADD COLUMN link BLOB;

CREATE TABLE receipts (
	leaf         INTEGER PRIMARY KEY,
	seq          INTEGER NOT NULL UNIQUE,
	operation_id TEXT    NOT NULL,
	proof        TEXT    NOT NULL -- receipt.LogProof as JSON
) STRICT;

CREATE INDEX receipts_operation ON receipts (operation_id);
