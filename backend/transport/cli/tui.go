package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/kind"
	answerform "deskbell/backend/kind/form"
	"deskbell/backend/transport/client"
)

const (
	// armed is how long what answers does nothing after a request has come up or changed: a key that was meant for something else
	// arrives before.
	armed = 500 * time.Millisecond
	// afresh is how often everything is read, whatever was told.
	afresh  = 5 * time.Second
	mostOps = 200
)

func (s *shell) tuiCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "tui", Short: "Read and answer requests on the whole terminal, as they come", Args: cobra.NoArgs,
		Long: "Read and answer requests on the whole terminal, as they come. It works over SSH and in tmux. ? shows the keys.\n" +
			"No single key answers: each answer is written, or confirmed, and sent with Ctrl+S.",
		RunE: func(c *cobra.Command, _ []string) error {
			if !inForeground(s.in, s.out) {
				return human.Errorf(human.Invalid, "`deskbell tui` needs a terminal at both ends; `deskbell inbox` and `deskbell answer ID` do not")
			}
			operator, err := s.operator(c.Context())
			if err != nil {
				return err
			}
			return s.tui(c.Context(), operator)
		},
	}
	s.urlFlag(c)
	c.Flags().StringVar(&s.oneTime, "code", "", oneTimeHelp)
	return c
}

func (s *shell) tui(ctx context.Context, operator *client.Client) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var place Place // without one the system's language counts
	language := ""
	if p, err := s.place(); err == nil {
		place, language = p, p.Config.Settings().UI.Language
	}
	d := &inbox{shell: s, ctx: ctx, operator: operator, words: tuiWords(language), tongue: tongue{isChinese(language), s.language(place)}}
	prove := operator.Prove
	operator.Prove = func(ctx context.Context, p client.Proof) error {
		if d.released.Load() || !slices.Contains(p.Means, human.BySystem) {
			return prove(ctx, p)
		}
		return errAtTerminal
	}
	program := tea.NewProgram(d, tea.WithContext(ctx), tea.WithInput(s.in), tea.WithOutput(s.out))
	go func() { // ends with ctx
		for e, err := range operator.Follow(ctx, client.FromNow) {
			if err != nil {
				return // what is read now and then says so, too
			}
			program.Send(told{e.ID, e.Event.Type == human.Invoked})
		}
	}()
	_, err := program.Run()
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	return cmp.Or(d.fatal, err)
}

// errAtTerminal is the error of a call that needs the terminal for itself, where the system asks for a password.
var errAtTerminal = errors.New("the system asks at the terminal")

// Messages to the inbox.
type (
	told struct { // something happened to an operation
		id  human.OperationID
		new bool
	}
	again struct{} // it is time to read everything
	read  struct {
		lists [3][]human.Operation
		mine  int
		err   error
	}
	opened struct {
		op       human.Operation
		page     readout
		plan     human.PlanQuestion // of a plan
		question human.Question     // of the gatekeeper
		must     string             // what has to be typed before the call may run
		check    []human.EffectVerb
		err      error
	}
	sent struct {
		said string
		err  error
		do   func(context.Context) error
	}
)

// An inbox is the whole terminal. Bubble Tea calls its methods one after the other.
type inbox struct {
	*shell
	ctx      context.Context
	operator *client.Client
	words    phrases
	tongue   tongue
	released atomic.Bool // what asks for a password has the terminal

	width, height   int
	lists           [3][]human.Operation // see waiting, running and recent
	mine            int                  // how many wait for this operator: in a team, the first of those that wait
	which           int                  // list is on the screen
	at              int
	loaded, reading bool
	dirty           bool

	wanted   human.OperationID // what is to be open; what is read of another comes too late
	open     *opened
	reviewed *readout // in place of open while the form is there: what it sends
	lines    []string // of what is read, as wide as the screen
	scroll   int
	since    time.Time // when it came up or changed
	form     *form
	busy     bool
	help     bool

	note  string // visible
	bad   bool
	away  bool
	fatal error
}

