package commands

import (
	_ "embed" // the texts
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
)

//go:embed knowledge/cloud.txt
var cloudText string

//go:embed knowledge/dev.txt
var devText string

//go:embed knowledge/everyday.txt
var everydayText string

//go:embed knowledge/look.txt
var lookText string

//go:embed knowledge/own.txt
var ownText string

//go:embed knowledge/system.txt
var systemText string

// An index finds the section of the texts that is about a command. A hook makes one to judge a single call, so it is made
// in one pass that allocates next to nothing; a map of the 3,000 names takes half a millisecond, ten times as long.
type index struct {
	sections []section
	seed     maphash.Seed
	slots    [slotCount]slot
}

// slotCount is a power of two, and more than twice the names: a lookup goes from slot to slot until one is free.
const slotCount = 1 << 13

// A slot says where a name stands: 1 + the section's number, and the name's offset in its head. The zero slot is free.
type slot struct{ section, offset uint16 }

// A section describes one command or several; its head is their names.
type section struct {
	head, body string
	once       sync.Once
	spec       *Spec // once it is read
}

var knowledge = sync.OnceValues(func() (*index, error) {
	return makeIndex(cloudText, devText, everydayText, lookText, ownText, systemText)
})

func makeIndex(texts ...string) (*index, error) {
	x := &index{sections: make([]section, 0, 512), seed: maphash.MakeSeed()}
	names := 0
	for _, text := range texts {
		before, text, more := strings.Cut(text, "\n@")
		if strings.HasPrefix(before, "@") {
			return nil, fmt.Errorf("before %q no line names a command", before)
		}
		for more {
			var one string
			one, text, more = strings.Cut(text, "\n@")
			head, body, _ := strings.Cut(one, "\n")
			x.sections = append(x.sections, section{head: head, body: body})
			for at := 0; at < len(head); {
				name, _, _ := strings.Cut(head[at:], " ")
				free, is := x.slot(name)
				if names++; is != nil || names > slotCount/2 || len(head) > 1<<16 {
					return nil, fmt.Errorf("command %q is described twice, or there are too many", name)
				}
				*free = slot{uint16(len(x.sections)), uint16(at)} //nolint:gosec // both were looked at
				at += len(name) + 1
			}
		}
	}
	return x, nil
}

// slot is where a name's section is found, or would be.
func (x *index) slot(name string) (*slot, *section) {
	for i := maphash.String(x.seed, name); ; i++ {
		at := &x.slots[i%slotCount]
		if at.section == 0 {
			return at, nil
		}
		s := &x.sections[at.section-1]
		if rest, begins := strings.CutPrefix(s.head[at.offset:], name); begins && (rest == "" || rest[0] == ' ') {
			return at, s
		}
	}
}

// Of returns what is known of a command, or nil.
func Of(name string) *Spec {
	x, err := knowledge()
	if err != nil {
		panic(err) // the files are part of the program; a test reads them all
	}
	_, s := x.slot(name)
	if s == nil {
		return nil
	}
	s.once.Do(func() {
		if s.spec, err = s.read(); err != nil {
			panic(err)
		}
	})
	return s.spec
}

// Names are all names that entries describe, in no order.
func Names() (all []string) {
	x, err := knowledge()
	if err != nil {
		panic(err) // as in Of
	}
	for i := range x.sections {
		all = append(all, strings.Fields(x.sections[i].head)...)
	}
	return all
}

// Entry reads a text that holds one entry.
func Entry(text string) (*Spec, error) {
	x, err := makeIndex("\n" + text)
	if err != nil {
		return nil, err
	}
	return x.sections[0].read()
}

func (s *section) read() (*Spec, error) {
	first, _, _ := strings.Cut(s.head, " ")
	made := &Spec{Name: first, Wrap: -1}
	return made, made.read(s.body)
}
