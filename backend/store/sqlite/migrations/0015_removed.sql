-- The words of an operation can be removed: payload is then empty, and details and context are NULL. Its last entry, of type
-- removed, names what was removed. Older programs would take that for damage.
CREATE INDEX journal_removed ON journal (operation_id) WHERE type = 'removed';
