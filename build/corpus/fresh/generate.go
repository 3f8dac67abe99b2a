// Package fresh makes pages and persons that no one has seen before, and knows the truth about them because it made
// both: what each person does on the pages, what the server of the case really did, and what a summary may therefore
// say. The same seed gives the same cases, on every machine and day.
package fresh

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A Page is one page of a case; it is written into the HTML as JSON, and site/app.js draws it.
type Page struct {
	Kit     string            `json:"kit"`
	Lang    string            `json:"lang"`
	Dir     string            `json:"dir"`
	Title   string            `json:"title"`
	Heading string            `json:"heading"`
	Salt    int               `json:"salt"`
	Look    map[string]any    `json:"look"`
	Says    string            `json:"says"` // how messages are shown: toast, alert, line
	Words   map[string]string `json:"words"`
	Blocks  []Block           `json:"blocks"`
	Has     map[string]bool   `json:"-"`
}

// A Block is a part of a page; site/app.js says what each kind has.
type Block map[string]any

// A Link is a hit of a search.
type Link struct {
	Name string `json:"name"`
	Href string `json:"href"`
}

// A Case is pages, a person's steps on them, and the truth.
type Case struct {
	Name      string
	Pages     map[string]Page
	Answers   map[string][]Answer // by verb, one after the other; the last stays
	Catalogue []Link
	Slow      time.Duration // of each page
	What      string        // the request's description
	Details   map[string]any
	Truth     Truth
}

// Start is where the browser opens.
const Start = "/start"

// kits are the libraries that pages are made with.
var kits = []string{"bootstrap", "shoelace", "element", "antd", "vuetify"}

// Generate makes the cases of a seed. A case depends on the seed and its own number alone.
func Generate(seed uint64, n int) (all []Case) {
	for i := range n {
		all = append(all, one(seed, i))
	}
	return all
}

// gen is a case that is being made.
type gen struct {
	*rand.Rand
	Case
	lang, kit string
	t         tongue
	says      string
	look      map[string]any
	salt      int
}

func one(seed uint64, i int) Case {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
	goal := goals[i%len(goals)]
	g.Name = fmt.Sprintf("s%d-%03d-%s", seed, i, goal.name)
	g.lang, g.kit = pick(g, "en", "en", "en", "zh", "zh", "zh", "de", "fr", "es", "ru", "ar"), pick(g, kits...)
	g.t, g.says, g.salt = langs[g.lang], pick(g, "toast", "alert", "line"), 1+g.IntN(90000)
	g.Pages, g.Answers, g.Details = map[string]Page{}, map[string][]Answer{}, map[string]any{}
	g.look = map[string]any{
		"labels": pick(g, "for", "for", "wrap", "aria", "labelledby", "placeholder", "beside"), "ids": pick(g, "named", "random", "none"),
		"buttons": pick(g, "text", "text", "icon-title", "icon-aria", "icon", "div"), "selects": pick(g, "native", "rich"), "dates": pick(g, "native", "rich"),
		"main": pick(g, "main", "div", "section"), "eye": g.IntN(2) == 0,
	}
	if g.IntN(4) == 0 {
		g.Slow = time.Duration(100+g.IntN(500)) * time.Millisecond
	}
	g.Truth = Truth{Name: g.Name, Fields: map[string]string{}}
	g.Details["url"] = Start
	goal.make(g)
	if g.Truth.Story == "" {
		g.Truth.Story = goal.name
	}
	return g.Case
}

func pick[T any](g *gen, all ...T) T { return all[g.IntN(len(all))] }

func (g *gen) w(key string) string { return g.t.words[key] }

// thing is a name of something, unlike any other of the case.
func (g *gen) thing() string {
	a, n := pick(g, g.t.adjectives...), pick(g, g.t.nouns...)
	switch g.lang {
	case "zh":
		return fmt.Sprintf("%s%s%d号", a, n, 11+g.IntN(80))
	case "ar":
		return fmt.Sprintf("%s %s %d", n, a, 11+g.IntN(80))
	}
	return fmt.Sprintf("%s %s %d", a, n, 11+g.IntN(80))
}

// page adds a page, its content wrapped at random: a card, tabs, a shadow root.
func (g *gen) page(path, title string, blocks ...Block) {
	has := map[string]bool{}
	for _, b := range blocks {
		has[b["kind"].(string)] = true
	}
	dir := "ltr"
	if g.lang == "ar" {
		dir = "rtl"
	}
	if path != "/inner" {
		blocks = g.wrap(blocks, has["board"] || has["editor"])
	}
	words := map[string]string{}
	for _, k := range []string{"offline", "needed", "none"} {
		words[k] = g.w(k)
	}
	g.Pages[path] = Page{
		Kit: g.kit, Lang: map[string]string{"zh": "zh-CN"}[g.lang] + strings.TrimSuffix(g.lang, "zh"), Dir: dir, Title: title, Heading: title,
		Salt: g.salt, Look: g.look, Says: g.says, Words: words, Blocks: blocks, Has: has,
	}
}

