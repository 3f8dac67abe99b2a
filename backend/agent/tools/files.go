package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// The bounds of the tools for files.
const (
	maxFile    = 16 << 20 // bytes of a file that is read or edited
	maxWritten = 4 << 20  // bytes that are written
	maxLines   = 2000     // of one read
	maxListed  = 1000
	maxMatches = 200
	maxSearch  = 256 << 20 // bytes that one search reads
	maxLine    = 300       // bytes of a line that was found
)

// Files are the tools for the files of a folder. They do not leave it: neither by .. nor by a symbolic link.
func Files(dir string) ([]agent.Tool, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "there is no folder %s", dir)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return nil, human.Errorf(human.Invalid, "there is no folder %s", dir)
	}
	f := folder{abs}
	place := property{"path", "string", "The file, from the working folder.", true}
	within := property{"path", "string", "The folder, from the working folder; absent: the working folder.", false}
	return []agent.Tool{
		file{"read_file", "Read a text file, or some of its lines.", f.read, schema(place,
			property{"from_line", "integer", "The first line, from 1.", false},
			property{"lines", "integer", fmt.Sprintf("How many lines; at the most %d.", maxLines), false})},
		file{"write_file", "Write a text file: a new one, or in the place of one that is there. Folders are made.", f.write, schema(place,
			property{"content", "string", "All of the file.", true})},
		file{"edit_file", "Replace a text in a file by another. The text must be there exactly as it is given, and just once.", f.edit, schema(place,
			property{"old_text", "string", "The text as it stands there, with its spaces and line breaks.", true},
			property{"new_text", "string", "The text in its place.", true},
			property{"replace_all", "boolean", "Replace it wherever it stands.", false})},
		file{"list_files", "List the files and folders in a folder.", f.list, schema(within,
			property{"depth", "integer", "How many levels of folders, 1 to 10; absent: 2.", false})},
		file{"search_files", "Find lines in files by a regular expression (RE2).", f.search, schema(
			property{"pattern", "string", "The regular expression.", true}, within,
			property{"glob", "string", "Only files whose name fits, such as *.go.", false})},
	}, nil
}

// A file is one tool for files.
type file struct {
	name, about string
	do          func(ctx context.Context, args json.RawMessage) (agent.Output, error)
	schema      json.RawMessage
}

// Spec implements agent.Tool.
func (f file) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: f.name, Description: f.about, Schema: f.schema}
}

// Category implements agent.Tool.
func (file) Category() agent.Category { return agent.Files }

// Run implements agent.Tool.
func (f file) Run(ctx context.Context, args json.RawMessage) (agent.Output, error) {
	return f.do(ctx, args)
}

type folder struct{ dir string }

// at opens the folder and finds a path in it, with its symbolic links followed. The root keeps every access inside, also
// where somebody changes a link meanwhile.
func (f folder) at(name string) (*os.Root, string, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, "", err
	}
	// Links that stay inside are followed by their targets' names: the root takes no link that names an absolute path, and
	// a file that is replaced would replace the link.
	rest := ""
	for at := local; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(filepath.Join(f.dir, at))
		if errors.Is(err, fs.ErrNotExist) && at != "." {
			if info, err := os.Lstat(filepath.Join(f.dir, at)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return nil, "", fmt.Errorf("%s is a symbolic link to what is not there", at)
			}
			rest = filepath.Join(filepath.Base(at), rest)
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s cannot be reached: %w", name, bare(err))
		}
		if local, err = filepath.Rel(f.dir, real); err != nil || !filepath.IsLocal(local) {
			return nil, "", fmt.Errorf("%s leads out of the working folder; these tools stay in it", name)
		}
		local = filepath.Join(local, rest)
		break
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, "", fmt.Errorf("the working folder cannot be opened: %w", bare(err))
	}
	return root, local, nil
}

// local is a path as one from the folder.
func (f folder) local(name string) (string, error) {
	switch {
	case name == "":
		return ".", nil
	case strings.ContainsRune(name, 0), strings.HasPrefix(name, "~"), strings.HasPrefix(name, "file:"):
		return "", fmt.Errorf("%q is no path from the working folder", human.OneLine(name, 80))
	}
	if filepath.IsAbs(name) {
		inside, err := filepath.Rel(f.dir, filepath.Clean(name))
		if err != nil || !filepath.IsLocal(inside) {
			// It may name the folder by another way.
			real, evalErr := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(name)))
			if evalErr == nil {
				inside, err = filepath.Rel(f.dir, filepath.Join(real, filepath.Base(name)))
			}
		}
		if err != nil || !filepath.IsLocal(inside) {
			return "", fmt.Errorf("%s is not in the working folder; these tools stay in it", name)
		}
		return inside, nil
	}
	if name = filepath.Clean(filepath.FromSlash(name)); !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is not in the working folder; these tools stay in it", name)
	}
	return name, nil
}