// A form is what is written before something is sent.
type form struct {
	title  string
	fields []field
	at     int
	do     func(ctx context.Context, values []string) error
	said   string
}

// A field is one text of a form.
type field struct {
	label string
	must  string // the only text it may have
	value string // what it begins with, of several lines
	need  bool

	asks  *answerform.Property // of the request's form; nil for others
	begin string               // its default
	wrong string               // what is wrong with it
	textarea.Model
}

// Init implements tea.Model.
func (d *inbox) Init() tea.Cmd { return tea.Batch(d.load(), tick()) }

func tick() tea.Cmd { return tea.Tick(afresh, func(time.Time) tea.Msg { return again{} }) }

// The lists.
const (
	waiting = iota
	running // plans
	recent
)

// load reads the lists.
func (d *inbox) load() tea.Cmd {
	if d.reading {
		d.dirty = true
		return nil
	}
	d.reading, d.dirty = true, false
	return func() tea.Msg {
		var r read
		for i, f := range []client.Filter{
			waiting: {Open: true, Limit: mostOps},
			running: {Kind: human.Plan, Order: "newest", Limit: mostOps},
			recent:  {States: []human.State{human.Completed, human.Declined, human.Cancelled}, Order: "recent", Limit: 50},
		} {
			var page client.Page
			if page, r.err = d.operator.List(d.ctx, f); r.err != nil {
				return r
			}
			r.lists[i] = page.Operations
		}
		r.mine, r.err = d.mineFirst(r.lists[waiting])
		r.lists[running] = slices.DeleteFunc(r.lists[running], func(op human.Operation) bool { return !underWay(op) })
		r.lists[recent] = slices.DeleteFunc(r.lists[recent], underWay)
		return r
	}
}

// mineFirst puts what is for others of the team last, and returns how many are not.
func (d *inbox) mineFirst(list []human.Operation) (int, error) {
	state, err := d.operator.Team(d.ctx)
	if err != nil || state.Team == "" || state.Restart {
		return len(list), err
	}
	now := time.Now()
	others := func(op human.Operation) int {
		if op.AsksOthers(state.Member, now) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b human.Operation) int { return others(a) - others(b) })
	if mine := slices.IndexFunc(list, func(op human.Operation) bool { return others(op) == 1 }); mine >= 0 {
		return mine, nil
	}
	return len(list), nil
}

// underWay says whether an operation is a plan that still runs.
func underWay(op human.Operation) bool {
	return !op.Frozen && op.State.Terminal() && op.Run != nil && !op.Run.Over()
}

// over says whether nothing can be done with an operation any more.
func over(op human.Operation) bool { return (op.State.Terminal() || op.Frozen) && !underWay(op) }

// show reads an operation, and what belongs to it.
func (d *inbox) show(id human.OperationID) tea.Cmd {
	return func() tea.Msg {
		op, err := d.operator.Operation(d.ctx, id)
		if err != nil {
			return opened{err: err}
		}
		o := opened{op: op, page: readout{tongue: d.tongue}}
		p := &o.page
		title := op.Description
		if op.Kind == human.Permission {
			if o.err = json.Unmarshal(op.Details, &o.question); o.err != nil {
				return o
			}
			title = p.callTitle(o.question, title)
		}
		p.top(op, title, time.Now())
		if op.State.Terminal() {
			p.answer(op)
			if op.Run != nil {
				p.run(op.Run)
			}
			p.gap()
		}
		switch op.Kind {
		case human.Plan:
			if o.plan, o.err = op.PlanQuestion(); o.err == nil {
				history, _ := d.operator.PlanHistory(d.ctx, string(op.ID)) // without it the plan is read anyway
				p.plan(op, o.plan, history)
			}
		case human.Permission:
			d.asks(&o)
		default:
			p.request(op)
		}
		p.bottom(op)
		return o
	}
}

