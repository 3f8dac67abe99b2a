package human

import "time"

// A DataState says how Deskbell's data stands: whether it is stored, and whether something of it is missing or damaged.
type DataState struct {
	State   string       `json:"state" enum:"ok,loss,damaged,trouble" doc:"The most severe of what stands: nothing more is stored (trouble), damage was found, something that was acknowledged is missing (loss), or nothing (ok)."`
	Trouble *DataTrouble `json:"trouble,omitempty" doc:"Why nothing more is stored until Deskbell starts again."`
	Damage  []Sentence   `json:"damage,omitempty" doc:"What the check found, at most 50."`
	More    int          `json:"more,omitempty" doc:"How many findings there are besides."`
	Losses  []DataLoss   `json:"losses,omitempty" doc:"What was acknowledged and is missing, until an operator notes it."`
	Check   DataCheck    `json:"check"`
}

// A DataTrouble is why nothing more is stored. The sentence says what happened, what is safe and what to do.
type DataTrouble struct {
	At      time.Time `json:"at"`
	Rescued string    `json:"rescued,omitempty" doc:"The file that has what was acknowledged, once it is saved."`
	Sentence
}

// A DataLoss is what was acknowledged and is missing at the end of the database, which is whole without it.
type DataLoss struct {
	First      uint64    `json:"first,omitempty" doc:"The number of the first entry that is missing. Absent where the database is another one than before."`
	Last       uint64    `json:"last" doc:"The number of the last one."`
	From       time.Time `json:"from,omitzero" doc:"Of the entry before the first that is missing."`
	To         time.Time `json:"to"`
	Operations uint64    `json:"operations" doc:"How many began in it, at most."`
	FoundAt    time.Time `json:"found_at"`
	Sentence
}

// A DataCheck is the reading of the whole database after a start.
type DataCheck struct {
	Done     int       `json:"done" doc:"How many tables were read, each page of each."`
	Total    int       `json:"total" doc:"Of how many; 0 before the check begins."`
	Pages    int       `json:"pages" doc:"How many pages the database has."`
	Finished time.Time `json:"finished_at,omitzero" doc:"When all pages were read."`
	Journal  time.Time `json:"journal_at,omitzero" doc:"When the whole journal and its chain of hashes were read last."`
}

// Judged is d with the State that follows from the rest.
func (d DataState) Judged() DataState {
	switch {
	case d.Trouble != nil:
		d.State = "trouble"
	case len(d.Damage) > 0:
		d.State = "damaged"
	case len(d.Losses) > 0:
		d.State = "loss"
	default:
		d.State = "ok"
	}
	return d
}

// Warning says in one sentence what does not keep Deskbell from working; nil for nothing.
func (d DataState) Warning() *Sentence {
	var s Sentence
	switch d.State {
	case "damaged":
		s = Sayf("the database is damaged; `deskbell doctor` says where")
	case "loss":
		s = Sayf("something that was acknowledged is missing; `deskbell doctor` says what")
	default:
		return nil
	}
	return &s
}
