// Package attachments keeps the files that agents and operators attach, each once, in a folder named by its bytes. It implements
// queue.Files.
//
//	attachments/SHA-256/data        the bytes
//	attachments/SHA-256/by-ID.json  what one who sent them said of them
//	attachments/SHA-256/for-ID      an operation that may name them; empty
//	attachments/SHA-256/removed     when retention removed the bytes
//
// The operation itself is what counts: a for- file is written before it, and only says where to look.
package attachments

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/image/draw"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/disk"
)

// Life is how long a file is kept that no operation names.
const Life = 24 * time.Hour

const (
	pruneEvery = time.Hour
	spare      = 64 << 20 // bytes that stay free on the disk
)

// Options are what a Store needs.
type Options struct {
	// Mask hides the secrets of a text and says how many it found; nil finds none.
	Mask func(text string) (masked string, found int)
	// Quota is how many bytes all files may have together; 0 is no bound.
	Quota func() int64
	Now   func() time.Time
}

// A Store keeps files in the folder attachments of a data folder. It is safe for concurrent use.
type Store struct {
	dir  string
	opts Options

	mu    sync.Mutex // of changes
	used  int64      // bytes of all files; -1 before they are counted
	large sync.Mutex // one image at a time is made smaller: it may take some hundred megabytes
}

var _ queue.Files = (*Store)(nil)

