package procedure

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A Service keeps procedures and runs them. It is safe for concurrent use.
type Service struct {
	d      Deps
	saving sync.Mutex // held while a version is saved
	taking sync.Mutex // held while an offer is taken

	looking   sync.Mutex                            // held while work that was done again is looked for
	did       map[human.RecordingID]human.Procedure // what was done in the recordings that were looked at the last time
	granting  sync.Mutex                            // held while what runs unattended is changed
	beginning sync.Mutex                            // held while a run begins without an operator

	mu     sync.Mutex
	runs   map[human.OperationID]*run // those that are not over
	closed bool
	within time.Duration // for checkpoints and effects, where a procedure says no time

	stopped map[human.OperationID]StoppedRun
	changed chan struct{} // closed when those are others

	work sync.WaitGroup
}

// New makes a service. It runs nothing by itself.
func New(d Deps) *Service {
	return &Service{d: d, runs: map[human.OperationID]*run{}, within: within, stopped: map[human.OperationID]StoppedRun{}, changed: make(chan struct{})}
}

// A Listed is a procedure in a list.
type Listed struct {
	Name       string                     `json:"name"`
	Title      string                     `json:"title"`
	Where      string                     `json:"where" enum:"browser,desktop"`
	Sites      []string                   `json:"sites" doc:"The hosts of its pages."`
	Does       []string                   `json:"does" enum:"reads,sends,pays,deletes"`
	Risk       human.Risk                 `json:"risk_level" enum:"none,low,medium,high,critical"`
	Parameters []human.ProcedureParameter `json:"parameters"`
	Version    int                        `json:"version"`
	SavedAt    time.Time                  `json:"saved_at"`
	SavedBy    string                     `json:"saved_by"`
	Figures    Figures                    `json:"figures"`
}

// Figures are what the runs of a procedure come to.
type Figures struct {
	Runs    int        `json:"runs"`
	Good    int        `json:"good"`
	Stopped int        `json:"stopped" doc:"That a person had to decide about."`
	Took    int64      `json:"took_ms,omitempty" doc:"Of the good runs, the median."`
	Last    *time.Time `json:"last,omitempty" doc:"When the last one began."`
}

// Shown is a procedure as a whole.
type Shown struct {
	Version   int                    `json:"version" doc:"The one shown."`
	Digest    string                 `json:"sha256" doc:"Of its file, in hex."`
	Procedure human.Procedure        `json:"procedure"`
	File      string                 `json:"file" doc:"The same as the file: YAML."`
	Risk      human.Risk             `json:"risk_level" enum:"none,low,medium,high,critical"`
	Sites     []string               `json:"sites"`
	Versions  []Version              `json:"versions" doc:"The newest first."`
	Findings  []LintFinding          `json:"findings" doc:"What it does not cover."`
	Figures   Figures                `json:"figures"`
	Drifting  []Drift                `json:"drifting" doc:"Steps whose best selector did not find their element in the last good run."`
	Runs      []human.RunOfProcedure `json:"runs" doc:"The newest first, at most 50."`

	Unattended UnattendedState `json:"unattended"`
	Agents     ProcedureAgents `json:"agents"`
}

// A Drift is a step whose element is found another way than when it was taught.
type Drift struct {
	Step    string `json:"step"`
	FoundBy string `json:"found_by"`
	Runs    int    `json:"runs" doc:"Good runs in a row for which that is so."`
}

// A ProcedureDraft is a procedure that is not saved.
type ProcedureDraft struct {
	Procedure human.Procedure `json:"procedure"`
	File      string          `json:"file" doc:"The same as the file: YAML."`
	Rows      []TaughtRow     `json:"rows" doc:"How the steps of the recordings were brought together; empty where it did not come from recordings."`
	Findings  []LintFinding   `json:"findings"`
	Risk      human.Risk      `json:"risk_level" enum:"none,low,medium,high,critical"`
	After     int             `json:"after,omitempty" doc:"Of a correction: the version that it was made from."`
	Changed   []string        `json:"changed,omitempty" doc:"Of a correction: the ids of the steps that are new or other."`
}

// A Change is a procedure as an editor or a file has it. One of both is given.
type Change struct {
	Procedure *human.Procedure `json:"procedure,omitempty"`
	File      string           `json:"file,omitempty" doc:"YAML."`
	After     int              `json:"after,omitempty" doc:"The version it was made from; 0 for a new procedure. A Conflict where there is another since."`
	Note      string           `json:"note,omitempty" doc:"What is new in it, in a line."`
}

func operatorsOnly(by human.Actor) error {
	if by.Role == human.Agent {
		return human.Errorf(human.Denied, "only an operator can see and change procedures")
	}
	return nil
}

