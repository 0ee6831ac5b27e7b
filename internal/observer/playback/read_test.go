package playback

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

func TestReadTakesAllThatAScriptCanSay(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/trouble.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	want := &Script{
		Model: "troubled", BatchLimits: policy.BatchLimits{MaxInputs: 4, MaxBytes: 1000, MaxAge: 2500 * time.Millisecond},
		Steps: []Step{
			{When: When{Contains: "poison.go"}, Action: Crash("exit status 139")},
			{When: When{Kind: events.TurnSummary}, Action: Text{
				Text: "<summary><request>Tidy the cart</request></summary>", Form: events.FormStructured,
				Usage: events.Usage{Input: 900, Cached: 800, Output: 20},
			}},
			{When: When{Kind: events.TurnObservation, Call: 2}, Repeat: 1, Action: Panic("index out of range")},
			{Action: Text{StopReason: "max_tokens"}, Delay: 250 * time.Millisecond, Repeat: 2},
			{Action: Failure{
				Class: events.FailLimit, Status: 429, ResetsIn: time.Hour, Message: "weekly limit", Output: "You've hit your weekly limit",
			}},
			{Action: Hang{}},
			{Action: Text{Text: `<skip_summary reason="noise" />`}, Repeat: Forever},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAScriptWithoutAHeaderWishesWhatAModelDoes(t *testing.T) {
	t.Parallel()
	s, err := Read(strings.NewReader(`{"hang":true}`))
	if err != nil || s.BatchLimits != policy.ModelLimits() || s.Model != "" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestReadNamesLineAndKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"nothing", "", "it has no step"},
		{"a header alone", `{"playback":1}`, "it has no step"},
		{"no JSON", "\n# one\nhello", "line 3: it is no JSON object"},
		{"no object", `["text"]`, "line 1: it is no JSON object"},
		{"cut off", `{"text":"a"`, "line 1: it is cut off"},
		{"a cut value", `{"text":"a`, `line 1: "text": its value is no JSON`},
		{"two on a line", `{"text":"a"} {"text":"b"}`, "line 1: something follows the object"},
		{"another version", `{"playback":2}`, `line 1: "playback": 2 is no whole number from 1 to 1`},
		{"a late header", "{\"text\":\"a\"}\n{\"playback\":1,\"text\":\"b\"}", `line 2: "playback": it is not known here: when, text, form, stop_reason, usage, failure`},
		{"a slip", `{"txet":"a"}`, "line 1: a step does one of text, failure, crash, panic, hang; this one does 0"},
		{"another slip", `{"text":"a","delay":5}`, `line 1: "delay": it is not known here`},
		{"another case", `{"Text":"a"}`, "this one does 0"},
		{"two actions", `{"text":"a","hang":true}`, "this one does 2"},
		{"twice", `{"text":"a","text":"b"}`, `line 1: "text": it is given twice`},
		{"null", `{"text":null}`, `line 1: "text": null is no text`},
		{"a number", `{"crash":7}`, `line 1: "crash": 7 is no text`},
		{"no hang", `{"hang":false}`, `line 1: "hang": false: it may only be true`},
		{"no class", `{"failure":{}}`, `line 1: "failure.class": it is missing`},
		{"a class of nobody", `{"failure":{"class":"crash"}}`, `line 1: "failure.class": "crash" is none of limit, auth`},
		{"no failure", `{"failure":"limit"}`, `line 1: "failure": it is no JSON object`},
		{"a status", `{"failure":{"class":"limit","status":42}}`, `"failure.status": 42 is no whole number from 100 to 599`},
		{"a negative time", `{"text":"a","delay_ms":-1}`, `"delay_ms": -1 is no whole number`},
		{"a fraction", `{"text":"a","delay_ms":1.5}`, `"delay_ms": 1.5 is no whole number`},
		{"years", `{"text":"a","delay_ms":99999999999}`, `"delay_ms": 99999999999 is no whole number`},
		{"no repeat", `{"text":"a","repeat":0}`, `"repeat": 0 is no whole number from 1`},
		{"for ever so slightly wrong", `{"text":"a","repeat":"ever"}`, `"repeat": "ever" is no whole number`},
		{"an empty when", `{"text":"a","when":{}}`, `"when": it says nothing`},
		{"a time that ends", `{"text":"a","when":{"from_ms":5,"until_ms":5}}`, `"when": it ends before it begins`},
		{"a kind", `{"text":"a","when":{"kind":"both"}}`, `"when.kind": "both" is none of observation, summary`},
		{"a when that is no object", `{"text":"a","when":3}`, `"when": it is no JSON object`},
		{"usage without a text", `{"hang":true,"usage":{"input":1}}`, `"usage": it is not known here`},
		{"a form", `{"text":"a","form":"yaml"}`, `"form": "yaml" is none of xml, structured`},
		{"an unknown usage", `{"text":"a","usage":{"tokens":1}}`, `"usage.tokens": it is not known here: input, cached, output, cost, calls, model are`},
		{"a cost below zero", `{"text":"a","usage":{"cost":-1}}`, `"usage.cost": -1 is no number from 0 to 1000000`},
		{"a cost that is a word", `{"failure":{"class":"limit","usage":{"cost":"1"}}}`, `"failure.usage.cost": "1" is no number`},
		{"no calls", `{"text":"a","usage":{"calls":0}}`, `"usage.calls": 0 is no whole number from 1`},
		{"no UTF-8", "{\"text\":\"a\xff\"}", "line 1: it is no UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := Read(strings.NewReader(c.script))
			if s != nil || !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want an error with %q", s, err, c.want)
			}
		})
	}
}

