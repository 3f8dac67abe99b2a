package cli

import (
	"bytes"
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
	"deskbell/backend/plan"
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
	language := ""
	if p, err := s.place(); err == nil {
		language = p.Config.Settings().UI.Language
	}
	d := &inbox{shell: s, ctx: ctx, operator: operator, words: tuiWords(language)}
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
		waiting, recent []human.Operation
		err             error
	}
	opened struct {
		op    human.Operation
		text  string // visible
		must  string // what has to be typed before the call may run
		check []human.EffectVerb
		err   error
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
	released atomic.Bool // what asks for a password has the terminal

	width, height   int
	waiting, recent []human.Operation
	ended           bool // what is listed are those that have ended
	at              int
	loaded, reading bool
	dirty           bool

	open   *opened
	lines  []string // of open, as wide as the screen
	scroll int
	since  time.Time // when it came up or changed
	form   *form
	busy   bool
	help   bool

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
	need  bool
	textarea.Model
}

// Init implements tea.Model.
func (d *inbox) Init() tea.Cmd { return tea.Batch(d.load(), tick()) }

func tick() tea.Cmd { return tea.Tick(afresh, func(time.Time) tea.Msg { return again{} }) }

// load reads the lists.
func (d *inbox) load() tea.Cmd {
	if d.reading {
		d.dirty = true
		return nil
	}
	d.reading, d.dirty = true, false
	return func() tea.Msg {
		var r read
		var page client.Page
		if page, r.err = d.operator.List(d.ctx, client.Filter{Open: true, Limit: mostOps}); r.err != nil {
			return r
		}
		r.waiting = page.Operations
		page, r.err = d.operator.List(d.ctx, client.Filter{States: []human.State{human.Completed, human.Declined, human.Cancelled}, Order: "recent", Limit: 50})
		r.recent = page.Operations
		return r
	}
}

// show reads an operation, and what belongs to it.
func (d *inbox) show(id human.OperationID) tea.Cmd {
	return func() tea.Msg {
		op, err := d.operator.Operation(d.ctx, id)
		if err != nil {
			return opened{err: err}
		}
		o := opened{op: op}
		var text bytes.Buffer
		view := *d.shell
		view.out, view.json = &text, false
		switch op.Kind {
		case human.Plan:
			p, err := view.planDesk(d.operator, op, nil)
			if err != nil {
				return opened{err: err}
			}
			p.show(d.ctx)
		case human.Permission:
			if o.err = d.question(&view, &o); o.err != nil {
				return o
			}
		default:
			view.showRequest(op, time.Now())
		}
		if op.State.Terminal() {
			view.printf("\n")
			view.showAnswer(op)
		} else if op.ClaimedBy != "" {
			view.printf("\n%s: %s\n", d.words.claimed, visible(op.ClaimedBy))
		}
		o.text = text.String()
		return o
	}
}

