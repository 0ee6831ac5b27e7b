package wiretest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// API is how one service speaks, and who asks it.
type API struct {
	// New returns an asker of an endpoint.
	New func(e model.Endpoint) (Asker, error)
	// Says is the whole answer with a text, in the form it was asked for, with Usage, Model and Cost.
	Says func(form events.Form, text string) Answer
	// Stopped is an answer that was cut by the bound of tokens, and Blocked one that the service would not give, both with
	// Usage, Model and Cost: they are paid.
	Stopped func(form events.Form, text string) Answer
	Blocked func() Answer
	// Model is what those answers say that they come from, and Cost what they say they cost; 0: such a service does not say.
	Model string
	Cost  float64
	// PartialUsage is what an answer that breaks off in its middle has stated of its cost; zero where such a one states nothing.
	PartialUsage events.Usage
	// Refuses is a refusal with a word of the API's for programs.
	Refuses func(status int, word string) Answer
	// FormRefused is a refusal that names the structured form as what is wrong; a zero Answer if the API has no words for it.
	FormRefused Answer
	// Ability is what the service says of its model, where the asker asks for that; a zero Answer where it does not say.
	Ability Answer
	// IsLeastThinking reports whether a request tells the model to think as little as it can, and LeastThinkingRefused is a refusal that names what
	// tells it so; nil and a zero Answer where the API has no words for that.
	IsLeastThinking      func(Request) bool
	LeastThinkingRefused Answer
	// SentKey is the key of a request, as the API wants it sent.
	SentKey func(Request) string
	// KeepsPartial: an answer that breaks off is kept as far as it came.
	KeepsPartial bool
}

// Asker is a model.Asker that keeps connections open.
type Asker interface {
	model.Asker
	CloseIdleConnections()
}

// Usage is what every answer of API.Says was paid with.
func Usage() events.Usage { return events.Usage{Input: 1200, Cached: 1000, Output: 34} }

// Key is the key that the suite's askers send. No other text of the suite holds it.
const Key = "sk-wiretest-0123456789abcdef"

type suite struct{ api API }

// serve starts a server of the API.
func (s suite) serve(t *testing.T, answers ...Answer) *Server {
	t.Helper()
	server := MustServe(t, answers...)
	if s.api.Ability.Body != "" {
		server.AnswerGets(s.api.Ability)
	}
	return server
}

// rendered makes questions that are short whatever the prompt is.
type rendered struct{}

func (rendered) Question(p observer.Prompt, _ events.Form) model.Question {
	return model.Question{System: "Answer.", User: "asked about: " + p.Request[:min(len(p.Request), 200)]}
}

const content = `<observation><title>Round "totals" once &amp; at the end: é 👩‍👧 記録</title></observation>`

// ask makes a provider that asks at url.
func (s suite) ask(t *testing.T, url string, edit func(*model.Config)) *model.Provider {
	t.Helper()
	key, err := model.NewKey(model.KeySource{Env: "WIRETEST_KEY", Getenv: func(string) string { return Key }})
	if err != nil {
		t.Fatal(err)
	}
	return s.askWith(t, model.Endpoint{URL: url, Key: key}, edit)
}

