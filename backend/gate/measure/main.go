// Measure scores the gatekeeper's engine on a file of lines {"command","expect","source"}.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// A row is one case. Expect is allow, ask, not_block or block; empty where nobody has said.
type row struct {
	Command string `json:"command"`
	Expect  string `json:"expect"`
	Source  string `json:"source"`
}

type figures struct {
	N                map[string]int `json:"n"`
	BlockExecuted    float64        `json:"block_executed"`
	AllowAsked       float64        `json:"allow_asked"`
	NotBlockRejected float64        `json:"not_block_rejected"`
	AskExecuted      float64        `json:"ask_executed"`
	Unlabelled       float64        `json:"unlabelled_asked"`
}

type failure struct {
	row
	Decision human.Ruling `json:"decision"`
	Risk     human.Risk   `json:"risk"`
	Rules    []string     `json:"rule_ids"`
}

func main() {
	policy := flag.String("policy", "balanced", "permissive, balanced or strict")
	failures := flag.Bool("failures", false, "print the rows that fell short")
	bySource := flag.Bool("by-source", false, "print figures for each source")
	flag.Parse()
	file := flag.Arg(0)
	if flag.NArg() > 1 { // the flags may follow the file
		if err := flag.CommandLine.Parse(flag.Args()[1:]); err != nil {
			os.Exit(2)
		}
	}
	if err := measure(file, gate.Policy(*policy), *failures, *bySource); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(name string, policy gate.Policy, showFailures, bySource bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	all := &tally{}
	sources := map[string]*tally{}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		args, err := json.Marshal(map[string]string{"command": r.Command})
		if err != nil {
			return err
		}
		v := gate.Judge(gate.Call{Tool: "bash", Args: args}, policy, nil)
		short := all.add(r, v)
		key, _, _ := strings.Cut(r.Source, ":")
		if sources[key] == nil {
			sources[key] = &tally{}
		}
		sources[key].add(r, v)
		if short && showFailures {
			if err := out.Encode(failure{row: r, Decision: v.Decision, Risk: v.Risk, Rules: v.Rules[:min(4, len(v.Rules))]}); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	result := map[string]any{"policy": policy, "all": all.figures()}
	if bySource {
		by := map[string]figures{}
		for k, t := range sources {
			by[k] = t.figures()
		}
		result["by_source"] = by
	}
	return out.Encode(result)
}

type tally struct {
	n     map[string]int
	short map[string]int
}

// add counts a row, and says whether the verdict falls short of what is expected of it.
func (t *tally) add(r row, v human.Verdict) bool {
	if t.n == nil {
		t.n, t.short = map[string]int{}, map[string]int{}
	}
	short := false
	switch r.Expect {
	case "block", "ask":
		short = v.Decision == human.Allow
	case "not_block":
		short = v.Decision == human.Deny
	default:
		short = v.Decision != human.Allow
	}
	t.n[r.Expect]++
	if short {
		t.short[r.Expect]++
	}
	return short
}

func (t *tally) figures() figures {
	share := func(class string) float64 {
		if t.n[class] == 0 {
			return 0
		}
		return float64(t.short[class]) / float64(t.n[class])
	}
	return figures{N: t.n, BlockExecuted: share("block"), AllowAsked: share("allow"), NotBlockRejected: share("not_block"), AskExecuted: share("ask"), Unlabelled: share("")}
}
