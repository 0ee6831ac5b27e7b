package full

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/redact"
)

// An exception is what only looks like a secret.
type exception struct {
	ofMatch bool // regexes are asked of the match, else of the secret
	both    bool // regexes and stop words, where there are both
	exprs   []*regexp.Regexp
	words   *redact.Keywords // nil: none
}

// newException makes one of a list. Of paths and lines none is made: they are not the secret's.
func newException(a allowed) (x exception, ok bool, err error) {
	and := strings.EqualFold(a.Condition, "AND") || a.Condition == "&&"
	if a.Target == "line" || and && len(a.Paths) > 0 {
		a.Regexes = nil
		if and {
			return x, false, nil
		}
	}
	x.ofMatch, x.both = a.Target == "match", and
	for _, r := range a.Regexes {
		expr, err := regexp.Compile(r)
		if err != nil {
			return x, false, err
		}
		x.exprs = append(x.exprs, expr)
	}
	if len(a.StopWords) > 0 {
		x.words = redact.NewKeywords(a.StopWords)
	}
	return x, len(x.exprs) > 0 || x.words != nil, nil
}

func (x exception) holds(secret, match string) bool {
	stopped := x.words != nil && x.stopped(secret)
	if x.words != nil && len(x.exprs) > 0 && x.both != stopped {
		return stopped
	}
	if len(x.exprs) == 0 {
		return stopped
	}
	target := secret
	if x.ofMatch {
		target = match
	}
	return slices.ContainsFunc(x.exprs, func(expr *regexp.Regexp) bool { return expr.MatchString(target) })
}

// stopped reports whether a stop word stands in a secret.
func (x exception) stopped(secret string) (found bool) {
	x.words.Each(secret, func(int, int) bool {
		found = true
		return false
	})
	return found
}
