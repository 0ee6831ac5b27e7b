package clip

import (
	"strings"
	"testing"
)

func TestBase64(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "aZ09+/=-_": 9, "YWJj.": 4, "YWJj\nZGVm": 4, " YWJj": 0, "YWJjé": 4} {
		if got := Base64End(text, 0); got != want {
			t.Errorf("%q: base64 ends at %d, want %d", text, got, want)
		}
	}
	if got := Base64End("x YWJj y", 2); got != 6 {
		t.Errorf("behind what is none it ends at %d, want 6", got)
	}
	for text, want := range map[string]bool{"": false, "aB1": true, "ab1": false, "AB1": false, "aBc": false, strings.Repeat("=", 80): false} {
		if IsMixed(text) != want {
			t.Errorf("%q: mixed is %v, want %v", text, !want, want)
		}
	}
}
