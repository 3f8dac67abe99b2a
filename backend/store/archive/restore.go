package archive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

const (
	restoreNote  = "restore.json" // in the data folder, while everything is restored
	restoreStage = "restore.part" // what is put in place
)

// A restore is a note of one that has begun. What it moves is complete in restoreStage before there is a note, so it can be finished
// after any interruption.
type restore struct {
	ID     string   `json:"archive_id"`
	Owner  string   `json:"owner"`
	Before string   `json:"before"` // the folder of the data folder that gets what was there
	Old    []string `json:"old"`    // what was there
	New    []string `json:"new"`    // what is put in place
}

// open unpacks the database of a backup for reading. close deletes it again.
func (s *Service) open(ctx context.Context, id string) (m manifest, files []file, c Copy, done func() error, err error) {
	if m, files, err = s.read(id); err != nil {
		return m, nil, nil, nil, err
	}
	dir, err := os.MkdirTemp(s.o.Dir, unpackedPrefix)
	if err != nil {
		return m, nil, nil, nil, err
	}
	err = s.unpackDatabase(ctx, filepath.Join(s.folder(), id), m, filepath.Join(dir, databaseName))
	if err == nil {
		c, err = s.o.Journal.OpenCopy(ctx, dir)
	}
	if err != nil {
		return m, nil, nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return m, files, c, func() error { return errors.Join(c.Close(), os.RemoveAll(dir)) }, nil
}

// Show says what a backup has and how it differs from today's database; of the missing operations those that search is found in. It changes
// nothing.
func (s *Service) Show(ctx context.Context, id, search string) (d human.ArchiveDifference, err error) {
	if s.o.Journal == nil {
		m, _, err := s.read(id)
		return human.ArchiveDifference{Archive: m.Archive, Missing: []human.ArchivedOperation{}}, err
	}
	m, _, c, done, err := s.open(ctx, id)
	if err != nil {
		return d, err
	}
	d, err = s.o.Journal.Compare(ctx, c, search)
	d.Archive = m.Archive
	return d, errors.Join(err, done())
}

// Restore brings back operations that today's database does not have, with their recordings and files. It stops at the first that
// cannot be; those before it are restored. It overwrites nothing.
func (s *Service) Restore(ctx context.Context, id string, ids []human.OperationID) (r human.ArchiveRestored, err error) {
	r.Operations = []human.OperationID{}
	_, files, c, done, err := s.open(ctx, id)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, op := range ids {
		recordings, err := c.RecordingsOf(ctx, op)
		if err != nil {
			return r, err
		}
		prefixes, paths := map[string]bool{}, []string(nil)
		for _, rec := range recordings {
			prefixes["recordings/"+string(rec)] = true
		}
		for _, f := range files { // attachments/SHA-256/for-ID says which file an operation names
			if dir, name, _ := cutLast(f.Path); strings.HasPrefix(dir, "attachments/") && name == "for-"+string(op) {
				prefixes[dir] = true
			}
		}
		for _, f := range files {
			parts := strings.SplitN(f.Path, "/", 3)
			if len(parts) < 3 || !prefixes[parts[0]+"/"+parts[1]] {
				continue
			}
			put, err := s.put(ctx, f, filepath.Join(s.o.Dir, filepath.FromSlash(f.Path)))
			if err != nil {
				return r, s.notRestored(err)
			}
			if put {
				r.Files++
				paths = append(paths, f.Path)
			}
		}
		if err := syncFolders(s.o.Dir, paths); err != nil {
			return r, s.notRestored(err)
		}
		if err := s.o.Journal.Import(ctx, c, op, s.o.Now()); err != nil {
			return r, err
		}
		r.Operations = append(r.Operations, op)
	}
	return r, nil
}

func cutLast(path string) (dir, name string, found bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path, false
	}
	return path[:at], path[at+1:], true
}

func (s *Service) notRestored(err error) error {
	var ours *human.Error
	if errors.As(err, &ours) {
		return err
	}
	return human.Wrap(human.Internal, err, "nothing was restored into %s: %v; check the disk's space and the folder's permissions", s.o.Dir, err)
}

// put writes a file of a backup where none is, with its time. It returns false where there is one. Syncing the folder is the caller's.
func (s *Service) put(ctx context.Context, f file, to string) (bool, error) {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) || leaves(f.Path) {
		return false, human.Errorf(human.Internal, "the backup names the file %.200q, which is none of the data folder's; use another backup", f.Path)
	}
	if exists(to) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	part := filepath.Join(filepath.Dir(to), ".deskbell-restored"+partEnd)
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := unpackTo(ctx, s.object(f.SHA256), part, f.SHA256); err != nil {
		return false, errors.Join(err, os.Remove(part))
	}
	return true, errors.Join(os.Chtimes(part, f.At, f.At), os.Rename(part, to))
}

