package redact

import (
	_ "embed" // general.tsv
	"strings"
)

// The general rule knows a token by its shape alone: a short prefix, a sign, and much that was drawn by lot. It is for makers
// of whom the table knows nothing.

const (
	// generalName is the rule's name.
	generalName = "token"
	// generalPrefix is how long its prefix is at most, and generalBody how much that was drawn stands behind it at least: of 32
	// forms that were new in 2026 it knows 16.
	generalPrefix = 10
	generalBody   = 22
)

//go:embed general.tsv
var idTable string

// idPrefixes lists what stands before ids, which are no secrets.
func idPrefixes() map[string]bool {
	known := map[string]bool{}
	for fields := range rowsOf(idTable, 3) {
		for prefix := range strings.FieldsSeq(fields[0]) {
			known[prefix] = true
		}
	}
	return known
}

// general looks for tokens by their shape. A run of generalBody letters and digits is met by looking at each generalBody-th
// byte.
func (f *finder) general(ids map[string]bool) {
	for i := generalBody - 1; i < len(f.s); {
		if !isAlnum(f.s[i]) {
			i += generalBody
			continue
		}
		from, least := i, max(0, i-generalBody+1)
		for from > least && isAlnum(f.s[from-1]) {
			from--
		}
		stop := run(f.s, i, isAlnum)
		if stop-from >= generalBody {
			f.behindPrefix(from, stop, ids)
		}
		i = stop + generalBody
	}
}

// behindPrefix takes s[from:stop], which are letters and digits, for a token if a prefix stands before it.
func (f *finder) behindPrefix(from, stop int, ids map[string]bool) {
	sign := f.at(from - 1)
	if sign != '_' && sign != '-' && sign != '.' {
		return
	}
	start := from - 1
	for start > 0 && from-1-start <= generalPrefix && isWord(f.s[start-1]) && !f.escaped(start) {
		start--
	}
	prefix := f.s[start : from-1]
	if prefix == "" || len(prefix) > generalPrefix || !isLetter(prefix[0]) || !f.begins(start) || isInner(f.at(start-1)) && !f.escaped(start) || isID(f.s[start:from], ids) {
		return
	}
	if body := f.s[from:min(stop, from+decisiveBytes)]; holds(body, notHex) && secretive(body) {
		f.weak(start, run(f.s, stop, isToken), generalName)
	}
}

// isID reports whether a prefix, with its sign, stands before ids: all of it does, or its last word.
func isID(prefix string, ids map[string]bool) bool {
	return ids[prefix] || ids[prefix[1+strings.LastIndexByte(prefix[:len(prefix)-1], '_'):]]
}

// isInner is for what stands before a prefix only in the middle of something longer: a path, an address, a name.
func isInner(c byte) bool {
	return c == '/' || c == '-' || c == '.' || c == '+' || c == '@' || c == '%'
}

func notHex(c byte) bool { return !isHex(c) }