// bare is an error without the path, which is in the message already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// open opens an ordinary file for reading.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	// Whatever else is there must not be waited for.
	in, err := root.OpenFile(name, os.O_RDONLY|unblocking, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", name, bare(err))
	}
	info, err := in.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("%s cannot be read: %w", name, bare(err))
	case info.IsDir():
		err = fmt.Errorf("%s is a folder; list_files lists it", name)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no ordinary file", name)
	case info.Size() > maxFile:
		err = fmt.Errorf("%s has %d bytes; files of more than %d MiB are not read", name, info.Size(), maxFile>>20)
	}
	if err != nil {
		_ = in.Close()
		return nil, nil, err
	}
	return in, info, nil
}

// whole reads an ordinary file of text.
func whole(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	in, info, err := open(root, name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", name, bare(err))
	}
	if noText(text) {
		return nil, nil, fmt.Errorf("%s is no text: %d bytes of %s", name, len(text), http.DetectContentType(text))
	}
	return text, info, nil
}

// noText says whether what a file begins with is no text.
func noText(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 8<<10)], 0) >= 0 }

func (f folder) read(_ context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		Path string `json:"path"`
		From *int   `json:"from_line"`
		Most *int   `json:"lines"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	first, most := 1, maxLines
	if args.From != nil {
		first = *args.From
	}
	if args.Most != nil {
		most = min(*args.Most, maxLines)
	}
	if args.Path == "" || first < 1 || most < 1 {
		return failed("path is missing, or from_line or lines is less than 1"), nil
	}
	root, name, err := f.at(args.Path)
	if err != nil {
		return failed("%v", err), nil
	}
	defer func() { _ = root.Close() }()
	text, _, err := whole(root, name)
	if err != nil {
		return failed("%v", err), nil
	}
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return agent.Output{Text: "[the file is empty]"}, nil
	}
	if first > len(lines) {
		return failed("%s has %d lines", args.Path, len(lines)), nil
	}
	end, size := first-1, 0
	for end < len(lines) && end < first-1+most && size+len(lines[end]) <= maxText {
		size += len(lines[end])
		end++
	}
	if end == first-1 { // one line that is too long
		return agent.Output{Text: bounded(lines[end]) + fmt.Sprintf("\n[line %d of %d]", first, len(lines))}, nil
	}
	shown := plain(strings.Join(lines[first-1:end], ""))
	if first > 1 || end < len(lines) {
		shown = strings.TrimSuffix(shown, "\n") + fmt.Sprintf("\n[lines %d to %d of %d]", first, end, len(lines))
	}
	return agent.Output{Text: shown}, nil
}

func (f folder) write(_ context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	if args.Path == "" || args.Content == nil {
		return failed("path or content is missing"), nil
	}
	if len(*args.Content) > maxWritten {
		return failed("content has %d bytes; at the most %d MiB are written", len(*args.Content), maxWritten>>20), nil
	}
	root, name, err := f.at(args.Path)
	if err != nil {
		return failed("%v", err), nil
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	was := err == nil
	if was && !info.Mode().IsRegular() {
		return failed("%s is no ordinary file", args.Path), nil
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return failed("the folder of %s cannot be made: %v", args.Path, bare(err)), nil
		}
	}
	if _, err := disk.ReplaceIn(root, name, strings.NewReader(*args.Content), 0o644); err != nil {
		return failed("%s was not written: %v", args.Path, bare(err)), nil
	}
	what := "written"
	if was {
		what = "written over"
	}
	return agent.Output{Text: fmt.Sprintf("%s %s, %d bytes", args.Path, what, len(*args.Content))}, nil
}

func (f folder) edit(_ context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		Path string  `json:"path"`
		Old  string  `json:"old_text"`
		New  *string `json:"new_text"`
		All  bool    `json:"replace_all"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	if args.Path == "" || args.Old == "" || args.New == nil {
		return failed("path, old_text or new_text is missing"), nil
	}
	root, name, err := f.at(args.Path)
	if err != nil {
		return failed("%v", err), nil
	}
	defer func() { _ = root.Close() }()
	text, _, err := whole(root, name)
	if err != nil {
		return failed("%v", err), nil
	}
	was, now := args.Old, *args.New
	if !bytes.Contains(text, []byte(was)) && bytes.Contains(text, []byte("\r\n")) && !strings.Contains(was, "\r") {
		was, now = strings.ReplaceAll(was, "\n", "\r\n"), strings.ReplaceAll(now, "\n", "\r\n") // as the file's lines end
	}
	times := bytes.Count(text, []byte(was))
	switch {
	case times == 0:
		return failed("old_text is not in %s; read the file again, and give it exactly as it stands there", args.Path), nil
	case times > 1 && !args.All:
		return failed("old_text is %d times in %s; give more of what is around the one that is meant, or set replace_all", times, args.Path), nil
	case was == now:
		return failed("old_text and new_text are the same"), nil
	}
	changed := bytes.ReplaceAll(text, []byte(was), []byte(now))
	if len(changed) > maxFile {
		return failed("%s would be longer than %d MiB", args.Path, maxFile>>20), nil
	}
	if _, err := disk.ReplaceIn(root, name, bytes.NewReader(changed), 0o644); err != nil {
		return failed("%s was not written: %v", args.Path, bare(err)), nil
	}
	line := 1 + bytes.Count(text[:bytes.Index(text, []byte(was))], []byte("\n"))
	return agent.Output{Text: fmt.Sprintf("%s changed at line %d (%d of %d)", args.Path, line, times, times)}, nil
}

