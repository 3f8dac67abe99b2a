package house

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
	"deskbell/backend/summary"
	"deskbell/summarizers/builtin"
)

// openSummaries puts together what makes drafts of summaries.
func (h *House) openSummaries(books *library.Library) {
	h.summaries = summary.New(summary.Deps{
		Operations: h.queue, Recordings: books, Store: h.store.Summaries(),
		Shelf: h.shelf, Options: h.summaryOptions, Folder: h.summarizersFolder(),
		Operator: h.operator(), Now: time.Now, Log: h.log,
		NewID: func() human.SummaryID {
			return human.SummaryID(human.SummaryPrefix + strings.ToLower(ulid.Make().String()))
		},
	})
}

func (h *House) summarizersFolder() string { return filepath.Join(h.config.Dir, "summarizers") }

// shelf has the summarizers there are at this moment.
func (h *House) shelf() summary.Shelf {
	return summary.Shelf{BuiltIn: builtin.All()}
}

func (h *House) summaryOptions() summary.Options {
	s := h.config.Config.Settings()
	o := summary.Options{Auto: s.Human.AutoSummarize, Language: s.Summarizers.Language}
	for _, text := range s.Summarizers.Use {
		if rule, err := summary.ParseRule(text); err == nil { // they were checked when they were read
			o.Rules = append(o.Rules, rule)
		}
	}
	return o
}

// draftSummaries begins drafts when recordings end, until ctx ends.
func (h *House) draftSummaries(ctx context.Context) {
	if h.recorder == nil {
		return
	}
	h.recorder.Watch(ctx, func(r human.Recording) {
		if r.State == human.RecordingStopped || r.State == human.RecordingInterrupted {
			h.summaries.RecordingEnded(ctx, r)
		}
	})
}
