package sqlite

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	codes "modernc.org/sqlite/lib"

	"deskbell/backend/human"
)

// CopyTo writes a copy of the database, as it is at one moment, to a file that is empty or not there, and leaves the copy with mode
// 0600. What is appended meanwhile is not in it and does not wait. It blocks until the copy is written; syncing it is the caller's.
// Pages that nothing uses any more are not copied, so words that were removed are not in it.
func (s *Store) CopyTo(ctx context.Context, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	db, err := connectTo(address(s.file, "busy_timeout(5000)", "temp_store(MEMORY)")+existing, 1) // its own: readers may only query
	if err != nil {
		return s.fail(ctx, err)
	}
	if _, err = db.ExecContext(ctx, `VACUUM INTO ?`, to); code(err) == codes.SQLITE_FULL {
		err = storageError(err, to)
	}
	return s.fail(ctx, errors.Join(err, db.Close()))
}

// InspectCopy reads a database that nothing has open, and says what is in it. It changes nothing. The error is Internal for one that is
// damaged or another program's, Unavailable for one of a newer format.
func InspectCopy(ctx context.Context, file string) (d human.ArchivedDatabase, err error) {
	db, err := connect(file, 1, "query_only(ON)", "temp_store(MEMORY)")
	if err != nil {
		return d, storageError(err, file)
	}
	s := &Store{file: file, reads: db}
	s.queue.init()
	defer func() {
		for _, stmt := range s.prepped.stmts {
			err = errors.Join(err, stmt.Close())
		}
		err = errors.Join(err, db.Close())
	}()
	var app int
	var sound string
	if err := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)`).Scan(&app, &d.Format); err != nil {
		return d, storageError(err, file)
	}
	steps, err := migrations()
	if err != nil {
		return d, err
	}
	if app != applicationID {
		return d, human.Errorf(human.Internal, "%s is not a Deskbell database", file)
	}
	if d.Format > len(steps) {
		return d, human.Errorf(human.Unavailable, "this database was written by a newer Deskbell (its format is %d, this one knows %d); use the newer Deskbell", d.Format, len(steps))
	}
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&sound); err != nil {
		return d, storageError(err, file)
	}
	if sound != "ok" {
		return d, human.Errorf(human.Internal, "the database is damaged: %s", sound)
	}
	var link []byte
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0), count(*), (SELECT count(*) FROM operations), (SELECT count(*) FROM recordings),
		coalesce((SELECT link FROM journal ORDER BY seq DESC LIMIT 1), x'') FROM journal`).Scan(&d.Head, &d.Entries, &d.Operations, &d.Recordings, &link)
	if err != nil {
		return d, storageError(err, file)
	}
	d.Link = hex.EncodeToString(link)
	if d.Format < len(steps) { // it is upgraded before it is used
		return d, nil
	}
	missing, err := s.missing(ctx)
	if err != nil {
		return d, storageError(err, file)
	}
	if uint64(d.Entries)+missing != d.Head {
		return d, human.Errorf(human.Internal, "the journal ends at entry %d and has %d entries: some are missing", d.Head, d.Entries)
	}
	return d, s.CheckHead(ctx)
}

// A Copy is a database that was copied before, to read what today's lacks.
type Copy struct{ *Store }

// OpenCopy opens the copy in a folder of its own. It is upgraded where its format is older, and nothing else writes to it.
func OpenCopy(ctx context.Context, dir string) (*Copy, error) {
	s, err := Open(ctx, dir, Options{})
	if err != nil {
		return nil, err
	}
	return &Copy{s}, nil
}

// RecordingsOf are the ids of an operation's recordings.
func (c *Copy) RecordingsOf(ctx context.Context, id human.OperationID) (ids []human.RecordingID, err error) {
	all, err := c.recordingsOf(ctx, id)
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids, err
}

