// Package sinks has the places where an outbox delivers: a log, a folder and a webhook.
package sinks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
	"deskbell/backend/store/disk"
)

// How large the log grows, in bytes, before it is moved aside, and how many older files are kept.
const (
	logSize = 8 << 20
	logKeep = 3
)

// A Log is a file of JSON lines, one a document, of category human. It is moved aside where it grows too large. It is written by one
// process.
type Log struct {
	Path string
	// Size is how large it may grow, in bytes; 0 is 8 MiB.
	Size int64

	mu sync.Mutex
}

// A line of the log: what a structured log says of each entry, and the document.
type line struct {
	Time     any    `json:"time"`
	Level    string `json:"level"`
	Message  string `json:"msg"`
	Category string `json:"category"`
	Document any    `json:"operation"`
}

// Put implements Sink. The line is on the disk when it returns.
func (l *Log) Put(_ context.Context, d outbox.Document, text []byte) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.rotate(); err != nil {
		return unwritten(l.Path, err)
	}
	out, err := json.Marshal(line{d.EndedAt, slog.LevelInfo.String(), d.Text, "human", json.RawMessage(text)})
	if err != nil {
		return unwritten(l.Path, err)
	}
	f, err := os.OpenFile(l.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return unwritten(l.Path, err)
	}
	if whole, readErr := endsWithLine(f); readErr == nil && !whole {
		out = append([]byte{'\n'}, out...) // a crash left half a line
	}
	if _, err = f.Write(append(out, '\n')); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return unwritten(l.Path, err)
	}
	return nil
}

func endsWithLine(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return true, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return last[0] == '\n', err
}

// rotate moves a log that is too large aside: to .1, what is there to .2, and so on.
func (l *Log) rotate() error {
	most := l.Size
	if most == 0 {
		most = logSize
	}
	info, err := os.Stat(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() < most {
		return err
	}
	for n := logKeep; n > 0; n-- {
		if err := os.Rename(l.name(n-1), l.name(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// name is that of the file, or of the nth older one.
func (l *Log) name(n int) string {
	if n == 0 {
		return l.Path
	}
	return fmt.Sprintf("%s.%d", l.Path, n)
}

// Forget implements retention.Log: it writes the files anew without the lines of the operations that gone says yes to, and without
// half a line that a crash left. Each file is on the disk as it was or without them.
func (l *Log) Forget(ctx context.Context, gone func(human.OperationID) (bool, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range logKeep + 1 {
		if err := disk.Tidy(l.name(n)); err != nil {
			return unwritten(l.name(n), err)
		}
		text, err := os.ReadFile(l.name(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return unwritten(l.name(n), err)
		}
		var left bytes.Buffer
		for out := range bytes.Lines(text) {
			var is struct {
				Operation struct {
					ID human.OperationID `json:"operation_id"`
				} `json:"operation"`
			}
			if json.Unmarshal(out, &is) != nil {
				continue
			}
			if is, err := gone(is.Operation.ID); err != nil || ctx.Err() != nil {
				return cmp.Or(err, ctx.Err())
			} else if !is {
				left.Write(out)
			}
		}
		if left.Len() == len(text) {
			continue
		}
		if _, err := disk.Replace(l.name(n), &left, 0o600); err != nil {
			return unwritten(l.name(n), err)
		}
	}
	return nil
}

// A Folder is one that has a file for each document, human_operation_ID.json. It must exist.
type Folder struct{ Path string }

// Put implements Sink. A reader meets no half of the file.
func (f Folder) Put(_ context.Context, d outbox.Document, text []byte) error {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, text, "", "  "); err != nil {
		return unwritten(f.Path, err)
	}
	pretty.WriteByte('\n')
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return unwritten(f.Path, err)
	}
	_, err = disk.ReplaceIn(root, filepath.Base(d.ID)+".json", &pretty, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return unwritten(f.Path, err)
	}
	return nil
}

func unwritten(path string, err error) error {
	return human.Wrap(human.Unavailable, err, "%s cannot be written: %v; check that the folder is there and who may write to it", path, err)
}
