package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/plugins"
	"deskbell/backend/record/library"
	"deskbell/backend/record/masking"
	"deskbell/backend/store/keychain"
	"deskbell/backend/store/settings"
	"deskbell/backend/summary"
	"deskbell/backend/transport/cli"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin"
	"deskbell/summarizers/prompt"
)

// openSummaries puts together what makes drafts of summaries.
func (h *House) openSummaries(books *library.Library, shelf *shelf) {
	h.summaries = summary.New(summary.Deps{
		Operations: h.queue, Recordings: books, Store: h.store.Summaries(),
		Shelf: shelf.look, Options: h.summaryOptions, Folder: shelf.folder,
		Operator: h.operator(), Now: time.Now, Log: h.log,
		NewID: func() human.SummaryID {
			return human.SummaryID(human.SummaryPrefix + strings.ToLower(ulid.Make().String()))
		},
	})
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

// A shelf finds the summarizers there are: the built-in ones, the model's, and what lies in a folder. It is safe
// for concurrent use.
type shelf struct {
	folder  string
	plugins bool
	model   settings.Model
	masker  *masking.Masker

	mu     sync.Mutex
	models map[string]prompt.Model // by name, as they were asked for first
}

func newShelf(dir string, s settings.Settings) *shelf {
	return &shelf{
		folder: filepath.Join(dir, "summarizers"), plugins: s.Summarizers.Plugins, model: s.Model, masker: masking.New(), models: map[string]prompt.Model{},
	}
}

// look reads the folder anew: what was put there counts at once.
func (s *shelf) look() summary.Shelf {
	found := summary.Shelf{BuiltIn: builtin.All()}
	taken := map[string]bool{}
	for _, each := range found.BuiltIn {
		taken[each.About().Name] = true
	}
	fault := func(name string, err error) {
		found.Problems = append(found.Problems, summary.Unusable{Name: name, Text: human.SafeText(err)})
	}
	add := func(each summarizers.Summarizer) {
		name := each.About().Name
		if taken[name] {
			fault(name, human.Errorf(human.Conflict, "there is another summarizer of that name; choose another in its file"))
			return
		}
		taken[name] = true
		found.Others = append(found.Others, each)
	}
	if s.model.Provider != "none" {
		if m, err := s.ask(""); err != nil {
			fault(prompt.Default().Name, err)
		} else {
			add(prompt.New(prompt.Default(), m, s.mask))
		}
	}
	if !s.plugins {
		return found
	}
	own, problems := plugins.Load(s.folder)
	for _, p := range problems {
		found.Problems = append(found.Problems, summary.Unusable{Name: filepath.Base(p.Folder), Text: p.Text})
	}
	for _, each := range own {
		add(each)
	}
	files, err := filepath.Glob(filepath.Join(s.folder, "*.md"))
	if err != nil {
		fault(s.folder, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		each, err := s.prompt(name, file)
		if err != nil {
			fault(name, err)
			continue
		}
		add(each)
	}
	return found
}

// prompt reads a prompt of the user's own.
func (s *shelf) prompt(name, file string) (summarizers.Summarizer, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, human.Errorf(human.NotFound, "%s is gone", file)
	}
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "%s cannot be read", file)
	}
	t, err := prompt.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if s.model.Provider == "none" {
		return nil, human.Errorf(human.Unavailable, "it is a prompt, and there is no model to ask; set model.provider and model.name")
	}
	m, err := s.ask(t.Model)
	if err != nil {
		return nil, err
	}
	return prompt.New(t, m, s.mask), nil
}

func (s *shelf) mask(text string) string {
	masked, _ := s.masker.Mask(text)
	return masked
}

// ask is the model of the settings, or another one of its provider.
func (s *shelf) ask(name string) (prompt.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.models[name]; m != nil {
		return m, nil
	}
	m, err := model(s.model, name)
	if err == nil {
		s.models[name] = m
	}
	return m, err
}

func model(s settings.Model, name string) (prompt.Model, error) {
	if name == "" {
		name = s.Name
	}
	var account keychain.Account
	m, err := llm.New(llm.Config{
		Provider: s.Provider, Model: name, BaseURL: s.BaseURL, AllowHTTP: s.AllowHTTP, Pictures: s.Pictures, MaxInput: s.MaxInputTokens, MaxOutput: s.MaxOutputTokens,
		Key: func(ctx context.Context) (string, error) { return account.Key()(ctx) },
	})
	if err != nil {
		return nil, err
	}
	account.Host = m.About().Host
	return m, nil
}

// modelAccount is the key of the settings' model, for the command line. Unavailable where there is no model.
func modelAccount(p cli.Place) (cli.ModelKey, error) {
	s := p.Config.Settings().Model
	if s.Provider == "none" {
		return nil, human.Errorf(human.Unavailable, "there is no model; set model.provider and model.name, for instance in %s", p.Config.File())
	}
	m, err := model(s, "")
	if err != nil {
		return nil, err
	}
	return modelKey{m.About()}, nil
}

type modelKey struct{ info prompt.ModelInfo }

func (k modelKey) Model() (name, host string) { return k.info.Name, k.info.Host }

func (k modelKey) account() keychain.Account { return keychain.Account{Host: k.info.Host} }

func (k modelKey) Find(ctx context.Context) (from string, err error) {
	_, from, err = keychain.Get(ctx, k.account())
	return from, err
}

func (k modelKey) Set(ctx context.Context, key string) error {
	return keychain.Set(ctx, k.account(), key)
}

func (k modelKey) Remove(ctx context.Context) error { return keychain.Delete(ctx, k.account()) }

// examineSummaries says what of the summarizers cannot be used here, and how own ones are confined.
func examineSummaries(ctx context.Context, p cli.Place) []cli.Check {
	s := newShelf(p.Dir, p.Config.Settings())
	found := s.look()
	var checks []cli.Check
	for _, problem := range found.Problems {
		checks = append(checks, cli.Check{Name: "summarizer " + problem.Name, Status: "warn", Detail: problem.Text, Fix: "until then the built-in ones serve"})
	}
	if s.model.Provider != "none" {
		if key, err := modelAccount(p); err == nil {
			name, host := key.Model()
			if from, err := key.Find(ctx); err == nil {
				checks = append(checks, cli.Check{Name: "model", Status: "ok", Detail: name + " at " + host + ", with the key from " + from})
			} else {
				checks = append(checks, cli.Check{Name: "model", Status: "warn", Detail: name + " at " + host + ": " + human.SafeText(err), Fix: "deskbell model set-key, unless it needs none"})
			}
		}
	}
	if len(found.Others) > 0 && s.plugins {
		confined := plugins.Confinement()
		c := cli.Check{Name: "own summarizers", Status: "ok", Detail: "kept from them: " + strings.Join(confined.Enforced, "; ")}
		if len(confined.Missing) > 0 {
			c.Status, c.Fix = "warn", "not kept from them here: "+strings.Join(confined.Missing, "; ")+". Use only those you trust"
		}
		checks = append(checks, c)
	}
	return checks
}
