package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// answer is what a question found, best first.
type answer struct {
	query
	found []string
}

// atDepth is what was found among the first results.
type atDepth struct {
	Depth  int     `json:"depth"`
	Recall float64 `json:"recall"` // the part of the evidence, averaged over the questions
	Any    float64 `json:"any"`    // the part of the questions for which some evidence was found
}

// result is what a measurement says.
type result struct {
	Documents  int       `json:"documents"`
	Queries    int       `json:"queries"`
	Embeddings string    `json:"embeddings,omitempty"` // what made the vectors; empty: words alone
	At         []atDepth `json:"at"`
	MRR        float64   `json:"mrr"`
	Seconds    float64   `json:"seconds"`
	Misses     []string  `json:"misses"` // ids of the questions whose evidence is not all among the first 10; never null
	missed     []answer
}

// score sums answers up.
func score(answers []answer, docs int) result {
	r := result{Documents: docs, Queries: len(answers), Misses: []string{}}
	n := float64(max(1, len(answers)))
	for _, depth := range []int{5, 10, 20} {
		sum := atDepth{Depth: depth}
		for _, a := range answers {
			recall := a.recall(depth)
			sum.Recall += recall / n
			if recall > 0 {
				sum.Any += 1 / n
			}
			if depth == 10 && recall < 1 {
				r.Misses, r.missed = append(r.Misses, a.ID), append(r.missed, a)
			}
		}
		r.At = append(r.At, sum)
	}
	for _, a := range answers {
		if i := slices.IndexFunc(a.found, func(id string) bool { return slices.Contains(a.Evidence, id) }); i >= 0 {
			r.MRR += 1 / float64(i+1) / n
		}
	}
	return r
}

// recall is the part of the evidence among the first results.
func (a answer) recall(depth int) float64 {
	found := 0
	for _, id := range a.Evidence {
		if slices.Contains(a.found[:min(depth, len(a.found))], id) {
			found++
		}
	}
	return float64(found) / float64(len(a.Evidence))
}

func (r result) print(w io.Writer, misses bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d questions over %d documents, %.1f s\n", r.Queries, r.Documents, r.Seconds)
	if r.Embeddings != "" {
		fmt.Fprintf(&b, "by words and by vectors of %s\n", r.Embeddings)
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "  at   recall     any\n")
	for _, a := range r.At {
		fmt.Fprintf(&b, "%4d   %5.1f %%  %5.1f %%\n", a.Depth, 100*a.Recall, 100*a.Any)
	}
	fmt.Fprintf(&b, " MRR   %5.3f\n", r.MRR)
	for _, a := range r.missed {
		if !misses {
			break
		}
		fmt.Fprintf(&b, "\n%s %s: %s\n  want %s\n   got %s\n", a.ID, a.Scope, a.Q, strings.Join(a.Evidence, " "),
			strings.Join(a.found[:min(10, len(a.found))], " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
