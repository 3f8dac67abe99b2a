package gatefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
	"deskbell/backend/store/settings/tomltext"
)

// A shape is what may stand at a place of the file. The zero shape is a value.
type shape struct {
	keys map[string]shape
	any  *shape // of every key: the names are the user's
	each *shape // of every element of a list of tables
}

var (
	leaf      = shape{}
	toolShape = shape{keys: map[string]shape{"always_confirm": leaf, "safe_commands": leaf, "dangerous_patterns": leaf}}
	ruleShape = shape{keys: map[string]shape{
		"id": leaf, "decision": leaf, "tool": leaf, "command": leaf, "path": leaf, "verbs": leaf, "project": leaf, "session_id": leaf, "agent_id": leaf,
		"until": leaf, "reason": leaf, "match": leaf, "differ": leaf,
	}}
	thresholds = shape{keys: map[string]shape{"low_risk_auto_approve": leaf, "paranoid_mode": leaf}}
	ownShape   = shape{keys: map[string]shape{
		"policy": leaf, "timeout": leaf, "away": leaf, "model": leaf, "read_check": leaf,
		"trust":      {keys: map[string]shape{"initial": leaf, "increment": leaf, "decrement": leaf, "half_life_days": leaf}},
		"thresholds": thresholds,
		"tools":      {any: &toolShape},
		"projects":   {any: &leaf},
		"rules":      {each: &ruleShape},
	}}
)

// document is the file as TOML has it.
type document struct {
	Policy    *string  `toml:"policy"`
	Timeout   *int64   `toml:"timeout"`
	Away      *string  `toml:"away"`
	Model     *bool    `toml:"model"`
	ReadCheck *float64 `toml:"read_check"`
	Trust     struct {
		Initial      *float64 `toml:"initial"`
		Increment    *float64 `toml:"increment"`
		Decrement    *float64 `toml:"decrement"`
		HalfLifeDays *float64 `toml:"half_life_days"`
	} `toml:"trust"`
	Thresholds struct {
		LowRiskAutoApprove *float64 `toml:"low_risk_auto_approve"`
		ParanoidMode       *float64 `toml:"paranoid_mode"`
	} `toml:"thresholds"`
	Tools map[string]struct {
		AlwaysConfirm     bool     `toml:"always_confirm"`
		SafeCommands      []string `toml:"safe_commands"`
		DangerousPatterns []string `toml:"dangerous_patterns"`
	} `toml:"tools"`
	Projects map[string]string `toml:"projects"`
	Rules    []struct {
		ID       string   `toml:"id"`
		Decision string   `toml:"decision"`
		Tool     string   `toml:"tool"`
		Command  string   `toml:"command"`
		Path     string   `toml:"path"`
		Verbs    []string `toml:"verbs"`
		Project  string   `toml:"project"`
		Session  string   `toml:"session_id"`
		Agent    string   `toml:"agent_id"`
		Until    any      `toml:"until"`
		Reason   string   `toml:"reason"`
		Match    []string `toml:"match"`
		Differ   []string `toml:"differ"`
	} `toml:"rules"`
}

// decode reads a file into c, which has the defaults. Its errors name the line.
func decode(data []byte, c *rules.Config, home string, project bool) ([]tomltext.Place, error) {
	var d document
	if err := tomltext.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	places := tomltext.Locate(data)
	for _, p := range places {
		if err := known(p, project); err != nil {
			return nil, err
		}
	}
	b := builder{places: places, home: home}
	b.build(d, c)
	return places, b.err
}

// known reports a key that means nothing here.
func known(p tomltext.Place, project bool) error {
	at := ownShape
	for i, key := range p.Path {
		switch {
		case at.each != nil:
			at = *at.each
			continue // a number
		case at.any != nil:
			at = *at.any
			continue
		case at.keys == nil:
			return nil // an element of a list
		}
		next, ok := at.keys[key]
		if !ok {
			where := "at the top"
			if i > 0 {
				where = "in " + dotted(p.Path[:i])
			}
			return &tomltext.LineError{Line: p.Line, Msg: fmt.Sprintf("there is no key %q %s%s", key, where, meant(key, at, i == 0))}
		}
		if project && i == 0 && !slices.Contains([]string{"policy", "thresholds", "tools", "rules"}, key) {
			return &tomltext.LineError{Line: p.Line, Msg: fmt.Sprintf("%s is for the user's own file to say; a project's own may only tighten", key)}
		}
		at = next
	}
	return nil
}

