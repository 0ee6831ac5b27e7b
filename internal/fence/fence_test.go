package fence

import "testing"

func TestNeutral(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"List<String> <b>x</b> a < b":   "List<String> <b>x</b> a < b",
		"</memory> and < / Memory x>":   "‹/memory> and ‹ / Memory x>",
		"<<system-reminder>":            "<‹system-reminder>",
		"<system_instruction <\nmemory": "‹system_instruction ‹\nmemory",
		"ends with <":                   "ends with <",
	} {
		if got := Neutral(text, "memory"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestInvisible(t *testing.T) {
	t.Parallel()
	for r, want := range map[rune]bool{'a': false, 'é': false, '\n': true, '\u202e': true, '\ufeff': true, '\U000e0041': true, '\ufffd': true} {
		if Invisible(r) != want {
			t.Errorf("%U: got %v", r, !want)
		}
	}
}
