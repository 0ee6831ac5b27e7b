package process

import (
	"strings"
	"testing"
)

func TestStartOfStat(t *testing.T) {
	t.Parallel()
	const rest = " S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8877 10 20"
	for stat, want := range map[string]string{
		"12 (cmemd)" + rest:      "8877",
		"12 (a) b (c)) )" + rest: "8877",
		"12 (x) S 1 2 3":         "",
		"":                       "",
		"12 (dead) Z" + rest[2:]: "",
		"12 (dead, all of its threads) Z" + strings.Replace(rest[2:], " 0 1 0 ", " 0 0 0 ", 1):    "",
		"12 (dead, but for some threads) Z" + strings.Replace(rest[2:], " 0 1 0 ", " 0 12 0 ", 1): "8877",
		"12 no parentheses 1 2 3 4 5": "",
	} {
		got, err := startOfStat([]byte(stat))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("startOfStat(%q) = %q, %v, want %q", stat, got, err, want)
		}
	}
}
