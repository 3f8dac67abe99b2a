package plan

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"deskbell/backend/human"
)

// asWas gives back exactly the arguments that mean what they meant in was. A client that reads JSON into values of
// its own spells it anew: other escapes, another order of names, numbers as floating point has them. None of that is a
// change, and least of all may it round a number in a task that no one touched.
func asWas(was, now []human.Task) []human.Task {
	for i, t := range now {
		j := slices.IndexFunc(was, func(w human.Task) bool { return w.ID == t.ID })
		if j >= 0 && len(t.Args) > 0 && len(was[j].Args) > 0 && meansSame(decoded(was[j].Args), decoded(t.Args)) {
			now[i].Args = was[j].Args
		}
	}
	return now
}

func decoded(args json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func meansSame(was, now any) bool {
	switch was := was.(type) {
	case map[string]any:
		now, ok := now.(map[string]any)
		return ok && maps.EqualFunc(was, now, meansSame)
	case []any:
		now, ok := now.([]any)
		return ok && slices.EqualFunc(was, now, meansSame)
	case json.Number:
		now, ok := now.(json.Number)
		return ok && (was == now || rounded(was) == now)
	}
	return was == now
}

// rounded is how a client that has only floating point writes a number; encoding/json spells these as JavaScript does.
func rounded(n json.Number) json.Number {
	f, err := n.Float64()
	if err != nil {
		return n
	}
	text, err := json.Marshal(f)
	if err != nil {
		return n
	}
	return json.Number(text)
}
