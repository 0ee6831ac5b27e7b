package full

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

// sample makes up a text that an expression matches, if what it asks of its borders is given.
type sampler struct {
	*rand.Rand
	out strings.Builder
}

func (m *sampler) sample(tb testing.TB, expr string) string {
	tb.Helper()
	r, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		tb.Fatal(err)
	}
	m.out.Reset()
	m.write(r)
	return m.out.String()
}

func (m *sampler) write(r *syntax.Regexp) {
	switch r.Op {
	case syntax.OpLiteral:
		m.out.WriteString(string(r.Rune))
	case syntax.OpCharClass:
		m.out.WriteRune(m.oneOf(r.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.out.WriteByte('.') // where it stands alone, that is what its author meant
	case syntax.OpStar:
		m.times(r.Sub[0], m.IntN(4))
	case syntax.OpPlus:
		m.times(r.Sub[0], 1+m.IntN(4))
	case syntax.OpQuest:
		m.times(r.Sub[0], m.IntN(2))
	case syntax.OpRepeat:
		most := r.Max
		if most < 0 {
			most = r.Min + 20
		}
		m.times(r.Sub[0], r.Min+m.IntN(most-r.Min+1))
	case syntax.OpAlternate:
		m.write(r.Sub[m.IntN(len(r.Sub))])
	default:
		for _, sub := range r.Sub {
			m.write(sub)
		}
	}
}

func (m *sampler) times(r *syntax.Regexp, n int) {
	for range n {
		if r.Op == syntax.OpAnyChar || r.Op == syntax.OpAnyCharNotNL {
			m.out.WriteByte("ab27z -"[m.IntN(7)])
			continue
		}
		m.write(r)
	}
}

// oneOf is a character of a class, of printable ASCII where that has some.
func (m *sampler) oneOf(ranges []rune) rune {
	var all []rune
	for i := 0; i < len(ranges); i += 2 {
		for c := max(ranges[i], ' '); c <= min(ranges[i+1], '~'); c++ {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return ranges[0]
	}
	return all[m.IntN(len(all))]
}
