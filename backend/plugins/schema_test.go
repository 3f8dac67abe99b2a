package plugins

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the published schemas")

func TestThePublishedSchemasAreThoseOfTheTypes(t *testing.T) {
	for _, name := range []string{"input", "report", "manifest"} {
		file := filepath.Join("..", "..", "docs", "summarizers", name+".schema.json")
		if *update {
			if err := os.WriteFile(file, Schema(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		published, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(published, Schema(name)) {
			t.Errorf("%s is stale: go test ./backend/plugins -update", file)
		}
	}
}