// asks reads what the gatekeeper asks.
func (d *inbox) asks(o *opened) {
	q := o.question
	difference, _ := d.operator.Difference(d.ctx, o.op.ID) // many calls have none
	o.page.question(q, difference)
	if q.Verdict.Form == human.Enter && q.Verdict.Input != nil {
		o.must = q.Verdict.Input.Must
	}
	if q.Check != nil {
		o.check = q.Check.Options
	}
}

// Update implements tea.Model.
func (d *inbox) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		d.width, d.height = msg.Width, msg.Height
		d.lay()
	case again:
		return d, tea.Batch(d.load(), tick())
	case told:
		cmds := []tea.Cmd{d.load()}
		if msg.new {
			cmds = append(cmds, tea.Raw("\a"))
		}
		if d.open != nil && d.open.op.ID == msg.id {
			cmds = append(cmds, d.show(msg.id))
		}
		return d, tea.Batch(cmds...)
	case read:
		return d, d.took(msg)
	case opened:
		d.opens(msg)
	case sent:
		return d, d.done(msg)
	case edited:
		return d, d.review(msg)
	case tea.PasteMsg:
		if d.form != nil {
			return d, d.form.update(msg)
		}
	case tea.KeyPressMsg:
		return d, d.key(msg)
	default:
		if d.form != nil {
			return d, d.form.update(msg)
		}
	}
	return d, nil
}

func (d *inbox) took(r read) tea.Cmd {
	d.reading = false
	if r.err != nil {
		if kind := human.KindOf(r.err); kind == human.Unauthorized || kind == human.Denied {
			d.fatal = human.Wrap(human.Unauthorized, r.err, "%v", r.err)
			return tea.Quit
		}
		d.away = true
		return nil
	}
	d.away, d.loaded = false, true
	var id human.OperationID
	if list := d.list(); d.at < len(list) {
		id = list[d.at].ID
	}
	d.lists, d.mine = r.lists, r.mine
	list := d.list()
	if i := slices.IndexFunc(list, func(op human.Operation) bool { return op.ID == id }); i >= 0 {
		d.at = i // the mark stays with its request as others come
	}
	d.at = max(0, min(d.at, len(list)-1))
	if d.dirty {
		return d.load()
	}
	return nil
}

func (d *inbox) list() []human.Operation { return d.lists[d.which] }

func (d *inbox) opens(o opened) {
	if o.err != nil {
		d.say(human.SafeText(o.err), true)
		return
	}
	if o.op.ID != d.wanted {
		return
	}
	changed := d.open == nil || d.open.op.ID != o.op.ID || d.open.op.Version != o.op.Version
	if d.open != nil && d.open.op.ID == o.op.ID && !d.open.op.State.Terminal() && o.op.State.Terminal() && d.form != nil {
		d.leaveForm()
		d.say(d.words.gone+" "+d.tongue.stands(o.op), true)
	}
	if d.open == nil || d.open.op.ID != o.op.ID {
		d.scroll = 0
	}
	d.open = &o
	if changed {
		d.since = time.Now()
	}
	d.lay()
}

func (d *inbox) done(m sent) tea.Cmd {
	if errors.Is(m.err, errAtTerminal) {
		d.released.Store(true)
		return tea.Exec(&atTerminal{func() error { return m.do(d.ctx) }}, func(err error) tea.Msg {
			d.released.Store(false)
			return sent{said: m.said, err: err}
		})
	}
	d.busy = false
	var next *askedAgain
	switch {
	case errors.As(m.err, &next):
		d.leaveForm()
		d.say(d.words.askedAgain, true)
		d.wanted = next.id
		return tea.Batch(d.load(), d.show(next.id))
	case m.err != nil && !errors.Is(m.err, errKept):
		d.say(d.tongue.errorText(m.err), true)
	default:
		if d.leaveForm(); m.err != nil {
			m.said = d.words.saidKept
		}
		d.say(m.said, false)
	}
	cmds := []tea.Cmd{d.load()}
	if d.open != nil {
		cmds = append(cmds, d.show(d.open.op.ID))
	}
	return tea.Batch(cmds...)
}

