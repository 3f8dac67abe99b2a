package folders_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/platform/folders"
	"deskbell/backend/record/recordtest"
)

func TestConformance(t *testing.T) {
	recordtest.Source(t, func(t testing.TB) recordtest.SourceRig {
		root, n := scratch(t), 0
		return recordtest.SourceRig{
			Source: folders.New(clock, []string{root}, ""), Name: human.FileSource, Clock: clock,
			Provoke: func(t testing.TB) []human.RecordedEvent {
				n++
				dir := filepath.Join(root, fmt.Sprintf("d%d", n))
				file := filepath.Join(dir, "file")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
					t.Fatal(err)
				}
				return []human.RecordedEvent{
					{Source: human.FileSource, Type: human.FileChanged, File: &human.FileChange{Op: "created", Path: dir, Dir: true}},
					{Source: human.FileSource, Type: human.FileChanged, File: &human.FileChange{Op: "created", Path: file, Size: 4}},
				}
			},
		}
	})
}
