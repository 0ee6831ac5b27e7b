package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sums are what became of some facts, by worth.
type sums struct {
	Facts int `json:"facts"`
	Worth int `json:"worth"`
	Kept  int `json:"kept"`
	Told  int `json:"told"`
	Found int `json:"found"`
}

func (s *sums) add(f judged) {
	s.Facts, s.Worth = s.Facts+1, s.Worth+f.Worth
	for _, c := range []struct {
		sum *int
		is  bool
	}{{&s.Kept, f.kept}, {&s.Told, f.told}, {&s.Found, f.found}} {
		if c.is {
			*c.sum += f.Worth
		}
	}
}

func (s *sums) String() string {
	percent := func(n int) float64 { return 100 * float64(n) / float64(max(1, s.Worth)) }
	return fmt.Sprintf("kept %5.1f %%  told %5.1f %%  found %5.1f %%", percent(s.Kept), percent(s.Told), percent(s.Found))
}

// judged is a fact and what became of it.
type judged struct {
	fact
	kept, told, found bool
}

// measured is what one session's memory is worth.
type measured struct {
	facts                          []judged
	rows, rowTokens, contextTokens int
	sentences, twice, pending      int
}

// result is what a measurement says. Tokens are those of all sessions.
type result struct {
	Observer         string           `json:"observer"`
	Held             bool             `json:"held"`
	All              sums             `json:"all"` // without what is stale, as the sums below
	Sessions         map[string]*sums `json:"sessions"`
	Kinds            map[string]*sums `json:"kinds"`
	Languages        map[string]*sums `json:"languages"`
	Stale            int              `json:"stale"`
	StaleKept        int              `json:"stale_kept"`
	StaleTold        int              `json:"stale_told"`
	Rows             int              `json:"rows"`
	RowTokens        int              `json:"row_tokens"`
	ContextTokens    int              `json:"context_tokens"`
	ContextSentences int              `json:"context_sentences"`
	ContextTwice     int              `json:"context_twice"`
	Pending          int              `json:"pending"`
	Missed           []fact           `json:"missed"` // that no row holds; never null
}

func newResult(observer string, held bool) *result {
	return &result{Observer: observer, Held: held, Sessions: map[string]*sums{}, Kinds: map[string]*sums{}, Languages: map[string]*sums{}, Missed: []fact{}}
}

func (r *result) add(s session, m measured) {
	for _, f := range m.facts {
		if f.Stale {
			r.stale(f)
			continue
		}
		r.All.add(f)
		for _, c := range []struct {
			by   map[string]*sums
			name string
		}{{r.Sessions, s.Name}, {r.Kinds, f.Kind}, {r.Languages, s.Language}} {
			if c.by[c.name] == nil {
				c.by[c.name] = &sums{}
			}
			c.by[c.name].add(f)
		}
		if !f.kept {
			r.Missed = append(r.Missed, f.fact)
		}
	}
	r.Rows, r.RowTokens, r.ContextTokens = r.Rows+m.rows, r.RowTokens+m.rowTokens, r.ContextTokens+m.contextTokens
	r.ContextSentences, r.ContextTwice = r.ContextSentences+m.sentences, r.ContextTwice+m.twice
	r.Pending += m.pending
}

func (r *result) stale(f judged) {
	r.Stale++
	if f.kept {
		r.StaleKept++
	}
	if f.told {
		r.StaleTold++
	}
}

// text is the result for a person.
func (r *result) text(missed bool) string {
	var b strings.Builder
	n := max(1, len(r.Sessions))
	fmt.Fprintf(&b, "%d sessions, %d facts by worth: %s\n", len(r.Sessions), r.All.Facts, &r.All)
	fmt.Fprintf(&b, "stale: %d of %d kept, %d told\n", r.StaleKept, r.Stale, r.StaleTold)
	fmt.Fprintf(&b, "a session: %d rows, %d tokens; context %d tokens; %d of %d sentences said already; pending %d\n",
		r.Rows/n, r.RowTokens/n, r.ContextTokens/n, r.ContextTwice, r.ContextSentences, r.Pending)
	for _, by := range []map[string]*sums{r.Kinds, r.Languages, r.Sessions} {
		b.WriteByte('\n')
		for _, name := range slices.Sorted(maps.Keys(by)) {
			fmt.Fprintf(&b, "  %-20s %3d facts  %s\n", name, by[name].Facts, by[name])
		}
	}
	for _, f := range r.Missed {
		if missed {
			fmt.Fprintf(&b, "\nmissed %s (%s, %d): %s %q", f.ID, f.Kind, f.Worth, f.Fact, f.Must)
		}
	}
	if missed {
		b.WriteByte('\n')
	}
	return b.String()
}
