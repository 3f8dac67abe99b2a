package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"deskbell/backend/human"
	"deskbell/backend/summary"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin"
	"deskbell/summarizers/prompt"
)

// A Registry finds the summarizers there are: the built-in ones, that of the model in the settings, and those in a folder: the
// user's own programs, and their prompts (*.md). It is safe for concurrent use.
type Registry struct {
	folder   string
	programs bool
	model    func(name string) (prompt.Model, error) // nil: there is none
	mask     func(string) string

	mu     sync.Mutex
	models map[string]prompt.Model // by name, as they were asked for first
}

// NewRegistry makes a registry of a folder, which need not be there. programs says whether the user's own programs may be
// used. model returns a model by name, "" for the one in the settings; nil where there is none. mask hides secrets.
func NewRegistry(folder string, programs bool, model func(name string) (prompt.Model, error), mask func(string) string) *Registry {
	return &Registry{folder: folder, programs: programs, model: model, mask: mask, models: map[string]prompt.Model{}}
}

// Folder is where summarizers of the user's own are put.
func (r *Registry) Folder() string { return r.folder }

// Find reads the folder anew: what was put there counts at once.
func (r *Registry) Find() summary.Registry {
	found := summary.Registry{BuiltIn: builtin.All()}
	taken := map[string]bool{}
	for _, each := range found.BuiltIn {
		taken[each.About().Name] = true
	}
	fault := func(name string, err error) {
		found.Problems = append(found.Problems, summary.Unusable{Name: name, Text: human.SafeText(err)})
	}
	add := func(each summarizers.Summarizer, name string, err error) {
		if err == nil && taken[each.About().Name] {
			name, err = each.About().Name, human.Errorf(human.Conflict, "there is another summarizer of that name; choose another name in its file")
		}
		if err != nil {
			fault(name, err)
			return
		}
		taken[each.About().Name] = true
		found.Others = append(found.Others, each)
	}
	if r.model != nil {
		each, err := r.ask(prompt.Default())
		add(each, prompt.Default().Name, err)
	}
	if !r.programs {
		return found
	}
	own, problems := Load(r.folder)
	for _, p := range problems {
		found.Problems = append(found.Problems, summary.Unusable{Name: filepath.Base(p.Folder), Text: p.Text})
	}
	for _, each := range own {
		add(each, "", nil)
	}
	files, err := filepath.Glob(filepath.Join(r.folder, "*.md"))
	if err != nil {
		fault(r.folder, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		each, err := r.prompt(name, file)
		add(each, name, err)
	}
	return found
}

// prompt reads a prompt of the user's own.
func (r *Registry) prompt(name, file string) (summarizers.Summarizer, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, human.Errorf(human.NotFound, "%s no longer exists", file)
	}
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "%s cannot be read", file)
	}
	t, err := prompt.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return r.ask(t)
}

// ask is the summarizer that asks a model with a prompt.
func (r *Registry) ask(t prompt.Template) (summarizers.Summarizer, error) {
	m, err := r.Model(t.Model)
	if err != nil {
		return nil, err
	}
	return prompt.New(t, m, r.mask), nil
}

// Model is the model in the settings, or another one of its provider, by name. Unavailable where there is none.
func (r *Registry) Model(name string) (prompt.Model, error) {
	if r.model == nil {
		return nil, human.Errorf(human.Unavailable, "it is a prompt, and there is no model to ask; set model.provider and model.name")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.models[name]; m != nil {
		return m, nil
	}
	m, err := r.model(name)
	if err == nil {
		r.models[name] = m
	}
	return m, err
}

// Checks say which summarizers cannot be used and why, and how far those of the user's own are confined.
func (r *Registry) Checks() []human.Diagnosis {
	found := r.Find()
	var report []human.Diagnosis
	for _, problem := range found.Problems {
		report = append(report, human.Limited(human.Sayf("summarizer %s", problem.Name), human.Sentence{Text: problem.Text},
			human.Sayf("correct it in the folder of summarizers, or remove it from there; until then the built-in ones serve")))
	}
	if len(found.Others) > 0 && r.programs {
		confined, name := Confinement(), human.Sayf("own summarizers")
		kept := human.Sayf("kept from them: %s", strings.Join(confined.Enforced, "; "))
		if len(confined.Missing) == 0 {
			return append(report, human.Healthy(name, kept))
		}
		report = append(report, human.Limited(name, kept, human.Sayf("use only those you trust: not kept from them here: %s", strings.Join(confined.Missing, "; "))))
	}
	return report
}
