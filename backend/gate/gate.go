// Package gate is the gatekeeper's engine: it judges a call of a tool before it runs. It is pure: the same call, place and
// evidence give the same verdict, on any machine, at any time. It does no I/O and keeps nothing.
//
// The engine normalizes a call and analyzes it into effects, and each effect has a risk. The most severe effect decides: a
// harmless one never lowers another's risk, and a call is allowed only if every effect of it is. A hard limit is never
// allowed.
package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

// MaxArgs is the longest arguments that are looked at, in bytes; longer ones are asked about.
const MaxArgs = 1 << 20

// Policy is how much is asked about.
type Policy string

// The policies: each asks about all that the one before it asks about.
const (
	Permissive Policy = "permissive" // asks about high risk, and about what reaches further than this machine
	Balanced   Policy = "balanced"   // asks about medium risk, too
	Strict     Policy = "strict"     // asks about everything that does more than look
)

// Policies lists them, the most permissive first.
var Policies = []Policy{Permissive, Balanced, Strict}

// Annotations are what a tool's own server says about it.
type Annotations = human.Annotations

// A Call is one call of a tool.
type Call struct {
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args"`
	Cwd         string          `json:"cwd,omitempty"`  // absolute; empty where it is not known
	Root        string          `json:"root,omitempty"` // of the working tree; empty where it is Cwd
	Home        string          `json:"home,omitempty"`
	Guard       string          `json:"guard,omitempty"` // the gatekeeper's own folder, which no call may change
	Annotations Annotations     `json:"annotations,omitzero"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of the tool's arguments, where it is an MCP server's
	Session     string          `json:"-"`                // of the agent; what earlier calls of it made counts
	About       string          `json:"about,omitempty"`  // the tool's own description; as little to be believed as the annotations
}

// Evidence answers what the call itself does not tell; see shell.Evidence. Nil gives the cautious answers.
type Evidence = shell.Evidence

// FileState is what evidence knows of a path.
type FileState = shell.FileState

// What evidence can know of a path; see shell.
const (
	NotKnown  = shell.NotKnown
	Absent    = shell.Absent
	Precious  = shell.Precious
	Unseen    = shell.Unseen
	MadeHere  = shell.MadeHere
	Committed = shell.Committed
	Ignored   = shell.Ignored
)

// Judge says what to do with a call under a policy. It does not block but for the evidence, and is safe for concurrent use
// where the evidence is.
func Judge(call Call, policy Policy, evidence Evidence) human.Verdict {
	v := Look(call, evidence)
	var counted []human.Effect
	for _, e := range v.Effects {
		ruling := rule(e, policy)
		if ruling != human.Allow {
			counted = append(counted, e)
		}
		v.Decision = graver(v.Decision, ruling)
	}
	if v.Decision == human.Allow {
		counted = v.Effects[:1]
	}
	if v.Because = Why(counted); !v.HardLimit {
		v.Because = append(v.Because, human.Reasoned(human.Because{Rule: "policy"}, human.Say("policy_"+human.Code(policy))))
	}
	finish(call, &v, evidence)
	return v
}

// Look is all of a verdict that no policy has a say in: what the call would do, and how grave that is. Its decision is
// Allow, for the caller to raise; Explain then adds how it is asked.
func Look(call Call, evidence Evidence) human.Verdict {
	v := human.Verdict{Decision: human.Allow, Digest: Digest(call), Effects: effects(call, evidence)}
	for i := range v.Effects {
		e := &v.Effects[i]
		production(e)
		e.Words = words(*e)
	}
	slices.SortStableFunc(v.Effects, func(a, b human.Effect) int {
		if a.HardLimit != b.HardLimit {
			if a.HardLimit {
				return -1
			}
			return 1
		}
		if d := b.Risk.Level() - a.Risk.Level(); d != 0 {
			return d
		}
		return reach(b.Reversibility) - reach(a.Reversibility)
	})
	v.Risk, v.Reversibility, v.Blast = human.NoRisk, human.Reversible, human.FileBlast
	for _, e := range v.Effects {
		v.HardLimit = v.HardLimit || e.HardLimit
		if e.Risk.Level() > v.Risk.Level() {
			v.Risk = e.Risk
		}
		if e.Risk != human.NoRisk {
			if slices.Index(human.BlastRadii, e.Blast) > slices.Index(human.BlastRadii, v.Blast) {
				v.Blast = e.Blast
			}
			if reach(e.Reversibility) > reach(v.Reversibility) {
				v.Reversibility = e.Reversibility
			}
		}
		if !slices.Contains(v.Rules, e.Rule) && len(v.Rules) < 50 {
			v.Rules = append(v.Rules, e.Rule)
		}
	}
	return v
}

// production raises what is done to shared things whose name says that people depend on them.
func production(e *human.Effect) {
	if e.Blast != human.SharedBlast || e.Risk.Level() < human.HighRisk.Level() {
		return
	}
	if slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(e.Resource+" "+e.Target), notWord), isProduction) {
		e.Blast = human.ProductionBlast
		if e.Reversibility == human.Irreversible {
			e.Risk = human.CriticalRisk
		}
	}
}

func notWord(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }

func isProduction(word string) bool { return word == "prod" || word == "production" || word == "prd" }

// rule is what a policy makes of one effect.
func rule(e human.Effect, p Policy) human.Ruling {
	if e.HardLimit {
		if final[e.Rule] || e.Verb == human.FilesystemDelete && e.Risk == human.CriticalRisk || e.Verb == human.FilesystemWrite && e.Risk == human.CriticalRisk {
			return human.Deny
		}
		return human.Ask
	}
	switch {
	case e.Risk == human.NoRisk:
		return human.Allow
	case e.Risk == human.LowRisk && p != Strict:
		return human.Allow
	case e.Risk == human.MediumRisk && p == Permissive && e.Blast.Near():
		return human.Allow
	}
	return human.Ask
}

// Hard limits: no answer makes them right.
var final = map[string]bool{"floor.fork_bomb": true}

func graver(a, b human.Ruling) human.Ruling {
	order := []human.Ruling{human.Allow, human.Ask, human.Deny}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

func reach(r human.Reversibility) int {
	return slices.Index([]human.Reversibility{human.Reversible, human.Costly, human.Irreversible}, r)
}

// Digest binds an approval to exactly this call: the tool, the value of its arguments, and where it would run. The order
// of fields and white space between them do not change what a call does, nor its digest.
func Digest(call Call) string {
	h := sha256.New()
	part := func(b []byte) {
		var n [8]byte
		for i := range n {
			n[i] = byte(uint64(len(b)) >> (8 * i))
		}
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte("deskbell-gate-1"))
	part([]byte(call.Tool))
	part([]byte(call.Cwd))
	part(Canonical(call.Args))
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Definition is what the server of a call's tool says about the tool, as canonical JSON: the description, the input schema and
// the annotations. It is empty where the call does not hold any.
func Definition(call Call) string {
	if call.About == "" && len(call.Schema) == 0 && call.Annotations == (Annotations{}) {
		return ""
	}
	text, err := json.Marshal(struct {
		About       string          `json:"description"`
		Schema      json.RawMessage `json:"inputSchema,omitempty"`
		Annotations Annotations     `json:"annotations,omitzero"`
	}{call.About, call.Schema, call.Annotations})
	if err != nil { // the schema is no JSON
		text, _ = json.Marshal([]string{call.About, string(call.Schema)})
	}
	return string(Canonical(text))
}

// Canonical writes JSON with its fields in order and without white space; what is no JSON it leaves as it is. Numbers keep
// their digits.
func Canonical(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return raw
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return raw
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func effect(verb human.EffectVerb, risk human.Risk, blast human.BlastRadius, id, resource string) human.Effect {
	e := human.Effect{Verb: verb, Risk: risk, Blast: blast, Rule: id, Resource: clip(resource), Certainty: human.Likely, Reversibility: human.Costly}
	switch {
	case risk == human.NoRisk:
		e.Reversibility = human.Reversible
	case risk.Level() >= human.HighRisk.Level():
		e.Reversibility = human.Irreversible
	}
	return e
}

// unnamed is an effect on what the call has no name for.
func unnamed(verb human.EffectVerb, risk human.Risk, blast human.BlastRadius, id string, thing human.Code) human.Effect {
	e := effect(verb, risk, blast, id, human.Say(thing).Text)
	e.Thing = thing
	return e
}

func clip(s string) string { return human.Shorten(s, 160) }

// disguised says whether text holds characters that make it look like something else: that turn its direction, that are not
// seen, or letters of other scripts in words of this one.
func disguised(s string) bool {
	latin, other := false, false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r < 0x80:
			if r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
				return true
			}
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				latin = true
			} else if r != '-' && r != '_' {
				latin, other = false, false
			}
		case r == utf8.RuneError && n == 1, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c,
			r == 0x200b, r == 0x200c, r == 0x2060, r == 0xfeff, r == 0xad, r >= 0xe0000 && r <= 0xe007f:
			return true
		case unicode.Is(unicode.Cyrillic, r), unicode.Is(unicode.Greek, r), r >= 0xff01 && r <= 0xff5e && r != '，' && r != '：' && r != '；' && r != '！' && r != '？' && r != '（' && r != '）':
			other = true
		}
		if latin && other {
			return true
		}
	}
	return false
}
