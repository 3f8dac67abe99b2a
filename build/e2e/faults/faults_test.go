//go:build faults && linux

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"deskbell/build/serving"
)

// shortSeeds is how many seeds limits.json is for.
const shortSeeds = 12

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// A source is a whole folder that cases copy, and what was acknowledged in it.
type source struct {
	folder folder
	ledger *ledger
	ground ground
}

// sources makes the folders that faults at rest begin with: of a server that was stopped, of one that was killed, and an older state of both.
func sources(t *testing.T, seed uint64) (stopped, killed source, older string) {
	t.Helper()
	top := t.TempDir()
	f := folder{bin: program(t), path: filepath.Join(top, "data")}
	help, err := f.run("repair", "--help")
	f.repairs = err == nil && strings.Contains(help, "deskbell repair")
	l := &ledger{ops: map[string]*acked{}}
	older = filepath.Join(top, "older")
	work := func(clients, rings, answers int) *server {
		s, err := f.start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.kill)
		if l.key == "" {
			var made struct{ Key string }
			if err := s.must(http.StatusCreated, http.MethodPost, "/api/agents", s.token, map[string]any{"name": "load"}, &made); err != nil {
				t.Fatal(err)
			}
			l.key = made.Key
		}
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { l.ring(s, seed, i, func(n int) bool { return n >= rings }) })
		}
		all.Wait()
		l.answer(s, func(n int) bool { return n >= answers })
		if err := l.read(s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	take := func(to string) folder {
		copied, err := f.copied(to)
		if err != nil {
			t.Fatal(err)
		}
		return copied
	}
	end := func(s *server) {
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
	end(work(4, 5, 5))
	take(older)
	end(work(4, 10, 15))
	stopped = source{folder: take(filepath.Join(top, "stopped")), ledger: l.copied()}
	s := work(4, 5, 10)
	s.kill()
	<-s.ended
	killed = source{folder: take(filepath.Join(top, "killed")), ledger: l.copied()}
	for _, from := range []*source{&stopped, &killed} {
		looked, err := from.folder.copied(from.folder.path + ".looked")
		if err != nil {
			t.Fatal(err)
		}
		bad, err := looked.doctor()
		if err != nil {
			t.Fatal(err)
		}
		from.ground = ground{doctor: bad, warnings: from.folder.warnings()}
	}
	return stopped, killed, older
}

// copied is what was acknowledged so far.
func (l *ledger) copied() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	other := &ledger{key: l.key, ops: map[string]*acked{}}
	for id, a := range l.ops {
		same := *a
		same.late = 0
		other.ops[id] = &same
	}
	return other
}

// TestFaults tries each fault with each seed, prints a table of the verdicts, and compares them with limits.json, whose numbers only go down.
// DESKBELL_FAULTS_SEEDS says how many seeds, DESKBELL_FAULTS_SEED the first of them; DESKBELL_FAULTS_REPORT names a file for the table.
func TestFaults(t *testing.T) {
	seeds, first := setting(t, "DESKBELL_FAULTS_SEEDS", shortSeeds), setting(t, "DESKBELL_FAULTS_SEED", 1)
	stopped, killed, older := sources(t, first)
	table := &table{rows: map[string]*row{}}
	t.Run("case", func(t *testing.T) {
		for i, f := range faults {
			for _, place := range []struct {
				name  string
				tried bool
				from  source
				count uint64
			}{
				{"stopped", f.stopped, stopped, seeds}, {"killed", f.killed, killed, seeds}, {"under load", f.load, stopped, max(1, seeds/shortSeeds)},
			} {
				if !place.tried {
					continue
				}
				name := f.name + ", " + place.name
				count := place.count
				if !f.seeded {
					count = 1
				}
				for n := range count {
					seed := first + n
					t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
						t.Parallel()
						c := &attempt{t: t, fault: f, from: place.from, older: older, seed: seed, load: place.name == "under load"}
						if why := c.prepare(); why != nil {
							table.skip(i, name, why)
							t.Skip(why)
						}
						table.add(i, name, seed, c.run())
					})
				}
			}
		}
	})
	table.report(t, seeds == shortSeeds && first == 1)
}

