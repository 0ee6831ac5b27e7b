package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
)

func TestReadScenarioTakesWhatIsAbsentForNothing(t *testing.T) {
	t.Parallel()
	got, err := ReadScenario(strings.NewReader(`{"id": "small", "events": [{"at_ms": 5, "kind": "observation"}, {"at_ms": 5, "kind": "exit"}]} ` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{ID: "small", Events: []Event{{AtMS: 5, Kind: KindObservation}, {AtMS: 5, Kind: KindExit}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s, err := ReadScenario(strings.NewReader(`{}`)); err != nil || len(s.Events) != 0 {
		t.Errorf("an empty one: %+v, %v", s, err)
	}
}

func TestReadScenarioRefusesNonsense(t *testing.T) {
	t.Parallel()
	event := func(fields string) string { return `{"events": [{"at_ms": 7, "kind": "exit"}, {` + fields + `}]}` }
	for _, c := range []struct{ name, text, want string }{
		{"an unknown kind", event(`"at_ms": 8, "kind": "dream"`), `events[1].kind is "dream": want observation, summary or exit`},
		{"no kind", event(`"at_ms": 8`), `events[1].kind is ""`},
		{"an unknown form", event(`"at_ms": 8, "kind": "summary", "form": "yaml"`), `events[1].form is "yaml": want xml or structured`},
		{"times that do not ascend", event(`"at_ms": 6, "kind": "exit"`), `events[1].at_ms is 6, after 7`},
		{"a negative time", `{"events": [{"at_ms": -1, "kind": "exit"}]}`, `events[0].at_ms is -1: want 0 to`},
		{"a time beyond all bounds", event(`"at_ms": 9223372036854775807, "kind": "exit"`), `events[1].at_ms is 9223372036854775807`},
		{"a negative batch", event(`"at_ms": 8, "kind": "exit", "batch": -2`), `events[1].batch is -2`},
		{"a turn that ended before it began", event(`"at_ms": 8, "kind": "exit", "took_ms": -2`), `events[1].took_ms is -2`},
		{"negative tokens", event(`"at_ms": 8, "kind": "exit", "tokens": {"in": 0, "out": -1}`), `events[1].tokens out is -1`},
		{"tokens beyond all bounds", event(`"at_ms": 8, "kind": "exit", "tokens": {"in": 100000000001}`), `events[1].tokens in is 100000000001`},
		{"fresh tokens", event(`"at_ms": 8, "kind": "exit", "fresh": {"tokens": {"in": -1}}`), `events[1].fresh.tokens in is -1`},
		{"a negative reset", event(`"at_ms": 8, "kind": "exit", "provider": {"is_error": true, "resets_at_ms": -1}`), `events[1].provider.resets_at_ms is -1`},
		{"a negative delay", `{"respawn": {"delay_ms": -1}}`, `replay: respawn.delay_ms is -1`},
		{"a negative wedge", `{"wedged_at_ms": -1}`, `replay: wedged_at_ms is -1`},
		{"negative tokens of an opening", `{"respawn": {"tokens": {"in": -1}}}`, `replay: respawn.tokens in is -1`},
		{"a negative end", `{"end_ms": -1}`, `replay: end_ms is -1`},
		{"an end before the end", `{"end_ms": 6, "events": [{"at_ms": 7, "kind": "exit"}]}`, `replay: end_ms is 6: the last event is at 7`},
		{"an unknown field", `{"id": "x", "evnts": []}`, `unknown field "evnts"`},
		{"an unknown field of an event", event(`"at_ms": 8, "kind": "exit", "colour": 1`), `unknown field "colour"`},
		{"an unknown field of an expectation", `{"expect": {"otp": {"cals": 1}}}`, `unknown field "cals"`},
		{"no JSON", "{\n\"id\": \"x\",\n oops}", `line 3 (byte 15): invalid character 'o'`},
		{"the wrong type", "{\n\n\"id\": 7}", `line 3 (byte 10): json: cannot unmarshal number`},
		{"half a scenario", "{\"id\":\n\n", `line 3 (byte 8): unexpected EOF`},
		{"nothing", "", `line 1 (byte 0): unexpected EOF`},
		{"null", "null", `null is no scenario`},
		{"a list", "[]", `cannot unmarshal array`},
		{"two", "{}\n{}", `more than one JSON value`},
		{"something behind it", "{}\nx", `more than one JSON value`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := ReadScenario(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadScenarioIsBounded(t *testing.T) {
	t.Parallel()
	text := `{"id": "small"}`
	name := filepath.Join(t.TempDir(), "scenario.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]error{int64(len(text)): nil, int64(len(text)) - 1: ErrScenarioTooLarge} {
		if _, err := readScenario(strings.NewReader(text), limit); !errors.Is(err, want) {
			t.Errorf("at most %d bytes: got %v, want %v", limit, err, want)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readScenario(file, limit); !errors.Is(err, want) {
			t.Errorf("at most %d bytes of a file: got %v, want %v", limit, err, want)
		}
		file.Close()
	}
}

// FuzzReadScenario holds that what is read can be run under every policy, adds up, and is read the same again.
func FuzzReadScenario(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"events": [{"at_ms": 1, "kind": "observation", "batch": 2, "output": "prose"}]}`,
		`{"respawn": {"delay_ms": 1, "output": "session closed"}, "wedged_at_ms": 3, "end_ms": 9, "events": [
			{"at_ms": 1, "kind": "observation", "batch": 2, "output": "context window", "fresh": {"output": "<summary>"}},
			{"at_ms": 5, "kind": "exit", "session": "b", "batch": 1},
			{"at_ms": 9, "kind": "summary", "provider": {"is_error": true, "code": "rate_limit"}, "commits": [{"hash": "abc", "exists": false}]}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadScenario(bytes.NewReader(b))
		if err != nil {
			return
		}
		results, err := Compare(s, policy.Names(), Options{})
		if err != nil {
			t.Fatalf("it was read, and cannot be run: %v", err)
		}
		for name, r := range results {
			if why := unbalanced(s, r); why != "" && r.Error == "" {
				t.Errorf("%s: %s", name, why)
			}
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadScenario(bytes.NewReader(text)); err != nil {
			t.Errorf("what it was written as is refused: %v\n%s", err, text)
		}
	})
}