// meant says which key is meant, perhaps.
func meant(key string, at shape, top bool) string {
	all := slices.Sorted(maps.Keys(at.keys))
	best, distance := "", 1+len(key)/3
	for _, k := range all {
		if d := human.Distance(strings.ToLower(key), k); d <= distance {
			best, distance = k, d-1
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("; did you mean %q?", best)
	case top && key == "hitl":
		return "; what would stand in it stands at the top here"
	}
	return "; there are " + strings.Join(all, ", ")
}

// dotted is a path for people: rules[2].command, counted from 1.
func dotted(p []string) string {
	var b strings.Builder
	for i, key := range p {
		switch n, err := strconv.Atoi(key); {
		case err == nil && i > 0:
			fmt.Fprintf(&b, "[%d]", n+1)
		case i > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
	}
	return b.String()
}

// builder turns a document into a Config, checking values. The first error stays.
type builder struct {
	places []tomltext.Place
	home   string
	err    error
}

func (b *builder) wrong(msg string, path ...string) {
	if b.err == nil {
		b.err = &tomltext.LineError{Line: lineOf(b.places, path...), Msg: dotted(path) + ": " + msg}
	}
}

// lineOf is the line of a key, or of the nearest that holds it; 0 without.
func lineOf(places []tomltext.Place, path ...string) int {
	for n := len(path); n > 0; n-- {
		for _, p := range places {
			if slices.Equal(p.Path, path[:n]) {
				return p.Line
			}
		}
	}
	return 0
}

func (b *builder) build(d document, c *rules.Config) {
	if d.Policy != nil {
		c.Policy = gate.Policy(*d.Policy)
		if !slices.Contains(gate.Policies, c.Policy) {
			b.wrong(fmt.Sprintf("it must be permissive, balanced or strict, not %q", *d.Policy), "policy")
		}
	}
	if d.Timeout != nil {
		c.Timeout = time.Duration(*d.Timeout) * time.Second
		if *d.Timeout < 5 || *d.Timeout > 24*60*60 {
			b.wrong(fmt.Sprintf("it must be a whole number from 5 to 86400 (seconds), not %d", *d.Timeout), "timeout")
		}
	}
	if d.Away != nil {
		c.Away = rules.Away(*d.Away)
		if c.Away != rules.Refuse && c.Away != rules.AskInClient {
			b.wrong(fmt.Sprintf("it must be `refuse` or `client`, not %q", *d.Away), "away")
		}
	}
	if d.Model != nil {
		c.Model = *d.Model
	}
	b.number(&c.ReadCheck, d.ReadCheck, 0, 1, "read_check")
	b.number(&c.Trust.Initial, d.Trust.Initial, 0, 1, "trust", "initial")
	b.number(&c.Trust.Increment, d.Trust.Increment, 0, 1, "trust", "increment")
	b.number(&c.Trust.Decrement, d.Trust.Decrement, 0, 1, "trust", "decrement")
	if days := d.Trust.HalfLifeDays; days != nil {
		var n float64
		b.number(&n, days, 0, 3650, "trust", "half_life_days")
		c.Trust.HalfLife = time.Duration(n * 24 * float64(time.Hour))
	}
	b.number(&c.Thresholds.LowRiskAutoApprove, d.Thresholds.LowRiskAutoApprove, 0, 1, "thresholds", "low_risk_auto_approve")
	b.number(&c.Thresholds.ParanoidMode, d.Thresholds.ParanoidMode, 0, 1, "thresholds", "paranoid_mode")
	for _, name := range slices.Sorted(maps.Keys(d.Tools)) {
		if c.Tools == nil {
			c.Tools = map[string]rules.Tool{}
		}
		c.Tools[name] = rules.Tool(d.Tools[name])
	}
	for _, root := range slices.Sorted(maps.Keys(d.Projects)) {
		if c.Projects == nil {
			c.Projects = map[string]rules.Importance{}
		}
		i := rules.Importance(d.Projects[root])
		if i != rules.Low && i != rules.Normal && i != rules.High {
			b.wrong(fmt.Sprintf("it must be low, normal or high, not %q", i), "projects", root)
		}
		c.Projects[b.root(root, "projects", root)] = i
	}
	for i, r := range d.Rules {
		at := []string{"rules", strconv.Itoa(i)}
		made := human.GateRule{
			ID: r.ID, Decision: human.Ruling(r.Decision), Tool: r.Tool, Command: r.Command, Path: r.Path, Session: r.Session, Agent: r.Agent,
			Reason: r.Reason, Match: r.Match, Differ: r.Differ,
		}
		if r.Project != "" {
			made.Project = b.root(r.Project, append(at, "project")...)
		}
		for _, v := range r.Verbs {
			made.Verbs = append(made.Verbs, human.EffectVerb(v))
		}
		made.Until = b.until(r.Until, append(at, "until")...)
		c.Rules = append(c.Rules, made)
	}
}

func (b *builder) number(to *float64, from *float64, low, high float64, path ...string) {
	if from == nil {
		return
	}
	*to = *from
	if !(*from >= low && *from <= high) { // NaN, too
		b.wrong(fmt.Sprintf("it must be a number from %g to %g, not %g", low, high, *from), path...)
	}
}

// root is the root of a working tree.
func (b *builder) root(text string, path ...string) string {
	if text == "~" || strings.HasPrefix(text, "~/") {
		text = b.home + text[1:]
	}
	if !isAbs(text) {
		b.wrong(fmt.Sprintf("%q is not an absolute path; begin it at the root, or with ~/", text), path...)
	}
	return clean(text)
}

// until is when a rule ends: at a time, or behind a day.
func (b *builder) until(v any, path ...string) *time.Time {
	var t time.Time
	switch v := v.(type) {
	case nil:
		return nil
	case time.Time:
		t = v
	case toml.LocalDateTime:
		t = v.AsTime(time.Local)
	case toml.LocalDate:
		t = v.AsTime(time.Local).AddDate(0, 0, 1)
	default:
		b.wrong("it must be a day such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z, without quotes", path...)
		return nil
	}
	return &t
}