// askedAgain is the error of an answer that was not used, as what would run is not what was shown: another question is asked.
type askedAgain struct{ id human.OperationID }

func (*askedAgain) Error() string { return "it was asked again" }

func (d *inbox) leaveForm() {
	if d.reviewed != nil {
		d.scroll = 0
	}
	d.form, d.reviewed = nil, nil
	d.lay()
}

// atTerminal is what has the terminal for itself.
type atTerminal struct{ run func() error }

func (a *atTerminal) Run() error        { return a.run() }
func (*atTerminal) SetStdin(io.Reader)  {}
func (*atTerminal) SetStdout(io.Writer) {}
func (*atTerminal) SetStderr(io.Writer) {}

func (d *inbox) say(text string, bad bool) { d.note, d.bad = oneLine(text, 400), bad }

// key does what a key is for, where it is pressed.
func (d *inbox) key(k tea.KeyPressMsg) tea.Cmd {
	if k.Key().IsRepeat && d.form == nil && !slices.Contains([]string{"up", "down", "j", "k", "pgup", "pgdown"}, k.String()) {
		return nil
	}
	switch {
	case k.String() == "ctrl+c":
		return tea.Quit
	case d.form != nil:
		return d.formKey(k)
	case d.help:
		d.help = false
		return nil
	case k.String() == "?":
		d.help = true
		return nil
	case d.open != nil:
		return d.openKey(k)
	}
	return d.listKey(k)
}

func (d *inbox) listKey(k tea.KeyPressMsg) tea.Cmd {
	page := max(1, d.height-4)
	switch k.String() {
	case "q":
		return tea.Quit
	case "up", "k":
		d.at--
	case "down", "j":
		d.at++
	case "pgup":
		d.at -= page
	case "pgdown":
		d.at += page
	case "home", "g":
		d.at = 0
	case "end", "G":
		d.at = len(d.list())
	case "tab":
		d.which, d.at = (d.which+1)%len(d.lists), 0
	case "shift+tab":
		d.which, d.at = (d.which+len(d.lists)-1)%len(d.lists), 0
	case "r":
		return d.load()
	case "enter", "right", "l":
		if list := d.list(); d.at < len(list) {
			d.note, d.wanted = "", list[d.at].ID
			return d.show(d.wanted)
		}
	}
	d.at = max(0, min(d.at, len(d.list())-1))
	return nil
}

func (d *inbox) openKey(k tea.KeyPressMsg) tea.Cmd {
	page := max(1, d.body()-1)
	switch k.String() {
	case "esc", "left", "h", "q", "backspace":
		d.open, d.note, d.wanted = nil, "", ""
		return nil
	case "up", "k":
		d.scroll--
	case "down", "j":
		d.scroll++
	case "pgup", "b":
		d.scroll -= page
	case "pgdown", "space":
		d.scroll += page
	case "home", "g":
		d.scroll = 0
	case "end", "G":
		d.scroll = len(d.lines)
	default:
		return d.actKey(k.String())
	}
	d.scroll = max(0, min(d.scroll, len(d.lines)-d.body()))
	return nil
}

// actKey begins an answer. None is sent by it.
func (d *inbox) actKey(k string) tea.Cmd {
	op := d.open.op
	if over(op) || d.busy || time.Since(d.since) < armed || d.away {
		return nil
	}
	for _, a := range d.acts() {
		if a.key != k {
			continue
		}
		switch {
		case a.now != nil:
			return d.send(a.said, a.now)
		case a.edit != nil:
			d.note = ""
			return a.edit()
		}
		d.form = d.newForm(a)
		d.lay()
		return d.focus(0)
	}
	return nil
}

