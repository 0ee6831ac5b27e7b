package wiretest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// structured is an answer that keeps to the schema.
const structured = `{"observations":[],"skip":true,"skip_reason":""}`

func automatic(c *model.Config) { c.Form, c.Retries = "", 2 }

// forms: without a setting the structured form is asked for, until the service shows by a word for it, or by two turns in a
// row, that it has none.
func (s suite) forms(t *testing.T) {
	json, xml := s.api.Says(events.FormStructured, structured), s.api.Says(events.FormXML, content)
	refused, lost, odd := s.api.Refuses(400, "invalid_request_error"), s.api.Refuses(404, "not_found_error"), s.api.Refuses(422, "unprocessable")
	type testCase struct {
		script []Answer
		want   string // the form of each turn's answer: s, x
		asked  string // the form of each request
	}
	cases := map[string]testCase{
		"taken":                  {[]Answer{json}, "sss", "sss"},
		"not taken, 400":         {[]Answer{refused, xml, refused, xml, xml}, "xxx", "sxsxx"},
		"not taken, 404":         {[]Answer{lost, xml, lost, xml, xml}, "xxx", "sxsxx"},
		"not taken, 422":         {[]Answer{odd, xml, odd, xml, xml}, "xxx", "sxsxx"},
		"taken and forgotten":    {[]Answer{xml, xml, xml, xml, xml}, "xxx", "sxsxx"},
		"a stray 404":            {[]Answer{lost, xml, json, json}, "xss", "sxss"},
		"strays between answers": {[]Answer{lost, xml, json, lost, xml, json}, "xsx", "sxssx"},
		"taken, then not":        {[]Answer{json, refused, xml, refused, xml, xml}, "sxx", "ssxsx"},
	}
	if s.api.FormRefused.Status != 0 {
		cases["refused by name"] = testCase{[]Answer{s.api.FormRefused, xml, xml, xml}, "xxx", "sxxx"}
	}
	for name, tc := range cases {
		server := s.serve(t, tc.script...)
		p := s.ask(t, server.URL, automatic)
		var got string
		for range len(tc.want) {
			before := len(server.Requests())
			r, err := p.Complete(t.Context(), aPrompt())
			if err != nil || r.Form == "" {
				t.Fatalf("%s: got %+v, %v", name, r, err)
			}
			if calls := len(server.Requests()) - before; r.Calls != calls {
				t.Errorf("%s: stated %d calls of %d", name, r.Calls, calls)
			}
			got += string(r.Form[0])
		}
		if asked := s.askedForms(server); got != tc.want || asked != tc.asked {
			t.Errorf("%s: got answers in the forms %s after questions in %s, want %s after %s", name, got, asked, tc.want, tc.asked)
		}
		server.Close()
	}
	server := s.serve(t, refused)
	if f := s.fails(t, s.ask(t, server.URL, automatic), "refused in both forms"); f.Class != events.FailRefused || f.Calls != 2 {
		t.Errorf("refused in both forms: got %v after %d calls, want the refusal after 2", f, f.Calls)
	}
}

// askedForms are the first letters of the forms that were asked for.
func (s suite) askedForms(server *Server) string {
	var b strings.Builder
	for _, r := range server.Requests() {
		if strings.Contains(r.Body, `"skip_reason"`) {
			b.WriteByte('s')
		} else {
			b.WriteByte('x')
		}
	}
	return b.String()
}