func TestReadIsBoundedAndTellsOtherErrors(t *testing.T) {
	t.Parallel()
	long := `{"text":"` + strings.Repeat("x", maxLine) + `"}`
	if _, err := Read(strings.NewReader("\n" + long)); !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), "line 2: it is longer") {
		t.Errorf("got %v, want line 2 to be too long", err)
	}
	if _, err := Read(iotest.ErrReader(os.ErrClosed)); !errors.Is(err, os.ErrClosed) || errors.Is(err, ErrScript) {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

func TestWriteRefusesWhatNoScriptCanSay(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Script{
		"no step":             {},
		"no action":           {Steps: []Step{{}}},
		"half a millisecond":  {Steps: []Step{{Action: Hang{}, Delay: time.Microsecond}}},
		"no UTF-8":            {Steps: []Step{{Action: Crash("\xff")}}},
		"an unknown class":    {Steps: []Step{{Action: Failure{Class: events.FailCrash}}}},
		"a negative repeat":   {Steps: []Step{{Action: Hang{}, Repeat: -2}}},
		"a negative limit":    {BatchLimits: policy.BatchLimits{MaxInputs: -1}, Steps: []Step{{Action: Hang{}}}},
		"a model of no UTF-8": {Model: "\xff", Steps: []Step{{Action: Hang{}}}},
	} {
		var b bytes.Buffer
		if err := s.Write(&b); !errors.Is(err, ErrScript) || b.Len() != 0 {
			t.Errorf("%s: got %v and %d bytes, want ErrScript and none", name, err, b.Len())
		}
	}
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &Script{
			Model: rapid.String().Draw(t, "model"), Steps: rapid.SliceOfN(rapid.Custom(drawStep), 1, 8).Draw(t, "steps"),
			BatchLimits: policy.BatchLimits{
				MaxInputs: rapid.IntRange(0, 1<<20).Draw(t, "inputs"), MaxBytes: rapid.IntRange(0, 1<<30).Draw(t, "bytes"),
				MaxAge: drawMillis(t, "age"), Fixed: rapid.Bool().Draw(t, "fixed"),
			},
		}
		var b bytes.Buffer
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Fatalf("-written +read:\n%s", diff)
		}
	})
}

func drawMillis(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.IntRange(0, maxMillis).Draw(t, label)) * time.Millisecond
}

func drawStep(t *rapid.T) Step {
	text := rapid.String()
	tokens := rapid.Int64Range(0, maxTokens)
	from := rapid.IntRange(0, 1000).Draw(t, "from")
	until := rapid.SampledFrom([]int{0, from + 1, from + 1000}).Draw(t, "until")
	return Step{
		When: When{
			Kind:     rapid.SampledFrom([]events.TurnKind{"", events.TurnObservation, events.TurnSummary}).Draw(t, "kind"),
			Contains: text.Draw(t, "contains"), Call: rapid.IntRange(0, 9).Draw(t, "call"),
			From: time.Duration(from) * time.Millisecond, Until: time.Duration(until) * time.Millisecond,
		},
		Delay: drawMillis(t, "delay"), Repeat: rapid.IntRange(-1, 100).Draw(t, "repeat"),
		Action: rapid.SampledFrom([]Action{
			Text{
				Text: text.Draw(t, "text"), StopReason: text.Draw(t, "stop"),
				Form:  rapid.SampledFrom([]events.Form{"", events.FormXML, events.FormStructured}).Draw(t, "form"),
				Usage: events.Usage{Input: tokens.Draw(t, "in"), Cached: tokens.Draw(t, "cached"), Output: tokens.Draw(t, "out")},
				Bill:  drawBill(t),
			},
			Failure{
				Class:  rapid.SampledFrom(classes()).Draw(t, "class"),
				Status: rapid.SampledFrom([]int{0, 100, 429, 599}).Draw(t, "status"), ResetsIn: drawMillis(t, "reset"),
				Message: text.Draw(t, "message"), Output: text.Draw(t, "output"), Bill: drawBill(t),
				Form:  rapid.SampledFrom([]events.Form{"", events.FormXML, events.FormStructured}).Draw(t, "form"),
				Usage: events.Usage{Input: tokens.Draw(t, "failed in")},
			},
			Crash(text.Draw(t, "crash")), Panic(text.Draw(t, "panic")), Hang{},
		}).Draw(t, "action"),
	}
}

func drawBill(t *rapid.T) Bill {
	return Bill{
		Cost: rapid.Float64Range(0, maxCost).Draw(t, "cost"), Calls: rapid.IntRange(0, maxRepeat).Draw(t, "calls"),
		Model: rapid.String().Draw(t, "answered"),
	}
}

// TestEveryClassOfATransportCanBePlayed holds the list of classes to what events says of them.
func TestEveryClassOfATransportCanBePlayed(t *testing.T) {
	t.Parallel()
	for _, c := range classes() {
		if !c.BlamesProvider() && !c.BlamesTurn() {
			t.Errorf("%s blames neither the provider nor the turn", c)
		}
	}
}

func FuzzRead(f *testing.F) {
	trouble, err := os.ReadFile("testdata/trouble.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(trouble)
	for _, s := range []string{`{"text":"\ud800"}`, `{"playback":1,"wish":{}}` + "\n" + `{"panic":""}`, `{"text":{},"when":[]}`, `{"a":1,}`, `{"text"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		s, err := Read(bytes.NewReader(script))
		if err != nil {
			if !errors.Is(err, ErrScript) || s != nil {
				t.Fatalf("got %v, %v", s, err)
			}
			return
		}
		var b bytes.Buffer
		if err := s.Write(&b); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Read(&b)
		if diff := cmp.Diff(s, again); err != nil || diff != "" {
			t.Fatalf("%v, -read +again:\n%s", err, diff)
		}
	})
}