// An act is what can be done with the open request.
type act struct {
	key, title, said string
	ask              []field
	do               func(ctx context.Context, values []string) error
	now              func(context.Context) error // what needs no words and lets nothing happen
	edit             func() tea.Cmd              // what needs an editor first
}

func (d *inbox) newForm(a act) *form {
	d.note = ""
	return &form{title: a.title, fields: a.fields(d.words), do: a.do, said: a.said}
}

func (a act) fields(w phrases) []field {
	list := make([]field, len(a.ask))
	for i, f := range a.ask {
		f.Model = textarea.New()
		f.ShowLineNumbers, f.Prompt, f.CharLimit = false, "│ ", 0
		if f.must != "" {
			f.label = w.typeWord + f.must
		}
		f.SetValue(cmp.Or(f.value, f.begin))
		list[i] = f
	}
	return list
}

func (d *inbox) message() act {
	op, w := d.open.op, d.words
	return act{key: "m", title: w.message, said: w.saidMessage, ask: []field{{label: w.message, need: true}}, do: func(ctx context.Context, v []string) error {
		_, err := d.operator.Reply(ctx, op.ID, v[0])
		return err
	}}
}

// whose are what says whose the open request is.
func (d *inbox) whose() []act {
	op, w, c := d.open.op, d.words, d.operator
	claim := act{key: "c", title: w.claim, said: w.saidClaim, now: func(ctx context.Context) error { _, err := c.Claim(ctx, op.ID); return err }}
	release := act{key: "c", title: w.release, said: w.saidRelease, now: func(ctx context.Context) error { _, err := c.Release(ctx, op.ID, ""); return err }}
	handOver := act{key: "o", title: w.handOver, said: w.saidHandOver, ask: []field{{label: w.handOverTo, need: true}, {label: w.handOverNote}}, do: func(ctx context.Context, v []string) error {
		return orKept(c.HandOver(ctx, op.ID, v[0], v[1]))
	}}
	switch {
	case op.HandOver != nil: // for whom it is, and for who has it
		release.key = "r"
		return []act{claim, release, handOver}
	case op.ClaimedBy != "":
		return []act{release, handOver}
	}
	return []act{claim, handOver}
}

// acts are what can be done with the open request. Each is bound to the bytes that are shown.
func (d *inbox) acts() []act {
	if underWay(d.open.op) {
		return d.orders()
	}
	return append(d.answers(), d.whose()...)
}

// answers are the acts that the open request's kind has.
func (d *inbox) answers() []act {
	op, w, c := d.open.op, d.words, d.operator
	complete := func(ctx context.Context, a human.Answer) error {
		return orKept(c.Complete(ctx, op.ID, a, op.Digest))
	}
	switch op.Kind {
	case human.Approve:
		asked := d.questions(op)
		return []act{
			{key: "a", title: w.approve, said: w.saidApprove, ask: d.deliberate(op.Risk, "approve", "", append(asked, field{label: w.optional})...), do: func(ctx context.Context, v []string) error {
				v = v[len(v)-1-len(asked):]
				answer := human.Answer{Decision: human.Approved, HumanInput: v[len(asked)]}
				answer.Response = response(asked, v)
				return complete(ctx, answer)
			}},
			{key: "d", title: w.deny, said: w.saidDeny, ask: []field{{label: w.reason}}, do: func(ctx context.Context, v []string) error {
				return complete(ctx, human.Answer{Decision: human.Refused, HumanInput: v[0]})
			}}, d.message(),
		}
	case human.Permission:
		return append(d.permission(), d.message())
	case human.Box: // which files are kept one by one is chosen in the console
		acts := []act{{key: "d", title: w.discard, said: w.saidDiscard, ask: []field{{label: w.reason}}, do: func(ctx context.Context, v []string) error {
			return complete(ctx, human.Answer{Decision: human.Refused, HumanInput: v[0]})
		}}}
		if keeps := kind.Harmless(kind.BoxFiles(op)); len(keeps) > 0 {
			acts = append(acts, act{key: "a", title: w.keep, said: w.saidKeep, ask: d.deliberate(op.Risk, "keep", "", field{label: w.optional}), do: func(ctx context.Context, v []string) error {
				return complete(ctx, human.Answer{Decision: human.Approved, HumanInput: v[len(v)-1], BoxAnswer: human.BoxAnswer{Keep: keeps}})
			}})
		}
		return acts
	case human.Plan:
		return d.plans()
	}
	return []act{d.text(complete), {key: "d", title: w.decline, said: w.saidDecline, ask: []field{{label: w.reason, need: true}}, do: func(ctx context.Context, v []string) error {
		return orKept(c.Decline(ctx, op.ID, v[0]))
	}}, d.message()}
}

