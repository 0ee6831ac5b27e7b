package claudecli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// whole is what the scripted model answers; half of it is what comes before a cut.
const (
	whole = "<observation><type>change</type><title>Limit raised</title></observation>"
	half  = "<observation><type>change</type><tit"
)

// testNow is the clock of answers that are read from files.
func testNow() time.Time { return time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC) }

// read is what comes of a child that says said in writes of at most chunk bytes.
func read(said []byte, e ending, chunk int) (observer.Reply, error) {
	a := &answer{stop: func() {}, finished: func() {}, now: testNow}
	w := &lines{take: a.take, limit: maxLine}
	for len(said) > 0 {
		n := min(chunk, len(said))
		_, _ = w.Write(said[:n])
		said = said[n:]
	}
	return a.outcome(e)
}

// told is an outcome in one line.
func told(r observer.Reply, err error) string {
	f, ok := errors.AsType[*observer.Failure](err)
	switch {
	case ok:
		s := fmt.Sprintf("%s %d", f.Class, f.Status)
		if !f.Output.IsZero() {
			s += fmt.Sprintf(" with %d bytes", f.Output.Len())
		}
		if !f.ResetsAt.IsZero() {
			s += " until " + f.ResetsAt.Format(time.RFC3339)
		}
		return s
	case err != nil:
		return "crash: " + err.Error()
	}
	return fmt.Sprintf("%q by %s, stopped by %s, %d (%d cached) in, %d out, $%.6f",
		r.Text.RawText(), r.Model, r.StopReason, r.Usage.Input, r.Usage.Cached, r.Usage.Output, r.Cost)
}

// recorded lists what the real clients said to the scripted model (see TestRealClient), and what it comes to.
func recorded() map[string]string {
	answered := fmt.Sprintf("%q by claude-haiku-4-5, stopped by end_turn, 157 (30 cached) in, 25 out, $0.000257", whole)
	all := fmt.Sprintf(" with %d bytes", len(whole))
	part := fmt.Sprintf(" with %d bytes", len(half))
	return map[string]string{
		"answered":         answered,
		"warned":           answered,
		"cut-after-stop":   fmt.Sprintf("%q by claude-haiku-4-5, stopped by end_turn, ", whole), // older clients lose the usage
		"cut-at-start":     "transport 0",
		"cut-in-block":     "transport 0" + part,
		"cut-before-stop":  "transport 0" + all,
		"refused-by-peer":  "transport 0",
		"longest":          "truncated 0" + all,
		"window":           "overflow 0" + all,
		"safety":           "refused 0" + all,
		"page":             "unknown 0",
		"400":              "refused 400",
		"400-billing":      "billing 400",
		"400-too-long":     "overflow 400",
		"401":              "auth 401",
		"401-subscription": "auth 401",
		"402":              "billing 402",
		"403":              "auth 403",
		"404":              "setup 404",
		"408":              "timeout 408",
		"413":              "overflow 413",
		"422":              "refused 422",
		"429":              "limit 429",
		"429-for-long":     "limit 429 until 2026-11-20T22:00:3", // and some seconds: newer clients add a little
		"429-for-hours":    "limit 429",                          // the client gives up at once, and does not say until when
		"429-subscription": "limit 429 until 2100-01-01T00:00:00Z",
		"500":              "server 500",
		"502":              "server 502",
		"503":              "overload 503",
		"504":              "timeout 504",
		"529":              "overload 529",
		"error-in-stream":  "transport 0", // or overload in newer clients
		"logged-out":       "auth 0",
	}
}

// TestRecorded reads what each release of the client said, in pieces of every size.
func TestRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		said, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		want, ok := recorded()[name]
		if !ok {
			t.Errorf("%s is not in the table", file)
		}
		for _, chunk := range []int{len(said), 4096, 1000, 7, 1} {
			got := told(read(said, ending{code: 1}, chunk))
			if name == "error-in-stream" && strings.HasPrefix(got, "overload 529") {
				continue
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s in pieces of %d: got %s, want %s", file, chunk, got, want)
			}
		}
	}
}

// TestAnyCutIsFound ends a good recording after each of its lines: only what holds the result is an answer.
func TestAnyCutIsFound(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*/answered.jsonl")
	if len(files) == 0 {
		t.Fatal("no recording")
	}
	for _, file := range files {
		said, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := bytes.SplitAfter(bytes.TrimSpace(said), []byte("\n"))
		for n := range all {
			r, err := read(bytes.Join(all[:n], nil), ending{code: 0}, 1<<20)
			failure, typed := errors.AsType[*observer.Failure](err)
			switch {
			case err == nil:
				t.Errorf("%s, %d lines: got %q", file, n, r.Text)
			case n == 0 && (!typed || failure.Class != events.FailSetup):
				t.Errorf("%s, nothing: got %v, want setup", file, err)
			case n > 0 && typed:
				t.Errorf("%s, %d lines: got %v, want a crash", file, n, err)
			}
		}
	}
}

