package erasure

import "testing"

func TestWhatIsHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want bool
	}{
		{"said in the Café  today", true},
		{`{"a":"in the caf\u00e9\ntoday"}`, true},
		{`{"a":"in the caf\u00e9\ntoday, and cut he`, true},
		{`{"a":"caf\\u00e9 today`, false},
		{"the cafe today", false},
	} {
		if got := Holds(c.text, "café today"); got != c.want {
			t.Errorf("%s: %t, want %t", c.text, got, c.want)
		}
	}
	if !Holds(`grep -E \"\bfoo\b\" a.go`, `"\bfoo\b"`) {
		t.Error("quotes that are escaped beside backslashes that are none of JSON")
	}
}