// errKept says that what was decided waits for the team.
var errKept = errors.New("kept")

func orKept(op human.Operation, err error) error {
	if err == nil && op.Later != nil && op.Later.Late == nil {
		return errKept
	}
	return err
}

// deliberate are the fields of what lets something happen: of what is dangerous a word, or what the gatekeeper wants typed.
func (d *inbox) deliberate(risk human.Risk, word, must string, more ...field) []field {
	switch {
	case must != "":
		return append([]field{{must: must}}, more...)
	case risk.Dangerous():
		return append([]field{{must: word}}, more...)
	}
	return more
}

// text is the answer in words, in the form of the request, and in the fields that the agent asked for.
func (d *inbox) text(complete func(context.Context, human.Answer) error) act {
	w := d.words
	a := act{key: "t", title: w.answer, said: w.saidSent}
	names, asked := fieldNames(d.open.op), d.questions(d.open.op)
	for _, name := range names {
		a.ask = append(a.ask, field{label: oneLine(name, 60)})
	}
	words := field{label: w.answer, need: len(names) == 0}
	if len(asked) > 0 {
		words = field{label: w.optional}
	}
	a.ask = append(append(a.ask, asked...), words)
	a.do = func(ctx context.Context, v []string) error {
		answer := human.Answer{HumanInput: v[len(v)-1]}
		answer.Response = response(asked, v[len(names):])
		for i, name := range names {
			if v[i] != "" {
				if answer.Fields == nil {
					answer.Fields = map[string]string{}
				}
				answer.Fields[name] = v[i]
			}
		}
		return complete(ctx, answer)
	}
	return a
}

