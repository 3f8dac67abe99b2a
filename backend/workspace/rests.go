package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unicode/utf8"

	"deskbell/backend/human"
)

const (
	// maxRests is how many files of one call are remembered.
	maxRests = 64
	// maxHashed is the largest file that is read, in bytes: a program, it may be.
	maxHashed = 64 << 20
)

// contents are what a file held when it was read, once.
type contents struct {
	human.JudgedFile
	text string // all of it, where it is text of at most maxText
}

// Rests implements gate.Recorder: the file is read now, and Text returns these bytes.
func (g *Facts) Rests(abs string) {
	if !filepath.IsAbs(abs) || len(g.rests) >= maxRests || slices.Contains(g.rests, abs) {
		return
	}
	g.rests = append(g.rests, abs)
	g.contents(abs)
}

// Judged returns the files that the verdict rests on, each as it was when it was read. Text is all of a text of at most
// 64 KiB, and nothing is masked in it.
func (g *Facts) Judged() []human.JudgedFile {
	list := make([]human.JudgedFile, len(g.rests))
	for i, path := range g.rests {
		c := g.contents(path)
		list[i], list[i].Text = c.JudgedFile, c.text
	}
	return list
}

// contents reads the file at an absolute path, the first time that it is asked for.
func (g *Facts) contents(abs string) contents {
	c, known := g.read[abs]
	if known {
		return c
	}
	c.Path, c.State = abs, human.FileUnreadable
	g.spend(&g.rest, func(ctx context.Context) {
		known = true
		if filepath.IsAbs(abs) {
			c.fill(ctx)
		}
	})
	if known { // else there was no time left, and the next call may have some
		g.read[abs] = c
	}
	return c
}

func (c *contents) fill(ctx context.Context) {
	real, err := filepath.EvalSymlinks(c.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		c.State = human.FileAbsent
	}
	if err != nil {
		return
	}
	before, err := os.Lstat(real)
	if err != nil || !before.Mode().IsRegular() {
		return
	}
	if c.Size = before.Size(); c.Size > maxHashed {
		return
	}
	if c.Size <= maxText {
		text, err := small(real, maxText)
		if err != nil {
			return
		}
		sum := sha256.Sum256([]byte(text))
		c.State, c.SHA256, c.Size = human.FileRead, hex.EncodeToString(sum[:]), int64(len(text))
		// The kernel's files have a length of 0, too, whatever they hold.
		if utf8.ValidString(text) {
			c.text = text
		}
		return
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if now, err := f.Stat(); err != nil || !os.SameFile(before, now) {
		return
	}
	sum := sha256.New()
	buffer := make([]byte, 1<<20)
	for {
		n, err := f.Read(buffer)
		_, _ = sum.Write(buffer[:n]) // it never fails
		if err == io.EOF {
			break
		}
		if err != nil || ctx.Err() != nil {
			return
		}
	}
	c.State, c.SHA256 = human.FileRead, hex.EncodeToString(sum.Sum(nil))
}
