// Command asking learns the weights of backend/agent/asking from texts.tsv, which were written for it: a reply in each line,
// with whether it asks (+ or -) and whether tools have worked before it (w). Run it from the top of the tree; the same texts
// make the same weights.
package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strings"

	"deskbell/backend/agent/asking"
)

const (
	texts   = "build/scripts/asking/texts.tsv"
	weights = "backend/agent/asking/weights.bin"
	rounds  = 10
	decay   = 0.002
	rate    = 0.05
)

type example struct {
	features []int
	asks     float64
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "asking:", err)
		os.Exit(1)
	}
}

func run() error {
	examples, err := read(texts)
	if err != nil {
		return err
	}
	// Of what is learned from four fifths, how much is right about the fifth that was left out.
	right := 0
	for part := range 5 {
		var known, left []example
		for i, e := range examples {
			if i%5 == part {
				left = append(left, e)
			} else {
				known = append(known, e)
			}
		}
		w := learn(known)
		for _, e := range left {
			if (score(w, e) > 0) == (e.asks > 0) {
				right++
			}
		}
	}
	fmt.Printf("%d texts; the weights alone judge %d of them right when left out\n", len(examples), right)
	return os.WriteFile(weights, pack(learn(examples)), 0o644)
}

func read(file string) ([]example, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var all []example
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		kind, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok || kind == "" || kind[0] == '#' {
			continue
		}
		e := example{features: asking.Features(strings.ReplaceAll(text, `\n`, "\n"), strings.Contains(kind, "w"))}
		if kind[0] == '+' {
			e.asks = 1
		}
		all = append(all, e)
	}
	return all, lines.Err()
}

// learn is logistic regression, by gradients that are each divided by how large they have been.
func learn(examples []example) []float64 {
	w, squares := make([]float64, asking.Buckets), make([]float64, asking.Buckets)
	random := rand.New(rand.NewSource(1))
	for range rounds {
		for _, i := range random.Perm(len(examples)) {
			e := examples[i]
			wrong := 1/(1+math.Exp(-score(w, e))) - e.asks
			for _, f := range e.features {
				g := wrong + decay*w[f]
				squares[f] += g * g
				w[f] -= rate * g / math.Sqrt(squares[f]+1e-8)
			}
		}
	}
	return w
}

func score(w []float64, e example) (sum float64) {
	for _, f := range e.features {
		sum += w[f]
	}
	return sum
}

// pack stores each weight in a byte.
func pack(w []float64) []byte {
	packed := make([]byte, len(w))
	for i, x := range w {
		packed[i] = byte(int8(max(-127, min(127, math.Round(x*asking.Scale)))))
	}
	return packed
}
