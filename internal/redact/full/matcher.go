package full

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/redact"
)

// matcher is a rule that can be used.
type matcher struct {
	name       string
	expr       *regexp.Regexp
	group      int // of the secret; 0: the first that is not empty, else all
	entropy    float64
	reach      int // bytes before and behind a keyword that a match has at most; 0: it may stand anywhere
	exceptions []exception
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
			m.exceptions = append(m.exceptions, x)
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
		if secret == "" || redact.Marked(s, from+start, from+end) || m.entropy > 0 && entropy(secret) <= m.entropy || m.isException(secret, match) {
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

func (m *matcher) isException(secret, match string) bool {
	return slices.ContainsFunc(m.exceptions, func(x exception) bool { return x.holds(secret, match) })
}
