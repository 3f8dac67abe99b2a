//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A verdict is what became of what was acknowledged, the worst last.
type verdict int

const (
	whole  verdict = iota // all of it is there
	said                  // what is missing is said, with the right number and a time
	vague                 // there is an error that does not say what is missing, or what is served is not what was acknowledged
	down                  // the server does not start, or accepts nothing, also after `deskbell repair --yes`
	silent                // something is missing or changed, and nothing says so
	verdicts
)

var verdictNames = [verdicts]string{"whole", "said", "vague", "down", "silent"}

func (v verdict) String() string { return verdictNames[v] }

// A judgement is the verdict on one case and what it rests on.
type judgement struct {
	verdict
	loss
	start    string // why the server did not start, at first
	repaired string // what `deskbell repair` or a saved file brought back
	doctorOK bool   // `deskbell doctor` found nothing while something was missing
	words    []string
}

func (j judgement) String() string {
	text := fmt.Sprintf("%s: %d of %d operations missing, %d changed (%d made up), %d of %d entries", j.verdict, j.missing, j.ops, j.changed, j.altered, j.lost, j.entries)
	if j.late > 0 {
		text += fmt.Sprintf("; acknowledged after the fault and lost: %d", j.late)
	}
	if j.notUTF8 > 0 {
		text += fmt.Sprintf("; not UTF-8: %d", j.notUTF8)
	}
	if j.doctorOK {
		text += "; doctor finds nothing"
	}
	if j.repaired != "" {
		text += "; " + j.repaired
	}
	for _, detail := range []string{j.example, j.start, j.acceptsNothing} {
		if detail != "" {
			text += "\n\t" + brief(detail)
		}
	}
	said := map[string]bool{}
	for _, w := range j.words {
		line := brief(w)
		if kind := digits.ReplaceAllString(line, ""); !said[kind] && len(said) < 5 {
			said[kind] = true
			text += "\n\tsays: " + line
		}
	}
	return text
}

// digits are what differs between lines that say the same.
var digits = regexp.MustCompile(`[0-9]+`)

func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

// A ground is what a whole folder says, against which words of a damaged one stand out.
type ground struct {
	doctor   map[string]check
	warnings []string
}

// judge starts a server on a folder after a fault, and compares. heard is what was said while the fault was there. It errs only where the test
// itself cannot continue.
func judge(f folder, l *ledger, g ground, heard []string) (j judgement, err error) {
	j.words = heard
	if err := j.rescue(f); err != nil {
		return j, err
	}
	complains, err := j.look(f, g)
	if err != nil {
		return j, err
	}
	if err := j.serve(f, l, g, &complains); err != nil {
		j.start = err.Error()
		j.words = append(j.words, j.start)
		if f.repairs {
			err = j.repair(f, l, g, &complains)
		}
		if err != nil {
			j.verdict, j.loss = down, l.nothing()
			return j, nil
		}
	} else if f.repairs && !j.whole() && slices.ContainsFunc(j.words, func(w string) bool { return strings.Contains(w, "deskbell repair") }) {
		if err := j.repair(f, l, g, &complains); err != nil {
			j.verdict, j.start = down, err.Error()
			return j, nil
		}
	}
	j.words = slices.Compact(slices.DeleteFunc(j.words, func(w string) bool { return strings.TrimSpace(w) == "" }))
	j.doctorOK = !j.whole() && len(complains) == 0
	j.decide()
	return j, nil
}

// saved is where a server that a fault stopped from writing says it has saved what it acknowledged.
var saved = regexp.MustCompile(`safe in (\S+\.rescued-\S+) \(operations`)

