//go:build attacks

package attacks

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

const (
	page  = "../../docs/development/attacks.md"
	begin = "<!-- attacks: written by `DESKBELL_ATTACKS_PAGE=write make attacks` -->\n"
	end   = "<!-- attacks: end -->"
)

// pageIsTrue says whether the page of attacks has the table's; where it is asked to, it writes them first.
func pageIsTrue() bool {
	var rows strings.Builder
	rows.WriteString("\n| attack | what it tries | without the hook |\n| --- | --- | --- |\n")
	for _, a := range attacks {
		without := cmp.Or(a.without, "works")
		if a.elsewhere {
			without += "; works where it does not"
		}
		if a.open != "" {
			without = "**works, with the hook too**: " + a.open
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", a.id, a.tries, without)
	}
	rows.WriteString("\n")
	raw, err := os.ReadFile(page)
	if err != nil {
		panic(err)
	}
	before, rest, _ := strings.Cut(string(raw), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		panic(page + " has no place for the table")
	}
	text := before + begin + rows.String() + end + after
	if text == string(raw) {
		return true
	}
	if os.Getenv("DESKBELL_ATTACKS_PAGE") != "write" {
		fmt.Fprintln(os.Stderr, page+" has another table: run DESKBELL_ATTACKS_PAGE=write make attacks")
		return false
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil { //nolint:gosec // a page
		panic(err)
	}
	return true
}
