package prompt

import (
	"regexp"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// An address in a report leads an agent, or whoever opens the report, to where it says, and can carry away what the
// model read in its parameters. Texts of pages, windows and agents are where such addresses would be planted; so an
// address stands only where the work was done there, it came with a download, or a person gave it as a value.
//
// Markup is taken out of reports whatever it says: they are plain text.

var (
	full = regexp.MustCompile(`(?i)(?:\b[a-z][a-z0-9+.-]+://|\bhttps?:[/\\]|\b(?:mailto|data|javascript|vbscript|tel|blob):|\bwww\.)[^\s"'<>()\[\]{}“”‘’「」『』，。；！？、` + "`" + `]*`)
	bare = regexp.MustCompile(`(?i)\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?[/?][^\s"'<>()\[\]{}“”‘’「」『』，。；！？、` + "`" + `]*`)

	image   = regexp.MustCompile(`!\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])`)
	link    = regexp.MustCompile(`\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])`)
	defined = regexp.MustCompile(`(?m)^[ \t]*\[[^\[\]]*\]:[ \t]*\S.*$`)
	auto    = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9+.-]*:[^<>\s]*)>`)
	tag     = regexp.MustCompile(`</?[a-zA-Z!][^<>]*>?`)
	opened  = regexp.MustCompile(`!+\[|\]\(`)
)

// unmarked takes links, images and HTML out of a text, and leaves their words.
func unmarked(text string) string {
	for range 4 { // what was within another
		was := text
		text = image.ReplaceAllString(text, "$1")
		text = link.ReplaceAllString(text, "$1")
		text = defined.ReplaceAllString(text, "")
		text = auto.ReplaceAllString(text, "$1")
		text = tag.ReplaceAllString(text, "")
		if text == was {
			break
		}
	}
	// What is left is no pair; nothing that comes after may make one of it.
	return opened.ReplaceAllStringFunc(text, func(s string) string {
		if s == "](" {
			return "] ("
		}
		return "["
	})
}

// places are the addresses that a text may name, and the paths that look like some.
type places struct{ addresses, paths []string }

func (p *places) add(address ...string) { p.addresses = append(p.addresses, address...) }

func (p *places) action(a *human.Action) {
	if a.Page != nil {
		p.add(a.Page.URL, a.Page.FrameURL)
	}
	for _, t := range a.Transfers {
		p.add(t.URL)
		p.paths = append(p.paths, t.Name)
	}
	if a.File != nil {
		p.paths = append(p.paths, a.File.Path, a.File.To)
	}
	if a.Pick != nil {
		p.values(a.Pick.Text)
		for _, row := range a.Pick.Rows {
			p.values(row...)
		}
	}
}

// values adds the addresses in texts that a person gave.
func (p *places) values(texts ...string) {
	for _, text := range texts {
		p.add(full.FindAllString(text, -1)...)
		p.add(bare.FindAllString(text, -1)...)
	}
}

// first returns an address of a text that is not among the places; "" without.
func (p *places) first(text string) string {
	for _, at := range full.FindAllString(text, -1) {
		if !p.has(at) {
			return at
		}
	}
	for _, at := range bare.FindAllString(full.ReplaceAllString(text, " "), -1) {
		if p.has(at) {
			continue
		}
		inPath := false
		for _, path := range p.paths {
			inPath = inPath || path != "" && strings.Contains(path, strings.TrimRight(at, ".,;:!?"))
		}
		if !inPath {
			return at
		}
	}
	return ""
}

// has says whether an address is one of the places, or the beginning of one up to a part of it.
func (p *places) has(address string) bool {
	address = strip(address)
	for _, known := range p.addresses {
		if known = strip(known); known == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(known, address); ok && address != "" && (rest == "" || strings.ContainsRune("/?#", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// strip leaves what two ways to write an address have in common.
func strip(address string) string {
	address = strings.TrimRight(address, ".,;:!?")
	for _, scheme := range []string{"https://", "http://"} {
		if len(address) >= len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
			address = address[len(scheme):]
		}
	}
	return strings.TrimRight(address, "/")
}

// atlas finds the places of an input's evidence, and what it says.
type atlas struct {
	in      summarizers.Input
	actions map[human.Ref][]*human.Action // that a report rests on; of a picture, those it shows
	all     *places
	read    map[human.Ref]string // what Resolve said, which looks through the input each time
}

func newAtlas(in summarizers.Input, r human.Report) *atlas {
	a := &atlas{in: in, actions: map[human.Ref][]*human.Action{}, all: &places{}, read: map[human.Ref]string{}}
	for _, f := range slices.Concat(r.Findings, r.Suggestions) {
		for _, ref := range f.Evidence {
			a.actions[ref] = nil
		}
	}
	note := func(ref human.Ref, act *human.Action) {
		if _, wanted := a.actions[ref]; wanted {
			a.actions[ref] = append(a.actions[ref], act)
		}
	}
	last := ""
	for i := range in.Recordings {
		r := &in.Recordings[i]
		for j := range r.Actions {
			act := &r.Actions[j]
			note(human.Ref{Kind: human.RefAction, Recording: r.ID, ID: act.ID}, act)
			note(human.Ref{Kind: human.RefPicture, Recording: r.ID, ID: act.Before}, act)
			note(human.Ref{Kind: human.RefPicture, Recording: r.ID, ID: act.After}, act)
			// Most actions are on the page of the one before.
			if act.Page == nil || act.Page.URL != last || act.Page.FrameURL != "" || act.Pick != nil || act.File != nil || len(act.Transfers) > 0 {
				a.all.action(act)
			}
			if act.Page != nil {
				last = act.Page.URL
			}
		}
		for j := range r.Commands {
			a.all.values(r.Commands[j].Line)
		}
	}
	for name := range in.Answer.Fields {
		a.spoken(a.all, human.Ref{Kind: human.RefField, ID: name})
	}
	for _, part := range []string{"human_input", "execution_result"} {
		a.spoken(a.all, human.Ref{Kind: human.RefAnswer, ID: part})
	}
	a.spoken(a.all, human.Ref{Kind: human.RefRequest, ID: "url"})
	return a
}

// of are the places of some evidence.
func (a *atlas) of(refs []human.Ref) *places {
	p := &places{}
	for _, ref := range refs {
		for _, act := range a.actions[ref] {
			p.action(act)
		}
		if ref.Kind == human.RefCommand {
			for _, r := range a.in.Recordings {
				for _, c := range r.Commands {
					if r.ID == ref.Recording && c.ID == ref.ID {
						p.values(c.Line)
					}
				}
			}
			continue
		}
		a.spoken(p, ref)
	}
	return p
}

// spoken adds what the operator said, and the address that the agent asked to have opened.
func (a *atlas) spoken(p *places, ref human.Ref) {
	switch ref.Kind {
	case human.RefField:
		p.values(a.in.Answer.Fields[ref.ID])
		p.add(a.in.Answer.FieldSources[ref.ID].URL)
	case human.RefAnswer:
		switch ref.ID {
		case "human_input":
			p.values(a.in.Answer.HumanInput)
		case "execution_result":
			p.values(a.in.Answer.ExecutionResult)
		}
	case human.RefMessage:
		for i, m := range a.in.Operation.Messages {
			if m.By.Role == human.Operator && ref.ID == itoa(i) {
				p.values(m.Text)
			}
		}
	case human.RefRequest:
		if ref.ID == "url" {
			p.add(texts(a.in.Operation.Details)["url"])
		}
	}
}
