// Package casts keeps what terminals printed in files of a recording's folder. It implements record.Casts.
package casts

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Store keeps casts under a data folder. It is safe for concurrent use.
type Store struct{ dir string }

var _ record.Casts = (*Store)(nil)

// New keeps casts in DIR/recordings/RECORDING/terminal.cast.
func New(dir string) *Store { return &Store{filepath.Join(dir, "recordings")} }

var recordingName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// path is where a recording's cast is. Ids come from outside: they must not lead elsewhere.
func (s *Store) path(id human.RecordingID) (string, error) {
	if !recordingName.MatchString(string(id)) {
		return "", human.Errorf(human.NotFound, "no recording %.40q", id)
	}
	return filepath.Join(s.dir, string(id), "terminal.cast"), nil
}

// Create implements record.Casts.
func (s *Store) Create(id human.RecordingID) (record.CastFile, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the terminal cannot be recorded in %s; check the folder's permissions and the space on the disk", filepath.Dir(path))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, human.Errorf(human.Conflict, "recording %s has a terminal already", id)
	case err != nil:
		return nil, human.Wrap(human.Unavailable, err, "the terminal cannot be recorded in %s; check the folder's permissions and the space on the disk", filepath.Dir(path))
	}
	return f, nil
}

// Open implements record.Casts.
func (s *Store) Open(id human.RecordingID) (io.ReadCloser, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, human.Errorf(human.NotFound, "recording %s is not one of a terminal", id)
	}
	return f, err
}

// Repair implements record.Casts.
func (s *Store) Repair(id human.RecordingID, lines []byte) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	end, err := lastLine(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil && end > 0 {
		_, err = f.WriteAt(lines, end)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// lastLine is where the last whole line ends.
func lastLine(f *os.File) (int64, error) {
	at, err := f.Seek(0, io.SeekEnd)
	buf := make([]byte, 64<<10)
	for err == nil && at > 0 {
		n := min(int64(len(buf)), at)
		if _, err = f.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return at - n + i + 1, nil
			}
		}
		at -= n
	}
	return 0, err
}

// Delete implements record.Casts.
func (s *Store) Delete(id human.RecordingID) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(make([]byte, info.Size())) // bounded by what a recording may have
	}
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(path)); err != nil {
		return human.Wrap(human.Internal, err, "the terminal's recording in %s cannot be deleted", path)
	}
	_ = os.Remove(filepath.Dir(path)) // there may be pictures
	return nil
}
