package full

import (
	"github.com/cmemd/cmemd/internal/redact"
)

// A window is the part of a text in which a rule is tried: around its keywords, as far as a match may reach.
type window struct {
	from, to int
	all      bool
}

// open makes room for a match around the keyword s[start:end]. What lies before it and can hold no such match is tried.
func (w *window) open(s string, m *matcher, start, end int, spans []redact.Span) []redact.Span {
	if m.reach == 0 || w.all {
		w.all = true
		return spans
	}
	from, to := max(0, end-m.reach), min(len(s), start+m.reach)
	if from > w.to {
		if w.to > 0 {
			spans = w.try(s, m, spans)
		}
		w.from = from
	}
	w.to = to
	return spans
}

// close tries what is open.
func (w *window) close(s string, m *matcher, spans []redact.Span) []redact.Span {
	if w.all {
		return m.find(s, 0, len(s), spans)
	}
	return w.try(s, m, spans)
}

// try looks into the window. Where a match has no limit and reaches its end, it is followed.
func (w *window) try(s string, m *matcher, spans []redact.Span) []redact.Span {
	for had := len(spans); ; spans = spans[:had] {
		spans = m.find(s, w.from, w.to, spans)
		if w.to == len(s) || len(spans) == had || spans[len(spans)-1].End < w.to-lookaroundBytes {
			return spans
		}
		w.to = min(len(s), w.to+(w.to-w.from))
	}
}