func (g *gen) wrap(blocks []Block, whole bool) []Block {
	switch g.IntN(6) {
	case 0, 1:
		blocks = []Block{{"kind": "card", "title": g.w("details"), "blocks": blocks}}
	case 2:
		if !whole && g.kit == "bootstrap" && g.look["selects"] == "native" && g.look["dates"] == "native" {
			blocks = []Block{{"kind": "shadow", "blocks": blocks}}
		}
	}
	if g.IntN(3) == 0 {
		filler := []Block{{"kind": "text", "text": pick(g, g.t.notes...)}}
		blocks = append(filler, blocks...)
	}
	return blocks
}

// --- the person

func (g *gen) do(d Step) { g.Truth.Steps = append(g.Truth.Steps, d) }

var clicked = []string{"click", "check", "choose", "double_click", "shortcut"}

func (g *gen) click(on, name string) { g.do(Step{Do: "click", On: on, Name: name, Types: clicked}) }

func (g *gen) clickInto(on, name string) { g.do(Step{Do: "click", On: on, Name: name, Types: clicked}) }

// enters fills in a field: sometimes with a slip that is corrected.
func (g *gen) enters(key, name, text string, secret bool) {
	g.Truth.Touched = true
	g.clickInto("field:"+key, name)
	typed := text
	r := []rune(text)
	if !secret && len(r) > 4 && g.IntN(4) == 0 {
		wrong := append(slices.Clone(r[:len(r)-2]), 'x', 'x')
		g.do(Step{Do: "slip", On: "field:" + key, Text: string(wrong), To: string(r[len(r)-2:]), Types: []string{"type"}, Name: name, Value: text})
		return
	}
	d := Step{Do: "type", On: "field:" + key, Text: typed, Types: []string{"type", "choose"}, Name: name, Value: text, Secret: secret}
	if secret {
		d.Value = ""
		g.Truth.Secrets = append(g.Truth.Secrets, text)
	}
	g.do(d)
}

func (g *gen) chooses(key, name, option string) {
	g.Truth.Touched = true
	g.do(Step{Do: "select", On: "field:" + key, To: "option:" + key + ":" + option, Text: option, Name: name, Value: option, Types: []string{"choose", "click", "check"}})
}

func (g *gen) settles() { g.do(Step{Do: "settle"}) }

func (g *gen) at(path string) { g.do(Step{Do: "at", Text: path}) }

func (g *gen) wander() {
	switch g.IntN(5) {
	case 0:
		g.do(Step{Do: "wheel", May: []string{"scroll"}})
	case 1:
		g.do(Step{Do: "move"})
	}
}

// expects has the agent name an outcome, most of the time, in a language and word order of its own.
func (g *gen) expects(f Fact, other string) {
	if g.IntN(5) == 0 {
		return
	}
	all := expectations[f.Verb]
	text := pick(g, all...)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "%s", f.Object), "%t", f.To)
	g.Details["expected_outcome"] = text
	switch {
	case f.Happened && f.Seen:
		g.Truth.Expected = Met
	case !f.Happened && f.Seen:
		g.Truth.Expected = NotMet
	default:
		g.Truth.Expected = Unseen
	}
	_ = other
}

func (g *gen) fact(f Fact) { g.Truth.Facts = append(g.Truth.Facts, f) }

// fate decides what the server does with what the person asks it for, and the person with that: one try or two.
func (g *gen) fate(verb, object, next string) (tries []Answer) {
	good := Answer{Status: 200, Message: g.w("said " + verb), Next: next}
	if g.IntN(4) == 0 {
		good.Delay = time.Duration(300+g.IntN(900)) * time.Millisecond
	}
	bad := func() Answer {
		switch g.IntN(5) {
		case 0:
			return Answer{Status: 409, Message: g.w("409")}
		case 1:
			return Answer{Status: 500, Message: g.w("500")}
		case 2:
			return Answer{Status: 422, Message: g.w("422")}
		case 3:
			return Answer{Status: 403, Message: g.w("403")}
		}
		return Answer{Status: 0}
	}
	switch g.IntN(6) {
	case 0:
		tries = []Answer{bad()}
	case 1:
		tries = []Answer{bad(), good}
	default:
		tries = []Answer{good}
	}
	g.Answers[verb] = tries
	f := Fact{Verb: verb, Object: object, Happened: tries[len(tries)-1].Status == 200, Seen: true, Tries: len(tries)}
	for _, a := range tries {
		if a.Status != 200 {
			f.Status = a.Status
			g.Truth.Trouble = true
			if a.Status > 0 {
				g.Truth.Errors = append(g.Truth.Errors, a.Status)
			}
		}
	}
	g.fact(f)
	return tries
}

func (g *gen) last() Fact { return g.Truth.Facts[len(g.Truth.Facts)-1] }

// MarshalDetails are the details of the request, with the address of the case's server.
func (c Case) MarshalDetails(origin string) map[string]any {
	out := map[string]any{}
	for k, v := range c.Details {
		out[k] = v
	}
	out["url"] = origin + Start
	return out
}

// JSON is the whole case, for who wants to see what a page was.
func (c Case) JSON() []byte {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		panic(err) // it is made of strings
	}
	return text
}
