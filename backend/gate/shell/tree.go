package shell

import (
	"slices"
	"strings"

	"deskbell/backend/gate/shell/arg"
	"deskbell/backend/human"
)

// A Node is a step of what a script would run: a command, or a script or code within one. The same step on several ways
// through a script is one node, and so is a script of a single command and that command.
type Node struct {
	// Text is the command with what is known of its words filled in, the script, or the code; clipped to some 120 characters, … for
	// what is not known.
	Text string `json:"text"`
	// Language is that of a script or of code ("sh", "python"); empty for a command.
	Language string         `json:"language,omitempty"`
	Words    []string       `json:"-"`                 // of a command; … stands for what is not known
	Effects  []human.Effect `json:"effects,omitempty"` // its own, the most severe first
	Runs     []*Node        `json:"runs,omitempty"`    // what it runs in turn, in the order in which it was found

	whole bool // the root, which is never the same as the one command in it
}

// maxNodes is how many steps of one script are kept; what comes after belongs to the last step above it.
const maxNodes = 500

// Tree tells what a script would run, step by step, and where each effect that Lower finds comes from. Its root is the script.
func Tree(script string, at Place) *Node {
	w := newWalker(at)
	root := &Node{Text: clip(script), Language: "sh", whole: true}
	w.node = root
	w.script(script, "bash", nil, stream{})
	if before := len(w.effects); before == 0 {
		w.done()
		w.attribute(w.effects[0])
	}
	root.sort()
	return root
}

// written is a command as one would write it.
func written(args []arg.Word) string {
	words := make([]string, len(args))
	for i, a := range args {
		if words[i] = a.Text; a.Text == "" || strings.ContainsAny(a.Text, " \t\n\"'`$&|;<>()") && !strings.Contains(a.Text, "'") {
			words[i] = "'" + a.Text + "'"
		}
	}
	return strings.Join(words, " ")
}

func (n *Node) sort() {
	mostSevereFirst(n.Effects)
	for _, of := range n.Runs {
		of.sort()
	}
}

// UnparsedRule is of an effect whose step has text that no shell can read.
const UnparsedRule = "shell.unparsed"

// deeper begins a step of the tree, where one is made; back ends it. The values are the words of a command.
func (w *walker) deeper(language, text string, words ...arg.Word) (back func()) {
	above := w.node
	if above == nil || w.nodes >= maxNodes || above.Language != "" && above.Text == clip(text) && (language != "" || !above.whole) {
		return func() {}
	}
	text = clip(strings.ReplaceAll(text, arg.Unknown, "…"))
	i := slices.IndexFunc(above.Runs, func(n *Node) bool { return n.Text == text && n.Language == language })
	if i < 0 {
		i = len(above.Runs)
		n := &Node{Text: text, Language: language}
		for _, v := range words {
			n.Words = append(n.Words, v.Shown())
		}
		above.Runs = append(above.Runs, n)
		w.nodes++
	}
	w.node = above.Runs[i]
	return func() { w.node = above }
}

// found adds an effect to the step that is gone through.
func (w *walker) found(e human.Effect) {
	if w.node != nil && !slices.Contains(w.node.Effects, e) {
		w.node.Effects = append(w.node.Effects, e)
	}
}
