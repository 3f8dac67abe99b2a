package human

import (
	"slices"
	"strings"
)

// Pages are what a Destination may name besides an operation.
var Pages = []string{"inbox", "alerts", "findings", "history", "recordings", "gatekeeper", "agents", "settings"}

// A Destination is what the window opens with: one page, or one operation. The zero value is wherever it stands.
type Destination struct {
	Page      string
	Operation OperationID
}

// linkPrefix is how the link to an operation begins. What follows is its id, and nothing else.
const linkPrefix = "deskbell://operation/"

// isOperationID says whether text is an operation's id: op_ and a ULID in lower case, whose alphabet is Crockford's base 32.
func isOperationID(text string) bool {
	ulid, is := strings.CutPrefix(text, "op_")
	return is && len(ulid) == 26 && strings.Trim(ulid, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// Link is the address that opens the operation in the window of this machine. Whoever follows it can open it and do nothing else.
func (id OperationID) Link() string { return linkPrefix + string(id) }

// ParseDestination reads a page's name, an operation's id or an operation's link. A link may come from any web page: what is not
// exactly one of these three is an error, and nothing in it can answer a request or change anything.
func ParseDestination(text string) (Destination, error) {
	if text == "" {
		return Destination{}, nil
	}
	if slices.Contains(Pages, text) {
		return Destination{Page: text}, nil
	}
	id := strings.TrimPrefix(text, linkPrefix)
	if isOperationID(id) {
		return Destination{Operation: OperationID(id)}, nil
	}
	if near := Nearest(text, Pages); near != "" {
		return Destination{}, Errorf(Invalid, "there is no page %q; did you mean %s?", Shorten(text, 80), near)
	}
	return Destination{}, Errorf(Invalid, "%q is not a page, an operation's id or a link such as %s01k…; the pages are %s", Shorten(text, 80), linkPrefix+"op_", strings.Join(Pages, ", "))
}

// String is what ParseDestination reads.
func (d Destination) String() string {
	if d.Operation != "" {
		return string(d.Operation)
	}
	return d.Page
}