// syncFolders makes the names of files durable.
func syncFolders(dir string, paths []string) error {
	synced := map[string]bool{}
	for _, path := range paths {
		for folder := filepath.Dir(filepath.Join(dir, filepath.FromSlash(path))); !synced[folder]; folder = filepath.Dir(folder) {
			synced[folder] = true
			if err := disk.SyncFolder(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if folder == dir {
				break
			}
		}
	}
	return nil
}

// RestoreAll puts the database and all files of a backup in the place of today's, which it moves to a folder of their own in the data
// folder. The caller holds the data folder's lock, and nothing has the database open. Until everything is unpacked and verified,
// nothing is moved. After an interruption, Finish finishes it.
func (s *Service) RestoreAll(ctx context.Context, id string) (r human.ArchiveRestored, err error) {
	r.Operations = []human.OperationID{}
	m, files, err := s.read(id)
	if err != nil {
		return r, err
	}
	if _, err := Finish(s.o.Dir); err != nil {
		return r, err
	}
	stage := filepath.Join(s.o.Dir, restoreStage)
	if err := os.RemoveAll(stage); err != nil {
		return r, s.notRestored(err)
	}
	if err := s.stage(ctx, m, files, stage); err != nil {
		return r, s.notRestored(errors.Join(err, os.RemoveAll(stage)))
	}
	owner, err := os.ReadFile(filepath.Join(s.folder(), markerName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, s.notRestored(err)
	}
	note := restore{ID: id, Owner: strings.TrimSpace(string(owner)), Before: beforePrefix + "-" + s.o.Now().UTC().Format(timeFormat), New: []string{databaseName}}
	for n := 0; exists(filepath.Join(s.o.Dir, note.Before)); n++ {
		note.Before += "-"
	}
	for _, f := range files {
		note.New = append(note.New, f.Path)
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if exists(filepath.Join(s.o.Dir, databaseName+end)) {
			note.Old = append(note.Old, databaseName+end)
		}
	}
	if exists(filepath.Join(s.o.Dir, "deskbell.head")) { // of a newer database, which is no loss here
		note.Old = append(note.Old, "deskbell.head")
	}
	err = s.walk(func(path string, _ fs.FileInfo) error { note.Old = append(note.Old, path); return nil })
	if err == nil {
		err = writeJSON(filepath.Join(s.o.Dir, restoreNote), note)
	}
	if err != nil {
		return r, s.notRestored(err)
	}
	if _, err := Finish(s.o.Dir); err != nil {
		return r, err
	}
	r.Files, r.Kept = len(files), filepath.Join(s.o.Dir, note.Before)
	return r, nil
}

// stage unpacks a backup into a folder, verified and synced.
func (s *Service) stage(ctx context.Context, m manifest, files []file, stage string) error {
	if free, err := disk.Free(s.o.Dir); err == nil && uint64(m.Bytes) > free {
		return human.Errorf(human.Unavailable, "the backup takes %d megabytes, and the disk of %s has %d left; free some space and try again", m.Bytes/1e6, s.o.Dir, free/1e6)
	}
	if err := os.Mkdir(stage, 0o700); err != nil {
		return err
	}
	if err := s.unpackDatabase(ctx, filepath.Join(s.folder(), m.ID), m, filepath.Join(stage, databaseName)); err != nil {
		return err
	}
	paths := []string{databaseName}
	for _, f := range files {
		if _, err := s.put(ctx, f, filepath.Join(stage, filepath.FromSlash(f.Path))); err != nil {
			return err
		}
		paths = append(paths, f.Path)
	}
	return errors.Join(syncFolders(stage, paths), disk.SyncFolder(s.o.Dir))
}

// Finish finishes a restore of everything that was interrupted, and says whether there was one. The caller holds the data folder's
// lock.
func Finish(dir string) (bool, error) {
	var r restore
	err := readJSON(filepath.Join(dir, restoreNote), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = finish(dir, r)
	}
	if err != nil {
		return true, human.Wrap(human.Unavailable, err, "the restore of a backup into %s was interrupted and cannot be finished: %v; check the disk's space and the folder's permissions, then start Deskbell again", dir, err)
	}
	return true, nil
}

func finish(dir string, r restore) error {
	// Each step may be done already. What was there is set aside completely before anything is put in place.
	for _, path := range r.Old {
		from := filepath.Join(dir, filepath.FromSlash(path))
		if err := move(from, filepath.Join(dir, r.Before, filepath.FromSlash(path))); err != nil {
			return err
		}
		for empty := filepath.Dir(from); empty != dir && os.Remove(empty) == nil; empty = filepath.Dir(empty) { // one with files in it stays
		}
	}
	if err := errors.Join(syncFolders(filepath.Join(dir, r.Before), r.Old), syncFolders(dir, r.Old)); err != nil {
		return err
	}
	for _, path := range r.New {
		if err := move(filepath.Join(dir, restoreStage, filepath.FromSlash(path)), filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	if err := syncFolders(dir, r.New); err != nil {
		return err
	}
	if r.Owner != "" {
		var st state
		if err := readJSON(filepath.Join(dir, stateName), &st); err != nil {
			st = state{}
		}
		st.ID = r.Owner
		if err := writeJSON(filepath.Join(dir, stateName), st); err != nil {
			return err
		}
	}
	return errors.Join(disk.SyncFolder(dir), os.Remove(filepath.Join(dir, restoreNote)), os.RemoveAll(filepath.Join(dir, restoreStage)))
}

// move renames a file to where none is. It does nothing where that was done before. Syncing the folders is the caller's.
func move(from, to string) error {
	if exists(to) || !exists(from) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}