// formByHand: where the structured form is set and refused from the first question on, a person has to change that: it
// costs no turn. One that was answered in it before is refused for what it holds.
func (s suite) formByHand(t *testing.T) {
	json, xml := s.api.Says(events.FormStructured, structured), s.api.Says(events.FormXML, content)
	refused := s.api.Refuses(400, "invalid_request_error")
	for _, tc := range []struct {
		name    string
		answers int // good ones first
		script  []Answer
		want    events.FailureClass
		asked   string
	}{
		{"the form", 0, []Answer{refused, xml}, events.FailSetup, "sx"},
		{"the turn", 0, []Answer{refused, refused}, events.FailRefused, "sx"},
		{"the turn, later", 1, []Answer{json, refused}, events.FailRefused, "ss"},
	} {
		server := s.serve(t, tc.script...)
		p := s.ask(t, server.URL, func(c *model.Config) { c.Form, c.Retries = events.FormStructured, 2 })
		for range tc.answers {
			if _, err := p.Complete(t.Context(), aPrompt()); err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
		}
		f := s.fails(t, p, tc.name)
		if asked := s.askedForms(server); f.Class != tc.want || asked != tc.asked || f.Calls != len(tc.asked)-tc.answers {
			t.Errorf("%s: got %v of %d calls after questions in %s, want %s after %s", tc.name, f, f.Calls, asked, tc.want, tc.asked)
		}
	}
}

// thinking: a model is asked to think as little as it can, where that is wanted and the service takes it.
func (s suite) thinking(t *testing.T) {
	if s.api.IsLeastThinking == nil {
		t.Skip("it has no words for that")
	}
	xml, refused := s.api.Says(events.FormXML, content), s.api.Refuses(400, "invalid_request_error")
	type testCase struct {
		least  bool
		script []Answer
		asked  string // l: with the least thinking, p: plainly
	}
	cases := map[string]testCase{
		"not wanted": {false, []Answer{xml}, "ppp"}, "taken": {true, []Answer{xml}, "lll"},
		"refused without a word": {true, []Answer{refused, xml, refused, xml, xml}, "lplpp"},
		"a stray refusal":        {true, []Answer{refused, xml, xml, xml}, "lpll"},
	}
	if s.api.LeastThinkingRefused.Status != 0 {
		cases["refused by name"] = testCase{true, []Answer{s.api.LeastThinkingRefused, xml}, "lppp"}
	}
	for name, tc := range cases {
		server := s.serve(t, tc.script...)
		p := s.ask(t, server.URL, func(c *model.Config) { c.LeastThinking = tc.least })
		for range 3 {
			if r, err := p.Complete(t.Context(), aPrompt()); err != nil || !cmp.Equal(r.Text.RawText(), content) {
				t.Errorf("%s: got %q, %v", name, r.Text, err)
			}
		}
		var asked strings.Builder
		for _, r := range server.Requests() {
			if s.api.IsLeastThinking(r) {
				asked.WriteByte('l')
			} else {
				asked.WriteByte('p')
			}
		}
		if asked.String() != tc.asked {
			t.Errorf("%s: asked %s, want %s", name, asked.String(), tc.asked)
		}
		server.Close()
	}
}

// count: retries and other ways to ask together are at most two in a turn.
func (s suite) count(t *testing.T) {
	busy, refused := s.api.Refuses(529, "overloaded_error"), s.api.Refuses(400, "invalid_request_error")
	scripts := map[string][]Answer{
		"busy for ever": {busy}, "refused for ever": {refused}, "busy, then refused": {busy, refused}, "refused, then busy": {refused, busy},
		"busy twice, then refused": {busy, busy, refused},
	}
	if s.api.FormRefused.Status != 0 {
		scripts["busy twice, then no such form"] = []Answer{busy, busy, s.api.FormRefused}
		scripts["no such form, then busy"] = []Answer{s.api.FormRefused, busy}
	}
	for name, script := range scripts {
		server := s.serve(t, script...)
		p := s.ask(t, server.URL, func(c *model.Config) { c.Form, c.Retries, c.LeastThinking = "", 2, true })
		f := s.fails(t, p, name)
		if n := len(server.Requests()); n > 3 || f.Calls != n {
			t.Errorf("%s: got %v after %d requests, %d stated, want at most 3", name, f, n, f.Calls)
		}
		server.Close()
	}
}
