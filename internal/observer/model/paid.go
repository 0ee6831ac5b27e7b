package model

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// turnBill is what the requests of one turn cost together, and what was at them last.
type turnBill struct {
	sum      events.Bill
	uncosted events.Usage // of the requests that stated no cost
}

// add counts what one Ask of q came to, whichever way it ended.
func (p *turnBill) add(q Question, r observer.Reply, err error) {
	b := r.Bill
	if f, failed := errors.AsType[*observer.Failure](err); failed {
		b = f.Bill
	} else if err == nil {
		b.Calls = max(1, b.Calls)
	}
	p.count(sane(b))
	p.sum.SentBytes += int64(max(0, b.Calls)) * int64(len(q.System)+len(q.User)+len(q.Schema))
}

// maxTokens is more than a request can use, and maxCost more US dollars than it can cost. They keep sums in range, whatever a service says:
// an infinite one could not be recorded, nor what was answered with it.
const (
	maxTokens = 1 << 40
	maxCost   = 1e6
)

// sane is b as far as a service can mean it.
func sane(b events.Bill) events.Bill {
	within := func(u events.Usage) events.Usage {
		bound := func(n int64) int64 { return min(max(0, n), maxTokens) }
		return events.Usage{Input: bound(u.Input), Cached: bound(u.Cached), Output: bound(u.Output)}
	}
	b.Usage, b.Uncosted, b.Calls, b.Model = within(b.Usage), within(b.Uncosted), max(0, b.Calls), modelName(b.Model)
	if !(b.Cost >= 0) || math.IsInf(b.Cost, 0) {
		b.Cost, b.CostStated = 0, false
	}
	b.Cost = min(b.Cost, maxCost)
	return b
}

// count adds the figures of one Ask. A cost says nothing of the requests that stated none.
func (p *turnBill) count(b events.Bill) {
	p.sum.Usage, p.uncosted = Plus(p.sum.Usage, b.Usage), Plus(p.uncosted, b.UncostedUsage())
	p.sum.Cost, p.sum.CostStated = p.sum.Cost+b.Cost, p.sum.CostStated || b.CostStated
	p.sum.Calls += b.Calls
	p.sum.Model = cmp.Or(b.Model, p.sum.Model)
}

// Plus is the sum of each figure.
func Plus(a, b events.Usage) events.Usage {
	return events.Usage{Input: a.Input + b.Input, Cached: a.Cached + b.Cached, Output: a.Output + b.Output}
}

// Most is the greater of each figure: services tell sums, and not all of them each time.
func Most(a, b events.Usage) events.Usage {
	return events.Usage{Input: max(a.Input, b.Input), Cached: max(a.Cached, b.Cached), Output: max(a.Output, b.Output)}
}

// bill is what all was paid.
func (p *turnBill) bill() events.Bill {
	b := p.sum
	if b.Stated() {
		b.Uncosted = p.uncosted
	}
	return b
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
func (p *turnBill) reply(r observer.Reply) observer.Reply {
	r.Bill = p.bill()
	return r
}

// failure is a copy of f with what all was paid.
func (p *turnBill) failure(f observer.Failure) *observer.Failure {
	f.Bill = p.bill()
	return &f
}
