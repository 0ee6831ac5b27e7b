package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shortened runs text through a shortener in pieces of the given sizes, over and over.
func shortened(keep int, text []byte, sizes ...int) []byte {
	q := shortener{keep: keep}
	for i := 0; len(text) > 0; i++ {
		n := min(sizes[i%len(sizes)], len(text))
		q.write(text[:n])
		text = text[n:]
	}
	return q.out
}

func TestSqueezer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"short", `{"a":"bcd","e":[1,"f"]}`, `{"a":"bcd","e":[1,"f"]}`},
		{"as long as may be", `"abcde"`, `"abcde"`},
		{"long", `{"a":"abcdefgh","b":1}`, `{"a":"abcde [cmemd: 3 bytes left out]","b":1}`},
		{"an escape at the border stays whole", `"abcd\u00e9fgh"`, `"abcd\u00e9 [cmemd: 3 bytes left out]"`},
		{"a letter at the border stays whole", `"abcdéfgh"`, `"abcdé [cmemd: 3 bytes left out]"`},
		{"an escaped quote ends nothing", `{"a":"abcdefgh\"ij","b":"\\"}`, `{"a":"abcde [cmemd: 7 bytes left out]","b":"\\"}`},
		{"an escaped backslash before the end", `["abcdefgh\\","x"]`, `["abcde [cmemd: 5 bytes left out]","x"]`},
	} {
		for size := 1; size < 4; size++ {
			if got := string(shortened(5, []byte(c.in), size)); got != c.want {
				t.Errorf("%s in pieces of %d: got %s, want %s", c.name, size, got, c.want)
			}
		}
	}
}

func TestSqueezerKeepsTheShape(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := map[string]any{}
		for i := range rapid.IntRange(0, 5).Draw(t, "members") {
			in[fmt.Sprint(i)] = []any{rapid.String().Draw(t, "text"), rapid.Float64Range(-9, 9).Draw(t, "number")}
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 5).Draw(t, "sizes")
		if got := shortened(len(text), text, sizes...); !bytes.Equal(got, text) {
			t.Fatalf("got %s, want %s", got, text)
		}
		var got map[string]any
		if err := json.Unmarshal(shortened(7, text, sizes...), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(got) != len(in) {
			t.Fatalf("got %d members, want %d", len(got), len(in))
		}
		for k := range in {
			if was, is := in[k].([]any)[1], got[k].([]any)[1]; was != is {
				t.Fatalf("member %s: got number %v, want %v", k, is, was)
			}
		}
	})
}

func TestSqueezerShortensWhatIsTooLong(t *testing.T) {
	t.Parallel()
	text := []byte(`{"a":"` + strings.Repeat("x", 3*keepString) + `","tool_use_id":"toolu_1"}`)
	got := shortened(keepString, text, 1000)
	if len(got) > keepString+100 || !bytes.HasSuffix(got, []byte(`left out]","tool_use_id":"toolu_1"}`)) {
		t.Errorf("got %d bytes ending in %s", len(got), got[len(got)-60:])
	}
}

func FuzzSqueezer(f *testing.F) {
	f.Add([]byte(`{"a":"\u00e9\"x\\","b":["é😀"]}`), 3, 1)
	f.Fuzz(func(t *testing.T, text []byte, keep, size int) {
		keep, size = keep&63, size&7+1
		out := shortened(keep, text, size)
		if json.Valid(text) && !json.Valid(out) {
			t.Fatalf("keep %d: %q became %q, which is not JSON", keep, text, out)
		}
	})
}
