package hub

import (
	"context"
	"slices"
	"unicode"

	"golang.org/x/text/secure/precis"

	"deskbell/backend/human"
)

// distinct says why a new member cannot have a name: some of it cannot be seen, its letters are of more than one alphabet, or it looks like
// the name of another who is in or invited. Two names look the same where they are the same nickname (RFC 8266): without regard to case,
// width and spaces.
func (f *Office) distinct(ctx context.Context, name string, desks []Desk) error {
	looks, err := precis.Nickname.CompareKey(name)
	if err != nil {
		return human.Wrap(human.Invalid, err, "the name %q has characters that cannot be seen, or that Unicode does not have; leave them out", name)
	}
	if of := alphabets(looks); len(of) > 1 {
		return human.Errorf(human.Invalid, "the name %q has letters of two alphabets, %s and %s, some of which look alike; write it in one", name, of[0], of[1])
	}
	invited, err := f.invitations(ctx)
	if err != nil {
		return err
	}
	var others []string
	for _, d := range desks {
		if d.Removed == nil {
			others = append(others, d.Member)
		}
	}
	for _, i := range invited {
		others = append(others, i.Member)
	}
	for _, other := range others {
		if same, err := precis.Nickname.CompareKey(other); err == nil && same == looks && other != name {
			return human.Errorf(human.Conflict, "the name %q looks like that of %q, who is in the team or invited; choose another", name, other)
		}
	}
	return nil
}

// alphabets are those that letters of a text are of, as Unicode calls them, without those of East Asia: names there have several, and Latin.
func alphabets(text string) (found []string) {
	for _, r := range text {
		for name, letters := range unicode.Scripts {
			if unicode.Is(letters, r) && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return slices.DeleteFunc(found, func(name string) bool {
		return slices.Contains([]string{"Common", "Inherited", "Han", "Hiragana", "Katakana", "Bopomofo", "Hangul"}, name)
	})
}
