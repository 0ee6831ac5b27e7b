package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// whole reads a scenario as encoding/json does.
func whole(text string) (*Scenario, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var s *Scenario
	if err := dec.Decode(&s); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("null")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one")
	}
	return s, s.Check()
}

// sameReading holds that a text is read the same event by event as whole, or refused both ways.
func sameReading(t interface{ Errorf(string, ...any) }, text string) {
	want, wantErr := whole(text)
	got, err := ReadScenario(strings.NewReader(text))
	if (err != nil) != (wantErr != nil) {
		t.Errorf("event by event: %v; whole: %v\n%s", err, wantErr, text)
		return
	}
	if diff := cmp.Diff(want, got); err == nil && diff != "" {
		t.Errorf("-whole +event by event:\n%s", diff)
	}
}

// odd are texts that events may have as one of their strings.
func odd() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"", "prose", `"quoted" \ and \\"`, "a\nb\tc\x00d\x1f", "ünï ✓ 😀", "]}{[,:", `{"events": [`, "<a>&amp;</a>", "\u2028", "\xff\xfe",
		`\`, `\\`, `"`, strings.Repeat("long ", 40),
	})
}

// TestAScenarioIsReadTheSameEventByEvent writes scenarios in several ways.
func TestAScenarioIsReadTheSameEventByEvent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scenarios().Draw(t, "scenario")
		s.Title = odd().Draw(t, "title")
		for i := range s.Events {
			s.Events[i].Output, s.Events[i].Turn = events.NewOutput(odd().Draw(t, "output")), odd().Draw(t, "turn")
			if rapid.IntRange(0, 9).Draw(t, "more") == 0 {
				s.Events[i].Commits = []Commit{{Hash: odd().Draw(t, "hash")}}
				s.Events[i].Inputs = []json.RawMessage{json.RawMessage(`{"events":[1,"]"]}`)}
			}
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(rapid.Bool().Draw(t, "escapes"))
		enc.SetIndent("", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if rapid.Bool().Draw(t, "broken") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			with := rapid.SampledFrom([]string{"", ",", "]", "[", "{", "}", `"`, `\`, ":", "0", "-", "e", "\x00", "é", " "}).Draw(t, "with")
			text = text[:at] + with + text[at+1:]
		}
		sameReading(t, text)
	})
}

// TestALineIsNamedWhereverItIs breaks one event of many, and what stands behind them.
func TestALineIsNamedWhereverItIs(t *testing.T) {
	t.Parallel()
	list := func(broken int) string {
		lines := []string{`{"id": "x",`, `"events": [`}
		for i := range 1000 {
			e := fmt.Sprintf(`{"at_ms": %d, "kind": "exit", "output": "%s"}`, i, strings.Repeat("x", i%100))
			if i == broken {
				e = strings.Replace(e, `"exit"`, `exit`, 1)
			}
			if i < 999 {
				e += ","
			}
			lines = append(lines, e)
		}
		return strings.Join(append(lines, `],`, `"end_ms": 5000}`), "\n")
	}
	for broken, line := range map[int]int{0: 3, 1: 4, 500: 503, 999: 1002} {
		text := list(broken)
		_, err := ReadScenario(iotest.HalfReader(strings.NewReader(text)))
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Line != line || text[bad.Offset-1] != 'e' {
			t.Errorf("event %d: got %v, want line %d", broken, err, line)
		}
	}
	behind := strings.Replace(list(-1), `"end_ms": 5000`, `"end_ms": oops`, 1)
	var bad *SyntaxError
	if _, err := ReadScenario(strings.NewReader(behind)); !errors.As(err, &bad) || bad.Line != 1004 || behind[bad.Offset-1] != 'o' {
		t.Errorf("behind the events: got %v, want line 1004", err)
	}
	before := strings.Replace(list(3), `"id": "x"`, `"id": oops`, 1)
	if _, err := ReadScenario(strings.NewReader(before)); !errors.As(err, &bad) || bad.Line != 1 {
		t.Errorf("before the events: got %v, want line 1", err)
	}
	if s, err := ReadScenario(iotest.OneByteReader(strings.NewReader(list(-1)))); err != nil || len(s.Events) != 1000 || s.EndMS != 5000 {
		t.Errorf("unbroken: %v", err)
	}
	broken := errors.New("broken")
	if _, err := ReadScenario(io.MultiReader(strings.NewReader(list(-1)[:9000]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: got %v", err)
	}
	if _, err := ReadScenario(strings.NewReader(`{"events": [{"at_ms":1,"kind":"exit"}], "events": [{"at_ms":1,"kind":"exit"}]}`)); err == nil {
		t.Error("two lists of events are read as one")
	}
}

// FuzzEventScanner holds that whatever the scanner takes encoding/json reads the same.
func FuzzEventScanner(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"at_ms": 1, "kind": "exit", "batch": 2, "output": "a\u003cb\n\"", "tokens": {"in": 1, "out": 2}}`,
		`{"provider": {"is_error": true, "code": "limit", "resets_at_ms": 7}, "provider": {"code": "x"}, "position": 9, "took_ms": 0}`,
		`{"session": "a", "observer": "b", "turn": "c", "form": "xml", "at_ms": -0}`, `{"batch": 01}`, `{"output": "\ud83d\ude00"}`,
		`{"at_ms": 999999999999999999}`, `{"output": "` + "\xff" + `"}`, `{"output":"\x"}`, `{"tokens":{}}`, `{"a":1,}`, `{"is_error": truex}`, "{}\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want Event
		scan := eventScanner{names: map[string]string{}}
		before := bytes.Clone(text)
		if !scan.scanEvent(text, &got) {
			if !bytes.Equal(before, text) {
				t.Fatal("the text was changed, and is to be read again")
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("taken, but: %v", err)
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			t.Fatal("taken, but more follows")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-encoding/json +got:\n%s", diff)
		}
	})
}

// TestTheScannerTakesWhatProgramsWrite holds that recordings are not read the slow way.
func TestTheScannerTakesWhatProgramsWrite(t *testing.T) {
	t.Parallel()
	s := large(2000)
	for i := range s.Events {
		text, err := json.Marshal(s.Events[i])
		if err != nil {
			t.Fatal(err)
		}
		var e Event
		if scan := (eventScanner{names: map[string]string{}}); !scan.scanEvent(text, &e) {
			t.Fatalf("not taken: %s", text)
		}
	}
}
