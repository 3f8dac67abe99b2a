package record

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
)

const checkTime = 3 * time.Second // for a source to say what it can do, and to begin

// asked is one source as New's caller gave it, with what this recording wants of it.
type asked struct {
	name   human.SourceName
	off    bool
	source Source                                      // nil for the screen, and where there is none
	check  func(ctx context.Context) human.SourceState // nil: there is none
}

// ask lists the seven sources, in the order they are shown. Pictures that the browser takes itself go to save.
func ask(d Deps, o human.RecordingOptions, save SavePicture) []asked {
	off, pictures := !o.RecordsDesktop(), o.Pictures == nil || *o.Pictures
	all := []asked{
		{name: human.InputSource, off: off, source: d.Input},
		{name: human.WindowSource, off: off, source: d.Windows},
		{name: human.ElementSource, off: off, source: d.Elements},
		{name: human.ScreenSource, off: off || !pictures},
		{name: human.FileSource, off: off || len(o.Folders) == 0},
		{name: human.ClipboardSource, off: off || o.Clipboard == "off"},
		{name: human.BrowserSource, off: o.Browser == nil},
	}
	for i := range all {
		switch a := &all[i]; {
		case a.off:
		case a.name == human.ScreenSource && d.Screen != nil && d.Pictures != nil:
			a.check = d.Screen.Check
		case a.name == human.FileSource && d.Files != nil:
			a.source = d.Files(o.Folders)
		case a.name == human.ClipboardSource && d.Clipboard != nil:
			a.source = d.Clipboard(o.Clipboard == "content")
		case a.name == human.BrowserSource && d.Browser != nil:
			if !pictures {
				save = nil
			}
			a.source = d.Browser(*o.Browser, o.Clipboard == "content", save)
		}
		if s := all[i].source; s != nil {
			all[i].check = s.Check
		}
	}
	return all
}

// check asks every source what it can deliver. One that does not answer in time is missing.
func check(ctx context.Context, all []asked, system string, excluding bool) []human.SourceState {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	states := make([]human.SourceState, len(all))
	var answers sync.WaitGroup
	for i, a := range all {
		states[i] = human.SourceState{
			Source: a.name, Status: "missing", Code: "unsupported", Detail: "Deskbell cannot record this on " + system + ".",
		}
		switch {
		case a.off:
			states[i] = human.SourceState{Source: a.name, Status: "off"}
		case a.check != nil:
			answers.Go(func() {
				answer := make(chan human.SourceState, 1)
				go func() { answer <- a.check(ctx) }() // ends with ctx, by its promise
				select {
				case states[i] = <-answer:
					states[i].Source = a.name
				case <-ctx.Done():
					states[i].Code, states[i].Detail = "lost", "It did not answer within three seconds."
					states[i].Fix = "Try again; if it stays so, log out and in."
				}
			})
		}
	}
	answers.Wait()
	blind := slices.ContainsFunc(states, func(s human.SourceState) bool { return s.Source == human.WindowSource && s.Status == "missing" })
	deaf := slices.ContainsFunc(states, func(s human.SourceState) bool {
		return s.Status == "missing" && (s.Source == human.WindowSource || s.Source == human.ElementSource)
	})
	for i := range states {
		switch s := &states[i]; {
		case s.Source == human.ScreenSource && s.Status == "partial" && s.Code == "wayland" && deaf:
			*s = human.SourceState{
				Source: s.Source, Status: "missing", Code: s.Code,
				Detail: "Pictures are left out, because without accessibility it is not known when they might show a secret.",
				Fix:    "Make the elements source work.",
			}
		case s.Source == human.ScreenSource && s.Status != "off" && s.Status != "missing" && blind && excluding:
			*s = human.SourceState{
				Source: s.Source, Status: "missing", Code: "unsupported",
				Detail: "Pictures are left out, because excluded windows cannot be told apart and masked.",
				Fix:    "Make the windows source work, or empty the list of excluded applications in the settings.",
			}
		case s.Source == human.ElementSource && s.Status == "missing":
			s.Detail += " Typed text is hidden, because password fields cannot be told from others."
		}
	}
	return states
}

// lacking is the state of a source that could not be opened.
func lacking(state human.SourceState, err error) human.SourceState {
	state.Status, state.Code, state.Detail = "missing", cmp.Or(state.Code, "lost"), human.SafeText(err)
	return state
}

// nothingToRecord is the error when there is nothing to record.
func nothingToRecord(states []human.SourceState) error {
	what := ""
	for _, s := range states {
		if s.Status == "missing" && (s.Source == human.InputSource || s.Source == human.ScreenSource) {
			what += " " + string(s.Source) + ": " + s.Detail
			if s.Fix != "" {
				what += " " + s.Fix
			}
		}
	}
	return human.Errorf(human.Unavailable, "nothing can be recorded here.%s", what)
}

// noBrowser is the error when the browser that was asked for is missing.
func noBrowser(states []human.SourceState) error {
	for _, s := range states {
		if s.Source == human.BrowserSource {
			return human.Errorf(human.Unavailable, "no browser can be opened. %s %s", s.Detail, s.Fix)
		}
	}
	return nil
}
