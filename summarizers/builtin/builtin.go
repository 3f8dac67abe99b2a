// Package builtin has the summarizers that come with Deskbell: no model, no network, the same report for the
// same input. Each reads the facts of recordings and answers (package facts), looks through them for what a colleague
// would put into a hand-over (find), and writes that in English or Chinese (say).
package builtin

import (
	"context"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
	"deskbell/summarizers/builtin/find"
	"deskbell/summarizers/builtin/say"
)

// All are the built-in summarizers: answer, browser, desktop, terminal, joined.
func All() []summarizers.Summarizer {
	return []summarizers.Summarizer{answer(), browser(), desktop(), terminal(), joined()}
}

const timeLimit = 10 * time.Second

// answer tells what was said and decided: of operations without a recording (H4, H8).
func answer() summarizers.Summarizer {
	return &builtin{about("answer", "Answer", "答复", summarizers.FromAnswer), find.Answer, say.Answer}
}

// browser tells what was done in pages (H11).
func browser() summarizers.Summarizer {
	return &builtin{about("browser", "Browser", "浏览器", summarizers.FromBrowser), find.Browser, say.Work}
}

// desktop tells what was done in programs (H10).
func desktop() summarizers.Summarizer {
	return &builtin{about("desktop", "Desktop", "桌面", summarizers.FromDesktop), find.Desktop, say.Work}
}

// terminal tells what was run in a terminal (H5).
func terminal() summarizers.Summarizer {
	return &builtin{about("terminal", "Terminal", "终端", summarizers.FromTerminal), find.Terminal, say.Work}
}

// joined tells all of an operation as one: several recordings, desktop and browser together, and what was said.
func joined() summarizers.Summarizer {
	return &builtin{about("joined", "Everything", "综合", summarizers.FromAnswer, summarizers.FromDesktop, summarizers.FromBrowser, summarizers.FromTerminal), find.Joined, say.Work}
}

type builtin struct {
	about   summarizers.About
	search  find.Search
	account say.Account
}

func about(name, en, zh string, sources ...summarizers.Source) summarizers.About {
	return summarizers.About{
		Name: name, Title: map[string]string{say.English: en, say.Chinese: zh}, Kinds: []human.Kind{}, Sources: sources,
		Languages: []string{say.English, say.Chinese}, Limit: timeLimit, Deterministic: true,
	}
}

// About says what it is.
func (b *builtin) About() summarizers.About {
	a := b.about // a copy, so that no one changes ours
	a.Title = map[string]string{say.English: a.Title[say.English], say.Chinese: a.Title[say.Chinese]}
	a.Kinds, a.Sources, a.Languages = slices.Clone(a.Kinds), slices.Clone(a.Sources), slices.Clone(a.Languages)
	return a
}

// Summarize reports what its search finds.
func (b *builtin) Summarize(ctx context.Context, in summarizers.Input, progress func(human.Progress)) (human.Report, error) {
	fs, err := facts.Read(ctx, in)
	if err != nil {
		return human.Report{}, err
	}
	found, err := b.search.In(ctx, fs, progress)
	if err != nil {
		return human.Report{}, err
	}
	return b.account.Of(found), ctx.Err()
}
