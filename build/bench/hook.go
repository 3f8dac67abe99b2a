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

var against = flag.String("against", "", "another deskbell-hook, which takes turns with the one beside the program (hook)")

// hookCall is a harmless call, as Claude Code tells it.
const hookCall = `{"session_id":"s","transcript_path":"/t.jsonl","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status --short | head -20","description":"Look at what changed"},"tool_use_id":"toolu_%d"}`

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
	type way struct {
		name string
		args []string
		took []time.Duration
	}
	ways := []way{
		{name: "an empty Go program", args: []string{empty}},
		{name: "deskbell-hook, Deskbell running", args: []string{hook, "claude-code", "--data", s.dir}},
		{name: "deskbell-hook, Deskbell away", args: []string{hook, "claude-code", "--data", nothing}},
	}
	if *against != "" {
		ways = append(ways,
			way{name: "the other, Deskbell running", args: []string{*against, "claude-code", "--data", s.dir}},
			way{name: "the other, Deskbell away", args: []string{*against, "claude-code", "--data", nothing}})
	}
	for i := range hookRuns + 10 {
		for w := range ways {
			took, err := hookOnce(ctx, ways[w].args, fmt.Sprintf(hookCall, dir, i), key)
			if err != nil {
				return fmt.Errorf("%s: %w", ways[w].name, err)
			}
			if i >= 10 { // the first are read from the disk
				ways[w].took = append(ways[w].took, took)
			}
		}
	}
	fmt.Printf("\n## A hook, from start to answer\n\n| | p50 | p99 | worst | of | p50 over the empty one |\n| --- | --- | --- | --- | --- | --- |\n")
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

func hookOnce(ctx context.Context, args []string, call, key string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "DESKBELL_KEY="+key)
	cmd.Stdin = strings.NewReader(call)
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if err != nil && !errors.Is(err, syscall.EPIPE) { // the empty one reads nothing
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	if len(args) > 1 && !bytes.Contains(out, []byte(`"permissionDecision":"allow"`)) {
		return 0, fmt.Errorf("it said %s", out)
	}
	return took, nil
}
