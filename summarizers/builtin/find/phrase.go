package find

// A Phrase is a text in no language yet: a key of the tables of sentences with what is put into the sentence, or,
// without a key, a text as it is. The zero Phrase says nothing.
type Phrase struct {
	Key string
	// Args are strings and numbers, put in as they are; durations and phrases; []string and []Phrase, which are
	// written as a list (a, b and c); and the types below.
	Args []any
	Then []Phrase // follow it directly
}

// A Series is phrases with the text of a key between them.
type Series struct {
	By    string
	Parts []Phrase
}

// Exact is a phrase that is quoted as a person's words are, so that at most so many characters of it are left.
type Exact struct {
	Phrase Phrase
	Most   int
}

// Words are those of an action, for the middle of a sentence. They are in the language of the report.
type Words string

// A NetworkError is the code of an error. Where the tables of sentences explain it, the explanation is put in, in
// brackets; where not, nothing.
type NetworkError string

// say is the sentence of a key.
func say(key string, args ...any) Phrase { return Phrase{Key: key, Args: args} }

// literal is a text as it is.
func literal(s string) Phrase {
	if s == "" {
		return Phrase{}
	}
	return Phrase{Args: []any{s}}
}

// textOr is a text as it is or, for "", the sentence of a key.
func textOr(s, key string) Phrase {
	if s == "" {
		return say(key)
	}
	return literal(s)
}

// or is the first of two phrases that says something.
func or(p, q Phrase) Phrase {
	if p.None() {
		return q
	}
	return p
}

// None says whether a phrase says nothing.
func (p Phrase) None() bool { return p.Key == "" && len(p.Args) == 0 && len(p.Then) == 0 }

// then is a phrase with others following it.
func (p Phrase) then(more ...Phrase) Phrase {
	p.Then = append(p.Then[:len(p.Then):len(p.Then)], more...)
	return p
}

// list are texts as a list: a, b and c.
func list(texts []string) Phrase {
	if len(texts) == 0 {
		return Phrase{}
	}
	return Phrase{Args: []any{texts}}
}

// series are texts with commas between them.
func series(texts []string) Series { return joinedBy("comma", texts) }

func joinedBy(key string, texts []string) Series {
	j := Series{By: key}
	for _, s := range texts {
		j.Parts = append(j.Parts, literal(s))
	}
	return j
}

// Count is the sentence of a key for one thing or of another for several, with how many.
func Count(n int, one, several string) Phrase {
	if n == 1 {
		return say(one, n)
	}
	return say(several, n)
}

// times says how often, from twice upwards.
func times(n int) Phrase {
	if n == 2 {
		return say("twice")
	}
	return say("times", n)
}
