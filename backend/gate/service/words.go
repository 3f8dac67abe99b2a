package service

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"deskbell/backend/human"
)

const (
	maxCall      = 500      // bytes of a call in the log
	maxArgs      = 16 << 10 // bytes of arguments in the log
	maxLogged    = 20       // effects in the log
	bytesOfTitle = 300
)

func words(text string) int { return len(strings.Fields(text)) }

// masker hides secrets in texts that are made of a call: a secret that a name or a flag reveals is hidden in all of
// them, and also where only a part of it is there.
func (k *Service) masker(args json.RawMessage) func(string) string { return k.d.Mask(textOf(args)) }

// textOf is a JSON value as lines of its texts, each after its name; what is no JSON is left as it is.
func textOf(raw json.RawMessage) string {
	v, err := decode(raw)
	if err != nil {
		return string(raw)
	}
	var out strings.Builder
	write := func(name, text string) {
		if name != "" {
			out.WriteString(name + ": ")
		}
		out.WriteString(text + "\n")
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case string:
			write(name, v)
		case []any:
			var line []string // a command's arguments, it may be
			for _, x := range v {
				if s, ok := x.(string); ok {
					line = append(line, s)
				} else {
					walk(name, x)
				}
			}
			write(name, strings.Join(line, " "))
		case map[string]any:
			for _, n := range slices.Sorted(maps.Keys(v)) {
				walk(n, v[n])
			}
		}
	}
	walk("", v)
	return out.String()
}

func decode(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// masked hides secrets in every text of a JSON value; it is nil of one that is too long.
func masked(raw json.RawMessage, mask func(string) string) json.RawMessage {
	if len(raw) == 0 || len(raw) > maxArgs {
		return nil
	}
	v, err := decode(raw)
	if err != nil {
		return nil
	}
	out, err := json.Marshal(maskedValue(v, mask))
	if err != nil {
		return nil
	}
	return out
}

func maskedValue(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = maskedValue(v[i], mask)
		}
	case map[string]any:
		for name := range v {
			v[name] = maskedValue(v[name], mask)
		}
	}
	return v
}

// callOf is a call in a line: the command where it is one, else the tool with its arguments. It is masked before it is
// shortened.
func callOf(tool string, args json.RawMessage, mask func(string) string) string {
	return human.OneLine(mask(human.Shorten(wholeCall(tool, args), maxArgs)), maxCall)
}

func wholeCall(tool string, args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) == nil {
		for _, name := range []string{"command", "cmd"} {
			var text string
			if json.Unmarshal(fields[name], &text) == nil && text != "" {
				return text
			}
			var list []string
			if json.Unmarshal(fields[name], &list) == nil && len(list) > 0 {
				return strings.Join(list, " ")
			}
		}
	}
	if len(fields) == 0 {
		return tool
	}
	return tool + " " + string(args)
}

// decision is the line of the log about a call that was judged. Its ID is new.
func (k *Service) decision(by human.Actor, call human.ToolCall, j *judged) Decision {
	mask := k.masker(call.Args)
	d := Decision{
		ID: k.d.NewID("dec_"), At: k.d.Now().UTC(), Agent: by.Name, Session: call.SessionID, Client: human.OneLine(call.Client, 100),
		Project: j.call.Root, Cwd: call.Cwd, Micros: j.micros, Args: masked(call.Args, mask),
	}
	d.judged(call, j.verdict, mask)
	if j.verdict.Decision != human.Deny {
		d.Makes = j.makes()
	}
	return d
}

