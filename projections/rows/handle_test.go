package rows

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

func TestParseHandle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]events.Position{
		"m41": 41, "M41": 41, "m18446744073709551615": 1<<64 - 1,
		"": 0, "m": 0, "m0": 0, "41": 0, "m-1": 0, "m+1": 0, "m4 1": 0, "m41x": 0, " m41": 0, "m1_0": 0, "m٣": 0, "mm1": 0,
		"m18446744073709551616": 0, "m" + strings.Repeat("9", 1000): 0,
		":m41": 0, "a b:m41": 0, "a:b:m41": 0, "laptop:": 0, "laptop:41": 0, strings.Repeat("l", 65) + ":m41": 0,
	} {
		if got, ok := ParseHandle(text); got != (Handle{At: want}) || ok != (want != 0) {
			t.Errorf("%q: got %s, %t", text, got, ok)
		}
	}
	if got, ok := ParseHandle("Ana-s.laptop_2:M41"); got != (Handle{"Ana-s.laptop_2", 41}) || !ok {
		t.Errorf("of another machine: got %s, %t", got, ok)
	}
	rapid.Check(t, func(t *rapid.T) {
		h := Handle{
			Machine: rapid.SampledFrom([]string{"", "laptop", "ab12cd34"}).Draw(t, "machine"), At: events.Position(rapid.Uint64Min(1).Draw(t, "position")),
		}
		if got, ok := ParseHandle(h.String()); got != h || !ok {
			t.Fatalf("%s: got %s", h, got)
		}
		text := rapid.String().Draw(t, "text")
		if h, ok := ParseHandle(text); ok && h.Machine == "" && !strings.EqualFold(h.String(), "m"+strings.TrimLeft(text[1:], "0")) {
			t.Fatalf("%q is %s", text, h)
		}
	})
}

// A row's JSON has its handle beside what it always had; what reads it need not know of handles.
func TestRowsSayTheirHandle(t *testing.T) {
	t.Parallel()
	row := Row{Kind: Observation, Position: 41, Title: "Rounding"}
	raw, err := json.Marshal([]*Row{&row})
	if err != nil || !strings.Contains(string(raw), `"handle":"m41"`) || !strings.Contains(string(raw), `"title":"Rounding"`) || strings.Count(string(raw), `"id":`) != 1 {
		t.Fatalf("got %s, %v", raw, err)
	}
	var back []Row
	if err := json.Unmarshal(raw, &back); err != nil || back[0].Handle().At != 41 {
		t.Errorf("read back %+v, %v", back, err)
	}
	gone, err := json.Marshal(Row{Forgotten: true, Position: 50})
	if err != nil || strings.Contains(string(gone), "handle") {
		t.Errorf("forgotten, by the record at 50: %s, %v", gone, err)
	}
	var item struct{ Handle Handle }
	for text, want := range map[string]events.Position{`{"handle":"m7"}`: 7, `{"handle":""}`: 0, `{}`: 0} {
		if err := json.Unmarshal([]byte(text), &item); err != nil || item.Handle.At != want {
			t.Errorf("%s: got %s, %v", text, item.Handle, err)
		}
		item.Handle = Handle{}
	}
	if err := json.Unmarshal([]byte(`{"handle":"x7"}`), &item); err == nil {
		t.Error("x7 is taken for a handle")
	}
}

func TestOnlyMemoryMakesRows(t *testing.T) {
	t.Parallel()
	if id, err := MadeBy(events.Record{Header: events.Header{Kind: events.KindToolUsed, ID: events.ID{1}}}); err != nil || id != (events.ID{}) {
		t.Errorf("a tool use made %s, %v", id, err)
	}
}
