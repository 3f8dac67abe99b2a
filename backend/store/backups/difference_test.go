package backups

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// told is a difference in short.
func told(d service.Difference, dir string) string {
	var b strings.Builder
	for _, f := range d.Files {
		fmt.Fprintf(&b, "%s %s %d %s\n", f.What, strings.ReplaceAll(f.Path, dir, ""), f.Bytes, f.Kept)
		for line := range strings.Lines(f.Diff) {
			if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "@@") {
				b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	return strings.TrimSpace(b.String() + strings.ReplaceAll(d.Text, dir, ""))
}

func TestDifferenceOfFileTools(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.txt", "one\ntwo\ntwo\n")
	write(t, dir+"/b.bin", "\x00\x01")
	write(t, dir+"/key.txt", "token SECRET1\nmore\n")
	s := New(t.TempDir(), time.Now, func(s string) string {
		return strings.NewReplacer("SECRET1", "***", "SECRET2", "***").Replace(s)
	}, nil)
	for name, tt := range map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"an edit":              {"Edit", map[string]any{"file_path": dir + "/a.txt", "old_string": "two", "new_string": "three"}, "changed /a.txt 14 \n   one\n  -two\n  +three\n   two"},
		"everywhere":           {"Edit", map[string]any{"file_path": dir + "/a.txt", "old_string": "two", "new_string": "2", "replace_all": true}, "changed /a.txt 8 \n   one\n  -two\n  -two\n  +2\n  +2"},
		"a text not there":     {"Edit", map[string]any{"file_path": dir + "/a.txt", "old_string": "ten", "new_string": "2"}, "/a.txt: the text that would be replaced is not in the file.\n/a.txt: nothing would change."},
		"the same again":       {"Write", map[string]any{"file_path": dir + "/a.txt", "content": "one\ntwo\ntwo\n"}, "/a.txt: nothing would change."},
		"a new file":           {"Write", map[string]any{"file_path": "new.txt", "content": "hi\n"}, "added /new.txt 3 \n  +hi"},
		"a binary file":        {"Write", map[string]any{"file_path": "b.bin", "content": "text"}, "changed /b.bin 4 \n  It is a binary file. 2 bytes now, 4 bytes then."},
		"beside a secret":      {"Edit", map[string]any{"file_path": "key.txt", "old_string": "more", "new_string": "less"}, "changed /key.txt 19 \n   token ***\n  -more\n  +less"},
		"a secret":             {"Edit", map[string]any{"file_path": "key.txt", "old_string": "SECRET1", "new_string": "SECRET2"}, "changed /key.txt 19 \n  Only what is masked as a secret differs."},
		"a patch":              {"apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: n.txt\n+n\n*** Delete File: b.bin\n*** End Patch\n"}, "changed /a.txt 12 \n  -one\n  +ONE\n   two\n   two\nadded /n.txt 2 \n  +n\ndeleted /b.bin 2 no_copy"},
		"a file tool deleting": {"delete_file", map[string]any{"path": "a.txt"}, "deleted /a.txt 12 no_copy"},
		"moving":               {"move_file", map[string]any{"source": "a.txt", "destination": "c.txt"}, "moved /a.txt → /c.txt 12"},
		"moving over another":  {"move_file", map[string]any{"source": "a.txt", "destination": "key.txt"}, "deleted /a.txt 0 \n  -one\n  -two\n  -two\nchanged /key.txt 12 \n  -token ***\n  -more\n  +one\n  +two\n  +two"},
	} {
		args, _ := json.Marshal(tt.args)
		call := gate.Call{Tool: tt.tool, Args: args, Cwd: dir, Root: dir}
		d, err := s.Difference(t.Context(), call, gate.Judge(call, gate.Balanced, nil))
		if got := told(d, dir); err != nil || got != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, tt.want)
		}
	}
}

func TestDifferenceOfDeletions(t *testing.T) {
	s, dir := store(t), work(t)
	write(t, dir+"/sub/new.txt", "x")
	write(t, dir+"/sub/z.log", "x")
	call, v := bash(dir, "rm -rf sub changed.txt")
	d, err := s.Difference(t.Context(), call, v)
	want := "deleted /changed.txt 26 no_copy\ndeleted /sub/new.txt 1 no_copy\ndeleted /sub/z.log 1 ignored\ndeleted /sub/deep.txt 6 committed"
	if got := told(d, dir); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for n := range maxShown + 5 {
		write(t, fmt.Sprintf("%s/many/%d", dir, n), "x")
	}
	call, v = bash(dir, "rm -rf many")
	if d, err = s.Difference(t.Context(), call, v); err != nil || len(d.Files) != maxShown || d.More != 5 {
		t.Errorf("%v %d %d", err, len(d.Files), d.More)
	}
}

func TestDifferenceOfDiscards(t *testing.T) {
	s, dir := store(t), work(t)
	call, v := bash(dir, "git reset --hard")
	d, err := s.Difference(t.Context(), call, v)
	want := `changed /both.txt 18 no_copy
  -first
  +and changed again
changed /changed.txt 26 no_copy
  It is a binary file. 6 bytes now, 26 bytes then.
changed /gone.txt 0 committed
  -first
changed /run.sh 6 no_copy
changed /staged.txt 7 no_copy
  -first
  +staged`
	if got := told(d, dir); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	call, v = bash(dir, "git clean -fdx")
	d, err = s.Difference(t.Context(), call, v)
	var names []string
	for _, f := range d.Files {
		names = append(names, f.What+" "+filepath.Base(f.Path))
	}
	if got := strings.Join(names, ", "); err != nil || got != "deleted link, deleted new.txt, deleted odd \"name\"\\ é\t.txt, deleted run.log" {
		t.Errorf("%v %s", err, got)
	}
}

func TestDifferenceIsBounded(t *testing.T) {
	s, dir := store(t), t.TempDir()
	long := strings.Repeat("a line of text\n", 30_000)
	args, _ := json.Marshal(map[string]any{"file_path": dir + "/x", "content": long})
	call := gate.Call{Tool: "Write", Args: args, Cwd: dir, Root: dir}
	d, err := s.Difference(t.Context(), call, human.Verdict{})
	if err != nil || len(d.Files) != 1 || len(d.Files[0].Diff) > maxDiff+100 || !strings.Contains(d.Files[0].Diff, "more lines") || d.Text == "" {
		t.Errorf("%v %d %q", err, len(d.Files[0].Diff), d.Text)
	}
	if n := strings.Count(d.Files[0].Diff, "\n+a line"); !strings.Contains(d.Files[0].Diff, fmt.Sprintf("@@ -0,0 +1,%d @@\n", n)) || !strings.HasSuffix(d.Files[0].Diff, fmt.Sprintf("… %d more lines\n", 30_000-n)) {
		t.Errorf("a shortened difference is not well-formed: %d lines, %q", n, d.Files[0].Diff[:200])
	}
	call, v := bash(dir, "cat a > out.txt; rm $X")
	if d, err = s.Difference(t.Context(), call, v); err != nil || len(d.Files) != 1 || !strings.Contains(d.Text, "known only when") {
		t.Errorf("%v %+v", err, d)
	}
}