// fieldNames are the fields that work in a browser is to fill.
func fieldNames(op human.Operation) []string {
	raw := kind.Value(op, "data_to_extract")
	var list []string
	if raw == nil || json.Unmarshal(raw, &list) == nil {
		return list
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(raw, &named) != nil {
		return nil
	}
	return sortedKeys(named)
}

// permission is what a question of the gatekeeper is answered with. Rules are made in the console.
func (d *inbox) permission() (acts []act) {
	op, w, o := d.open.op, d.words, d.open
	var lets []field // before anything may run
	var verbs []string
	for _, v := range o.check {
		verbs = append(verbs, string(v)+" ("+d.tongue.verb(v)+")")
	}
	if len(verbs) > 0 {
		lets = []field{{label: w.check + " " + strings.Join(verbs, ", "), need: true}}
	}
	said := map[human.ChoiceAction]string{human.ChooseDeny: w.saidDeny, human.ChooseInstead: w.saidInstead, human.ChooseBackup: w.saidBackup, human.ChooseBox: w.saidBox, human.ChooseChange: w.saidChange, human.ChooseAllow: w.saidAllow}
	for _, c := range permissionChoices(o.question.Verdict) {
		a := act{key: c.key, title: d.tongue.pick(c.name, ""), said: said[c.Action]}
		changes := c.Action == human.ChooseChange
		runs := changes || c.Action == human.ChooseAllow || c.Action == human.ChooseBackup
		if a.ask = []field{{label: w.reason}}; runs {
			a.ask = append(d.deliberate(op.Risk, string(c.Action), o.must, lets...), field{label: w.optional})
		}
		if changes {
			a.ask = slices.Insert(a.ask, 0, field{label: w.args, value: plainArgs(o.question.Args), need: true})
		}
		a.do = func(ctx context.Context, v []string) error {
			r := service.AnswerRequest{Choice: c.Action, Reason: v[len(v)-1], Digest: op.Digest}
			if changes {
				r.Args = json.RawMessage(v[0])
				if !json.Valid(r.Args) {
					return human.Errorf(human.Invalid, "%s", w.badArgs)
				}
			}
			if runs {
				r.Typed = o.must
				if len(lets) > 0 {
					r.Check = human.EffectVerb(v[len(v)-2])
				}
			}
			next, err := d.operator.AnswerQuestion(ctx, op.ID, r)
			if err == nil && next.ID != op.ID {
				return &askedAgain{next.ID}
			}
			return orKept(next, err)
		}
		acts = append(acts, a)
	}
	return acts
}

// plainArgs are a call's arguments, to be changed: what does not print is escaped.
func plainArgs(raw json.RawMessage) string {
	return string(escapeLines([]byte(plainText(string(raw)))))
}

// send does something in the background.
func (d *inbox) send(said string, do func(context.Context) error) tea.Cmd {
	d.busy = true
	d.say(d.words.sending, false)
	return func() tea.Msg { return sent{said, do(d.ctx), do} }
}

func (d *inbox) formKey(k tea.KeyPressMsg) tea.Cmd {
	f := d.form
	switch k.String() {
	case "esc":
		if !d.busy {
			d.note = ""
			d.leaveForm()
		}
		return nil
	case "pgup":
		d.scroll = max(0, d.scroll-max(1, d.body()-1))
		return nil
	case "pgdown":
		d.scroll = max(0, min(d.scroll+max(1, d.body()-1), len(d.lines)-d.body()))
		return nil
	case "tab":
		return d.focus((f.at + 1) % len(f.fields))
	case "shift+tab":
		return d.focus((f.at + len(f.fields) - 1) % len(f.fields))
	case "enter":
		if one := &f.fields[f.at]; one.asks != nil && !one.lines() {
			if one.wrong = d.tongue.fault(*one.asks, strings.TrimSpace(one.Value())); one.wrong == "" {
				return d.focus(f.at + 1) // the words are the last field
			}
			d.fit()
			return nil
		}
	case "ctrl+s":
		if d.busy {
			return nil
		}
		if i := d.wrongs(f); i >= 0 {
			return d.focus(i)
		}
		values := make([]string, len(f.fields))
		for i, field := range f.fields {
			values[i] = strings.TrimSpace(field.Value())
			switch {
			case field.must != "" && values[i] != field.must:
				d.say(d.words.typeWord+field.must, true)
				return d.focus(i)
			case field.need && values[i] == "":
				d.say(d.words.missing+" "+field.label, true)
				return d.focus(i)
			}
		}
		return d.send(f.said, func(ctx context.Context) error { return f.do(ctx, values) })
	}
	if d.busy {
		return nil
	}
	return f.update(k)
}

// lines says whether a field may have several lines.
func (f *field) lines() bool {
	return f.asks == nil || f.asks.Type == "string" && f.asks.Format == "" && len(f.asks.Choices) == 0
}

func (d *inbox) focus(i int) tea.Cmd {
	f := d.form
	f.fields[f.at].Blur()
	f.at = i
	d.fit()
	return f.fields[i].Focus()
}

func (f *form) update(msg tea.Msg) (cmd tea.Cmd) {
	f.fields[f.at].Model, cmd = f.fields[f.at].Update(msg)
	return cmd
}
