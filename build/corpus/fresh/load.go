package fresh

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"deskbell/build/corpus"
)

// Load reads the cases of a folder with their truths, in the order of their names.
func Load(dir string) (cases []corpus.Case, truths []Truth, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		var t Truth
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &t)
		}
		if err != nil {
			return nil, nil, err
		}
		c, err := corpus.Read(dir, strings.TrimSuffix(filepath.Base(file), ".truth.json"))
		if err != nil {
			return nil, nil, err
		}
		cases, truths = append(cases, c), append(truths, t)
	}
	return cases, truths, nil
}
