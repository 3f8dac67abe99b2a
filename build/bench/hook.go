package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const hookRuns = 200

var against = flag.String("against", "", "another deskbell-hook, which takes turns with the one beside the program; with a deskbell beside it, that is asked (hook)")

// hookCall is a call, as Claude Code tells it.
const hookCall = `{"session_id":"s","transcript_path":"/t.jsonl","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q,"description":"Look at what changed"},"tool_use_id":"toolu_%d"}`

// A hookWay is one program that answers.
type hookWay struct {
	name, key string
	args      []string
	took      []time.Duration
}

// hooks measures what a coding agent waits for before each call of a tool: deskbell-hook from its start to its answer,
// with Deskbell running and away, in turns with a Go program that does nothing.
func hooks(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty+".go", []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", empty, empty+".go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	hook, err := filepath.Abs(filepath.Join(filepath.Dir(*bin), "deskbell-hook"))
	if err != nil {
		return err
	}
	s, err := serve()
	if err != nil {
		return err
	}
	defer s.stop()
	key, err := s.key("claude-code")
	if err != nil {
		return err
	}
	nothing := filepath.Join(dir, "nobody")
	ways := []hookWay{
		{name: "an empty Go program", args: []string{empty}},
		{name: "deskbell-hook, Deskbell running", key: key, args: []string{hook, "claude-code", "--data", s.dir}},
		{name: "deskbell-hook, Deskbell away", key: key, args: []string{hook, "claude-code", "--data", nothing}},
	}
	if *against != "" {
		other, otherKey := s, key
		if program := filepath.Join(filepath.Dir(*against), "deskbell"); exists(program) {
			if other, err = serveBy(program, filepath.Join(dir, "other")); err != nil {
				return err
			}
			defer other.stop()
			if otherKey, err = other.key("claude-code"); err != nil {
				return err
			}
		}
		ways = append(ways,
			hookWay{name: "the other, Deskbell running", key: otherKey, args: []string{*against, "claude-code", "--data", other.dir}},
			hookWay{name: "the other, Deskbell away", key: otherKey, args: []string{*against, "claude-code", "--data", nothing}})
	}
	if err := hookTurns(ctx, "A hook, from start to answer", dir, "git status --short | head -20", ways); err != nil {
		return err
	}
	tree := filepath.Join(dir, "tree")
	if err := hookTree(ctx, tree); err != nil {
		return err
	}
	return hookTurns(ctx, fmt.Sprintf("A hook that looks at what git knows: `%s` in a repository of %d files", hookLooks, hookFiles), tree, hookLooks, ways)
}

// What is judged by what git knows of it: that it is ignored.
const (
	hookLooks = "rm -rf dist"
	hookFiles = 10_000
)

// hookTree makes a repository.
func hookTree(ctx context.Context, dir string) error {
	for i := range hookFiles + 50 {
		name := fmt.Sprintf("d%d/f%d.txt", i/100, i)
		if i >= hookFiles {
			name = fmt.Sprintf("dist/%d.js", i)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o600)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("dist/\n"), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "gc.auto", "0"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// hookTurns has each way answer the same call in turns, and prints how long they took.
func hookTurns(ctx context.Context, title, dir, command string, ways []hookWay) error {
	for i := range hookRuns + 10 {
		for w := range ways {
			took, err := hookOnce(ctx, ways[w], fmt.Sprintf(hookCall, dir, command, i), command == hookLooks)
			if err != nil {
				return fmt.Errorf("%s: %w", ways[w].name, err)
			}
			if i == 10 {
				ways[w].took = nil
			}
			ways[w].took = append(ways[w].took, took) // the first are read from the disk
		}
	}
	fmt.Printf("\n## %s\n\n| | p50 | p99 | worst | of | p50 over the empty one |\n| --- | --- | --- | --- | --- | --- |\n", title)
	var base time.Duration
	for i, way := range ways {
		slices.Sort(way.took)
		at := func(p float64) time.Duration { return way.took[int(p*float64(len(way.took)))] }
		over := ""
		if base == 0 {
			base = at(0.5)
		}
		if i > 0 {
			over = "**" + ms(at(0.5)-base) + "**"
		}
		fmt.Printf("| %s | %s | %s | %s | %d | %s |\n", way.name, ms(at(0.5)), ms(at(0.99)), ms(way.took[len(way.took)-1]), len(way.took), over)
	}
	return nil
}

// hookOnce has a hook answer. Away, nothing is allowed that deletes.
func hookOnce(ctx context.Context, way hookWay, call string, deletes bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, way.args[0], way.args[1:]...)
	cmd.Env = append(os.Environ(), "DESKBELL_KEY="+way.key)
	cmd.Stdin = strings.NewReader(call)
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if err != nil && !errors.Is(err, syscall.EPIPE) { // the empty one reads nothing
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	if away := deletes && strings.HasSuffix(way.name, "away"); len(way.args) > 1 && !away && !bytes.Contains(out, []byte(`"permissionDecision":"allow"`)) {
		return 0, fmt.Errorf("it said %s", out)
	}
	return took, nil
}