// New keeps files in DIR/attachments. Nothing is made before the first.
func New(dir string, opts Options) *Store {
	if opts.Mask == nil {
		opts.Mask = func(text string) (string, int) { return text, 0 }
	}
	if opts.Quota == nil {
		opts.Quota = func() int64 { return 0 }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Store{dir: filepath.Join(dir, "attachments"), opts: opts, used: -1}
}

// A sent is what one who sent a file said of it.
type sent struct {
	human.Attachment
	By human.Actor `json:"by"`
	At time.Time   `json:"at"`
}

const (
	dataName  = "data"
	forPrefix = "for-"
)

var operationName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// folder is where a file is. Ids come from outside: they must not lead elsewhere.
func (s *Store) folder(id human.AttachmentID) (string, error) {
	if !id.Valid() {
		return "", human.Errorf(human.NotFound, "no attachment %.80q", id)
	}
	return filepath.Join(s.dir, strings.TrimPrefix(string(id), human.AttachmentPrefix)), nil
}

// sentName is the file of what by said.
func sentName(by human.Actor) string {
	sum := sha256.Sum256([]byte(string(by.Role) + "\x00" + by.Name))
	return "by-" + hex.EncodeToString(sum[:16]) + ".json"
}

// Put implements queue.Files. What an operator sends is looked through first: secrets in a text are masked, and an image keeps only
// what it shows. What an agent sends stays as it is, since its request is for just that.
func (s *Store) Put(ctx context.Context, by human.Actor, name string, data []byte) (human.Attachment, error) {
	name = nameOf(name)
	a, err := mediaOf(name, data)
	if err == nil && by.Role == human.Operator {
		a, data, err = s.cleaned(a, data)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return human.Attachment{}, err
	}
	a.ID = human.AttachmentOf(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	return a, s.write(ctx, sent{a, by, s.opts.Now()}, data)
}

// cleaned is a file as an operator may give it out.
func (s *Store) cleaned(a human.Attachment, data []byte) (human.Attachment, []byte, error) {
	a.Name, _ = s.opts.Mask(a.Name)
	if strip := strips[a.Media]; strip != nil {
		bare, err := strip(data)
		if err != nil {
			return a, nil, human.Errorf(human.Invalid, "%s begins as %s and cannot be read as that; it may be damaged", a.Name, a.Media)
		}
		checked, err := mediaOf(a.Name, bare)
		return checked, bare, err
	}
	if wide, ok := utf8Of(data); ok {
		data = wide
		var err error
		if a, err = mediaOf(a.Name, data); err != nil {
			return a, nil, err
		}
	}
	if !a.Text() {
		return a, data, nil
	}
	text, found := s.opts.Mask(string(data))
	a.Check = human.CheckClean
	if found > 0 {
		a.Check, a.Masked, data = human.CheckMasked, found, []byte(text)
	}
	a.Size = int64(len(data))
	return a, data, nil
}

// write stores a file, and in any case what was said of it: the bytes first.
func (s *Store) write(ctx context.Context, w sent, data []byte) error {
	if err := s.store(ctx, w.By, w.ID, data); err != nil {
		return err
	}
	dir, err := s.folder(w.ID)
	if err != nil {
		return err
	}
	said, err := json.Marshal(w)
	if err != nil {
		return human.Wrap(human.Internal, err, "what is known of the file %s cannot be written", w.ID)
	}
	_, err = disk.Replace(filepath.Join(dir, sentName(w.By)), bytes.NewReader(said), 0o600)
	return s.unwritten(err)
}

// store stores the bytes of a file that is not there yet, or is damaged.
func (s *Store) store(ctx context.Context, by human.Actor, id human.AttachmentID, data []byte) error {
	if _, err := s.Read(ctx, id); err == nil {
		return nil
	}
	if err := s.room(by, int64(len(data))); err != nil {
		return err
	}
	dir, err := s.makeFolder(id)
	if err != nil {
		return err
	}
	if _, err := disk.Replace(filepath.Join(dir, dataName), bytes.NewReader(data), 0o600); err != nil {
		return s.unwritten(err)
	}
	s.used += int64(len(data))
	if err := os.Remove(filepath.Join(dir, removedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.unwritten(err)
	}
	return nil
}

// makeFolder makes a file's folder.
func (s *Store) makeFolder(id human.AttachmentID) (string, error) {
	dir, err := s.folder(id)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", s.unwritten(err)
	}
	// The names of the folders, before what is in them.
	return dir, s.unwritten(errors.Join(disk.SyncFolder(filepath.Dir(s.dir)), disk.SyncFolder(s.dir)))
}

func (s *Store) unwritten(err error) error {
	if err == nil {
		return nil
	}
	return human.Wrap(human.Unavailable, err, "files cannot be stored in %s; check its permissions and the disk", s.dir)
}

// room returns an error where so many more bytes are too many. A quarter is the operator's: agents alone must not be able to keep
// an answer from having a file.
func (s *Store) room(by human.Actor, more int64) error {
	if s.used < 0 {
		s.used = 0
		err := s.each(func(_ human.AttachmentID, dir string) error {
			if info, err := os.Stat(filepath.Join(dir, dataName)); err == nil {
				s.used += info.Size()
			}
			return nil
		})
		if err != nil {
			s.used = -1
			return s.unwritten(err)
		}
	}
	quota := s.opts.Quota()
	if by.Role == human.Agent {
		quota -= quota / 4
	}
	if quota > 0 && s.used+more > quota {
		return human.Errorf(human.Exhausted, "attached files have %d bytes already and this one has %d; the setting limits.attachments_megabytes leaves room for %d in all. "+
			"Have the operator raise it, or wait: files that no request or answer has are removed after a day", s.used, more, quota)
	}
	if free, err := disk.Free(filepath.Dir(s.dir)); err == nil && free < uint64(more)+spare {
		return human.Errorf(human.Unavailable, "the disk of %s is full; make room and attach the file again", s.dir)
	}
	return nil
}

// each calls do for every file's folder, until it returns an error.
func (s *Store) each(do func(id human.AttachmentID, dir string) error) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if id := human.AttachmentID(human.AttachmentPrefix + e.Name()); e.IsDir() && id.Valid() {
			err = errors.Join(err, do(id, filepath.Join(s.dir, e.Name())))
		}
	}
	return err
}

// Sent implements queue.Files.
func (s *Store) Sent(_ context.Context, by human.Actor, id human.AttachmentID) (human.Attachment, error) {
	dir, err := s.folder(id)
	if err != nil {
		return human.Attachment{}, err
	}
	text, err := os.ReadFile(filepath.Join(dir, sentName(by)))
	if errors.Is(err, fs.ErrNotExist) {
		return human.Attachment{}, human.Errorf(human.NotFound, "no attachment %s", id)
	}
	var w sent
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return human.Attachment{}, human.Wrap(human.Internal, err, "what is known of the file in %s cannot be read", dir)
	}
	return w.Attachment, nil
}

// Keep implements queue.Files.
func (s *Store) Keep(ctx context.Context, by human.Actor, op human.OperationID, id human.AttachmentID) (human.Attachment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.Sent(ctx, by, id)
	if err != nil {
		return a, err
	}
	dir, err := s.folder(id)
	if err == nil {
		err = there(id, dir)
	}
	if err != nil {
		return a, err
	}
	return a, s.mark(dir, op)
}

// mark notes in a file's folder that an operation names it.
func (s *Store) mark(dir string, op human.OperationID) error {
	if !operationName.MatchString(string(op)) {
		return human.Errorf(human.NotFound, "no operation %.40q", op)
	}
	_, err := disk.Replace(filepath.Join(dir, forPrefix+string(op)), bytes.NewReader(nil), 0o600)
	return s.unwritten(err)
}

