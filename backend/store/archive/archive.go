// Package archive makes backups of Deskbell's data, and restores them.
//
//	FOLDER/owner                           whose backups these are
//	FOLDER/2026-11-28T030000Z/manifest.json  what the backup has; written last
//	FOLDER/2026-11-28T030000Z/deskbell.db.zst
//	FOLDER/2026-11-28T030000Z/files.json.zst  every file: its path, time, size and SHA-256
//	FOLDER/objects/ab/abcdef….zst          the files of all backups, each once, named by its SHA-256
//
// A backup is made in a folder whose name ends in .part and renamed when it is complete, so one without that name is complete.
package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/klauspost/compress/zstd"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// Format is the newest format of backups that this program writes and restores.
const Format = 1

const (
	markerName   = "owner"
	nestName     = "deskbell-backups" // in a folder that was chosen, so that the gatekeeper knows by its name what it holds
	manifestName = "manifest.json"
	databaseName = "deskbell.db"
	packedName   = databaseName + ".zst"
	filesName    = "files.json.zst"
	objectsName  = "objects"
	partEnd      = ".part"
	stateName    = "archive.json"   // in the data folder
	defaultName  = "archive"        // the folder in the data folder
	beforePrefix = "before-restore" // folders of what a restore set aside
	timeFormat   = "2006-01-02T150405Z"

	// Folders of databases that are unpacked to be read. One that a program which was killed left is deleted after unpackedFor.
	unpackedPrefix = ".deskbell-unpacked-"
	unpackedFor    = 24 * time.Hour
)

var idPattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d{6}Z(-\d)?$`)

// A Copy is a database from a backup, open to be read.
type Copy interface {
	RecordingsOf(ctx context.Context, id human.OperationID) ([]human.RecordingID, error)
	Close() error
}

// A Journal is today's database.
type Journal interface {
	CopyTo(ctx context.Context, to string) error
	OpenCopy(ctx context.Context, dir string) (Copy, error)
	Compare(ctx context.Context, c Copy, search string) (human.ArchiveDifference, error)
	Import(ctx context.Context, c Copy, id human.OperationID, now time.Time) error
}

// Rules are what the settings say of backups.
type Rules struct {
	Folder              string // "": DATA/archive
	Daily               bool
	At                  string // 15:04, of the local day
	Days, Weeks, Months int    // of which the last one is kept
}

// Options are what a Service needs. Journal may be nil where only lists, checks and restores of everything are asked for.
type Options struct {
	Dir     string // the data folder
	Version string
	Journal Journal
	Inspect func(ctx context.Context, file string) (human.ArchivedDatabase, error)
	Rules   func() Rules
	Now     func() time.Time
	Log     *slog.Logger
}

// A Service makes and restores backups. It is safe for concurrent use; one backup is made at a time, by all processes together.
type Service struct {
	o       Options
	started time.Time

	mu          sync.Mutex
	running     bool
	done, total int64
	failed      string // why the last attempt failed
	failedAt    time.Time
}

// New makes a service. Nothing is made before the first backup.
func New(o Options) *Service { return &Service{o: o, started: o.Now()} }

// In is the service for another folder of backups; "" is this one.
func (s *Service) In(folder string) *Service {
	if folder == "" {
		return s
	}
	o := s.o
	o.Rules = func() Rules {
		r := s.o.Rules()
		r.Folder, r.Daily = folder, false
		return r
	}
	return &Service{o: o, started: s.started}
}

// A file is one of a backup's.
type file struct {
	Path   string    `json:"path"` // slashes, from the data folder
	Size   int64     `json:"size"`
	At     time.Time `json:"modified_at"`
	SHA256 string    `json:"sha256"`
	Packed int64     `json:"compressed_size"`
}

// A sum is of a file of the backup's own folder.
type sum struct {
	Size   int64  `json:"size"`   // of the contents
	SHA256 string `json:"sha256"` // of the contents
	Packed int64  `json:"compressed_size"`
}

// A manifest is the manifest.json of a backup.
type manifest struct {
	human.Archive
	DatabaseFile sum    `json:"database_file"`
	FilesFile    sum    `json:"files_file"`
	Sum          string `json:"manifest_sha256"` // of this file with an empty one
}

// A state is what the data folder knows of its backups.
type state struct {
	ID      string   `json:"id"`      // in the marker of each folder of this installation
	Folders []string `json:"folders"` // in which backups were made
}

// folder is where backups are.
func (s *Service) folder() string {
	chosen := s.o.Rules().Folder
	switch {
	case chosen == "":
		return filepath.Join(s.o.Dir, defaultName)
	case filepath.Base(chosen) == nestName, exists(filepath.Join(chosen, markerName)):
		return chosen
	}
	return filepath.Join(chosen, nestName)
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = disk.Replace(path, bytes.NewReader(append(text, '\n')), 0o600)
	return err
}

// claim takes the folder for writing: it makes it where backups were never made in it, checks that it is this installation's, and
// keeps other processes out until release.
func (s *Service) claim() (release func(), err error) {
	folder := s.folder()
	var st state
	if err := readJSON(filepath.Join(s.o.Dir, stateName), &st); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, human.Wrap(human.Internal, err, "%s cannot be read (%v); delete it, and the next backup makes it again", filepath.Join(s.o.Dir, stateName), reason(err))
	}
	marker := filepath.Join(folder, markerName)
	owner, err := os.ReadFile(marker)
	id := strings.TrimSpace(string(owner))
	switch {
	case err == nil && st.ID == "":
		st.ID = id // the data folder was restored, or its note was deleted
	case err == nil && id != st.ID:
		return nil, human.Errorf(human.Conflict, "the folder %s has backups of another Deskbell's data; set backup.folder to another folder, or delete %s to use this one", folder, marker)
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(st.Folders, folder):
		return nil, human.Errorf(human.Unavailable, "the folder %s is not there, or is empty: backups were made in it before; connect its disk, or set backup.folder to another folder", folder)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, human.Wrap(human.Unavailable, err, "the folder %s cannot be used for backups: %v", folder, reason(err))
	}
	if err := os.MkdirAll(filepath.Join(folder, objectsName), 0o700); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the folder %s cannot be used for backups: %v", folder, reason(err))
	}
	lock := flock.New(filepath.Join(folder, ".lock"), flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return nil, human.Wrap(human.Conflict, err, "another backup is being made in %s; try again when it is done", folder)
	}
	release = func() { _ = lock.Unlock() } // closing the file at the end of the process would do the same
	st.ID = cmp.Or(st.ID, strings.ToLower(rand.Text()))
	if _, err := disk.Replace(marker, strings.NewReader(st.ID+"\n"), 0o600); err != nil {
		release()
		return nil, human.Wrap(human.Unavailable, err, "the folder %s cannot be used for backups: %v", folder, reason(err))
	}
	if !slices.Contains(st.Folders, folder) {
		st.Folders = append(st.Folders, folder)
	}
	if err := writeJSON(filepath.Join(s.o.Dir, stateName), st); err != nil {
		release()
		return nil, human.Wrap(human.Unavailable, err, "the data folder %s cannot be written: %v", s.o.Dir, reason(err))
	}
	return release, nil
}

// reason is the cause of an error about a file, without the path, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// left are the files and folders of a data folder that no backup has: what a start makes again, what belongs to one run, what keeps
// itself for some weeks only, the backups, and the recorded browser's profile, which is the browser's own to write.
var left = []string{
	databaseName, "lock", "server.json", "deskbell.sock", "deskbell.log", "deskbell.log.1", "deskbell.head", "updates.json", stateName, defaultName,
	"backups", "browser", "crashes", restoreNote, restoreStage,
}

// leaves says whether a backup leaves out a path of the data folder.
func leaves(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	return slices.Contains(left, top) || strings.HasPrefix(top, databaseName+"-") || strings.HasPrefix(top, databaseName+".") || strings.HasPrefix(top, beforePrefix) ||
		strings.HasPrefix(name, ".deskbell-") || strings.HasPrefix(name, ".doctor-") || strings.HasSuffix(name, partEnd)
}

// walk calls each for every file of the data folder that a backup has.
func (s *Service) walk(each func(path string, info fs.FileInfo) error) error {
	folder, err := os.Stat(s.folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fs.WalkDir(os.DirFS(s.o.Dir), ".", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was there for a moment
		}
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (leaves(path) || folder != nil && os.SameFile(info, folder)):
			return fs.SkipDir
		case !info.Mode().IsRegular() || leaves(path):
			return nil
		}
		return each(path, info)
	})
}

// Make makes a backup, verifies it, and deletes those that the rules no longer keep. It blocks until that is done. After an error
// there is no new backup, and what there was is unchanged.
func (s *Service) Make(ctx context.Context, why string) (a human.Archive, err error) {
	release, err := s.claim()
	if err != nil {
		s.end(err)
		return a, err
	}
	defer release()
	s.mu.Lock()
	s.running, s.done, s.total = true, 0, 0
	s.mu.Unlock()
	a, err = s.make(ctx, why)
	if err == nil {
		if err := s.thin(); err != nil { // the new one is there
			s.o.Log.Warn("old backups were not deleted", "err", err)
		}
	}
	s.end(err)
	return a, err
}

func (s *Service) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.failed = false, ""
	if err != nil {
		s.failed, s.failedAt = human.SafeText(err), s.o.Now()
		s.o.Log.Error("no backup was made", "folder", s.folder(), "err", err)
	}
}

func (s *Service) look(n int64) {
	s.mu.Lock()
	s.done += n
	s.mu.Unlock()
}

func (s *Service) make(ctx context.Context, why string) (a human.Archive, err error) {
	folder, now := s.folder(), s.o.Now().UTC().Truncate(time.Second)
	if err := errors.Join(deleteParts(folder), s.deleteUnpacked()); err != nil {
		return a, s.failure(err)
	}
	id := now.Format(timeFormat)
	for n := 1; exists(filepath.Join(folder, id)); n++ {
		id = now.Format(timeFormat) + "-" + string(rune('0'+n%10))
	}
	m := manifest{Archive: human.Archive{ID: id, At: now, Why: why, Version: s.o.Version, Format: Format}}
	part := filepath.Join(folder, id+partEnd)
	if err := os.Mkdir(part, 0o700); err != nil {
		return a, s.failure(err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part) // the next one deletes it otherwise
		}
	}()
	s.estimate()
	if err := s.copyDatabase(ctx, part, &m); err != nil {
		return a, s.failure(err)
	}
	// After the database: each file was there before the entry that names it.
	files, err := s.copyFiles(ctx, &m)
	if err != nil {
		return a, s.failure(err)
	}
	text, err := json.Marshal(files)
	if err != nil {
		return a, err
	}
	if m.FilesFile, err = pack(ctx, filepath.Join(part, filesName), bytes.NewReader(text)); err != nil {
		return a, s.failure(err)
	}
	m.New += m.DatabaseFile.Packed + m.FilesFile.Packed
	if err := s.verifyDatabase(ctx, part, m); err != nil {
		return a, s.failure(err)
	}
	m.VerifiedAt = s.o.Now().UTC().Truncate(time.Second)
	if m.Sum, err = m.sum(); err != nil {
		return a, err
	}
	if err := writeJSON(filepath.Join(part, manifestName), m); err != nil {
		return a, s.failure(err)
	}
	if err := errors.Join(disk.SyncFolder(part), os.Rename(part, filepath.Join(folder, id)), disk.SyncFolder(folder)); err != nil {
		return a, s.failure(err)
	}
	return m.Archive, nil
}

// estimate sets about how many bytes there are to look at.
func (s *Service) estimate() {
	var total int64
	if info, err := os.Stat(filepath.Join(s.o.Dir, databaseName)); err == nil {
		total = info.Size()
	}
	_ = s.walk(func(_ string, info fs.FileInfo) error { total += info.Size(); return nil }) // the copy meets the same error
	s.mu.Lock()
	s.total = total
	s.mu.Unlock()
}

// failure is the error of a backup that was not made.
func (s *Service) failure(err error) error {
	var ours *human.Error
	if errors.As(err, &ours) || errors.Is(err, context.Canceled) {
		return err
	}
	return human.Wrap(human.Internal, err, "no backup was made in %s: %v; check the disk's space and its health, then run `deskbell backup`", s.folder(), err)
}

func (m manifest) sum() (string, error) {
	m.Sum = ""
	text, err := json.Marshal(m)
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:]), err
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// deleteParts deletes what backups that were interrupted left in the folder.
func deleteParts(folder string) error {
	entries, err := os.ReadDir(folder)
	if gone := os.Remove(newObject(folder)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	for _, e := range entries {
		if id, is := strings.CutSuffix(e.Name(), partEnd); is && idPattern.MatchString(id) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// deleteUnpacked deletes databases that were unpacked long ago.
func (s *Service) deleteUnpacked() error {
	entries, err := os.ReadDir(s.o.Dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), unpackedPrefix) {
			continue
		}
		if info, statErr := e.Info(); statErr == nil && time.Since(info.ModTime()) > unpackedFor {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.o.Dir, e.Name())))
		}
	}
	return err
}

// copyDatabase writes the database into the new backup.
func (s *Service) copyDatabase(ctx context.Context, part string, m *manifest) error {
	plain := filepath.Join(part, databaseName)
	if err := s.o.Journal.CopyTo(ctx, plain); err != nil {
		return err
	}
	f, err := os.Open(plain)
	if err != nil {
		return err
	}
	m.DatabaseFile, err = pack(ctx, filepath.Join(part, packedName), f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if m.Database, err = s.o.Inspect(ctx, plain); err != nil {
		return err
	}
	m.Bytes += m.DatabaseFile.Size
	s.look(m.DatabaseFile.Size)
	return removeDatabase(plain)
}

func removeDatabase(path string) error {
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(path)
}

// verifyDatabase unpacks the database of a backup's folder beside it, opens it, and compares it with the manifest.
func (s *Service) verifyDatabase(ctx context.Context, folder string, m manifest) (err error) {
	dir, err := os.MkdirTemp(s.o.Dir, unpackedPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return s.unpackDatabase(ctx, folder, m, filepath.Join(dir, databaseName))
}

// unpackDatabase writes the database of a backup to a new file, and returns an error where it is not as it was.
func (s *Service) unpackDatabase(ctx context.Context, folder string, m manifest, to string) error {
	if err := unpackTo(ctx, filepath.Join(folder, packedName), to, m.DatabaseFile.SHA256); err != nil {
		return err
	}
	is, err := s.o.Inspect(ctx, to)
	if err == nil && is != m.Database {
		err = human.Errorf(human.Internal, "the database in the backup %s ends at entry %d, and its manifest says %d", m.ID, is.Head, m.Database.Head)
	}
	return err
}

// copyFiles stores those files that no backup has yet, reads each of these back, and returns all.
func (s *Service) copyFiles(ctx context.Context, m *manifest) ([]file, error) {
	type known struct {
		path string
		size int64
		at   int64
	}
	last := map[known]file{}
	if all, err := s.list(); err == nil {
		for _, a := range all {
			if a.Problem != "" {
				continue
			}
			if _, files, err := s.read(a.ID); err == nil { // without it, all files are read
				for _, f := range files {
					last[known{f.Path, f.Size, f.At.UnixNano()}] = f
				}
				break
			}
		}
	}
	var files []file
	folders := map[string]bool{}
	err := s.walk(func(path string, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, seen := last[known{path, info.Size(), info.ModTime().UnixNano()}]
		if stored, err := os.Stat(s.object(f.SHA256)); !seen || err != nil || stored.Size() != f.Packed {
			var added int64
			var err error
			f, added, err = s.store(ctx, path, info.ModTime())
			if errors.Is(err, fs.ErrNotExist) {
				return nil // retention removed it
			}
			if err != nil {
				return err
			}
			if added > 0 {
				folders[filepath.Dir(s.object(f.SHA256))] = true
			}
			m.New += added
		}
		files = append(files, f)
		m.Files++
		m.Bytes += f.Size
		s.look(f.Size)
		return nil
	})
	for dir := range folders {
		err = errors.Join(err, disk.SyncFolder(dir))
	}
	return files, errors.Join(err, disk.SyncFolder(filepath.Join(s.folder(), objectsName)))
}

// newObject is where the contents of a file are while they are written.
func newObject(folder string) string { return filepath.Join(folder, objectsName, "new"+partEnd) }

// object is where the contents of a file are.
func (s *Service) object(sha string) string {
	return filepath.Join(s.folder(), objectsName, (sha + "00")[:2], sha+".zst")
}

// store puts a file of the data folder among the objects, where it is not there yet, and reads it back.
func (s *Service) store(ctx context.Context, path string, at time.Time) (f file, added int64, err error) {
	in, err := os.Open(filepath.Join(s.o.Dir, filepath.FromSlash(path)))
	if err != nil {
		return f, 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	part := newObject(s.folder())
	packed, err := pack(ctx, part, in)
	if err != nil {
		_ = os.Remove(part) // it may be what fills the disk, and the first error is the one that counts
		return f, 0, err
	}
	f = file{Path: path, Size: packed.Size, At: at, SHA256: packed.SHA256, Packed: packed.Packed}
	to := s.object(f.SHA256)
	if check(ctx, to, f.SHA256) == nil { // the same bytes under another name
		info, err := os.Stat(to)
		if err == nil {
			f.Packed = info.Size()
			err = os.Remove(part)
		}
		return f, 0, err
	}
	if err := check(ctx, part, f.SHA256); err != nil {
		return f, 0, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return f, 0, err
	}
	return f, f.Packed, os.Rename(part, to)
}

// pack writes a compressed file, synced, with mode 0600.
func pack(ctx context.Context, to string, from io.Reader) (is sum, err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return is, err
	}
	digest := sha256.New()
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err == nil {
		is.Size, err = io.Copy(io.MultiWriter(z, digest), reader{ctx, from})
		err = errors.Join(err, z.Close())
	}
	if err == nil {
		err = out.Sync()
	}
	var info fs.FileInfo
	if err == nil {
		if info, err = out.Stat(); err == nil {
			is.Packed = info.Size()
		}
	}
	is.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return is, errors.Join(err, out.Close())
}

// A reader ends with its context.
type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// unpack writes what a compressed file holds, and returns an error where that has another SHA-256.
func unpack(ctx context.Context, from string, to io.Writer, sha string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	z, err := zstd.NewReader(reader{ctx, in}, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	digest := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, digest), z)
	if ctx.Err() == nil && (err != nil || hex.EncodeToString(digest.Sum(nil)) != sha) {
		var p *fs.PathError
		if !errors.As(err, &p) { // not the disk's own
			return human.Wrap(human.Internal, err, "%s is not as it was written; its disk may be failing: use another backup", from)
		}
	}
	return err
}

func check(ctx context.Context, path, sha string) error { return unpack(ctx, path, io.Discard, sha) }

// unpackTo is unpack into a new file, synced.
func unpackTo(ctx context.Context, from, to, sha string) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = unpack(ctx, from, out, sha)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