// judged fills in what the verdict says.
func (d *Decision) judged(call human.ToolCall, v human.Verdict, mask func(string) string) {
	d.Tool, d.Call = human.OneLine(call.Tool, 100), callOf(call.Tool, call.Args, mask)
	d.Decision, d.Risk, d.HardLimit, d.Digest = v.Decision, v.Risk, v.HardLimit, v.Digest
	d.Rules, d.Because = append([]string{}, v.Rules...), slices.Clone(v.Because)
	if len(v.Because) > 0 {
		d.Rule = v.Because[0].Rule
	} else if len(v.Rules) > 0 {
		d.Rule = v.Rules[0]
	}
	d.Verbs = []human.EffectVerb{}
	for _, e := range v.Effects {
		if e.Risk != human.NoRisk && !slices.Contains(d.Verbs, e.Verb) {
			d.Verbs = append(d.Verbs, e.Verb)
		}
	}
	d.Words = human.OneLine(mask(v.Reason), bytesOfTitle)
	if len(v.Effects) > 0 {
		d.Words = human.OneLine(mask(cmp.Or(v.Effects[0].Words, v.Reason)), bytesOfTitle)
		d.Effects = slices.Clone(v.Effects[:min(maxLogged, len(v.Effects))])
	}
	for i, e := range d.Effects {
		d.Effects[i].Resource, d.Effects[i].Target, d.Effects[i].Words = mask(e.Resource), mask(e.Target), mask(e.Words)
	}
	for i, b := range d.Because {
		d.Because[i].Resource, d.Because[i].Text, d.Because[i].Said = mask(b.Resource), mask(b.Text), human.Masked(b.Said, mask)
	}
}

// madeNow are the files that a session has made once a call that was let through has run.
func (d Decision) madeNow() []string {
	if d.Decision == human.Allow {
		return d.Makes
	}
	return nil
}

// decisionOf makes the line of the log again from a question.
func decisionOf(op human.Operation) (Decision, error) {
	var q human.Question
	if err := json.Unmarshal(op.Details, &q); err != nil {
		return Decision{}, human.Wrap(human.Internal, err, "the question of operation %s cannot be read", op.ID)
	}
	d := Decision{
		At: op.CreatedAt, Agent: op.AgentID, Session: op.SessionID, Client: q.Client, Project: q.Root, Cwd: q.Cwd,
		OperationID: op.ID, Outcome: Waiting,
	}
	d.judged(q.ToolCall, q.Verdict, func(s string) string { return s })
	d.Call, d.Effects, d.Because, d.Words = op.Description, nil, nil, op.Description // they were masked
	return d, nil
}

// end fills in how the question ended.
func (d *Decision) end(op human.Operation) {
	d.Outcome = Waiting
	switch {
	case op.Result != nil:
		d.Outcome = Refused
		if op.Result.Decision == human.Approved {
			d.Outcome = Allowed
		}
		at := op.Result.At
		d.By, d.AnsweredAt, d.Choice, d.Reason = op.Result.By.Name, &at, op.Result.Choice, op.Result.HumanInput
		seen := op.CreatedAt
		for _, l := range op.Deliveries {
			if l.Seen != nil && (seen.Equal(op.CreatedAt) || l.Seen.Before(seen)) {
				seen = *l.Seen
			}
		}
		d.ReadFor = max(0, at.Sub(seen).Seconds())
	case op.Ended != nil && op.State == human.Declined:
		at := op.Ended.At
		d.Outcome, d.By, d.AnsweredAt, d.Reason, d.ReadFor = Refused, op.Ended.By.Name, &at, op.Ended.Reason, at.Sub(op.CreatedAt).Seconds()
	case op.Ended != nil && op.Ended.By.Role == human.Agent:
		d.Outcome = Withdrawn
	case op.Ended != nil:
		d.Outcome = Expired
	}
}

// judgement is what an agent learns about a call that no operator had to decide.
func judgement(d Decision, v human.Verdict) human.Judgement {
	j := human.Judgement{Decision: v.Decision, DecisionID: d.ID, Verdict: v}
	if v.Decision == human.Deny {
		j.Message = "Deskbell's gatekeeper blocked this call, and it must not run: " + v.Reason + offer(v) + " Do not try to get the same effect another way; ask the user."
	}
	return j
}

