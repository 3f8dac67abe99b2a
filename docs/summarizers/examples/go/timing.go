// Timing is a summarizer for Deskbell that tells what took long: the longest actions and commands, and the longest
// times between them. It reads one operation on standard input and writes a report to standard output; see
// docs/summarizers. It needs nothing but Go:
//
//	go build -o timing timing.go
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// What is read of the input; docs/summarizers/input.schema.json has the rest.
type input struct {
	Language   string `json:"language"`
	Recordings []struct {
		ID      string `json:"recording_id"`
		Elapsed int64  `json:"elapsed_ns"`
		Actions []struct {
			ID    string `json:"action_id"`
			At    int64  `json:"at_ns"`
			End   int64  `json:"end_ns"`
			Words string `json:"words"`
		} `json:"actions"`
		Commands []struct {
			ID   string `json:"command_id"`
			At   int64  `json:"at_ns"`
			End  int64  `json:"end_ns"`
			Line string `json:"line"`
		} `json:"commands"`
	} `json:"recordings"`
}

type ref struct {
	Kind      string `json:"kind"`
	Recording string `json:"recording_id"`
	ID        string `json:"id"`
}

type finding struct {
	Kind       string  `json:"kind"`
	Text       string  `json:"text"`
	Evidence   []ref   `json:"evidence"`
	Confidence float64 `json:"confidence"`
}

type report struct {
	Line        string    `json:"line"`
	Text        string    `json:"text"`
	Findings    []finding `json:"findings"`
	Suggestions []finding `json:"suggestions"`
}

// A stretch is a piece of the work that took some time.
type stretch struct {
	took  int64 // nanoseconds
	words string
	pause bool
	refs  []ref
}

const (
	second = int64(1e9)
	long   = 10 * second // shorter ones are not worth a word
	most   = 5
)

func main() {
	var in input
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, "the input cannot be read:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(tell(in)); err != nil {
		os.Exit(1)
	}
}

func tell(in input) report {
	chinese := in.Language == "zh-CN"
	var all []stretch
	var elapsed int64
	for _, r := range in.Recordings {
		elapsed += r.Elapsed
		for i, a := range r.Actions {
			at := ref{"action", r.ID, a.ID}
			if a.End-a.At >= long {
				all = append(all, stretch{took: a.End - a.At, words: a.Words, refs: []ref{at}})
			}
			if i > 0 && a.At-r.Actions[i-1].End >= long && r.Actions[i-1].End >= r.Actions[i-1].At {
				all = append(all, stretch{took: a.At - r.Actions[i-1].End, words: a.Words, pause: true, refs: []ref{at, {"action", r.ID, r.Actions[i-1].ID}}})
			}
		}
		for _, c := range r.Commands {
			if c.End-c.At >= long {
				all = append(all, stretch{took: c.End - c.At, words: c.Line, refs: []ref{{"command", r.ID, c.ID}}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(b.took, a.took) })
	all = all[:min(len(all), most)]

	out := report{Findings: []finding{}, Suggestions: []finding{}}
	if chinese {
		out.Line = "共用时 " + minutes(elapsed, chinese)
	} else {
		out.Line = "It took " + minutes(elapsed, chinese)
	}
	for _, s := range all {
		words := strings.Join(strings.Fields(s.words), " ")
		if len(words) > 300 {
			words = "" // cut short, a number in it could become another
		}
		text := sentence(s, words, minutes(s.took, chinese), chinese)
		out.Findings = append(out.Findings, finding{Kind: "slow", Text: text, Evidence: s.refs, Confidence: 1})
	}
	out.Text = out.Line
	for _, f := range out.Findings {
		out.Text += "\n" + f.Text
	}
	return out
}

func sentence(s stretch, words, took string, chinese bool) string {
	switch {
	case chinese && words == "" && s.pause:
		return "停顿了 " + took
	case chinese && words == "":
		return "一步用了 " + took
	case chinese && s.pause:
		return "停顿 " + took + "，然后：" + words
	case chinese:
		return "用了 " + took + "：" + words
	case words == "" && s.pause:
		return took + " without an action"
	case words == "":
		return took + " for one action"
	case s.pause:
		return took + " without an action, until: " + words
	}
	return took + " for: " + words
}

// minutes is a time as people say it.
func minutes(ns int64, chinese bool) string {
	sec := ns / second
	unit := [2]string{" min", " s"}
	if chinese {
		unit = [2]string{" 分", " 秒"}
	}
	switch {
	case sec < 60:
		return fmt.Sprintf("%d%s", sec, unit[1])
	case sec%60 == 0:
		return fmt.Sprintf("%d%s", sec/60, unit[0])
	}
	return fmt.Sprintf("%d%s %d%s", sec/60, unit[0], sec%60, unit[1])
}