// An attempt is one fault with one seed in a folder of its own.
type attempt struct {
	t     *testing.T
	fault fault
	from  source
	older string
	seed  uint64
	load  bool

	folder folder
	scene  *scene
	heard  []string // what was said while the fault was there
}

// prepare makes the folder, or says why this fault cannot be made here.
func (a *attempt) prepare() error {
	dir := filepath.Join(a.t.TempDir(), "data")
	if a.fault.mounted != nil {
		unmount, err := a.fault.mounted(filepath.Dir(dir), dir)
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
			return err
		}
		if err != nil {
			a.t.Fatal(err)
		}
		a.t.Cleanup(func() { _ = unmount() }) // the fault may have done it
	}
	var err error
	if a.folder, err = a.from.folder.copied(dir); err != nil {
		a.t.Fatal(err)
	}
	if a.fault.private && os.Geteuid() == 0 {
		if a.folder.wrap, err = unprivileged(); err != nil {
			return err
		}
	}
	hash := fnv.New64()
	_, _ = hash.Write([]byte(a.fault.name)) // it never fails
	a.scene = &scene{dir: dir, older: a.older, random: rand.New(rand.NewPCG(a.seed, hash.Sum64())), ledger: a.from.ledger.copied()}
	return nil
}

func (a *attempt) run() judgement {
	a.t.Helper()
	switch {
	case a.load:
		a.underLoad()
	default:
		if err := a.fault.do(a.scene); err != nil {
			a.t.Fatal(err)
		}
	}
	if undo := a.scene.undo; undo != nil {
		if !a.load { // what the server says of its surroundings
			if s, err := a.folder.start(); err == nil {
				a.heard = append(a.heard, health(s)...)
				s.kill()
				<-s.ended
			} else {
				a.heard = append(a.heard, err.Error())
			}
		}
		if err := undo(); err != nil {
			a.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(a.folder.path, 0o700); err != nil { // a folder that was removed
		a.t.Fatal(err)
	}
	j, err := judge(a.folder, a.scene.ledger, a.from.ground, a.heard)
	if err != nil {
		a.t.Fatal(err)
	}
	return j
}

// underLoad has eight clients ring and an operator answer, makes the fault after some acknowledgements, and stops the server once it has
// accepted so much after the fault that it cannot have noticed it, or has rejected so much that it has.
func (a *attempt) underLoad() {
	const before, after, refusals = 100, 150, 40
	s, err := a.folder.start()
	if err != nil {
		a.t.Fatal(err)
	}
	defer s.kill()
	l := a.scene.ledger
	a.scene.server = s
	stop := make(chan struct{})
	enough := func(int) bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	}
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() { l.ring(s, a.seed, i, enough) })
	}
	clients.Go(func() { l.answer(s, enough) })
	a.wait("acknowledgements", func() bool { return l.holds(func(l *ledger) bool { return l.acks >= before }) })
	faulty := a.fault.do(a.scene)
	l.holds(func(l *ledger) bool { l.fault = true; return true })
	settled := func() bool {
		return l.holds(func(l *ledger) bool { return l.lateAcks >= after || l.refused >= refusals })
	}
	if faulty == nil {
		a.wait("the server to accept or to reject", settled)
		a.wait("the server to save what it has", func() bool { return !strings.Contains(strings.Join(health(s), ""), "do not stop it yet") })
		a.heard = append(a.heard, health(s)...)
		if bad, err := a.folder.doctor(); err == nil {
			a.heard = append(a.heard, a.from.ground.complaints(bad)...)
		}
	}
	close(stop)
	clients.Wait()
	if err := s.stop(); err != nil {
		a.heard = append(a.heard, err.Error())
	}
	a.heard = append(a.heard, s.errs.String())
	if faulty != nil {
		a.t.Fatal(faulty)
	}
}

