package agents

import (
	"fmt"
	"strings"
	"testing"
)

func TestSaysNothing(t *testing.T) {
	t.Parallel()
	many := func(n int, form string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(form, i)
		}
		return `[` + strings.Join(list, ",") + `]`
	}
	for _, c := range []struct {
		output, input string
		want          bool
	}{
		{"", "", true},
		{" \n", `{"command":"cat notes.md"}`, true},
		{"ok", `{"command":"cat notes.md"}`, false},
		{`{"stdout":"","interrupted":false}`, `{}`, true},
		{`{"type":"text"}`, `{}`, true},
		{`{"type":"two words"}`, `{}`, false},
		{`{"filePath":"/src/docs/notes.md"}`, `{"file_path":"/src/docs/notes.md"}`, true},
		{`{"cwd":"/src/docs/of/shop"}`, `{"command":"cd /src/docs/of/shop && cat notes.md"}`, true},
		{`{"cwd":"/src/docs/of/shop"}`, "cd /src/docs/of/shop", true},
		{`{"file":"/src/docs/of/shop"}`, `{"file_path":"/src/docs/notes.md"}`, false},
		{`["/src/docs/of/shop","and this is new"]`, `{"file_path":"/src/docs/of/shop"}`, false},
		{many(1000, `"docs/notes-%06d.md"`), many(1000, `"docs/notes-%06d.md"`), true},
		{many(maxInside, `"docs/notes-%06d.md"`), many(maxInside, `"cat docs/notes-%06d.md"`), true},
	} {
		if got := saysNothing(c.output, c.input); got != c.want {
			t.Errorf("%.80s beside %.80s: %t, want %t", c.output, c.input, got, c.want)
		}
	}
}

// BenchmarkSaysNothing is a call whose output and input are both as long as they are kept, and all of short strings: those of
// the output are the input's, or begin like them, or are new. Four times the bytes may cost some four times as much.
func BenchmarkSaysNothing(b *testing.B) {
	list := func(size int, form string) string {
		var out []byte
		for i := 0; len(out) < size; i++ {
			out = fmt.Appendf(out, ","+form, i)
		}
		return "[" + string(out[1:]) + "]"
	}
	for _, size := range []int{MaxText / 4, MaxText} {
		input := list(size, `"docs/notes-%06d.md"`)
		for _, c := range []struct{ name, form string }{
			{"the input's", `"docs/notes-%06d.md"`}, {"parts of it", `"ocs/notes-%06d.md"`}, {"nearly", `"docs/notes-%06d.mx"`},
		} {
			output := list(size, c.form)
			b.Run(fmt.Sprintf("%s %d", c.name, size), func(b *testing.B) {
				for b.Loop() {
					saysNothing(output, input)
				}
			})
		}
	}
}
