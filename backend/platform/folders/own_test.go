package folders_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Each event of a recording is written down: telling of that would never end.
func TestDeskbellsOwnFolderIsLeftOut(t *testing.T) {
	for name, before := range map[string]bool{"there before": true, "made meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			root := scratch(t)
			own := filepath.Join(root, "own data", "recordings")
			if before {
				if err := os.MkdirAll(own, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			w := start(t, root)
			if err := os.MkdirAll(own, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{filepath.Join(own, "picture"), filepath.Join(root, "own data", "deskbell.db"), filepath.Join(root, "work.txt")} {
				if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w.ends("created work.txt 1")
		})
	}
}
