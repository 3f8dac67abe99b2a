// Package corpus has what summarizers are judged by: real recordings of work that scripted persons did in real
// applications and pages, the answers they gave, and beside each, written by hand, what a summary of it must say
// and what it must not. TestCorpusDesktop and TestCorpusBrowser in build/e2e record it (make corpus).
//
// A case NAME is four files or more in testdata:
//
//	NAME.json         the operation, the answer so far and the recordings
//	NAME.1.events.gz  the raw events of the first recording, one in a line
//	NAME.expect.json  what is expected (Expect)
//
// Events are as the recorder stored them and never edited; pictures are not kept.
package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
	"deskbell/summarizers"
)

// The sources of cases: each is named after the built-in summarizer that reads it.
const (
	Answer  = "answer"
	Desktop = "desktop"
	Browser = "browser"
	Joined  = "joined"
)

// A Case is one operation that a scripted person worked on.
type Case struct {
	Name       string            `json:"name"`
	Source     string            `json:"source"`
	Operation  human.Operation   `json:"operation"`  // before its answer was given
	Answer     human.Answer      `json:"answer"`     // what the person said so far
	Recordings []human.Recording `json:"recordings"` // in the order in which they were begun

	Events [][]human.RecordedEvent `json:"-"` // of each recording
	Expect Expect                  `json:"-"`
}

// Load reads all cases of a folder, in the order of their names. A case without expectations is an error.
func Load(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.expect.json"))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var cases []Case
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".expect.json")
		known[name] = true
		c, err := Read(dir, name)
		if err == nil {
			err = decode(file, &c.Expect)
		}
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", name, err)
		}
		cases = append(cases, c)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range all {
		if name, _, _ := strings.Cut(filepath.Base(file), "."); !known[name] {
			return nil, fmt.Errorf("case %s has no expectations", name)
		}
	}
	return cases, nil
}

// Read reads one case of a folder, without what is expected of it.
func Read(dir, name string) (c Case, err error) {
	if err = decode(filepath.Join(dir, name+".json"), &c); err != nil {
		return c, err
	}
	if c.Name != name {
		return c, fmt.Errorf("it calls itself %s", c.Name)
	}
	for i := range c.Recordings {
		events, err := readEvents(eventsFile(dir, name, i))
		if err != nil {
			return c, err
		}
		c.Events = append(c.Events, events)
	}
	return c, nil
}

func eventsFile(dir, name string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d.events.gz", name, i+1))
}

// decode returns an error for a field it does not know, so that a misspelled expectation is not ignored.
func decode(file string, into any) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return nil
}

func readEvents(file string) (events []human.RecordedEvent, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(unpacked); ; {
		var e human.RecordedEvent
		err := d.Decode(&e)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		events = append(events, e)
	}
}

// Save writes a case into a folder, without its expectations, in the place of an earlier one of that name.
func Save(dir string, c Case) error {
	if len(c.Events) != len(c.Recordings) {
		return fmt.Errorf("case %s has %d recordings and the events of %d", c.Name, len(c.Recordings), len(c.Events))
	}
	for i, events := range c.Events {
		if err := writeEvents(eventsFile(dir, c.Name, i), events); err != nil {
			return err
		}
	}
	c.Operation.Draft, c.Operation.Deliveries, c.Operation.Result, c.Operation.SnoozedUntil = nil, nil, nil, nil
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, c.Name+".json"), append(text, '\n'), 0o644)
}

func writeEvents(file string, events []human.RecordedEvent) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(packed)
	for _, one := range events {
		if err := e.Encode(one); err != nil {
			return err
		}
	}
	return packed.Close()
}

// Input is the case as a summarizer gets it: with pictures shared by name, and typed text not shared.
func (c Case) Input(lang string) (summarizers.Input, error) {
	in := summarizers.Input{Version: 1, Language: lang, Operation: c.Operation, Answer: c.Answer, Checklist: c.checklist()}
	for i, r := range c.Recordings {
		events := func(yield func(human.RecordedEvent, error) bool) {
			for _, e := range c.Events[i] {
				if !yield(e, nil) {
					return
				}
			}
		}
		list, err := actions.From(events, lang)
		if err != nil {
			return in, err
		}
		in.Recordings = append(in.Recordings, summarizers.Recorded{
			Recording: r, Actions: actions.ForAgent(list, human.Edits{SharePictures: true}, lang),
		})
	}
	return in, nil
}

// checklist are the steps that were asked for, ticked where the last tick of a recording says so.
func (c Case) checklist() (steps []summarizers.Step) {
	var details struct {
		Sequence []string `json:"action_sequence"`
	}
	if len(c.Operation.Details) == 0 || json.Unmarshal(c.Operation.Details, &details) != nil {
		return nil
	}
	for _, text := range details.Sequence {
		steps = append(steps, summarizers.Step{Text: text})
	}
	for _, events := range c.Events {
		for _, e := range events {
			if e.Type == human.Marked && e.Step != nil && *e.Step >= 0 && *e.Step < len(steps) {
				steps[*e.Step].Done = e.Done
			}
		}
	}
	return steps
}
