package tomledit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pelletier/go-toml/v2"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	const file = "# mine\nslots = 3 # two are not enough\n\n\"log_level\"\t=  'info'\nfallbacks = [ # in order\n  \"openai\",\n]\nidle_stop = \"45m\""
	for name, c := range map[string]struct{ file, key, value, want string }{
		"a value":            {file, "slots", "4", strings.Replace(file, "= 3", "= 4", 1)},
		"a quoted key":       {file, "log_level", `"warn"`, strings.Replace(file, "'info'", `"warn"`, 1)},
		"a list of lines":    {file, "fallbacks", "[]", "# mine\nslots = 3 # two are not enough\n\n\"log_level\"\t=  'info'\nfallbacks = []\nidle_stop = \"45m\""},
		"the last line":      {file, "idle_stop", `"46m"`, strings.Replace(file, "45m", "46m", 1)},
		"a new key":          {file, "passivate", `"1m"`, file + "\npassivate = \"1m\"\n"},
		"in an empty file":   {"", "slots", "4", "slots = 4\n"},
		"among comments":     {"# a\n", "slots", "4", "# a\nslots = 4\n"},
		"before a table":     {"a = 1\n\n[b]\nc = 1\n", "slots", "4", "a = 1\n\nslots = 4\n[b]\nc = 1\n"},
		"lines of Windows":   {"a = 1\r\n", "slots", "4", "a = 1\r\nslots = 4\r\n"},
		"unset":              {file, "slots", "", strings.Replace(file, "slots = 3 # two are not enough\n", "", 1)},
		"unset, of lines":    {file, "fallbacks", "", "# mine\nslots = 3 # two are not enough\n\n\"log_level\"\t=  'info'\nidle_stop = \"45m\""},
		"unset, the last":    {file, "idle_stop", "", strings.TrimSuffix(file, "idle_stop = \"45m\"")},
		"unset, not there":   {file, "passivate", "", file},
		"an equals sign too": {"\"a=b\" = 1\nslots = 1\n", "slots", "2", "\"a=b\" = 1\nslots = 2\n"},
	} {
		e, err := Parse([]byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := e.Without(c.key)
		if c.value != "" {
			got = e.With(c.key, c.value)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	for _, bad := range []string{"slots = ", "slots = 1\nslots = 2", "[a", "\xff"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q is edited", bad)
		}
	}
}

// FuzzKeys holds a change of any text to: that key has the value, the others stay, and taking it out again leaves them too.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"", "slots = 3", "[a]\nb=1", "a.b = 1", "x = {y=1}\n# c", "\xef\xbb\xbfa=1", "slots = \"\"\"\n3\"\"\" # x", "[[a]]", "a = 1\r\n[c]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := Parse(data)
		if err != nil {
			return
		}
		read := func(data []byte) (slots any, others map[string]any) {
			if err := toml.Unmarshal(data, &others); err != nil {
				t.Fatalf("%q became %q: %v", keys.data, data, err)
			}
			slots = others["slots"]
			delete(others, "slots")
			return slots, others
		}
		was, want := read(bytes.Clone(data))
		switch was.(type) {
		case map[string]any, []any: // a table of that name is in the way
			return
		}
		same := func(what string, text []byte, slots any) {
			got, others := read(text)
			if diff := cmp.Diff(want, others, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" || got != slots {
				t.Fatalf("%q %s is %q: slots = %v\n%s", data, what, text, got, diff)
			}
		}
		same("with slots", keys.With("slots", "7"), int64(7))
		same("without slots", keys.Without("slots"), nil)
	})
}