// walk goes through the files of a folder in their order, not into Git's own, and not through links.
func (f folder) walk(ctx context.Context, name string, visit func(root *os.Root, name string, depth int, d fs.DirEntry) error) error {
	root, from, err := f.at(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	from = filepath.ToSlash(from)
	return fs.WalkDir(root.FS(), from, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if p == from {
				return fmt.Errorf("%s cannot be read: %w", name, bare(err))
			}
			return nil // one that may not be read
		}
		depth := 0
		if p != from {
			depth = 1 + strings.Count(strings.TrimPrefix(strings.TrimPrefix(p, from), "/"), "/")
		}
		if from == "." && p != "." {
			depth = 1 + strings.Count(p, "/")
		}
		if err := visit(root, p, depth, d); err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" && p != from {
			return fs.SkipDir
		}
		return nil
	})
}

func (f folder) list(ctx context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		Path  string `json:"path"`
		Depth *int   `json:"depth"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	most := 2
	if args.Depth != nil {
		most = *args.Depth
	}
	if most < 1 || most > 10 {
		return failed("depth must be 1 to 10"), nil
	}
	var out strings.Builder
	listed := 0
	err := f.walk(ctx, args.Path, func(_ *os.Root, p string, depth int, d fs.DirEntry) error {
		if depth == 0 {
			if !d.IsDir() {
				return fmt.Errorf("%s is no folder", args.Path)
			}
			return nil
		}
		if listed++; listed > maxListed {
			return fs.SkipAll
		}
		out.WriteString(p)
		switch {
		case d.IsDir():
			out.WriteString("/")
		case d.Type()&fs.ModeSymlink != 0:
			out.WriteString(" (a symbolic link)")
		default:
			if info, err := d.Info(); err == nil {
				fmt.Fprintf(&out, " (%d bytes)", info.Size())
			}
		}
		out.WriteString("\n")
		if d.IsDir() && depth >= most {
			return fs.SkipDir
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return agent.Output{}, ctx.Err()
	case err != nil:
		return failed("%v", err), nil
	case listed == 0:
		return agent.Output{Text: "[the folder is empty]"}, nil
	case listed > maxListed:
		fmt.Fprintf(&out, "[more than %d; list a folder in it]", maxListed)
	}
	return agent.Output{Text: bounded(strings.TrimSuffix(out.String(), "\n"))}, nil
}

func (f folder) search(ctx context.Context, raw json.RawMessage) (agent.Output, error) {
	var args struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
		Glob    string `json:"glob"`
	}
	if err := read(raw, &args); err != nil {
		return failed("%v", err), nil
	}
	if args.Pattern == "" || len(args.Pattern) > 1000 {
		return failed("pattern is missing or too long"), nil
	}
	pattern, err := regexp.Compile(args.Pattern)
	if err != nil {
		return failed("pattern is no regular expression: %v", err), nil
	}
	if _, err := path.Match(args.Glob, "x"); err != nil {
		return failed("glob is no pattern of names: %v", err), nil
	}
	var out strings.Builder
	found, left, cut := 0, int64(maxSearch), false
	err = f.walk(ctx, args.Path, func(root *os.Root, p string, _ int, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		if fits, err := path.Match(args.Glob, d.Name()); args.Glob != "" && (err != nil || !fits) {
			return nil
		}
		in, info, err := open(root, filepath.FromSlash(p))
		if err != nil {
			return nil // it may not be read, or is too large
		}
		defer func() { _ = in.Close() }()
		if left -= info.Size(); left < 0 {
			cut = true
			return fs.SkipAll
		}
		lines := bufio.NewReaderSize(in, 64<<10)
		if start, _ := lines.Peek(8 << 10); noText(start) {
			return nil
		}
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 && pattern.Match(bytes.TrimRight(line, "\r\n")) {
				if found++; found > maxMatches {
					cut = true
					return fs.SkipAll
				}
				text := bytes.TrimRight(line, "\r\n")
				fmt.Fprintf(&out, "%s:%d:%s\n", p, n, plain(string(text[:min(len(text), maxLine)])))
			}
			if err != nil || ctx.Err() != nil {
				return ctx.Err()
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return agent.Output{}, ctx.Err()
	case err != nil:
		return failed("%v", err), nil
	case found == 0 && !cut:
		return agent.Output{Text: "[no line fits]"}, nil
	case cut:
		fmt.Fprintf(&out, "[there may be more; search in a folder, or by a narrower pattern]")
	}
	return agent.Output{Text: bounded(strings.TrimSuffix(out.String(), "\n"))}, nil
}
