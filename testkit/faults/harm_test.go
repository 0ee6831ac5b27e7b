//go:build unix

package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A harm is the most that damage of a file may take away.
type harm int

const (
	takeNothing harm = iota // what was recorded is in the log, and what waited or was reported is there or kept
	takePayload             // the same, but for one payload that waited
	takeRecords             // records of the log
)

// told is what a home tells.
type told struct {
	rows []string // ids and titles of what searches find
	log  []string // ids of tool uses and saved texts, each with how often
}

// An undamaged is what a home tells that is whole, once all that waits and is reported is taken.
type undamaged struct {
	told
	recorded []string // what of it is in the log before it is served
	usual    []string // the checks of doctor that are not well before it is served
}

// An outcome is what became of a home that was damaged and then used.
type outcome struct {
	told
	unread   bool   // the log cannot be read to its end
	searched bool   // a daemon came up, and searches answered
	kept     int    // payloads that wait, are set aside or are counted as lost
	said     string // what commands say that is not well, without what is said of a home that is whole
}

// unallowed says what must not have become of a home of which a file was damaged that may do so much harm. Of a file that was removed
// nothing is left that could be told, unless something else names it.
func unallowed(may harm, removed bool, before undamaged, now outcome) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	lost, more := without(before.log, now.log), without(now.log, before.log)
	ofLog := without(before.recorded, now.log)
	if may != takeRecords && (len(ofLog) > 0 || len(more) > 0 || now.unread) {
		fault("the log was whole, and has lost %q and gained %q; it can be read: %v", ofLog, more, !now.unread)
	}
	spare := now.kept
	if may == takePayload {
		spare++
	}
	if gone := len(lost) - len(ofLog); gone > spare && !now.unread {
		fault("%d payloads are neither in the log nor kept, where %d may be missing: %q", gone, spare, without(lost, ofLog))
	}
	rows := !slices.Equal(now.rows, before.rows)
	if rows && now.searched && may == takeNothing && len(lost) == 0 {
		fault("the log is whole, and searches find\n%q\nnot\n%q", now.rows, before.rows)
	}
	if silent := now.said == "" && !(may == takePayload && removed); silent && (rows || now.unread || len(lost)+len(more) > 0) {
		fault("nothing is said; lost %q, gained %q, searches find\n%q\nnot\n%q", lost, more, now.rows, before.rows)
	}
	if may != takeRecords && strings.Contains(now.said, "begin anew, move") {
		fault("the log is whole, and the advice is to move it away: %s", now.said)
	}
	return faults
}

// without is what of all is not in others.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(others, one) })
}

// TestJudge: a home that lost something fails, and so does one that says nothing of it.
func TestUnallowed(t *testing.T) {
	t.Parallel()
	before := undamaged{told{[]string{"row a", "row b"}, []string{"1 a", "1 b", "1 waited", "1 after"}}, []string{"1 a", "1 b"}, []string{"spool"}}
	all := func(change func(*outcome)) outcome {
		o := outcome{told: told{slices.Clone(before.rows), slices.Clone(before.log)}, searched: true}
		change(&o)
		return o
	}
	const damagedLog = "log: wrong: it is damaged"
	tests := []struct {
		name    string
		may     []harm
		removed bool
		now     outcome
		faults  bool
	}{
		{"all is there", []harm{takeNothing, takePayload, takeRecords}, false, all(func(*outcome) {}), false},
		{"everything is gone", []harm{takeNothing, takePayload, takeRecords}, false,
			all(func(o *outcome) { o.told, o.said = told{}, damagedLog }), true},
		{"a record is gone, and it is said", []harm{takeNothing, takePayload}, false,
			all(func(o *outcome) { o.log, o.said = []string{"1 b", "1 waited", "1 after"}, damagedLog }), true},
		{"a record of a damaged log is gone, and it is said", []harm{takeRecords}, false,
			all(func(o *outcome) { o.log, o.said = []string{"1 b", "1 waited", "1 after"}, damagedLog }), false},
		{"a record of a damaged log is gone, and nothing is said", []harm{takeRecords}, false,
			all(func(o *outcome) { o.log = []string{"1 b", "1 waited", "1 after"} }), true},
		{"a record is there twice", []harm{takeNothing, takePayload}, false,
			all(func(o *outcome) { o.log[0], o.said = "2 a", damagedLog }), true},
		{"the log cannot be read", []harm{takeNothing, takePayload}, false, all(func(o *outcome) { o.unread, o.said = true, damagedLog }), true},
		{"a damaged log cannot be read", []harm{takeRecords}, false, all(func(o *outcome) { o.log, o.unread, o.said = nil, true, damagedLog }), false},
		{"a damaged log cannot be read, and nothing is said", []harm{takeRecords}, false, all(func(o *outcome) { o.unread = true }), true},
		{"no daemon came up, and two wait", []harm{takeNothing, takePayload, takeRecords}, false,
			all(func(o *outcome) {
				o.told, o.searched, o.kept, o.said = told{log: before.recorded}, false, 2, "config: wrong"
			}), false},
		{"no daemon came up, and one waits", []harm{takeNothing, takeRecords}, false,
			all(func(o *outcome) {
				o.told, o.searched, o.kept, o.said = told{log: before.recorded}, false, 1, "config: wrong"
			}), true},
		{"what waited is gone, and nothing is said", []harm{takePayload}, false, all(func(o *outcome) { o.log = []string{"1 a", "1 b", "1 after"} }), true},
		{"what waited was removed", []harm{takePayload}, true, all(func(o *outcome) { o.log = []string{"1 a", "1 b", "1 after"} }), false},
		{"a row is another", []harm{takeNothing}, false, all(func(o *outcome) { o.rows[1], o.said = "row c", "views: wrong" }), true},
		{"a row of a damaged log is another, and nothing is said", []harm{takeRecords}, false, all(func(o *outcome) { o.rows[1] = "row c" }), true},
		{"searches fail, and say so", []harm{takeNothing}, false, all(func(o *outcome) { o.rows, o.searched, o.said = nil, false, "search: code 1" }), false},
		{"a whole log is to be moved away", []harm{takeNothing, takePayload}, false, all(func(o *outcome) { o.said = "to begin anew, move it away" }), true},
	}
	for _, tt := range tests {
		for _, may := range tt.may {
			if got := unallowed(may, tt.removed, before, tt.now); (len(got) > 0) != tt.faults {
				t.Errorf("%s (%d): got %q, want faults: %v", tt.name, may, got, tt.faults)
			}
		}
	}
}