// line builders of the cases that no release was seen to produce.
const (
	initSaid   = `{"type":"system","subtype":"init","tools":[],"mcp_servers":[]}` + "\n"
	startSaid  = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","model":"haiku"}},"parent_tool_use_id":null}` + "\n"
	deltaSaid  = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"hello"}}}` + "\n"
	stopSaid   = `{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"}}}` + "\n"
	resultSaid = `{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":3,"output_tokens":2}}` + "\n"
)

func TestOutcomes(t *testing.T) {
	t.Parallel()
	errorSaid := func(word string, status int) string {
		return fmt.Sprintf(`{"type":"assistant","error":%q,"message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"words"}]}}
{"type":"result","subtype":"success","is_error":true,"api_error_status":%d}
`, word, status)
	}
	hello := `"hello" by haiku, stopped by end_turn, 3 (0 cached) in, 2 out, $0.000000`
	for name, c := range map[string]struct {
		said string
		end  ending
		want string
	}{
		"an answer":                      {initSaid + startSaid + deltaSaid + stopSaid + resultSaid, ending{}, hello},
		"an answer and a bad end":        {initSaid + startSaid + deltaSaid + stopSaid + resultSaid, ending{code: -1, signaled: true}, hello},
		"noise between":                  {"warning: x\n\n{}\n[]\nnull\n" + initSaid + startSaid + "{\"type\":7}\n" + deltaSaid + stopSaid + resultSaid, ending{}, hello},
		"a line of a newer client":       {initSaid + `{"type":"mood","message":7}` + "\n" + startSaid + deltaSaid + stopSaid + resultSaid, ending{}, hello},
		"of a subagent":                  {initSaid + startSaid + deltaSaid + strings.Replace(deltaSaid, `"stream_event"`, `"stream_event","parent_tool_use_id":"t"`, 1) + stopSaid + resultSaid, ending{}, hello},
		"the second try":                 {initSaid + startSaid + deltaSaid + `{"type":"system","subtype":"api_retry","retry_delay_ms":500,"error_status":null,"error":"unknown"}` + "\n" + startSaid + deltaSaid + stopSaid + resultSaid, ending{}, hello},
		"not as a stream":                {initSaid + startSaid + `{"type":"assistant","message":{"id":"n","model":"haiku","stop_reason":"end_turn","content":[{"type":"thinking"},{"type":"text","text":"hello"}]}}` + "\n" + resultSaid, ending{}, hello},
		"not as a stream, cut":           {initSaid + startSaid + `{"type":"assistant","message":{"id":"n","model":"haiku","stop_reason":null,"content":[{"type":"text","text":"hello"}]}}` + "\n" + resultSaid, ending{}, "transport 0 with 5 bytes"},
		"nothing and a status":           {"", ending{code: 1}, "setup 0"},
		"nothing":                        {"", ending{}, "setup 0"},
		"no client of ours":              {"hello\n", ending{}, "setup 0"},
		"killed at once":                 {"", ending{code: -1, signaled: true}, "crash: observer: crashed: the client was killed before its result"},
		"dead in the middle":             {initSaid + startSaid + deltaSaid, ending{code: 3}, "crash: observer: crashed: the client ended with status 3 before its result"},
		"killed in the middle":           {initSaid + startSaid, ending{code: -1, signaled: true}, "crash: observer: crashed: the client was killed before its result"},
		"a success without its stop":     {initSaid + startSaid + deltaSaid + resultSaid, ending{}, "transport 0 with 5 bytes"},
		"a success that was abandoned":   {initSaid + startSaid + deltaSaid + stopSaid + `{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{}}` + "\n" + resultSaid, ending{}, "transport 0 with 5 bytes"},
		"a success that asked nobody":    {initSaid + resultSaid, ending{}, "unknown 0"},
		"tools":                          {`{"type":"system","subtype":"init","tools":["Bash"],"mcp_servers":[]}` + "\n" + startSaid + deltaSaid + stopSaid + resultSaid, ending{}, "setup 0"},
		"servers":                        {`{"type":"system","subtype":"init","tools":[],"mcp_servers":[{"name":"x"}]}` + "\n", ending{}, "setup 0"},
		"goes on by itself":              {initSaid + startSaid + deltaSaid + `{"type":"user","isSynthetic":true}` + "\n" + startSaid + deltaSaid + stopSaid + resultSaid, ending{}, "transport 0 with 5 bytes"},
		"a limit that is not reached":    {initSaid + `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":4102444800}}` + "\n" + errorSaid("rate_limit", 429), ending{code: 1}, "limit 429"},
		"a reset of another failure":     {initSaid + `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4102444800}}` + "\n" + errorSaid("server_error", 500), ending{code: 1}, "server 500"},
		"a reset that is no time":        {initSaid + `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e300}}` + "\n" + errorSaid("rate_limit", 429), ending{code: 1}, "limit 429"},
		"a long wait":                    {initSaid + `{"type":"system","subtype":"api_retry","retry_delay_ms":60000,"error_status":529,"error":"overloaded"}` + "\n", ending{}, "overload 529 until 2026-11-20T22:01:00Z"},
		"a wait without end":             {initSaid + `{"type":"system","subtype":"api_retry","retry_delay_ms":1e300,"error_status":429,"error":"rate_limit"}` + "\n", ending{}, "limit 429 until 2026-12-20T22:00:00Z"},
		"a retry that helps nobody":      {initSaid + `{"type":"system","subtype":"api_retry","retry_delay_ms":500,"error_status":401,"error":"authentication_failed"}` + "\n", ending{}, "auth 401"},
		"an organisation that forbids":   {initSaid + errorSaid("oauth_org_not_allowed", 403), ending{code: 1}, "auth 403"},
		"an account on hold":             {initSaid + errorSaid("account_on_hold", 0), ending{code: 1}, "auth 0"},
		"an error without a word":        {initSaid + `{"type":"result","subtype":"error_during_execution","is_error":true}` + "\n", ending{code: 1}, "unknown 0"},
		"a gateway that is out of order": {initSaid + errorSaid("unknown", 502), ending{code: 1}, "server 502"},
		"a redirection":                  {initSaid + errorSaid("unknown", 302), ending{code: 1}, "setup 302"},
		"time is up below":               {initSaid + errorSaid("server_error", 408), ending{code: 1}, "timeout 408"},
		"too long, says the word":        {initSaid + errorSaid("max_output_tokens", 0), ending{code: 1}, "truncated 0"},
	} {
		for _, chunk := range []int{1 << 20, 3} {
			if got := told(read([]byte(c.said), c.end, chunk)); got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
	}
}

// TestWordsDecideNothing: what the client or the model says in sentences changes no class and reaches no message.
func TestWordsDecideNothing(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"Invalid API key", "You've hit your session limit", "prompt is too long", "Credit balance is too low", "Overloaded",
	} {
		said := initSaid + fmt.Sprintf(`{"type":"assistant","error":"server_error","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":%q}]}}
{"type":"result","is_error":true,"api_error_status":500,"result":%q}
`, words, words)
		_, err := read([]byte(said), ending{code: 1}, 1<<20)
		failure, ok := errors.AsType[*observer.Failure](err)
		if !ok || failure.Class != events.FailServer {
			t.Fatalf("%s: got %v, want server", words, err)
		}
		if want := "Claude Code reports: server (500 Internal Server Error)"; failure.Message != want || strings.Contains(err.Error(), words) {
			t.Errorf("%s: says %q, want %q", words, failure.Message, want)
		}
	}
}

