package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for _, good := range []store.Key{
		"s/space", "s2mz/log/7q/s/00000000000000ff.1", "s/a-b.c", "1/2", "s/nul", "s/a..b", store.Key("s/" + strings.Repeat("a", 120)),
	} {
		if err := good.Check(); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []store.Key{
		"", "s", "/", "s/", "/a", "s//a", "s/a/", "../a", "s/..", "s/.a", "s/a.", "s/-a", "s/A",
		"S/a", "s/a_b", "s/a b", "s/a*", "s/>", "s/a\x00",
		"s/ä",
		"s-t/a", "s.t/a", `s/a\b`, "s/a:b", "s/a.sync-conflict-20260101-120000-ABCDEFG",
		store.Key("s/" + strings.Repeat("a", 121)), store.Key("s/" + strings.Repeat("a/", 120) + "a"),
	} {
		if err := bad.Check(); !errors.Is(err, store.ErrKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCheckPrefix(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "s/", "s/log/7q/s/"} {
		if err := store.CheckPrefix(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"s", "s/log", "/", "s//", "../", "s/../", "S/", "*/"} {
		if err := store.CheckPrefix(bad); !errors.Is(err, store.ErrKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