// List are all procedures, by title.
func (s *Service) List(ctx context.Context, by human.Actor) ([]Listed, error) {
	if err := operatorsOnly(by); err != nil {
		return nil, err
	}
	all, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	for _, v := range all {
		runs, err := s.d.Store.Runs(ctx, v.Name, 1000)
		if err != nil {
			return nil, err
		}
		p := v.Content
		list = append(list, Listed{
			Name: p.Name, Title: p.Title, Where: p.Where, Sites: sites(p), Does: p.Does, Risk: RiskOf(p), Parameters: orEmpty(p.Parameters),
			Version: v.Number, SavedAt: v.SavedAt, SavedBy: v.SavedBy, Figures: figures(runs),
		})
	}
	slices.SortFunc(list, func(a, b Listed) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

// newest are the newest versions of all procedures.
func (s *Service) newest(ctx context.Context) ([]Version, error) {
	all, err := s.d.Store.Versions(ctx, "")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Version
	for _, v := range all {
		if seen[v.Name] {
			continue
		}
		seen[v.Name] = true
		if v.Content, err = Read(v.File); err != nil {
			s.d.Log.Warn("a procedure cannot be read", "procedure", v.Name, "version", v.Number, "err", err)
			continue
		}
		out = append(out, v)
	}
	return out, nil
}

// versions are those of a procedure, the newest first; NotFound without.
func (s *Service) versions(ctx context.Context, called string) ([]Version, error) {
	all, err := s.d.Store.Versions(ctx, called)
	if err == nil && (called == "" || len(all) == 0) {
		err = human.Errorf(human.NotFound, "there is no procedure %q", human.OneLine(called, 60))
	}
	return all, err
}

// version is one version of a procedure; the newest where number is 0.
func (s *Service) version(ctx context.Context, called string, number int) (Version, error) {
	all, err := s.versions(ctx, called)
	if err != nil {
		return Version{}, err
	}
	i := 0
	if number != 0 {
		i = slices.IndexFunc(all, func(v Version) bool { return v.Number == number })
	}
	if i < 0 {
		return Version{}, human.Errorf(human.NotFound, "procedure %q has no version %d; it has 1 to %d", human.OneLine(called, 60), number, all[0].Number)
	}
	v := all[i]
	v.Content, err = Read(v.File)
	return v, err
}

// Get is a procedure as a whole, in its newest version where number is 0.
func (s *Service) Get(ctx context.Context, by human.Actor, called string, number int) (Shown, error) {
	if err := operatorsOnly(by); err != nil {
		return Shown{}, err
	}
	v, err := s.version(ctx, called, number)
	if err != nil {
		return Shown{}, err
	}
	all, runs, err := s.history(ctx, called)
	if err != nil {
		return Shown{}, err
	}
	unattended, err := s.unattended(ctx, all, runs)
	if err != nil {
		return Shown{}, err
	}
	agents, err := s.agents(ctx, v.Name, runs)
	if err != nil {
		return Shown{}, err
	}
	p := v.Content
	return Shown{
		Version: v.Number, Digest: v.Digest, Procedure: p, File: v.File, Risk: RiskOf(p), Sites: sites(p), Versions: all, Findings: orEmpty(Lint(p)),
		Figures: figures(runs), Drifting: drifting(p, runs), Runs: orEmpty(runs[:min(len(runs), 50)]),
		Unattended: unattended, Agents: agents,
	}, nil
}

// Check reads a change and says what it does not cover. It saves nothing.
func (s *Service) Check(_ context.Context, by human.Actor, c Change) (ProcedureDraft, error) {
	if err := operatorsOnly(by); err != nil {
		return ProcedureDraft{}, err
	}
	p, file, err := content(c)
	if err != nil {
		return ProcedureDraft{}, err
	}
	return ProcedureDraft{Procedure: p, File: file, Rows: []TaughtRow{}, Findings: orEmpty(Lint(p)), Risk: RiskOf(p)}, nil
}

// content is what a change says, and its file.
func content(c Change) (human.Procedure, string, error) {
	switch {
	case c.Procedure != nil && c.File != "":
		return human.Procedure{}, "", human.BadField("file", "is given beside procedure; give one of both")
	case c.File != "":
		p, err := Read(c.File)
		return p, c.File, err
	case c.Procedure == nil:
		return human.Procedure{}, "", human.BadField("procedure", "is missing; give it, or file")
	}
	file, err := Write(*c.Procedure)
	if err != nil {
		return human.Procedure{}, "", err
	}
	p, err := Read(file)
	return p, file, err
}

// Save stores a change as the next version of its procedure. It blocks until that is on the disk. An Invalid error where Lint finds an
// error; a Conflict where there is a newer version than the one it was made from.
func (s *Service) Save(ctx context.Context, by human.Actor, c Change) (Shown, error) {
	if err := operatorsOnly(by); err != nil {
		return Shown{}, err
	}
	p, file, err := content(c)
	if err != nil {
		return Shown{}, err
	}
	for _, f := range Lint(p) {
		if f.Level == LintError {
			return Shown{}, human.BadField("procedure", "cannot be saved: %s", f.Said.Text)
		}
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	all, err := s.d.Store.Versions(ctx, p.Name)
	if err != nil {
		return Shown{}, err
	}
	last := 0
	if len(all) > 0 {
		last = all[0].Number
	}
	switch {
	case c.After == 0 && last > 0:
		return Shown{}, human.Errorf(human.Conflict, "there is a procedure %s already; choose another name, or save this as its version %d", p.Name, last+1)
	case c.After != last:
		return Shown{}, human.Errorf(human.Conflict, "procedure %s has version %d since; look at that first", p.Name, last)
	}
	v := Version{Name: p.Name, Number: last + 1, File: file, Digest: Digest(file), SavedAt: s.d.Now().UTC(), SavedBy: by.Name, Note: human.OneLine(c.Note, 200)}
	if err := s.d.Store.Save(ctx, v); err != nil {
		return Shown{}, err
	}
	s.settle(ctx, p.Name)
	return s.Get(ctx, by, p.Name, 0)
}

// Remove deletes a procedure with all its versions. What was run stays with its operations.
func (s *Service) Remove(ctx context.Context, by human.Actor, called string) error {
	if err := operatorsOnly(by); err != nil {
		return err
	}
	return s.d.Store.Remove(ctx, called)
}

// sites are the origins that the steps of a procedure go to, each once.
func sites(p human.Procedure) []string {
	all := []string{}
	add := func(address string) {
		if site := siteOf(address); site != "" && !slices.Contains(all, site) {
			all = append(all, site)
		}
	}
	for _, step := range p.Steps {
		if w := step.Window; w != nil && !slices.Contains(all, w.Program) {
			all = append(all, w.Program)
		}
		add(step.URL)
		for _, c := range step.Then {
			if c.Is == "address" {
				add(c.Text)
			}
		}
	}
	for _, e := range p.Effects {
		if e.Is == "row" {
			add(e.URL)
		}
	}
	return all
}

// siteOf is the origin of an address; "" where it has none.
func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// figures are those of runs, the newest first.
func figures(runs []human.RunOfProcedure) Figures {
	f := Figures{Runs: len(runs)}
	var took []int64
	for i, r := range runs {
		if i == 0 {
			f.Last = &r.StartedAt
		}
		switch {
		case r.Stops > 0 || r.State == human.BrokeOff:
			f.Stopped++
		case r.State == human.Succeeded:
			f.Good++
			took = append(took, r.EndedAt.Sub(r.StartedAt).Milliseconds())
		}
	}
	if slices.Sort(took); len(took) > 0 {
		f.Took = took[len(took)/2]
	}
	return f
}

// drifting are the steps that the last good runs found another way.
func drifting(p human.Procedure, runs []human.RunOfProcedure) []Drift {
	all := []Drift{}
	for _, step := range p.Steps {
		d := Drift{Step: step.ID}
		for _, r := range runs {
			i := slices.IndexFunc(r.Steps, func(x human.RunStep) bool { return x.Step == step.ID && x.State == human.StepDone })
			if r.State != human.Succeeded || i < 0 {
				continue
			}
			if !r.Steps[i].Drifted {
				break
			}
			if d.Runs++; d.FoundBy == "" {
				d.FoundBy = r.Steps[i].FoundBy
			}
		}
		if d.Runs > 0 {
			all = append(all, d)
		}
	}
	return all
}

// Unaided are the runs of a time that agents asked for, ended well and stopped for no one; for operators.
func (s *Service) Unaided(ctx context.Context, by human.Actor, from, to time.Time) ([]human.Spared, error) {
	if err := operatorsOnly(by); err != nil {
		return nil, err
	}
	runs, err := s.d.Store.Ended(ctx, from, to)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	where := map[string]human.Kind{}
	all, err := s.newest(ctx)
	for _, v := range all {
		where[v.Name] = human.Kind(v.Content.Where)
	}
	var out []human.Spared
	for _, r := range runs {
		if r.State == human.Succeeded && r.Stops == 0 && r.Agent != "" && !strings.HasPrefix(r.Agent, human.PersonID("")) {
			out = append(out, human.Spared{Kind: where[r.Procedure], Agent: r.Agent, At: r.StartedAt, Run: true})
		}
	}
	return out, err
}