func (c *Copy) recordingsOf(ctx context.Context, id human.OperationID) (all []human.Recording, err error) {
	for cursor := ""; ; {
		page, err := c.Recordings().Recordings(ctx, id, 100, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Recordings...)
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
}

// maxMissing is how many operations Compare names.
const maxMissing = 1000

// Compare says how a copy differs from this database. Of the missing operations it names those that search is found in. One whose
// words were removed here is not missing.
func (s *Store) Compare(ctx context.Context, c *Copy, search string) (d human.ArchiveDifference, err error) {
	d.Missing = []human.ArchivedOperation{}
	here := map[human.OperationID]uint64{}
	const versions = `SELECT operation_id, max(version) FROM journal GROUP BY operation_id`
	if err := s.versions(ctx, versions, func(id human.OperationID, version uint64) error { here[id] = version; return nil }); err != nil {
		return d, err
	}
	there := 0
	var missing []human.OperationID
	err = c.versions(ctx, `SELECT operation_id, version FROM operations ORDER BY n DESC`, func(id human.OperationID, version uint64) error {
		now, is := here[id]
		if is {
			there++
			if now > version {
				d.Changed++
			}
			return nil
		}
		missing = append(missing, id)
		return nil
	})
	if err != nil {
		return d, err
	}
	d.Newer = len(here) - there
	search = strings.ToLower(search)
	for _, id := range missing {
		if len(d.Missing) == maxMissing && search == "" {
			d.More = len(missing) - maxMissing
			break
		}
		var data []byte
		err := c.reads.QueryRowContext(ctx, `SELECT data FROM operations WHERE operation_id = ?`, id).Scan(&data)
		var op human.Operation
		if err == nil {
			err = json.Unmarshal(data, &op)
		}
		if err != nil {
			return d, c.fail(ctx, err)
		}
		switch {
		case !strings.Contains(strings.ToLower(string(id)+"\n"+op.AgentID+"\n"+op.Description), search):
		case len(d.Missing) == maxMissing:
			d.More++
		default:
			d.Missing = append(d.Missing, human.ArchivedOperation{
				ID: id, Kind: op.Kind, State: op.State, Description: human.OneLine(op.Description, 200), AgentID: op.AgentID, CreatedAt: op.CreatedAt,
			})
		}
	}
	return d, nil
}

func (s *Store) versions(ctx context.Context, query string, each func(human.OperationID, uint64) error) error {
	rows, err := s.reads.QueryContext(ctx, query)
	if err != nil {
		return s.fail(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id human.OperationID
		var version uint64
		if err := rows.Scan(&id, &version); err != nil {
			return s.fail(ctx, err)
		}
		if err := each(id, version); err != nil {
			return err
		}
	}
	return s.fail(ctx, rows.Err())
}

// importedAtOnce is how many events of a recording are stored in one transaction.
const importedAtOnce = 500

// Import appends an operation of a copy, which this database does not have, to the journal, its recordings first. Its events keep
// their times. One that was open is canceled at now: its agent has stopped waiting. Conflict where the operation is here, or was and
// its words were removed; NotFound where the copy does not have it.
func (s *Store) Import(ctx context.Context, c *Copy, id human.OperationID, now time.Time) error {
	entries, err := c.Operation(ctx, id)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return human.Errorf(human.NotFound, "the backup has no operation %s", id)
	}
	today, err := s.Operation(ctx, id)
	if err != nil {
		return err
	}
	if len(today) > 0 {
		return human.Errorf(human.Conflict, "operation %s is in today's database, so nothing was restored of it; words that were removed stay removed", id)
	}
	var op human.Operation
	op.ID = id
	events := make([]human.Event, 0, len(entries)+1)
	for _, e := range entries {
		if e.Event.Type == human.Erased {
			return human.Errorf(human.NotFound, "the words of operation %s were removed before the backup was made", id)
		}
		if op, err = op.Apply(e.Event); err != nil {
			return err
		}
		events = append(events, e.Event)
	}
	if !op.State.Terminal() {
		events = append(events, human.Event{Type: human.Withdrawn, At: now, By: human.Actor{Role: human.System}, Text: "It was open when the backup was made, and is restored for reading."})
	}
	recordings, err := c.recordingsOf(ctx, id)
	if err != nil {
		return err
	}
	for _, rec := range recordings {
		if err := s.importRecording(ctx, c, rec); err != nil {
			return err
		}
	}
	_, err = s.Append(ctx, id, 0, events...)
	return err
}

func (s *Store) importRecording(ctx context.Context, c *Copy, rec human.Recording) error {
	if rec.Running() {
		rec.State = human.RecordingInterrupted
	}
	if err := s.Recordings().Create(ctx, rec); human.KindOf(err) == human.Conflict {
		if err := s.Recordings().Delete(ctx, rec.ID); err != nil { // what an import that was interrupted left: no operation has it
			return err
		}
		if err := s.Recordings().Create(ctx, rec); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	var events []human.RecordedEvent
	for e, err := range c.Recordings().Events(ctx, rec.ID, 0) {
		if err != nil {
			return err
		}
		if events = append(events, e); len(events) == importedAtOnce {
			if err := s.Recordings().Append(ctx, rec, events); err != nil {
				return err
			}
			events = events[:0]
		}
	}
	if err := s.Recordings().Append(ctx, rec, events); err != nil {
		return err
	}
	edits, err := c.Recordings().Edits(ctx, rec.ID)
	if err != nil || edits.Version == 0 {
		return err
	}
	edits.Version = 0
	_, err = s.Recordings().SetEdits(ctx, rec.ID, edits)
	return err
}
