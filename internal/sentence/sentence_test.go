package sentence

import (
	"strings"
	"testing"
)

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

func TestWithoutLinks(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("](", 500_000) + ")"
	for s, want := range map[string]string{
		"":                                     "",
		"see [the cart](https://shop.example)": "see the cart",
		"see ![it](a.png), [`cart.go`](cart.go#L1) and [b](c)": "see it, `cart.go` and b",
		"`handlers[name](ctx)` calls `list[i](x)`, see [a](b)": "`handlers[name](ctx)` calls `list[i](x)`, see a",
		"a mark ` and [a](b)": "a mark ` and a",
		"[no end](of it":      "[no end](of it",
		many:                  many,
	} {
		if got := WithoutLinks(s); got != want {
			t.Errorf("%.80q: %.80q, want %.80q", s, got, want)
		}
	}
}

// TestFirstBeforeCode: a sentence may begin with code; behind an abbreviation, a number or within code none does.
func TestFirstBeforeCode(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"The dirs are scratch. `cart.go` makes them.":             "The dirs are scratch.",
		"It calls `total()`. `tax()` is not called. All is well.": "It calls `total()`.",
		"It is read twice (see below). `cart.go` is to blame.":    "It is read twice (see below).",
		"Read `a. `b` twice. Done.":                               "Read `a. `b` twice.",
		"Use a flag, e.g. `--all`, or none. Then go on.":          "Use a flag, e.g. `--all`, or none.",
		"Files, logs etc. `cart.go` writes. Then go on.":          "Files, logs etc. `cart.go` writes.",
		"It reads all of it, incl. `cart.go`. Then go on.":        "It reads all of it, incl. `cart.go`.",
		"1. `cart.go` is first. It is short.":                     "1. `cart.go` is first.",
		"The total is `a` and `b`. The tax is `c`.":               "The total is `a` and `b`.",
		"Run the shop.example `cart.go`. It is short.":            "Run the shop.example `cart.go`.",
		"Die Mappe fehlt. `cart.go` legt sie an.":                 "Die Mappe fehlt.",
		"": "",
	} {
		if got, rest := First(s); got != want || got+rest != s && got+" "+rest != s {
			t.Errorf("%q: %q and %q, want %q", s, got, rest, want)
		}
	}
}