// question prints what the gatekeeper asks.
func (d *inbox) question(view *shell, o *opened) error {
	var q human.Question
	if err := json.Unmarshal(o.op.Details, &q); err != nil {
		return err
	}
	view.printf("%s: %s\n%s, %s\n\n%s\n\n", visible(o.op.AgentID), visible(q.Tool), o.op.ID, outcome(o.op), indent(o.op.Description, "  "))
	if len(q.Args) > 0 {
		view.fields(q.Args)
	}
	if q.Cwd != "" {
		view.printf("\n%s\n", visible(q.Cwd))
	}
	view.printf("\n")
	if err := view.explained(q.Verdict, "-"); err != nil {
		return err
	}
	if diff, err := d.operator.Difference(d.ctx, o.op.ID); err == nil {
		for _, f := range diff.Files {
			view.printf("\n%s %s\n%s\n", visible(f.What), visible(f.Path), indent(f.Diff, ""))
		}
	}
	view.printf("\nsha256 %s\n", o.op.Digest)
	if q.Verdict.Form == human.Enter && q.Verdict.Input != nil {
		o.must = q.Verdict.Input.Must
	}
	if q.Check != nil {
		o.check = q.Check.Options
	}
	return nil
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
	d.waiting, d.recent = r.waiting, r.recent
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

func (d *inbox) list() []human.Operation {
	if d.ended {
		return d.recent
	}
	return d.waiting
}

func (d *inbox) opens(o opened) {
	if o.err != nil {
		d.say(human.SafeText(o.err), true)
		return
	}
	changed := d.open == nil || d.open.op.ID != o.op.ID || d.open.op.Version != o.op.Version
	if d.open != nil && d.open.op.ID == o.op.ID && !d.open.op.State.Terminal() && o.op.State.Terminal() && d.form != nil {
		d.form = nil
		d.say(d.words.gone+" "+visible(outcome(o.op)), true)
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
	if m.err != nil {
		d.say(human.SafeText(m.err), true)
	} else {
		d.form = nil
		d.say(m.said, false)
	}
	cmds := []tea.Cmd{d.load()}
	if d.open != nil {
		cmds = append(cmds, d.show(d.open.op.ID))
	}
	return tea.Batch(cmds...)
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
		d.ended, d.at = !d.ended, 0
	case "r":
		return d.load()
	case "enter", "right", "l":
		if list := d.list(); d.at < len(list) {
			d.note = ""
			return d.show(list[d.at].ID)
		}
	}
	d.at = max(0, min(d.at, len(d.list())-1))
	return nil
}

func (d *inbox) openKey(k tea.KeyPressMsg) tea.Cmd {
	page := max(1, d.body()-1)
	switch k.String() {
	case "esc", "left", "h", "q", "backspace":
		d.open, d.note = nil, ""
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
	if op.State.Terminal() || d.busy || time.Since(d.since) < armed || d.away {
		return nil
	}
	for _, a := range d.acts() {
		if a.key != k {
			continue
		}
		if a.now != nil {
			return d.send(a.said, a.now)
		}
		d.note, d.form = "", &form{title: a.title, fields: a.fields(d.words), do: a.do, said: a.said}
		d.lay()
		return d.form.focus(0)
	}
	return nil
}

// An act is what can be done with the open request.
type act struct {
	key, title, said string
	ask              []field
	do               func(ctx context.Context, values []string) error
	now              func(context.Context) error // what needs no words and lets nothing happen
}

func (a act) fields(w phrases) []field {
	list := make([]field, len(a.ask))
	for i, f := range a.ask {
		f.Model = textarea.New()
		f.ShowLineNumbers, f.Prompt, f.CharLimit = false, "│ ", 0
		if f.must != "" {
			f.label = w.typeWord + " " + f.must
		}
		list[i] = f
	}
	return list
}

// acts are those that the open request's kind has. Each is bound to the bytes that are shown.
func (d *inbox) acts() []act {
	op, w, c := d.open.op, d.words, d.operator
	message := act{key: "m", title: w.message, said: w.saidMessage, ask: []field{{label: w.message, need: true}}, do: func(ctx context.Context, v []string) error {
		_, err := c.Reply(ctx, op.ID, v[0])
		return err
	}}
	claim := act{key: "c", said: w.saidClaim, now: func(ctx context.Context) error { _, err := c.Claim(ctx, op.ID); return err }}
	if op.ClaimedBy != "" {
		claim = act{key: "c", said: w.saidRelease, now: func(ctx context.Context) error { _, err := c.Release(ctx, op.ID, ""); return err }}
	}
	complete := func(ctx context.Context, a human.Answer) error {
		_, err := c.Complete(ctx, op.ID, a, op.Digest)
		return err
	}
	switch op.Kind {
	case human.Approve:
		return []act{
			{key: "a", title: w.approve, said: w.saidApprove, ask: d.deliberate(op.Risk, "approve", "", field{label: w.optional}), do: func(ctx context.Context, v []string) error {
				return complete(ctx, human.Answer{Decision: human.Approved, HumanInput: v[len(v)-1]})
			}},
			{key: "d", title: w.deny, said: w.saidDeny, ask: []field{{label: w.reason}}, do: func(ctx context.Context, v []string) error {
				return complete(ctx, human.Answer{Decision: human.Refused, HumanInput: v[0]})
			}}, message, claim,
		}
	case human.Permission:
		return d.permission()
	case human.Plan:
		respond := func(action human.PlanAction) func(context.Context, []string) error {
			return func(ctx context.Context, v []string) error {
				_, err := c.Respond(ctx, string(op.ID), plan.Response{Action: action, Message: v[len(v)-1], Digest: op.Digest})
				return err
			}
		}
		return []act{
			{key: "a", title: w.confirm, said: w.saidApprove, ask: d.deliberate(op.Risk, "confirm", "", field{label: w.optional}), do: respond(human.ConfirmPlan)},
			{key: "t", title: w.change, said: w.saidSent, ask: []field{{label: w.change, need: true}}, do: respond(human.ModifyPlan)},
			{key: "d", title: w.cancelPlan, said: w.saidDeny, ask: []field{{label: w.reason}}, do: respond(human.CancelPlan)}, message,
		}
	}
	return []act{d.text(complete), {key: "d", title: w.decline, said: w.saidDecline, ask: []field{{label: w.reason, need: true}}, do: func(ctx context.Context, v []string) error {
		_, err := c.Decline(ctx, op.ID, v[0])
		return err
	}}, message, claim}
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

// text is the answer in words, and in the fields that the agent asked for.
func (d *inbox) text(complete func(context.Context, human.Answer) error) act {
	w := d.words
	a := act{key: "t", title: w.answer, said: w.saidSent}
	names := fieldNames(d.open.op)
	for _, name := range names {
		a.ask = append(a.ask, field{label: oneLine(name, 60)})
	}
	a.ask = append(a.ask, field{label: w.answer, need: len(names) == 0})
	a.do = func(ctx context.Context, v []string) error {
		answer := human.Answer{HumanInput: v[len(names)]}
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
func (d *inbox) permission() []act {
	op, w, o := d.open.op, d.words, d.open
	answer := func(r service.AnswerRequest) func(context.Context, []string) error {
		return func(ctx context.Context, v []string) error {
			r.Reason, r.Digest = v[len(v)-1], op.Digest
			if r.Choice == human.ChooseAllow {
				r.Typed = o.must
				if len(o.check) > 0 {
					r.Check = human.EffectVerb(v[len(v)-2])
				}
			}
			_, err := d.operator.AnswerQuestion(ctx, op.ID, r)
			return err
		}
	}
	ask := d.deliberate(op.Risk, "allow", o.must)
	if len(o.check) > 0 {
		var verbs []string
		for _, v := range o.check {
			verbs = append(verbs, string(v))
		}
		ask = append(ask, field{label: w.check + " " + strings.Join(verbs, ", "), need: true})
	}
	return []act{
		{key: "a", title: w.allow, said: w.saidApprove, ask: append(ask, field{label: w.optional}), do: answer(service.AnswerRequest{Choice: human.ChooseAllow})},
		{key: "d", title: w.deny, said: w.saidDeny, ask: []field{{label: w.reason}}, do: answer(service.AnswerRequest{Choice: human.ChooseDeny})},
	}
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
			d.form, d.note = nil, ""
		}
		return nil
	case "tab":
		return f.focus((f.at + 1) % len(f.fields))
	case "shift+tab":
		return f.focus((f.at + len(f.fields) - 1) % len(f.fields))
	case "ctrl+s":
		if d.busy {
			return nil
		}
		values := make([]string, len(f.fields))
		for i, field := range f.fields {
			values[i] = strings.TrimSpace(field.Value())
			switch {
			case field.must != "" && values[i] != field.must:
				d.say(d.words.typeWord+" "+field.must, true)
				return f.focus(i)
			case field.need && values[i] == "":
				d.say(d.words.missing+" "+field.label, true)
				return f.focus(i)
			}
		}
		return d.send(f.said, func(ctx context.Context) error { return f.do(ctx, values) })
	}
	if d.busy {
		return nil
	}
	return f.update(k)
}

func (f *form) focus(i int) tea.Cmd {
	f.fields[f.at].Blur()
	f.at = i
	return f.fields[i].Focus()
}

func (f *form) update(msg tea.Msg) (cmd tea.Cmd) {
	f.fields[f.at].Model, cmd = f.fields[f.at].Update(msg)
	return cmd
}
