package wiretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// impostors: what answers well and is no such service.
func (s suite) impostors(t *testing.T) {
	json := map[string]string{"Content-Type": "application/json"}
	page := "<html><body>You've hit your limit. Please log in.</body></html>"
	for _, tc := range []struct {
		name   string
		answer Answer
		want   events.FailureClass
	}{
		{"a page", Answer{Body: page, Header: map[string]string{"Content-Type": "text/html"}}, events.FailSetup},
		{"plain text", Answer{Body: "ok", Header: map[string]string{"Content-Type": "text/plain"}}, events.FailSetup},
		{"no type", Answer{Body: page, Header: map[string]string{"Content-Type": ""}}, events.FailSetup},
		{"JSON that is none", Answer{Body: `{"id": `, Header: json}, events.FailTransport},
		{"an answer without an end", Answer{Body: strings.Repeat(" ", 5<<20), Header: json}, events.FailTruncated},
	} {
		server := s.serve(t, tc.answer)
		if f := s.fails(t, s.ask(t, server.URL, nil), tc.name); f.Class != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, f, tc.want)
		}
	}
}

// unreachable: nobody answers at all.
func (s suite) unreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.api.New(model.Endpoint{URL: "ftp://x"}); err == nil || strings.Contains(err.Error(), "ftp") {
		t.Errorf("an address that is none: got %v", err)
	}
	refusing := "http://" + l.Addr().String()
	_ = l.Close()
	plain := s.serve(t, s.api.Says(events.FormXML, content))
	for name, url := range map[string]string{
		"refused": refusing, "no name": "http://no-such-host.invalid", "no TLS": "https" + strings.TrimPrefix(plain.URL, "http"),
	} {
		f := s.fails(t, s.ask(t, url, func(c *model.Config) { c.Timeout = 5 * time.Second }), name)
		if f.Class != events.FailTransport && !(name == "no name" && f.Class == events.FailTimeout) || f.Status != 0 {
			t.Errorf("%s: got %v, status %d, want a failure of the transport", name, f, f.Status)
		}
	}
}

// redirected: a key is not carried to another address.
func (s suite) redirected(t *testing.T) {
	other := s.serve(t, s.api.Says(events.FormXML, content))
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := s.serve(t, Answer{Status: status, Header: map[string]string{"Location": other.URL}})
		if f := s.fails(t, s.ask(t, server.URL, nil), fmt.Sprint(status)); f.Class != events.FailSetup || f.Status != status {
			t.Errorf("%d: got %v, status %d, want setup", status, f, f.Status)
		}
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("it was followed %d times", n)
	}
}

// refusal is a status and what it means.
type refusal struct {
	status  int
	want    events.FailureClass
	retried bool
	resets  bool // its Retry-After is believed
}

func refusals() []refusal {
	return []refusal{
		{400, events.FailRefused, false, false}, {401, events.FailAuth, false, false}, {402, events.FailBilling, false, false},
		{403, events.FailAuth, false, false}, {404, events.FailSetup, false, false}, {408, events.FailTimeout, true, true},
		{413, events.FailOverflow, false, false}, {418, events.FailUnknown, false, false}, {422, events.FailRefused, false, false},
		{429, events.FailLimit, true, true}, {500, events.FailServer, true, true}, {502, events.FailServer, true, true},
		{503, events.FailOverload, true, true}, {504, events.FailTimeout, true, true}, {529, events.FailOverload, true, true},
	}
}

