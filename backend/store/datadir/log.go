package datadir

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// maxLog is how large the log grows, in bytes, before a start moves it aside. One older file is kept.
const maxLog = 8 << 20

// OpenLog opens the log of a data folder: all of it as JSON lines in its file, warnings and errors on errs too. Close the file
// when nothing logs any more.
func OpenLog(dir string, errs io.Writer) (*slog.Logger, io.Closer, error) {
	path := filepath.Join(dir, Log)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	handler := slog.NewMultiHandler(
		slog.NewJSONHandler(f, nil),
		slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}),
	)
	return slog.New(handler), f, nil
}
