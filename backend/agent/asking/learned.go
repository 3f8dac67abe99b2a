package asking

import (
	_ "embed" // the weights
	"sort"
	"strings"
	"unicode/utf8"
)

// Buckets is how many weights there are: a feature has that of its hash.
const Buckets = 1 << 16

// Scale is how a weight is stored: 1 is Scale.
const Scale = 64

//go:embed weights.bin
var stored string

var learned = func() (w [Buckets]int8) {
	for i := range min(len(stored), Buckets) {
		w[i] = int8(stored[i])
	}
	return w
}()

// Features returns the features of a reply, as places among the weights: its words, in ones, twos and threes, and its cues, each with
// where they stand; and what the cues say together.
func Features(text string, worked bool) []int {
	var all []int
	readReply(strings.TrimSpace(text)).features(worked, func(f int) { all = append(all, f) })
	sort.Ints(all)
	return all
}

func (r *said) weight(w *[Buckets]int8, worked bool) (sum int) {
	r.features(worked, func(f int) { sum += int(w[f]) })
	return sum
}

// features calls add for each feature, once.
func (r *said) features(worked bool, add func(int)) {
	var seen [Buckets / 64]uint64
	once := func(h uint32) {
		f := h % Buckets
		if seen[f/64]&(1<<(f%64)) == 0 {
			seen[f/64] |= 1 << (f % 64)
			add(int(f))
		}
	}
	once(hash(0, "always"))
	if worked {
		once(hash(0, "worked"))
	}
	once(hash(uint32(min(len(r.sentences), 5)), "sentences"))
	if r.shown {
		once(hash(0, "shown"))
	}
	said := uint32(0)
	if r.asks(worked) {
		said = 1
	}
	if once(hash(said, "cues say")); worked {
		once(hash(said, "cues say of work"))
	}
	r.cues.each(func(c uint32) { once(hash(c, "cue of any")) })
	for i := range r.sentences {
		s := &r.sentences[i]
		if s.made || s.cues&cueCourtesy != 0 && i > 0 {
			continue
		}
		places := []uint32{1}
		if s.closes {
			places = append(places, 2)
		}
		if i == 0 {
			places = append(places, 3)
		}
		if i == len(r.sentences)-1 {
			places = append(places, 4)
		}
		asks, words := r.sentenceAsks(i, s, worked), words(s.text, s.asks)
		for _, place := range places {
			if s.item {
				place += 8
			}
			s.cues.each(func(c uint32) {
				once(hash(place<<5|c, "cue"))
				if s.asks {
					once(hash(place<<5|c, "cue of a question"))
				}
			})
			for sign, is := range map[string]bool{"question": s.asks, "asks": asks, "title": s.title} {
				if is {
					once(hash(place, sign))
				}
			}
			for j := range words {
				h := place
				for _, word := range words[j:min(j+3, len(words))] {
					h = hash(h, word)
					once(h)
				}
			}
		}
	}
}

// hash is FNV-1a, from a start.
func hash(start uint32, s string) uint32 {
	h := (2166136261 ^ start) * 16777619
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h ^ h>>16
}

// words splits a sentence into words, Chinese characters, and # for numbers, with its beginning and its end.
func words(s string, asks bool) []string {
	all := make([]string, 1, 32)
	all[0] = "^"
	from := -1
	end := func(at int) {
		if from >= 0 {
			all = append(all, s[from:at])
		}
		from = -1
	}
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z' || c == '\'':
			if from < 0 {
				from = i
			}
		case c >= '0' && c <= '9':
			end(i)
			if all[len(all)-1] != "#" {
				all = append(all, "#")
			}
		default:
			end(i)
			if c > 0x2E80 || string(c) == hidden {
				all = append(all, s[i:i+utf8.RuneLen(c)])
			}
		}
	}
	end(len(s))
	if asks {
		return append(all, "?")
	}
	return append(all, "$")
}