// Expect implements queue.Files.
func (s *Store) Expect(_ context.Context, op human.OperationID, id human.AttachmentID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, err := s.makeFolder(id)
	if err != nil {
		return err
	}
	return s.mark(dir, op)
}

// Fetched implements queue.Files.
func (s *Store) Fetched(ctx context.Context, id human.AttachmentID, data []byte) error {
	if human.AttachmentOf(data) != id {
		return human.Errorf(human.Unavailable, "the file that came from another desk is not %s; its member's desk may be damaged", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store(ctx, human.Actor{Role: human.Operator}, id, data)
}

// Named implements queue.Files.
func (s *Store) Named(_ context.Context, id human.AttachmentID) ([]human.OperationID, error) {
	dir, err := s.folder(id)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, human.Wrap(human.Internal, err, "what is known of the file in %s cannot be read", dir)
	}
	var ops []human.OperationID
	for _, e := range entries {
		if op, is := strings.CutPrefix(e.Name(), forPrefix); is {
			ops = append(ops, human.OperationID(op))
		}
	}
	return ops, nil
}

// Read implements queue.Files.
func (s *Store) Read(_ context.Context, id human.AttachmentID) ([]byte, error) {
	dir, err := s.folder(id)
	if err == nil {
		err = there(id, dir)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, dataName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, human.Errorf(human.NotFound, "no attachment %s", id)
	}
	if err != nil {
		return nil, human.Wrap(human.Internal, err, "the file in %s cannot be read", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, human.LargestAttachment+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, human.Wrap(human.Internal, err, "the file in %s cannot be read", path)
	}
	if human.AttachmentOf(data) != id {
		return nil, human.Errorf(human.Internal, "the file in %s is damaged or was changed; its bytes are not those that were attached", path)
	}
	return data, nil
}

// JPEG implements queue.Files.
func (s *Store) JPEG(ctx context.Context, id human.AttachmentID, width int) ([]byte, error) {
	data, err := s.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := mediaOf(string(id), data)
	if err == nil && !a.Picture() {
		err = human.BadField("width", "%s is no image", id)
	}
	if err != nil {
		return nil, err
	}
	s.large.Lock()
	defer s.large.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, human.BadField("width", "%s begins as %s and cannot be read as that; it may be damaged", id, a.Media)
	}
	size := img.Bounds()
	width = cmp.Or(min(width, size.Dx()), 1)
	small := image.NewRGBA(image.Rect(0, 0, width, max(1, (size.Dy()*width+size.Dx()/2)/size.Dx())))
	draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src) // what can be seen through is on paper
	draw.BiLinear.Scale(small, small.Bounds(), img, size, draw.Over, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: 85}); err != nil {
		return nil, human.Wrap(human.Internal, err, "%s cannot be made smaller", id)
	}
	return out.Bytes(), nil
}

// Run removes what is not named any more, at once and then every hour, until ctx ends. named says whether an operation names a
// file.
func (s *Store) Run(ctx context.Context, named func(context.Context, human.OperationID, human.AttachmentID) (bool, error), log *slog.Logger) error {
	for {
		if err := s.Prune(ctx, named); err != nil && ctx.Err() == nil {
			log.Warn("attached files that nothing names could not be removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pruneEvery):
		}
	}
}

// Prune removes files that no operation has named for Life, and what a write that was killed left. Where it cannot be known
// whether one is named, it stays.
func (s *Store) Prune(ctx context.Context, named func(context.Context, human.OperationID, human.AttachmentID) (bool, error)) error {
	return s.each(func(id human.AttachmentID, dir string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		keep := false
		var size int64
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return err
			}
			young := s.opts.Now().Sub(info.ModTime()) < Life
			switch op, isFor := strings.CutPrefix(e.Name(), forPrefix); {
			case e.Name() == dataName:
				size = info.Size()
				keep = keep || young
			case isFor:
				is, err := named(ctx, human.OperationID(op), id)
				if err != nil {
					return err
				}
				keep = keep || is || young
				if !is && !young {
					if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
						return err
					}
				}
			case strings.HasPrefix(e.Name(), ".") && !young:
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			default:
				keep = keep || young
			}
		}
		if keep {
			return nil
		}
		if s.used >= 0 {
			s.used -= size
		}
		return os.RemoveAll(dir)
	})
}
