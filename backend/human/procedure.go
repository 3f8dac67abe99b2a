package human

import (
	"time"
)

// ProcedureRun is the kind of operation by which a procedure is run. The call is in details, as a ProcedureCall.
const ProcedureRun Kind = "procedure"

// A Procedure is work that a person showed once, as steps that can be done again with other values. It is one file: YAML, whose schema
// is published in docs/procedures. Texts of steps, targets and checkpoints may hold the values of parameters as {name}; a brace that is
// meant as one is written twice.
type Procedure struct {
	Format      int                  `json:"deskbell_procedure" enum:"1" doc:"The version of this format: 1."`
	Name        string               `json:"name" pattern:"^[a-z][a-z0-9_]{0,47}$" doc:"Agents call it as procedure_NAME."`
	Title       string               `json:"title" doc:"What it does, in a line."`
	Description string               `json:"description,omitempty" doc:"For agents: when it is of use, and what it gives back."`
	Where       string               `json:"where" enum:"browser,desktop" doc:"Where its steps are done."`
	Does        []string             `json:"does" enum:"reads,sends,pays,deletes" doc:"What it does to the world: declared when it was taught, and checked while it runs."`
	Policy      string               `json:"policy,omitempty" enum:"permissive,standard,strict" doc:"What it must state before it is run; absent: standard."`
	Parameters  []ProcedureParameter `json:"parameters,omitempty"`
	Secrets     []ProcedureSecret    `json:"secrets,omitempty"`
	Outputs     []ProcedureOutput    `json:"outputs,omitempty"`
	Steps       []ProcedureStep      `json:"steps"`
	Effects     []ProcedureEffect    `json:"effects,omitempty" doc:"What must be true afterwards outside of the page."`
	Taught      []ProcedureSource    `json:"taught,omitempty" doc:"The recordings it came from."`
}

// A ProcedureParameter is a value that who runs a procedure gives.
type ProcedureParameter struct {
	Name        string   `json:"name" pattern:"^[a-z][a-z0-9_]{0,47}$"`
	Type        string   `json:"type" enum:"text,integer,number,date,month,choice,file" doc:"date is YYYY-MM-DD, month YYYY-MM, choice one of choices (without them: any option that the page has), file a path on the operator's computer."`
	Description string   `json:"description,omitempty"`
	Examples    []string `json:"examples,omitempty" doc:"The values it had in the recordings."`
	Choices     []string `json:"choices,omitempty"`
	Pattern     string   `json:"pattern,omitempty" doc:"A regular expression (RE2) that the whole value has to match."`
	Default     string   `json:"default,omitempty" doc:"Taken where no value is given; absent: one has to be given."`
}

// A ProcedureSecret is a text in this computer's key store. Neither a file nor an agent has its value.
type ProcedureSecret struct {
	Name   string   `json:"name" pattern:"^[a-z][a-z0-9_-]{0,47}$"`
	Site   string   `json:"site" doc:"The origin of the page or frame it was taught for, such as https://portal.example: it is typed into no other."`
	Around []string `json:"around,omitempty" doc:"Origins of the pages that the frame may lie in, beside site."`
}

// A ProcedureOutput is a value that a run gives back.
type ProcedureOutput struct {
	Name        string `json:"name"`
	Type        string `json:"type" enum:"text,table,list,file"`
	Pattern     string `json:"pattern,omitempty" doc:"Of a text: a regular expression (RE2) that the whole of it has to match; else the run stops."`
	Description string `json:"description,omitempty"`
}

// A ProcedureSource is where something was taught.
type ProcedureSource struct {
	Recording RecordingID `json:"recording_id"`
	Action    string      `json:"action_id,omitempty"`
}