func offer(v human.Verdict) string {
	for _, c := range v.Choices {
		if c.Action == human.ChooseInstead && c.Command != "" {
			return " This may be run instead: " + c.Command
		}
	}
	return ""
}

// answered is what an agent learns about a question as it stands.
func (k *Service) answered(op human.Operation) (human.Judgement, error) {
	var q human.Question
	if err := json.Unmarshal(op.Details, &q); err != nil {
		return human.Judgement{}, human.Wrap(human.Internal, err, "the question of operation %s cannot be read", op.ID)
	}
	j := human.Judgement{Decision: human.Deny, OperationID: op.ID, Verdict: q.Verdict}
	const apart = " Do not try to get the same effect another way; continue with something else, or ask the user."
	switch {
	case !op.State.Terminal():
		j.Decision, j.Message = human.Ask, "An operator is being asked about this call in Deskbell. It must not run before they answer."
	case op.Result != nil && op.Result.Decision == human.Approved:
		r := op.Result
		j.Choice, j.By, j.Reason, j.Backup = r.Choice, r.By.Name, r.HumanInput, r.Backup
		if k.d.Now().Sub(r.At) > freshFor {
			j.Message = "An operator allowed this call, too long ago for it to run now. Call it again to ask again."
			return j, nil
		}
		j.Decision, j.Args, j.Message = human.Allow, r.Args, "An operator allowed this call."
		switch {
		case r.Choice == human.ChooseBox:
			j.Message = "The operator has this call run in Deskbell's box, by the command that is given here and no other: on a copy of the project, without a network and without secrets. Its output is what you get; which of the files that it writes come into the project, the operator says afterwards." + because(r.HumanInput)
		case len(r.Args) > 0:
			j.Message = "An operator allowed this call with the arguments that are given here, and no others."
		}
		if r.Backup != nil {
			j.Message += " A copy was made first: " + r.Backup.Path
		}
	case op.Result != nil:
		r := op.Result
		j.Choice, j.By, j.Reason = r.Choice, r.By.Name, r.HumanInput
		j.Message = "The operator denied this call, and it must not run." + because(r.HumanInput)
		if r.Choice == human.ChooseInstead {
			j.Message += offer(q.Verdict)
		}
		j.Message += apart
	case op.State == human.Declined:
		j.By, j.Reason = op.Ended.By.Name, op.Ended.Reason
		j.Message = "The operator denied this call, and it must not run." + because(op.Ended.Reason) + apart
	case op.Ended.By.Role == human.Agent:
		j.Message = "The question was withdrawn, so this call must not run."
	default:
		j.Message = "No operator answered in time, so this call must not run." + apart
	}
	return j, nil
}

func because(reason string) string {
	if strings.TrimSpace(reason) == "" {
		return ""
	}
	reason = strings.TrimSpace(reason)
	if !strings.ContainsAny(reason[len(reason)-1:], ".!?") && !strings.HasSuffix(reason, "。") {
		reason += "."
	}
	return " They say: " + reason
}

// shown says whether a question is one of the share that is checked for having been read.
func shown(share float64, id string) bool {
	return share > 0 && dice(id).Float64() < share
}

// readCheck asks which of four things the call would do.
func readCheck(v human.Verdict, id string) *human.ReadCheck {
	if len(v.Effects) == 0 {
		return nil
	}
	options := []human.EffectVerb{v.Effects[0].Verb}
	random := dice(id + "options")
	for _, i := range random.Perm(len(human.EffectVerbs)) {
		other := human.EffectVerbs[i]
		if len(options) < 4 && !slices.ContainsFunc(v.Effects, func(e human.Effect) bool { return e.Verb == other }) {
			options = append(options, other)
		}
	}
	random.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
	return &human.ReadCheck{Options: options}
}

// dice are thrown the same way for the same id, so that nothing has to be kept.
func dice(id string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // it never fails
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}
