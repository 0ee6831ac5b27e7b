package full

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/redact"
)

// ruleSet is all rules, and what tells which of them to try.
type ruleSet struct {
	rules []*rule
	words *redact.Keywords
	of    [][]int // by keyword: the rules that have it
	every []int   // rules without keywords

	length []int // by keyword: in bytes
}

var errNoRules = errors.New("there are none")

func parse(text string) (*ruleSet, error) {
	var f file
	if err := toml.Unmarshal([]byte(text), &f); err != nil {
		return nil, &RuleError{Err: err}
	}
	if len(f.Rules) == 0 {
		return nil, &RuleError{Err: errNoRules}
	}
	set, number := &ruleSet{}, map[string]int{}
	var words []string
	for _, e := range f.Rules {
		if e.Regex == "" {
			continue // it is about names of files
		}
		at := len(set.rules)
		set.rules = append(set.rules, newRule(e, f.Allowlist))
		if len(e.Keywords) == 0 {
			set.every = append(set.every, at)
		}
		for _, w := range e.Keywords {
			w = strings.ToLower(w)
			n, known := number[w]
			if !known {
				n = len(words)
				number[w], words, set.of = n, append(words, w), append(set.of, nil)
				set.length = append(set.length, len(w))
			}
			set.of[n] = append(set.of[n], at)
		}
	}
	set.words = redact.NewKeywords(words)
	return set, nil
}

// spans lists what the rules find in s, in no order.
func (set *ruleSet) spans(s string) (spans []redact.Span, err error) {
	due := make([]window, len(set.rules))
	for _, i := range set.every {
		due[i].all = true
	}
	set.words.Each(s, func(word, end int) bool {
		for _, i := range set.of[word] {
			c, e := set.rules[i].compiled()
			if e != nil {
				err = e
				return false
			}
			spans = due[i].open(s, c, end-set.length[word], end, spans)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for i := range due {
		if !due[i].all && due[i].to == 0 {
			continue
		}
		c, err := set.rules[i].compiled()
		if err != nil {
			return nil, err
		}
		spans = due[i].close(s, c, spans)
	}
	return spans, nil
}

// rule is one that is compiled when its keyword is met first.
type rule struct {
	name     string
	compiled func() (*matcher, error)
}

func newRule(e entry, global allowed) *rule {
	return &rule{name: e.ID, compiled: sync.OnceValues(func() (*matcher, error) {
		m, err := newMatcher(e, global)
		if err != nil {
			return nil, &RuleError{Rule: e.ID, Err: err}
		}
		return m, nil
	})}
}

// A RuleError is a rule that cannot be used.
type RuleError struct {
	Rule string // its name; empty: the set as a whole
	Err  error
}

// Error says which rule and why.
func (e *RuleError) Error() string {
	if e.Rule == "" {
		return fmt.Sprintf("full: rules: %v", e.Err)
	}
	return fmt.Sprintf("full: rule %s: %v", e.Rule, e.Err)
}

// Unwrap returns the reason.
func (e *RuleError) Unwrap() error { return e.Err }
