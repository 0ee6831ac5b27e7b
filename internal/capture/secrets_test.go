package capture

import (
	"fmt"
	"testing"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/secrets"
	"github.com/google/go-cmp/cmp"
)

// redacting is what a daemon takes secrets out with.
func redacting(c *Config) {
	r := redact.New()
	c.Secrets = func(s string, json bool) (string, map[string]int) {
		if json {
			return r.JSON(s)
		}
		return r.Text(s)
	}
}

// TestOriginsLoseTheirSecrets, but not the session's name.
func TestOriginsLoseTheirSecrets(t *testing.T) {
	t.Parallel()
	var p Pipeline
	redacting(&p.cfg)
	s := secrets.Make(1)[0]
	o := session.Origin{
		Agent: "a", AgentSession: "id", Project: s.Text, ProjectRoot: "/r/" + s.Text, ProjectKey: "k/" + s.Text, Cwd: "/w/" + s.Text,
		GitRoot: "/g/" + s.Text, GitBranch: "b-" + s.Text, GitHead: "3943fd8c1f0a7b6e5d4c3b2a19081726354a5b6c", Transcript: "/t/" + s.Text + ".jsonl",
	}
	m := redact.Mark(s.Rule)
	want := session.Origin{
		Agent: "a", AgentSession: "id", Project: m, ProjectRoot: "/r/" + m, ProjectKey: "k/" + m, Cwd: "/w/" + m,
		GitRoot: "/g/" + m, GitBranch: "b-" + m, GitHead: o.GitHead, Transcript: "/t/" + m + ".jsonl",
	}
	if diff := cmp.Diff(want, p.plainOrigin(o)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for range 2 { // the second time it is known
		if got := p.plainOrigin(want); got != want {
			t.Errorf("an origin without secrets became %+v", got)
		}
		if got := p.plainOrigin(o); got != want {
			t.Errorf("an origin with secrets became %+v", got)
		}
	}
}

// TestAnOriginIsReadOnce: of an origin that was reported before nothing is asked again, and of many not all are remembered.
func TestAnOriginIsReadOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	p := Pipeline{cfg: Config{Secrets: func(s string, _ bool) (string, map[string]int) {
		asked++
		return s, nil
	}}}
	for range 3 {
		p.plainOrigin(session.Origin{Cwd: "/src"})
	}
	if asked != 1 {
		t.Errorf("asked %d times for one origin, want once", asked)
	}
	for i := range 3 * maxPlain {
		p.plainOrigin(session.Origin{Cwd: fmt.Sprint("/src/", i)})
	}
	if n := len(p.plain.known); n > maxPlain {
		t.Errorf("%d origins are remembered, want %d at most", n, maxPlain)
	}
}