// rescue does what such a server says to do: it puts the saved file in the place of the database.
func (j *judgement) rescue(f folder) error {
	for _, w := range j.words {
		found := saved.FindStringSubmatch(w)
		if found == nil || !exists(found[1]) { // hidden by the disk that is back, with the database on it
			continue
		}
		aside := filepath.Join(filepath.Dir(f.path), "aside")
		err := os.MkdirAll(aside, 0o700)
		for _, name := range []string{main, wal, main + "-shm"} {
			if from := filepath.Join(f.path, name); exists(from) {
				err = errors.Join(err, move(from, filepath.Join(aside, name)))
			}
		}
		j.repaired = "the saved file was put in place"
		return errors.Join(err, move(found[1], filepath.Join(f.path, main)))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// move moves a file as a person does, also to another file system.
func move(from, to string) error {
	if said, err := exec.Command("mv", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

// look has the doctor look at a copy: it opens the database, and SQLite puts a WAL in order when it is closed.
func (j *judgement) look(f folder, g ground) (complains []string, err error) {
	copied, err := f.copied(filepath.Join(filepath.Dir(f.path), "looked"))
	if err != nil {
		return nil, err
	}
	bad, err := copied.doctor()
	if err != nil {
		j.words = append(j.words, err.Error())
		bad = map[string]check{"doctor": {Name: "doctor", Status: "fail"}}
	}
	complains = g.complaints(bad)
	j.words = append(j.words, complains...)
	return complains, nil
}

// serve starts a server, compares, and stops it. An error says why it did not start.
func (j *judgement) serve(f folder, l *ledger, g ground, complains *[]string) error {
	s, err := f.start()
	if err != nil {
		return err
	}
	defer s.kill()
	j.loss = l.compare(s)
	j.words = append(j.words, health(s)...)
	if !j.whole() && len(*complains) == 0 {
		if again, err := f.doctor(); err == nil { // with the server, it may know more
			*complains = g.complaints(again)
			j.words = append(j.words, *complains...)
		}
	}
	if err := s.stop(); err != nil {
		j.words = append(j.words, err.Error())
	}
	j.words = append(j.words, s.errs.String())
	for _, line := range f.warnings() {
		if !slices.Contains(g.warnings, line) {
			j.words = append(j.words, line)
		}
	}
	return nil
}

func (j *judgement) decide() {
	switch {
	case j.whole() && j.acceptsNothing != "":
		j.verdict = down
	case j.whole():
		j.verdict = whole
	case len(j.words) == 0:
		j.verdict = silent
	case j.doctorOK || j.notUTF8 > 0 || j.late > 0 || j.altered > 0 || !slices.ContainsFunc(j.words, j.right):
		j.verdict = vague
	default:
		j.verdict = said
	}
}

var (
	moment = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\d\d:\d\d(:\d\d)?`)
	number = regexp.MustCompile(`[0-9][0-9,]*`)
	span   = regexp.MustCompile(`\b([0-9]+) to ([0-9]+)\b`)
	// The log's own time, and fields of it that are numbers of other things.
	logField = regexp.MustCompile(`"(time|pid|url|version)":("[^"]*"|\d+),?`)
)

// right says whether words name how much is missing, in operations or entries or as the first and last of these, and a time.
func (j *judgement) right(words string) bool {
	words = logField.ReplaceAllString(words, "")
	if !moment.MatchString(words) {
		return false
	}
	words = moment.ReplaceAllString(words, "")
	for _, found := range span.FindAllStringSubmatch(words, -1) {
		first, _ := strconv.Atoi(found[1]) // they are digits
		last, _ := strconv.Atoi(found[2])
		if last-first+1 == j.lost {
			return true
		}
	}
	for _, n := range number.FindAllString(words, -1) {
		if is, err := strconv.Atoi(strings.ReplaceAll(n, ",", "")); err == nil && (is == j.missing+j.changed || is == j.lost) {
			return true
		}
	}
	return false
}

// repair does what the documents say about a damaged database, and compares again.
func (j *judgement) repair(f folder, l *ledger, g ground, complains *[]string) error {
	out, err := f.run("repair", "--yes")
	j.words = append(j.words, out)
	if err != nil {
		j.words = append(j.words, "deskbell repair: "+err.Error())
	}
	if err := j.serve(f, l, g, complains); err != nil {
		return fmt.Errorf("after the repair: %w\n%s", err, out)
	}
	j.repaired = fmt.Sprintf("repaired: %d of %d operations", j.ops-j.missing-j.changed, j.ops)
	return nil
}

// nothing is the loss of all that was acknowledged.
func (l *ledger) nothing() (all loss) {
	for _, a := range l.ops {
		all.ops++
		all.entries += a.last.version()
	}
	all.missing, all.lost = all.ops, all.entries
	return all
}

// complaints are the checks of a doctor that are worse than those of a whole folder.
func (g ground) complaints(bad map[string]check) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		if c := bad[name]; g.doctor[name].Status != c.Status && name != "server" && name != "space" {
			words = append(words, fmt.Sprintf("doctor: %s: %s: %s %s", name, c.Status, c.Detail, c.Fix))
		}
	}
	return words
}

func health(s *server) []string {
	status, raw, err := s.call("GET", "/healthz", "", nil)
	switch {
	case err != nil:
		return []string{"healthz: " + err.Error()}
	case status == 200 && strings.Contains(string(raw), `"status":"ok"`):
		return nil
	}
	return []string{"healthz: " + string(raw)}
}

// unprivileged are the words before a command that let the mode of a file bind root too.
func unprivileged() ([]string, error) {
	path, err := exec.LookPath("setpriv")
	return []string{path, "--bounding-set=-dac_override,-dac_read_search"}, err
}
