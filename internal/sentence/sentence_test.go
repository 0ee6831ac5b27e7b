package sentence

import "testing"

// TestWithoutEmphasis: marks of bold text go, and names of code that hold the same signs stay.
func TestWithoutEmphasis(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                     "",
		"**Next.js 14** with TypeScript":       "Next.js 14 with TypeScript",
		"3. **`wrapper(*args, **kwargs)`** is": "3. `wrapper(*args, **kwargs)` is",
		"`a/**/b` and **c**":                   "`a/**/b` and c",
		"a mark ` alone, **then** bold":        "a mark ` alone, then bold",
	} {
		if got := WithoutEmphasis(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