func (a *attempt) wait(what string, condition func() bool) {
	a.t.Helper()
	if err := serving.Until(patience, what, condition); err != nil {
		a.t.Fatal(err)
	}
}

// A row is the verdicts on one fault at one place.
type row struct {
	order                             int
	verdicts                          [verdicts]int
	repaired, late, changed, doctorOK int
	skipped                           string
	worst                             judgement
	worstSeed                         uint64
}

// A table collects verdicts from cases that run at the same time.
type table struct {
	mu   sync.Mutex
	rows map[string]*row
}

func (t *table) of(order int, name string) *row {
	if t.rows[name] == nil {
		t.rows[name] = &row{order: order}
	}
	return t.rows[name]
}

func (t *table) skip(order int, name string, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(order, name).skipped = why.Error()
}

func (t *table) add(order int, name string, seed uint64, j judgement) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.of(order, name)
	r.verdicts[j.verdict]++
	if j.repaired != "" {
		r.repaired++
	}
	if j.doctorOK {
		r.doctorOK++
	}
	if j.altered+j.notUTF8 > 0 {
		r.changed++
	}
	r.late += j.late
	if j.verdict > r.worst.verdict || r.worst.ops == 0 {
		r.worst, r.worstSeed = j, seed
	}
}

// names are the rows in the order of the faults.
func (t *table) names() []string {
	return slices.SortedFunc(maps.Keys(t.rows), func(a, b string) int {
		if n := t.rows[a].order - t.rows[b].order; n != 0 {
			return n
		}
		return strings.Compare(b, a)
	})
}

// markdown is the table as the documents have it.
func (t *table) markdown() string {
	var out strings.Builder
	out.WriteString("| fault | whole | said | vague | down | silent | repaired | acknowledged and lost | served otherwise | doctor finds nothing |\n")
	out.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	cell := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	for _, name := range t.names() {
		r := t.rows[name]
		fmt.Fprintf(&out, "| %s |", name)
		for _, n := range append(r.verdicts[:], r.repaired, r.late, r.changed, r.doctorOK) {
			fmt.Fprintf(&out, " %s |", cell(n))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// report prints the table, and fails where a row has more bad verdicts than limits.json allows. Where it is not about the seeds of limits.json,
// only rows that may have none of a verdict are judged.
func (t *table) report(test *testing.T, exact bool) {
	limits := map[string]map[string]int{}
	raw, err := os.ReadFile("limits.json")
	if err == nil {
		err = json.Unmarshal(raw, &limits)
	}
	if err != nil {
		test.Fatal(err)
	}
	text, measured := t.markdown(), map[string]map[string]int{}
	var details strings.Builder
	for _, name := range t.names() {
		r := t.rows[name]
		if r.skipped != "" {
			fmt.Fprintf(&details, "%s: skipped: %s\n", name, r.skipped)
			continue
		}
		if r.worst.verdict > said {
			fmt.Fprintf(&details, "%s, seed %d: %s\n", name, r.worstSeed, r.worst)
		}
		// From the worst on: what gets better by one verdict must not fail for it.
		is, allowed := 0, 0
		for v := silent; v > said; v-- {
			is, allowed = is+r.verdicts[v], allowed+limits[name][v.String()]
			if r.verdicts[v] > 0 {
				if measured[name] == nil {
					measured[name] = map[string]int{}
				}
				measured[name][v.String()] = r.verdicts[v]
			}
			if is > allowed && (exact || allowed == 0) {
				test.Errorf("%s: %d cases are %s or worse, limits.json allows %d; the worst, with seed %d, is %s", name, is, v, allowed, r.worstSeed, r.worst)
			}
		}
	}
	test.Logf("\n%s\n%s", text, details.String())
	if path := os.Getenv("DESKBELL_FAULTS_REPORT"); path != "" {
		if raw, err = json.MarshalIndent(measured, "", "  "); err == nil {
			err = os.WriteFile(path, []byte(text+"\n"+details.String()+"\nlimits.json for this:\n"+string(raw)+"\n"), 0o600)
		}
		if err != nil {
			test.Error(err)
		}
	}
}
