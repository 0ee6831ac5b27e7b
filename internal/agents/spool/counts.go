package spool

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/known"
)

// appendCounts appends what was taken out, as the header of a spool file says it: kind=number, between spaces.
func appendCounts(b []byte, found map[string]int) []byte {
	for i, kind := range slices.Sorted(maps.Keys(found)) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, kind...), '=')
		b = strconv.AppendInt(b, int64(found[kind]), 10)
	}
	return b
}

// maxKinds bounds what is believed of such a header.
const maxKinds = 200

// readCounts is the other side of appendCounts. What it does not understand it passes over.
func readCounts(s string) map[string]int {
	var found map[string]int
	for _, field := range strings.Fields(s) {
		kind, number, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n <= 0 || !known.IsName(kind) || len(found) == maxKinds {
			continue
		}
		if found == nil {
			found = map[string]int{}
		}
		found[kind] = n
	}
	return found
}
