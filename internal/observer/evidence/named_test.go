package evidence

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"The pool in internal/db/pool.go opens first", list("internal/db/pool.go")},
		{"Changed `main.go`, config.yaml and ./src/App.tsx.", list("main.go", "config.yaml", "./src/App.tsx")},
		{"main.go:12 calls main.go:40", list("main.go")},
		{"(see /abs/path/a_b-c.test.ts)", list("/abs/path/a_b-c.test.ts")},
		{"reads .eslintrc.json and @/components/Button.vue", list(".eslintrc.json", "@/components/Button.vue")},
		{"Der Fehler in größe.py", list("größe.py")},
		{"在 src/主.rs 中修复", list("src/主.rs")},
		{`C:\work\a.go`, list("a.go")},
		{"main.go's loop", list("main.go")},
		{"raised go.mod and go.sum", list("go.mod", "go.sum")},
		{"a.c and ab.c", list("ab.c")},
		{"built with Node.js and Next.js on docs.rs", nil},
		{"src/node.js", list("src/node.js")},
		{"https://example.org/a/b.js and github.com/o/n/a.go", nil},
		{"all *.go files, {a,b}.ts, foo_*.md", nil},
		{"calls data.json() and wg.go(f)", nil},
		{"version 1.2.3, e.g. at 5 p.m. i.e. now", nil},
		{"console.log, array.map, process.env, fmt.Println, foo.test", nil},
		{"mail to a@b.py", nil},
		{"the Makefile and README", nil},
		{"1.json 2.5.js", nil},
		{"", nil},
	} {
		if diff := cmp.Diff(tc.want, Named(tc.text)); diff != "" {
			t.Errorf("Named(%q) (-want +got):\n%s", tc.text, diff)
		}
	}
	if got := Named(strings.Repeat("a", 600) + ".go"); got != nil {
		t.Errorf("a name of 600 bytes is taken: %d", len(got))
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, base string
		want       bool
	}{
		{"cat main.go", "main.go", true},
		{"cat cmd/main.go:3", "main.go", true},
		{`{"stdout":"a\nmain.go\nb"}`, "main.go", true},
		{"main.go", "main.go", true},
		{"domain.go", "main.go", false},
		{"domain.go main.go", "main.go", true},
		{"main.gold", "main.go", false},
		{"", "main.go", false},
		{"x", "", false},
	} {
		if got := Names(tc.text, tc.base); got != tc.want {
			t.Errorf("Names(%q, %q) = %t", tc.text, tc.base, got)
		}
	}
}

func FuzzNamed(f *testing.F) {
	for _, s := range []string{"a/b.go", "https://x.org/a.js", "*.go", "x.json()", "größe.py.", "@a.b@c.md", "//a.go"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Named(text)
		if len(got) > maxNamed {
			t.Fatalf("%d names", len(got))
		}
		for _, n := range got {
			if !strings.Contains(text, n) || !strings.Contains(n, ".") || utf8.ValidString(text) && !utf8.ValidString(n) {
				t.Errorf("%q is no name of the text", n)
			}
		}
	})
}