// A ProcedureStep is one step. Which fields are set follows from Do; names and meanings are those of Puppeteer and Playwright where
// they have the step.
type ProcedureStep struct {
	ID        string                `json:"id" doc:"Stays the same in later versions."`
	Do        string                `json:"do" enum:"navigate,back,forward,reload,click,doubleClick,tripleClick,change,selectOption,check,press,hover,scroll,drag,setInputFiles,pick,switchPage,close,media"`
	Title     string                `json:"title" doc:"For people, in a line."`
	Page      string                `json:"page,omitempty" doc:"The tab: t1 (absent), t2 in the order in which they open."`
	Frame     []int                 `json:"frame,omitempty" doc:"From the page down: which child each frame is, from 0."`
	Window    *ProcedureWindow      `json:"window,omitempty" doc:"Of the desktop: where it is done."`
	Target    *ProcedureTarget      `json:"target,omitempty"`
	To        *ProcedureTarget      `json:"to,omitempty" doc:"Of drag: where it ends."`
	URL       string                `json:"url,omitempty" doc:"Of navigate."`
	Text      string                `json:"text,omitempty" doc:"Of change: what then stands in the field."`
	Secret    string                `json:"secret,omitempty" doc:"Of change: the name of the secret that then stands in the field, instead of text."`
	Options   []string              `json:"options,omitempty" doc:"Of selectOption: the labels of all that are then chosen. Of check: checked or unchecked. Of media: what is done to the player, and a number."`
	Key       string                `json:"key,omitempty" doc:"Of press: a W3C UI Events value. Of change: one that is pressed in the field afterwards, such as Enter."`
	Modifiers []string              `json:"modifiers,omitempty" doc:"Of ctrl, alt, shift, meta: held while it is done."`
	Count     int                   `json:"count,omitempty" doc:"Of press: how often; absent: once."`
	Button    int                   `json:"button,omitempty" doc:"Of clicks: 1 left (absent), 2 middle, 3 right."`
	X         *float64              `json:"x,omitempty" doc:"Of clicks and drag on something drawn: where in the element, as a share of its width."`
	Y         *float64              `json:"y,omitempty"`
	ScrollX   int                   `json:"scroll_x,omitempty" doc:"Of scroll: the offset it then has, in CSS pixels."`
	ScrollY   int                   `json:"scroll_y,omitempty"`
	Files     []string              `json:"files,omitempty" doc:"Of setInputFiles: paths on the operator's computer."`
	Output    string                `json:"output,omitempty" doc:"Of pick: the output that it gives."`
	Take      string                `json:"take,omitempty" enum:"element,table,list" doc:"Of pick; absent: element."`
	Form      []Filled              `json:"form,omitzero" doc:"What may be filled in, ticked and chosen in the form around the target when it is used: anything else stops the run, and so does a box that is not ticked any more. Absent: it is not looked at."`
	Says      []string              `json:"says,omitzero" doc:"Of pick, and of a step that writes: the lines of text that may stand around its target, in which * stands for anything and # for a number; A › B is B right after A. Another line stops the run. Absent: they are not looked at."`
	Dialogs   []ProcedureDialog     `json:"dialogs,omitempty" doc:"Those that come of it, in order. Another one stops the run."`
	Optional  bool                  `json:"optional,omitempty" doc:"Done only where its target is there."`
	Writes    bool                  `json:"writes,omitempty" doc:"It sends something that changes: it is done at most once, and after a crash not again."`
	Then      []ProcedureCheckpoint `json:"then,omitempty" doc:"What must hold after it."`
	Within    float64               `json:"within,omitempty" doc:"Seconds that its checkpoints are waited for; absent: 10."`
	From      []ProcedureSource     `json:"from,omitempty" doc:"The actions it came from, for their pictures."`
}

// A ProcedureWindow is a window of the desktop. It is taken only where it is alone in fitting.
type ProcedureWindow struct {
	Program string `json:"program" doc:"As people know it, or its executable's file name."`
	Title   string `json:"title,omitempty" doc:"In which * stands for anything; absent: any."`
}

// A ProcedureTarget is what an element of a page or a window is found by. An element is taken only where it is alone in having the role and the
// name, and what stands beside it, as far as they are given. Selectors come first, the best first: what they find has to agree.
type ProcedureTarget struct {
	Role      string     `json:"role,omitempty"`
	Name      string     `json:"name,omitempty"`
	Named     string     `json:"named,omitempty" enum:"otherwise" doc:"The name is no accessible name: it is its text, placeholder, icon, human-made id or the like."`
	Beside    string     `json:"beside,omitempty" doc:"What stands beside it: the text before it, the header of its row or column, the heading of its part of the page; of the desktop, the name of what it lies in."`
	Cells     []string   `json:"cells,omitempty" doc:"Other cells that its row has, each as a whole."`
	Columns   []string   `json:"columns,omitempty" doc:"Headings of the columns of beside and cells, in their order; empty for any. They count where the table has such a column."`
	Inside    string     `json:"inside,omitempty" enum:"dialog,complementary" doc:"The kind of part of the page that it lies in. Absent: any."`
	Tag       string     `json:"tag,omitempty" doc:"Its HTML tag, and of an input its type: input/email."`
	Row       []string   `json:"-"` // the other cells of its row when it was recorded,
	Heads     []string   `json:"-"` // and the headings of their columns
	Selectors [][]string `json:"selectors,omitempty" doc:"As @puppeteer/replay writes them; each a list descending through shadow roots."`
}