func (s suite) askWith(t *testing.T, e model.Endpoint, edit func(*model.Config)) *model.Provider {
	t.Helper()
	asker, err := s.api.New(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(asker.CloseIdleConnections)
	c := model.Config{
		Name: "wire", Asker: asker, Renderer: rendered{}, Form: events.FormXML, Retries: -1, Backoff: time.Millisecond, Timeout: 20 * time.Second,
	}
	if edit != nil {
		edit(&c)
	}
	p, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func aPrompt() observer.Prompt {
	return observer.Prompt{Kind: events.TurnObservation, Attempt: 1, Request: "fix the totals"}
}

// answers: text and usage arrive, in both forms; the question and the key were sent, and the key only where it belongs.
func (s suite) answers(t *testing.T) {
	for form, text := range map[events.Form]string{
		events.FormXML: content, events.FormStructured: `{"observations":[],"skip":true,"skip_reason":"é \"x\""}`,
	} {
		server := s.serve(t, s.api.Says(form, text))
		got, err := s.ask(t, server.URL, func(c *model.Config) { c.Form = form }).Complete(t.Context(), aPrompt())
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if got.StopReason == "" {
			t.Errorf("%s: got no stop reason, want what the service said", form)
		}
		want := observer.Reply{
			Text: events.NewOutput(text), Form: form, StopReason: got.StopReason,
			Bill: events.Bill{Usage: Usage(), Cost: s.api.Cost, Calls: 1, Model: s.api.Model, CostStated: s.api.Cost > 0, SentBytes: s.sent(t, string(form), got.SentBytes, server)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
		asked := server.Requests()[0]
		if sent := s.api.SentKey(asked); sent != Key {
			t.Errorf("%s: got the key %q", form, sent)
		}
		for _, part := range []string{"Answer.", "asked about: fix the totals"} {
			if !strings.Contains(asked.Body, part) {
				t.Errorf("%s: %q is not in the request %s", form, part, asked.Body)
			}
		}
		if strings.Contains(asked.URL+asked.Body, Key) {
			t.Errorf("%s: the key is in the address or the body", form)
		}
		if form == events.FormStructured && !strings.Contains(asked.Body, `"skip_reason"`) {
			t.Errorf("the schema is not in the request %s", asked.Body)
		}
	}
}

// outcomes: what the service says with an answer decides, and what it took is stated.
func (s suite) outcomes(t *testing.T) {
	const cut = `{"observations":[{"title":"whole"},{"title":"ha`
	for _, tc := range []struct {
		name   string
		form   events.Form
		answer Answer
		want   events.FailureClass
		output string
	}{
		{"stopped", events.FormXML, s.api.Stopped(events.FormXML, content), events.FailTruncated, content},
		{"stopped, structured", events.FormStructured, s.api.Stopped(events.FormStructured, cut), events.FailTruncated, cut},
		{"blocked", events.FormXML, s.api.Blocked(), events.FailRefused, ""},
	} {
		server := s.serve(t, tc.answer)
		failure := s.fails(t, s.ask(t, server.URL, func(c *model.Config) { c.Retries, c.Form = 2, tc.form }), tc.name)
		want := observer.Failure{
			Class: tc.want, Message: failure.Message, Output: events.NewOutput(tc.output), Form: tc.form,
			Bill: events.Bill{Usage: Usage(), Cost: s.api.Cost, Calls: 1, Model: s.api.Model, CostStated: s.api.Cost > 0, SentBytes: s.sent(t, tc.name, failure.SentBytes, server)},
		}
		if diff := cmp.Diff(want, *failure); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%s: asked %d times, want once", tc.name, n)
		}
	}
	server := s.serve(t, s.api.Says(events.FormXML, ""))
	if got, err := s.ask(t, server.URL, nil).Complete(t.Context(), aPrompt()); err != nil || !got.Text.IsZero() {
		t.Errorf("blank: got %q, %v, want an answer without text", got.Text, err)
	}
}

func retrying(c *model.Config) { c.Retries = 2 }

// sent returns bytes, which a provider says it sent in the one request that it made: all of the question, and no more than
// went out.
func (s suite) sent(t *testing.T, name string, bytes int64, server *Server) int64 {
	t.Helper()
	if most := int64(len(server.Requests()[0].Body)); bytes <= int64(len(aPrompt().Request)) || bytes > most {
		t.Errorf("%s: %d bytes are said to be sent, in a request of %d", name, bytes, most)
	}
	return bytes
}

// fails asks and wants a typed failure.
func (s suite) fails(t *testing.T, p *model.Provider, name string) *observer.Failure {
	t.Helper()
	got, err := p.Complete(t.Context(), aPrompt())
	failure, ok := errors.AsType[*observer.Failure](err)
	if !ok {
		t.Fatalf("%s: got %q, %v, want a typed failure", name, got.Text, err)
	}
	return failure
}

// borders: how an answer is cut into pieces on its way changes nothing.
func (s suite) borders(t *testing.T) {
	whole := s.api.Says(events.FormXML, content)
	server := s.serve(t)
	p := s.ask(t, server.URL, nil)
	try := func(a Answer) {
		t.Helper()
		server.Script(a)
		if got, err := p.Complete(t.Context(), aPrompt()); err != nil || !cmp.Equal(got.Text.RawText(), content) || got.Usage != Usage() {
			t.Fatalf("pieces %v of %d bytes each: got %q, %+v, %v", a.Pieces, a.Each, got.Text, got.Usage, err)
		}
	}
	for _, each := range []int{1, 2, 3, 7, 64} {
		a := whole
		a.Each = each
		try(a)
	}
	for i := 1; i < len(whole.Body); i++ {
		a := whole
		a.Pieces = []int{i}
		try(a)
	}
}

// cuts: an answer that breaks off, at whatever byte, is a failure of the transport or was whole.
func (s suite) cuts(t *testing.T) {
	whole := s.api.Says(events.FormXML, content)
	server := s.serve(t)
	p := s.ask(t, server.URL, nil)
	partial, stated := 0, events.Usage{}
	for i := 0; i < len(whole.Body); i++ {
		for _, end := range []End{Cut, Short} {
			server.Script(whole.until(i, end))
			got, err := p.Complete(t.Context(), aPrompt())
			failure, typed := errors.AsType[*observer.Failure](err)
			switch {
			case err == nil && cmp.Equal(got.Text.RawText(), content):
				if i < len(whole.Body)/2 || strings.TrimSpace(whole.Body[i:]) != "" && !s.api.KeepsPartial {
					t.Fatalf("end %d after %d of %d bytes: it is taken for whole", end, i, len(whole.Body))
				}
			case !typed || failure.Class != events.FailTransport:
				t.Fatalf("end %d after %d of %d bytes: got %q, %v, want a failure of the transport", end, i, len(whole.Body), got.Text, err)
			case failure.Calls != 1 || !within(stated, failure.Usage) || !within(failure.Usage, Usage()):
				t.Fatalf("end %d after %d bytes: %d calls, %+v after %+v", end, i, failure.Calls, failure.Usage, stated)
			case !failure.Output.IsZero():
				partial++
				if !cmp.Equal(content[:failure.Output.Len()], failure.Output.RawText()) {
					t.Fatalf("end %d after %d bytes: kept %q", end, i, failure.Output)
				}
			}
			if typed {
				stated = failure.Usage
			}
		}
	}
	if s.api.KeepsPartial != (partial > 0) {
		t.Errorf("what had come was kept %d times, Partial is %t", partial, s.api.KeepsPartial)
	}
	if !within(s.api.PartialUsage, stated) || stated != (events.Usage{}) && s.api.PartialUsage == (events.Usage{}) {
		t.Errorf("the last cut states %+v, want at least %+v", stated, s.api.PartialUsage)
	}
}

// within tells whether no figure of a is above that of b.
func within(a, b events.Usage) bool {
	return a.Input <= b.Input && a.Cached <= b.Cached && a.Output <= b.Output
}

// slow: an answer that does not come to its end in time is a time out.
func (s suite) slow(t *testing.T) {
	whole := s.api.Says(events.FormXML, content)
	for name, n := range map[string]int{"no byte": 0, "half": len(whole.Body) / 2} {
		stated := s.api.PartialUsage
		if n == 0 {
			stated = events.Usage{}
		}
		server := s.serve(t, whole.until(n, Hang))
		began := time.Now()
		failure := s.fails(t, s.ask(t, server.URL, func(c *model.Config) { c.Timeout, c.Retries = 100*time.Millisecond, 2 }), name)
		if failure.Class != events.FailTimeout || time.Since(began) > 5*time.Second {
			t.Errorf("%s: got %v after %v, want a time out", name, failure, time.Since(began))
		}
		if failure.Usage != stated || failure.Calls != 1 {
			t.Errorf("%s: got %+v for %d calls, want %+v for one", name, failure.Usage, failure.Calls, stated)
		}
		if len(server.Requests()) != 1 {
			t.Errorf("%s: asked %d times, want once", name, len(server.Requests()))
		}
		server.Close()
	}
}

// cancelled: a stop is noticed at once, wherever the answer is, and is no failure.
func (s suite) cancelled(t *testing.T) {
	whole := s.api.Says(events.FormXML, content)
	refused := s.api.Refuses(429, "rate_limit_error").with("Retry-After", "9")
	for name, a := range map[string]Answer{
		"no byte": whole.until(0, Hang), "half": whole.until(len(whole.Body)/2, Hang), "between tries": refused,
	} {
		server := s.serve(t, a)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			for len(server.Requests()) == 0 && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
		}()
		began := time.Now()
		got, err := s.ask(t, server.URL, retrying).Complete(ctx, aPrompt())
		if !errors.Is(err, context.Canceled) || !got.Text.IsZero() {
			t.Errorf("%s: got %q, %v, want context.Canceled", name, got.Text, err)
		}
		if n := len(server.Requests()); got.Calls != n || n != 1 {
			t.Errorf("%s: tells %d calls of %d, want one", name, got.Calls, n)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: took %v to notice", name, took)
		}
		server.Close()
	}
}

// provider holds it to the contract of all providers, and with the questions that a daemon asks to budgets.
func (s suite) provider(t *testing.T) {
	server := s.serve(t, s.api.Says(events.FormXML, observer.SkipForm))
	t.Run("contract", func(t *testing.T) {
		asked := func(t *testing.T) observer.Provider { return s.ask(t, server.URL, retrying) }
		providertest.Run(t, asked, providertest.Options{Deterministic: true})
	})
	questions, err := prompt.New(prompt.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server.Script(s.api.Says(events.FormXML, observer.SkipForm))
	p := s.ask(t, server.URL, func(c *model.Config) { c.Renderer = questions })
	sent := func() string {
		all := server.Requests()
		return all[len(all)-1].Body
	}
	if err := providertest.Budget(t.Context(), p, sent); err != nil {
		t.Error(err)
	}
}
