package tomledit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	t.Parallel()
	const text = "a = 1 # one\nb.c = 'x'\n\n[t]\n\"d.e\" = [\n  true,\n]\n[[l]]\nf = 1.5\n[[l.m]]\ng = 2026-01-31\n[[l.m]]\n[[l]]\n[[l.m]]\nh = 4\n[l.n]\n"
	lines, err := Lines([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		line := fmt.Sprintf("%d %s %s", l.Number, l.Path, strings.Join(l.Key, "/"))
		if !l.Table {
			line += fmt.Sprint(" = ", l.Value)
		}
		got = append(got, line)
	}
	want := []string{
		"1 a a = 1", "2 b.c b/c = x", "4 t t", "5 t.d.e t/d.e = [true]", "8 l[0] l", "9 l[0].f l/f = 1.5", "10 l[0].m[0] l/m",
		"11 l[0].m[0].g l/m/g = 2026-01-31", "12 l[0].m[1] l/m", "13 l[1] l", "14 l[1].m[0] l/m", "15 l[1].m[0].h l/m/h = 4", "16 l[1].n l/n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, bad := range []string{"a = ", "a = 1\na = 2", "[a", "\xff"} {
		if _, err := Lines([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "a.b = 1", "[a]\nb=1", "[[a]]\n[[a.b]]\nc=1\n[[a]]", "[[a]]\n[a.b]\n", "a = [{b=1}]", "x = {y=1}\n# c", "a = 1\r\n[c]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, _ := Lines(data)
		for _, l := range lines {
			if l.Number < 1 || len(l.Key) == 0 || !l.Table && l.Value == nil {
				t.Fatalf("%q: %+v", data, l)
			}
		}
	})
}
