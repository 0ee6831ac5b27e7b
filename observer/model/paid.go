package model

import (
	"errors"
	"math"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
)

// paid is what the requests of one turn cost together, and what was at them last.
type paid struct {
	usage events.Usage
	cost  float64
	calls int
	model string
}

// add counts what one Ask came to, whichever way it ended.
func (p *paid) add(r observer.Reply, err error) {
	f, failed := errors.AsType[*observer.Failure](err)
	switch {
	case failed:
		p.count(f.Usage, f.Cost, f.Calls, f.Model)
	case err != nil:
		p.count(r.Usage, r.Cost, r.Calls, r.Model)
	default:
		p.count(r.Usage, r.Cost, max(1, r.Calls), r.Model)
	}
}

// maxTokens is more than a request can use. It keeps sums in range, whatever a service says.
const maxTokens = 1 << 40

// count adds figures, as far as a service can mean them.
func (p *paid) count(u events.Usage, cost float64, calls int, model string) {
	sane := func(n int64) int64 { return min(max(0, n), maxTokens) }
	p.usage.Input += sane(u.Input)
	p.usage.Cached += sane(u.Cached)
	p.usage.Output += sane(u.Output)
	if cost > 0 && !math.IsInf(cost, 0) {
		p.cost += cost
	}
	p.calls += max(0, calls)
	if model = modelName(model); model != "" {
		p.model = model
	}
}

// maxModel is the longest name of a model that is kept: it is stored with every turn. Known ones have less than 80 bytes.
const maxModel = 128

// modelName is s, what a service says of itself, if it may be recorded and shown as a name; else "".
func modelName(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxModel || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// reply is r with what all was paid.
func (p paid) reply(r observer.Reply) observer.Reply {
	r.Usage, r.Cost, r.Calls, r.Model = p.usage, p.cost, p.calls, p.model
	return r
}

// failure is a copy of f with what all was paid.
func (p paid) failure(f observer.Failure) *observer.Failure {
	f.Usage, f.Cost, f.Calls, f.Model = p.usage, p.cost, p.calls, p.model
	return &f
}