// A ProcedureDialog is a JavaScript dialog and how it is answered.
type ProcedureDialog struct {
	Kind    string `json:"kind" enum:"alert,confirm,prompt,beforeunload"`
	Message string `json:"message,omitempty" doc:"Absent: any."`
	Accept  bool   `json:"accept"`
	Input   string `json:"input,omitempty" doc:"What is typed into a prompt."`
}

// A ProcedureCheckpoint is something that must hold after a step.
type ProcedureCheckpoint struct {
	Is     string           `json:"is" enum:"address,title,element,gone,value,text,line,download,opened,closed" doc:"address: the page's is Text, in which * stands for anything. title: the page's, or that of a window of the program, is Text. element: Target is there; gone: it is not. value: Target holds Text. text: Text is on the page; line: it is the whole of a line there, such as a fact or a heading. download: a file arrives whose name is Text, in which * stands for anything. opened, closed: the tab named by Page, or a window of the program that is called Text, is there, or no more."`
	Text   string           `json:"text,omitempty"`
	Target *ProcedureTarget `json:"target,omitempty"`
	Page   string           `json:"page,omitempty" doc:"The tab it is looked for in; absent: that of the step."`
	Frame  []int            `json:"frame,omitempty"`
	Window *ProcedureWindow `json:"window,omitempty" doc:"Of the desktop; absent: that of the step."`
}

// A ProcedureEffect is something outside of the page that must be true after a run. Which fields are set follows from Is.
type ProcedureEffect struct {
	Is      string            `json:"is" enum:"file,http,sql,mail,row" doc:"file: a file at Path. http: what GET URL answers. sql: what Query of the SQLite database at Path gives. mail: a message in the folder at Path (Maildir, or files that end in .eml). row: a row of a table or list on the page at URL, which the run opens after its steps."`
	Title   string            `json:"title,omitempty" doc:"For people, in a line."`
	Path    string            `json:"path,omitempty" doc:"In which * stands for anything but a slash."`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty" doc:"Of http. A value SECRET:NAME is that of a secret."`
	Query   string            `json:"query,omitempty" doc:"Of sql: one SELECT; ? stands for the values, in their order."`
	Values  []string          `json:"values,omitempty"`
	Status  int               `json:"status,omitempty" doc:"Of http; absent: 200."`
	Has     []string          `json:"has,omitempty" doc:"Texts that have to be in it: in the file, in the answer, in one row, in one message; of row, each is the whole of a cell. One that begins or ends with a digit is no part of a longer number."`
	Fresh   bool              `json:"fresh,omitempty" doc:"It was not so before the run: it is looked at before the first step, too."`
	Count   *int              `json:"count,omitempty" doc:"How many such rows or messages there are then; with fresh, how many more than before. Absent: one or more."`
	Only    bool              `json:"only,omitempty" doc:"Of file, sql and mail that are fresh: nothing else at Path, or that Query gives, may be new, changed or gone. Where one with all of Has is new, one may be gone: what it was before. Rows may have nothing unusual: see procedures.md."`
	Within  float64           `json:"within,omitempty" doc:"Seconds that it is waited for; absent: 10."`
}

// A ProcedureCall is the details of an operation of kind procedure. An answer is bound to its exact bytes, and by Digest to those of the
// procedure's file.
type ProcedureCall struct {
	Procedure  string            `json:"procedure"`
	Version    int               `json:"version"`
	Digest     string            `json:"digest" doc:"SHA-256 of the version's file, in hex."`
	Title      string            `json:"title"`
	Risk       Risk              `json:"risk_level" enum:"none,low,medium,high,critical"`
	Does       []string          `json:"does"`
	Parameters map[string]string `json:"parameters"`
	Sites      []string          `json:"sites,omitempty" doc:"Where its steps are done."`
	Outputs    []string          `json:"outputs,omitempty"`
}

// ProcedureState is where a run of a procedure stands.
type ProcedureState string

// The states. The last three are final.
const (
	Performing ProcedureState = "running"
	HeldUp     ProcedureState = "paused"
	Halted     ProcedureState = "stopped" // something was not as expected: a person decides
	TakenOver  ProcedureState = "taken"   // a person has the page
	Succeeded  ProcedureState = "good"
	GivenUp    ProcedureState = "given_up"  // a person ended it
	BrokeOff   ProcedureState = "broke_off" // Deskbell ended while it ran
)

// Over says whether the run has ended.
func (s ProcedureState) Over() bool { return s == Succeeded || s == GivenUp || s == BrokeOff }