// TestAnswersAreBounded: an endless answer ends the child, and what is kept of it ends between two characters.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	stopped := 0
	a := &answer{stop: func() { stopped++ }, finished: func() {}, now: testNow}
	w := &lines{take: a.take, limit: maxLine}
	_, _ = w.Write([]byte(initSaid + startSaid))
	for range 40 {
		_, _ = fmt.Fprintf(w, `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"%s"}}}`+"\n", strings.Repeat("é", 5000)+"x")
	}
	_, err := a.outcome(ending{})
	failure, ok := errors.AsType[*observer.Failure](err)
	if !ok || failure.Class != events.FailTruncated || stopped != 1 {
		t.Fatalf("got %v, stopped %d times", err, stopped)
	}
	if n := failure.Output.Len(); n > maxText || n < maxText-3 || strings.ToValidUTF8(failure.Output.RawText(), "") != failure.Output.RawText() {
		t.Errorf("kept %d bytes", n)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 8
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 60, -1).Draw(t, "text")
		var got, want []string
		w := &lines{take: func(b []byte) { got = append(got, string(b)) }, limit: limit}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if wrote, err := w.Write(rest[:n]); wrote != n || err != nil {
				t.Fatalf("wrote %d, %v", wrote, err)
			}
			if len(w.part) > limit {
				t.Fatalf("keeps %d bytes", len(w.part))
			}
			rest = rest[n:]
		}
		all := strings.Split(text, "\n")
		for _, l := range all[:len(all)-1] { // what has no end is no line
			if len(l) <= limit {
				want = append(want, l)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -want +got:\n%s", text, diff)
		}
	})
}

// FuzzAnswer: whatever a child says, there is one typed outcome, bounded, and the same in pieces.
func FuzzAnswer(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.jsonl")
	for _, file := range files {
		said, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(said, 0, 7)
	}
	f.Add([]byte(initSaid+startSaid+deltaSaid+stopSaid+resultSaid), 1, 1)
	f.Fuzz(func(t *testing.T, said []byte, code, chunk int) {
		e := ending{code: code, signaled: code < 0}
		r, err := read(said, e, max(1, chunk))
		if again := told(read(said, e, len(said)+1)); told(r, err) != again {
			t.Errorf("in pieces of %d: %s; whole: %s", chunk, told(r, err), again)
		}
		failure, typed := errors.AsType[*observer.Failure](err)
		switch {
		case typed && (!failure.Class.BlamesProvider() && !failure.Class.BlamesTurn() || failure.Output.Len() > maxText || failure.Message == ""):
			t.Errorf("%+v", failure)
		case err == nil && (r.Text.Len() > maxText || r.Form == "" || r.StopReason == "" || min(r.Usage.Input, r.Usage.Cached, r.Usage.Output) < 0 || r.Cost < 0):
			t.Errorf("%+v", r)
		}
	})
}
