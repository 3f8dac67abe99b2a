package facts

// An Effect is how much follows from what was done.
type Effect int

// The effects, the greatest last.
const (
	Looked Effect = iota
	Used          // something of which it is not known what it does
	SignedIn
	Learned // values that were asked for
	Changed
	Created
	Deleted
	Sent
	Paid
)

var payWords = newWords(payEnglish, payChinese)

// EffectOf is the effect that the name of a button, or a message, speaks of; at least Used.
func EffectOf(text string) Effect {
	if payWords.Begins(text) {
		return Paid
	}
	most := Used
	for what := range Claims(text).Says {
		e, known := effects[what]
		if !known {
			e = Changed
		}
		most = max(most, e)
	}
	return most
}

// effects of verbs; those of others is Changed.
var effects = map[string]Effect{
	"pay": Paid, "send": Sent, "publish": Sent, "delete": Deleted, "create": Created, "add": Created, "login": SignedIn, "is": Used, "ok": Used, "done": Used, "exist": Used,
	"open": Used, "close": Used, "choose": Used, "verify": Used, "receive": Used,
}