// refusals: each status means one thing, whatever stands in its body, and with Retry-After the time to come back.
func (s suite) refusals(t *testing.T) {
	page := map[string]string{"Content-Type": "text/html"}
	for _, r := range refusals() {
		for name, a := range map[string]Answer{
			"in the API's form": s.api.Refuses(r.status, "some_error"),
			"a page":            {Status: r.status, Header: page, Body: "<html>rate limit exceeded, invalid api key</html>"},
			"nothing":           {Status: r.status},
			"JSON of others":    {Status: r.status, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"error":"weekly limit"}`},
			"a cut page":        {Status: r.status, Header: page, Body: "<html>rate", End: Cut},
		} {
			server := s.serve(t, a)
			f := s.fails(t, s.ask(t, server.URL, retrying), fmt.Sprint(r.status, " ", name))
			if f.Class != r.want || f.Status != r.status || !f.ResetsAt.IsZero() {
				t.Errorf("%d, %s: got %s, status %d, reset %v, want %s without a reset", r.status, name, f.Class, f.Status, f.ResetsAt, r.want)
			}
			if n, want := len(server.Requests()), tries(r.retried); n != want || f.Calls != want || f.Usage != (events.Usage{}) || f.Cost != 0 {
				t.Errorf("%d, %s: asked %d times, tells %d with %+v, want %d", r.status, name, n, f.Calls, f.Usage, want)
			}
			server.Close()
		}
		s.later(t, r)
	}
}

func tries(retried bool) int {
	if retried {
		return 3
	}
	return 1
}

// later refuses until a time that is further away than a turn waits: it is asked once, and the failure names the time.
func (s suite) later(t *testing.T, r refusal) {
	t.Helper()
	for _, value := range []string{"30", time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)} {
		server := s.serve(t, s.api.Refuses(r.status, "some_error").with("Retry-After", value))
		f := s.fails(t, s.ask(t, server.URL, retrying), fmt.Sprint(r.status))
		left := time.Until(f.ResetsAt)
		if r.resets != (left > 20*time.Second && left < 40*time.Second) || r.resets == f.ResetsAt.IsZero() {
			t.Errorf("%d, Retry-After %s: got a reset in %v, want one: %t", r.status, value, left, r.resets)
		}
		if n := len(server.Requests()); n != 1 || f.Calls != 1 {
			t.Errorf("%d, Retry-After %s: asked %d times, tells %d, want once", r.status, value, n, f.Calls)
		}
		server.Close()
	}
}

// retries: what passes is passed over, and a short wait is kept. What the tries took is stated together.
func (s suite) retries(t *testing.T) {
	fine := s.api.Says(events.FormXML, content)
	half := fine.until(len(fine.Body)/2, Cut)
	twice := model.Plus(s.api.PartialUsage, Usage())
	for name, tc := range map[string]struct {
		script []Answer
		want   int // requests; the last one is answered
		paid   events.Usage
	}{
		"500":             {[]Answer{s.api.Refuses(500, "api_error"), fine}, 2, Usage()},
		"429 and 529":     {[]Answer{s.api.Refuses(429, "rate_limit_error"), s.api.Refuses(529, "overloaded_error"), fine}, 3, Usage()},
		"a cut":           {[]Answer{fine.until(10, Cut), fine}, 2, Usage()},
		"a cut, then 503": {[]Answer{half, {Status: 503}, fine}, 3, twice},
		"two cuts":        {[]Answer{half, half, fine}, 3, model.Plus(s.api.PartialUsage, twice)},
	} {
		server := s.serve(t, tc.script...)
		got, err := s.ask(t, server.URL, retrying).Complete(t.Context(), aPrompt())
		if n := len(server.Requests()); err != nil || !cmp.Equal(got.Text.RawText(), content) || n != tc.want {
			t.Errorf("%s: got %q, %v after %d requests, want an answer after %d", name, got.Text, err, n, tc.want)
		}
		if got.Usage != tc.paid || got.Calls != tc.want || got.Cost != s.api.Cost {
			t.Errorf("%s: stated %+v, $%v for %d calls, want %+v, $%v for %d", name, got.Usage, got.Cost, got.Calls, tc.paid, s.api.Cost, tc.want)
		}
	}
	server := s.serve(t, half)
	failure := s.fails(t, s.ask(t, server.URL, retrying), "three cuts")
	if want := model.Plus(s.api.PartialUsage, model.Plus(s.api.PartialUsage, s.api.PartialUsage)); failure.Usage != want || failure.Calls != 3 {
		t.Errorf("three cuts: stated %+v for %d calls, want %+v for 3", failure.Usage, failure.Calls, want)
	}
	server = s.serve(t, s.api.Refuses(429, "rate_limit_error").with("Retry-After", "1"), fine)
	began := time.Now()
	_, err := s.ask(t, server.URL, retrying).Complete(t.Context(), aPrompt())
	if took := time.Since(began); err != nil || took < time.Second || took > 3*time.Second {
		t.Errorf("Retry-After: 1: got %v after %v, want an answer after a second", err, took)
	}
}

// secrets: a service that says the key and the prompt back finds neither in an error nor in a log.
func (s suite) secrets(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(old)
	const secret = "the prompt's own words"
	for _, status := range []int{200, 302, 400, 401, 403, 404, 429, 500, 529} {
		for _, a := range []Answer{
			s.api.Refuses(status, Key), {Status: status, Body: Key + secret}, {Status: status, Body: Key + secret, End: Cut},
			{Status: status, Body: Key, Header: map[string]string{"Retry-After": Key, "Content-Type": Key, "Location": "/" + Key}},
		} {
			server := s.serve(t, a)
			p := s.ask(t, server.URL, nil)
			_, err := p.Complete(t.Context(), observer.Prompt{Request: secret})
			logged.WriteString(spelled(err))
			_, _ = fmt.Fprintf(&logged, "%v %+v %#v", p, p, p)
			server.Close()
		}
	}
	if n := strings.Index(logged.String(), Key); n >= 0 {
		t.Errorf("the key is logged: %.200q", logged.String()[max(0, n-100):])
	}
	if n := strings.Index(logged.String(), secret); n >= 0 {
		t.Errorf("the prompt is logged: %.200q", logged.String()[max(0, n-100):])
	}
}

// anotherKey: a key is read once, again after it was refused, and not for any other failure.
func (s suite) anotherKey(t *testing.T) {
	n := 0
	key, err := model.NewKey(model.KeySource{Env: "K", Getenv: func(string) string { n++; return fmt.Sprint("key", n) }})
	if err != nil {
		t.Fatal(err)
	}
	fine := s.api.Says(events.FormXML, content)
	server := s.serve(t,
		fine, s.api.Refuses(500, "api_error"), s.api.Refuses(401, "authentication_error"), fine, s.api.Refuses(403, "x"), fine)
	p := s.askWith(t, model.Endpoint{URL: server.URL, Key: key}, nil)
	for range 6 {
		_, _ = p.Complete(t.Context(), aPrompt())
	}
	var sent []string
	for _, r := range server.Requests() {
		sent = append(sent, s.api.SentKey(r))
	}
	if diff := cmp.Diff([]string{"key1", "key1", "key1", "key2", "key2", "key3"}, sent); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// spelled is all that an error and its causes say, in every way they may be printed.
func spelled(err error) string {
	var b strings.Builder
	for e := err; e != nil; e = errors.Unwrap(e) {
		_, _ = fmt.Fprintf(&b, "%v %+v %#v %q\n", e, e, e, e)
	}
	return b.String()
}

// waitForGoroutines waits until there are no more goroutines than before.
func waitForGoroutines(before int, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		now := runtime.NumGoroutine()
		if now <= before {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b := make([]byte, 1<<16)
			return fmt.Errorf("there were %d, there are %d:\n%s", before, now, b[:runtime.Stack(b, true)])
		}
	}
}
