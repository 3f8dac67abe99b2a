-- Snapshots of a team's journal: up to which of them this desk has all, and which messages are in one and no longer in the journal.
ALTER TABLE team ADD COLUMN snapshot INTEGER NOT NULL DEFAULT 0;
ALTER TABLE team_operations ADD COLUMN folded INTEGER NOT NULL DEFAULT 0; -- the last place of those messages
