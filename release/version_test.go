package main

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/semver"
)

func TestVersion(t *testing.T) {
	at, commit := time.Date(2026, 11, 26, 14, 30, 0, 0, time.UTC), "0123456789abcdef0123456789abcdef01234567"
	for _, tc := range []struct {
		name    string
		tags    []string
		older   string
		changed bool
		want    string
		err     string
	}{
		{name: "a release", tags: []string{"cmd/cmemd-sqlite/v0.1.0", "v0.1.0"}, older: "v0.1.0", want: "0.1.0"},
		{name: "a candidate", tags: []string{"cmd/cmemd-sqlite/v0.2.0-rc.1", "v0.2.0-rc.1"}, older: "v0.2.0-rc.1", want: "0.2.0-rc.1"},
		{name: "a candidate that became the release", tags: []string{"cmd/cmemd-sqlite/v0.2.0", "cmd/cmemd-sqlite/v0.2.0-rc.1", "v0.2.0-rc.1", "v0.2.0"}, older: "v0.2.0", want: "0.2.0"},
		{name: "before the first", want: "0.1.0-0.20261126143000-0123456789ab"},
		{name: "after one", older: "v0.1.9", want: "0.1.10-0.20261126143000-0123456789ab"},
		{name: "after a candidate", older: "v0.2.0-rc.1", want: "0.2.0-rc.1.0.20261126143000-0123456789ab"},
		{name: "with changes", older: "v1.0.0", changed: true, want: "1.0.1-0.20261126143000-0123456789ab.changed"},
		{name: "a release of one module", tags: []string{"v0.1.0"}, older: "v0.1.0", err: "tag the commit as cmd/cmemd-sqlite/v0.1.0 too"},
		{name: "a release of the other one", tags: []string{"cmd/cmemd-sqlite/v0.1.0"}, want: "0.1.0-0.20261126143000-0123456789ab"},
		{name: "one of them of a candidate", tags: []string{"cmd/cmemd-sqlite/v0.2.0-rc.1", "v0.2.0-rc.1", "v0.2.0"}, err: "as cmd/cmemd-sqlite/v0.2.0 too"},
		{name: "a tag with changes", tags: []string{"v0.1.0"}, changed: true, err: "git status"},
		{name: "a tag that is no version", tags: []string{"v0.1"}, err: "v1.2.3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := versionOf(tc.tags, tc.older, at, commit, tc.changed)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %q, %v; want %q, %q", got, err, tc.want, tc.err)
			}
			if tc.err == "" && (!semver.IsValid("v"+got) || tc.older != "" && len(tc.tags) == 0 && semver.Compare("v"+got, tc.older) <= 0) {
				t.Errorf("%s is no version, or not after %s", got, tc.older)
			}
		})
	}
}
