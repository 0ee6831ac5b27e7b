package full

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/redact"
)

// file is what is read of a file of rules.
type file struct {
	Allowlist allowed `toml:"allowlist"`
	Rules     []entry `toml:"rules"`
}

// entry is a rule as the file has it.
type entry struct {
	ID         string    `toml:"id"`
	Regex      string    `toml:"regex"`
	Group      int       `toml:"secretGroup"`
	Entropy    float64   `toml:"entropy"`
	Keywords   []string  `toml:"keywords"`
	Allowlists []allowed `toml:"allowlists"`
}

// allowed is a list of exceptions as the file has it.
type allowed struct {
	Condition string   `toml:"condition"`
	Paths     []string `toml:"paths"`
	Target    string   `toml:"regexTarget"`
	Regexes   []string `toml:"regexes"`
	StopWords []string `toml:"stopwords"`
}

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

// matcher is a rule that can be used.
type matcher struct {
	name    string
	expr    *regexp.Regexp
	group   int // of the secret; 0: the first that is not empty, else all
	entropy float64
	reach   int // bytes before and behind a keyword that a match has at most; 0: it may stand anywhere
	acquit  []exception
}

func newMatcher(e entry, global allowed) (*matcher, error) {
	expr, err := regexp.Compile(e.Regex)
	if err != nil {
		return nil, err
	}
	if e.Group < 0 || e.Group > expr.NumSubexp() {
		return nil, fmt.Errorf("there is no group %d", e.Group)
	}
	m := &matcher{name: e.ID, expr: expr, group: e.Group, entropy: e.Entropy, reach: reachOf(e)}
	for _, a := range append([]allowed{global}, e.Allowlists...) {
		x, ok, err := newException(a)
		if err != nil {
			return nil, err
		}
		if ok {
			m.acquit = append(m.acquit, x)
		}
	}
	return m, nil
}

// find appends the secrets of s[from:to] to spans.
func (m *matcher) find(s string, from, to int, spans []redact.Span) []redact.Span {
	part := s[from:to]
	if !m.expr.MatchString(part) { // which is much quicker than to find the groups
		return spans
	}
	for _, at := range m.expr.FindAllStringSubmatchIndex(part, -1) {
		start, end := m.secret(at)
		secret, match := part[start:end], strings.Trim(part[at[0]:at[1]], "\n")
		if secret == "" || redact.Marked(s, from+start, from+end) || m.entropy > 0 && entropy(secret) <= m.entropy || m.acquitted(secret, match) {
			continue
		}
		spans = append(spans, redact.Span{Start: from + start, End: from + end, Rule: m.name})
	}
	return spans
}

// secret returns where the secret of a match begins and ends.
func (m *matcher) secret(at []int) (start, end int) {
	if m.group > 0 {
		return max(0, at[2*m.group]), max(0, at[2*m.group+1])
	}
	for g := 2; g < len(at); g += 2 {
		if at[g] < at[g+1] {
			return at[g], at[g+1]
		}
	}
	return at[0], at[1]
}

// entropy is Shannon's in bits a character, as the rules count it: by characters, over bytes.
func entropy(s string) (bits float64) {
	counts := map[rune]int{}
	for _, c := range s {
		counts[c]++
	}
	for _, n := range counts {
		p := float64(n) / float64(len(s))
		bits -= p * math.Log2(p)
	}
	return bits
}
