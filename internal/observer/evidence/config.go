package evidence

import (
	"cmp"
	"strings"
	"time"
)

// Config is how a Checker asks git. The zero value works.
type Config struct {
	Git       string        // the program; "" means git, found in PATH
	Timeout   time.Duration // for one Check or Repo; 0 means 2 s
	Processes int           // at once; 0 means 8
	Env       []string      // of the children, before what steers git is taken out; nil: nothing
}

func (c Config) withDefaults() Config {
	c.Git = cmp.Or(c.Git, "git")
	c.Timeout = cmp.Or(max(0, c.Timeout), 2*time.Second)
	c.Processes = cmp.Or(max(0, c.Processes), 8)
	c.Env = scrub(c.Env)
	return c
}

// scrub takes out what would point git at another repository or run something else, and forbids locks, questions and
// the network: a partial clone would else fetch what it lacks.
func scrub(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "GIT_CEILING_DIRECTORIES=") {
			out = append(out, kv)
		}
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "LC_ALL=C")
}
