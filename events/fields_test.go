package events

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readable are events of all shapes: flat ones, lists, structs in structs and in lists, and those that are for the library.
func readable() []Event {
	bill := Usage{Input: 5200, Cached: 1 << 40, Output: 30}
	claim := Claim{Kind: "commit", Value: "1a2b3c4", Verdict: Verified, Evidence: "in the repository"}
	return []Event{
		ToolUsed{}, ToolUsed{Tool: "Read", Input: "{}", Output: strings.Repeat("x", 70_000), DurationMS: 23, InputSize: 24, OutputSize: 255, Prompt: 256},
		ToolUsed{Tool: "\xff", Failed: true, DurationMS: 1 << 32, Redactions: map[string]int{"key": 2}}, ToolUsed{Tool: "Bash", DurationMS: -1},
		TurnStarted{Turn: ID{1}, Settles: []Position{1, 1 << 16, 1 << 63}, Instead: []string{"", "b"}, Probe: true},
		TurnReceived{Turn: ID{2}, Output: NewOutput("<skip_summary/>"), Usage: bill}, TurnReceived{Cost: 0.25, CostStated: true},
		TurnFailed{Class: FailLimit, ResetsAt: time.Unix(1, 0).UTC()},
		ObservationParsed{Turn: ID{3}, Title: "Queue drained", Facts: []string{"one", "two"}, Claims: []Claim{claim, {}}},
		ClaimChecked{Subject: ID{4}, Claim: claim}, ContextInjected{IDs: []ID{{5}, {6}}}, MemoryForgotten{ErasedHash: Hash{7}},
		SessionFaulted{Session: SessionID{8}}, DaemonStarted{PID: 9, Settings: map[string]string{"policy": "otp"}},
	}
}

// sameAsLibrary holds readFields to what the library makes of body as an event of e's type. It reports whether readFields read it.
func sameAsLibrary(t *testing.T, c *Codec, e Event, body []byte) bool {
	t.Helper()
	got, want := reflect.New(reflect.TypeOf(e)), reflect.New(reflect.TypeOf(e))
	if !readFields(got.Elem(), body) {
		return false
	}
	if err := c.dec.Unmarshal(body, want.Interface()); err != nil {
		t.Fatalf("%T: %x is read, the library refuses it: %v", e, body, err)
	}
	if diff := cmp.Diff(want.Elem().Interface(), got.Elem().Interface(), cmp.Comparer(Output.Equal)); diff != "" {
		t.Fatalf("%T: %x (-library +fields):\n%s", e, body, diff)
	}
	return true
}

func TestReadFields(t *testing.T) {
	t.Parallel()
	c := NewCodec()
	for _, e := range readable() {
		body, _, err := c.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		sameAsLibrary(t, c, e, body)
		for i := range min(len(body), 300) { // cut, and with each byte changed
			sameAsLibrary(t, c, e, body[:i])
			changed := bytes.Clone(body)
			for _, bit := range []byte{1, 2, 8, 32, 64, 128, 255} {
				changed[i] = body[i] ^ bit
				sameAsLibrary(t, c, e, changed)
			}
		}
		sameAsLibrary(t, c, e, append(bytes.Clone(body), 0))
	}
}

// TestReadFieldsReads holds that what a log is full of is not left to the library.
func TestReadFieldsReads(t *testing.T) {
	t.Parallel()
	c := NewCodec()
	for _, e := range []Event{
		ToolUsed{Tool: "Read", Prompt: 1}, AgentStopped{LastMessage: "done"}, TurnStarted{Settles: []Position{1}},
		TurnReceived{Usage: Usage{Input: 1}}, ObservationParsed{Claims: []Claim{{Kind: "commit"}}}, SummaryParsed{Learned: "a"},
	} {
		body, _, err := c.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if !sameAsLibrary(t, c, e, body) {
			t.Errorf("%T is left to the library", e)
		}
	}
}

func FuzzReadFields(f *testing.F) {
	c := NewCodec()
	all := readable()
	for i, e := range all {
		body, _, err := c.Encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, body)
	}
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		if i >= 0 && i < len(all) {
			sameAsLibrary(t, c, all[i], body)
		}
	})
}
