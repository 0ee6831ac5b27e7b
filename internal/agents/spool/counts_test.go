package spool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCountsInAHeader(t *testing.T) {
	t.Parallel()
	counts := map[string]int{"github-token": 2, "password": 1}
	text := string(appendCounts(nil, counts))
	if text != "github-token=2 password=1" {
		t.Errorf("got %q", text)
	}
	if diff := cmp.Diff(counts, readCounts(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := readCounts("x=0 y=-1 z =3 Q=1 ../a=2 b=x"); got != nil {
		t.Errorf("got %v", got)
	}
}
