package operate

import "testing"

func TestManEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a-b": `a\-b`, ".x\n'y\nz.": "\\&.x\n\\&'y\nz.", `a\n`: `a\en`, "": "",
	} {
		if got := manEscaped(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got, want := manProse("one\n\n  two\nthree"), "one\n.PP\n.nf\n  two\n.fi\nthree"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
