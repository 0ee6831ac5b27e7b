package privacy

import (
	"cmp"
	"slices"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// A scope is a part of a JSON text of which something holds: an object, a list, or one string.
type scope[T any] struct {
	from, to int
	what     T
}

// A frame is an object or a list that is open while a JSON text is read.
type frame[T any] struct {
	from   int
	key    string // the name that was read last; of a list none
	member T      // what that name alone says of its value
	what   T
}

// scopes finds the objects and lists of a JSON text of which what stands in them says something other than the zero value. It
// asks of each string, with the name of its member and of the member in which that stands, and of each name with no text.
// {"path":{"text":"a"}} is read as {"path":"a"}: so ripgrep writes it.
func scopes[T comparable](data string, says func(outer, name, text string) T) (found []scope[T]) {
	var none T
	var open []frame[T]
	end := func(low, at int) {
		for _, f := range open[min(low, len(open)):] {
			if f.what != none {
				found = append(found, scope[T]{f.from, at, f.what})
			}
		}
		open = open[:min(low, len(open))]
	}
	outer := func(i int) string {
		if i < 1 {
			return ""
		}
		return open[i-1].key
	}
	s := jsonscan.Scanner[string]{Data: data}
	for t, ok := s.Next(); ok; t, ok = s.Next() {
		end(s.MinDepth(), t.Start)
		for len(open) < t.Depth {
			f := frame[T]{from: t.Start}
			if n := len(open); n > 0 {
				f.what = open[n-1].member
			}
			open = append(open, f)
		}
		at, raw := len(open)-1, data[t.Start:t.End]
		if at < 0 || raw[0] != '"' {
			continue
		}
		f := &open[at]
		if t.Key {
			f.key = jsonscan.Unquote(raw)
			f.member = says(outer(at), f.key, "")
			continue
		}
		if f.member != none {
			found = append(found, scope[T]{t.Start, t.End, f.member})
		}
		if f.key == "text" && at > 0 {
			at--
		}
		if what := says(outer(at), open[at].key, raw); what != none {
			open[at].what = what
		}
	}
	end(0, len(data))
	slices.SortFunc(found, func(a, b scope[T]) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	return found
}

// A reader of scopes goes through them in the order of their text.
type inScopes[T any] struct{ ahead, open []scope[T] }

// at is what holds at a place, behind those that it was asked of before.
func (in *inScopes[T]) at(pos int) (what T, ok bool) {
	for len(in.ahead) > 0 && in.ahead[0].from <= pos {
		in.open, in.ahead = append(in.open, in.ahead[0]), in.ahead[1:]
	}
	for n := len(in.open); n > 0; n = len(in.open) {
		if s := in.open[n-1]; pos < s.to {
			return s.what, true
		}
		in.open = in.open[:n-1]
	}
	return what, false
}