// A RunOfProcedure is one run. It is stored before each step and after it.
type RunOfProcedure struct {
	Operation  OperationID       `json:"operation_id"`
	Procedure  string            `json:"procedure"`
	Version    int               `json:"version"`
	Digest     string            `json:"sha256,omitempty" doc:"Of the version's file, where an operator ran it for a request of another kind."`
	By         string            `json:"by" doc:"The operator who watches it."`
	Agent      string            `json:"agent,omitempty" doc:"The agent that asked for it."`
	Parameters map[string]string `json:"parameters"`
	Recording  RecordingID       `json:"recording_id,omitempty"`
	State      ProcedureState    `json:"state" enum:"running,paused,stopped,taken,good,given_up,broke_off"`
	Why        *Sentence         `json:"why,omitempty" doc:"Why it paused, stopped or ended."`
	StartedAt  time.Time         `json:"started_at"`
	EndedAt    *time.Time        `json:"ended_at,omitempty"`
	Steps      []RunStep         `json:"steps" doc:"One for each step of the procedure, in order."`
	Effects    []RunEffect       `json:"effects,omitempty"`
	Outputs    map[string]string `json:"outputs,omitempty"`
	Stops      int               `json:"stops,omitempty" doc:"How often a person had to decide."`
	Address    string            `json:"address,omitempty" doc:"What the page showed after the last step: where it continues after a crash."`
	Stop       *RunStop          `json:"stop,omitempty" doc:"What it stopped at, until it continues."`
	ByHand     []RunByHand       `json:"by_hand,omitempty" doc:"When the operator had the page."`
	Unattended *UnattendedRun    `json:"unattended,omitempty" doc:"It began without an operator; absent: one started it."`
}

// UnattendedRun says by what a run began without an operator.
type UnattendedRun struct {
	By    string    `json:"by" doc:"The operator who permitted it."`
	Until time.Time `json:"until" doc:"Until when they did."`
}

// RunByHand is a time in which the operator of a run had the page. What they did then is in its recording.
type RunByHand struct {
	Step    string    `json:"step" doc:"The id of the step that was to come."`
	Instead bool      `json:"instead,omitempty" doc:"They did that step themselves; else it was done afterwards."`
	Accept  bool      `json:"accept,omitempty" doc:"They had it done although the form or the words around its element were not those that were taught."`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
}

// At is the index of the step that is under way or comes next; the number of steps once all are done.
func (r RunOfProcedure) At() int {
	for i, s := range r.Steps {
		if !s.State.over() {
			return i
		}
	}
	return len(r.Steps)
}

// StepState is what became of a step.
type StepState string

// The states of a step.
const (
	StepLater   StepState = "later"
	StepDoing   StepState = "doing" // it may have been done: after a crash no one knows
	StepChecks  StepState = "checking"
	StepDone    StepState = "done"
	StepSkipped StepState = "skipped" // optional, and not there; or a person said so
	StepByHand  StepState = "by_hand" // a person did it instead
)

func (s StepState) over() bool { return s == StepDone || s == StepSkipped || s == StepByHand }

// A RunStep is what became of one step.
type RunStep struct {
	Step    string    `json:"step" doc:"Its id."`
	State   StepState `json:"state" enum:"later,doing,checking,done,skipped,by_hand"`
	At      int64     `json:"at_ms,omitempty" doc:"Milliseconds from the start of the run to its end."`
	FoundBy string    `json:"found_by,omitempty" doc:"What its element was found by: the selector's kind, or role and name."`
	Drifted bool      `json:"drifted,omitempty" doc:"Its best selector did not find it any more."`
	Said    *Sentence `json:"said,omitempty" doc:"What its checkpoints found, or why it was left out."`
}

// A RunEffect is what became of an effect.
type RunEffect struct {
	State  string    `json:"state" enum:"later,confirmed,missing"`
	Before int       `json:"before,omitempty" doc:"How many there were before the run, where they have to be new."`
	Had    []string  `json:"had,omitempty" doc:"Where they have to be new: those before the run, each by a digest; where they hold an output or nothing else may have changed, whatever they held."`
	Said   *Sentence `json:"said,omitempty"`
}

// A RunStop is what was expected and what was found instead.
type RunStop struct {
	Step     string   `json:"step,omitempty" doc:"The step's id; absent: an effect."`
	Expected Sentence `json:"expected"`
	Found    Sentence `json:"found"`
	Differs  bool     `json:"differs,omitempty" doc:"The step can be done: the form or the words around its element are not those that were taught."`
	Unsure   bool     `json:"unsure,omitempty" doc:"Whether the step was done is not known: Deskbell ended in the midst of it."`
	Picture  string   `json:"picture,omitempty" doc:"Of the recording of the run: the page as it was at the stop. Absent until it is taken, and where there is none."`
	Page     *WebPage `json:"page,omitempty" doc:"The page it shows."`
}
