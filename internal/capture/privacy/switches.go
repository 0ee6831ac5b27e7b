package privacy

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/ignore"
)

// Switches are the settings of what is not recorded.
type Switches struct {
	SkipTools  []string // capture_skip_tools: names; a * stands for any characters
	SkipAgents []string // capture_skip_agents: the same
	Refused    []string // ignore_refused: paths of ignore files that count for nothing
	Ignore     []string // capture_ignore: patterns as in a .cmemdignore in the uppermost folder; ~/ is the person's home
}

// IgnoreFile is the name of the files in which paths are listed that nothing is recorded of.
const IgnoreFile = ignore.File

// The keys of Switches in the settings' file; their variables are CMEMD_ and the key in capitals.
const (
	KeySkipTools  = "capture_skip_tools"
	KeySkipAgents = "capture_skip_agents"
	KeyIgnore     = "capture_ignore"
	KeyRefused    = "ignore_refused"
)

// NewRules returns the rules of a home: those of its settings, of the files named .cmemdignore in it and in any folder that
// a session works in or names, and those that always hold.
func NewRules(home string, s Switches) *Rules {
	var text strings.Builder
	for _, p := range s.Ignore {
		text.WriteString(expandHome(p) + "\n")
	}
	tree := ignore.NewTree(ignore.Parse(text.String()), filepath.Join(home, ignore.File))
	tree.Refuse(s.Refused...)
	return &Rules{
		SkipTools: s.SkipTools, SkipAgents: s.SkipAgents, Homes: OwnHomes(home),
		Ignore: tree,
	}
}

// expandHome is a pattern with the person's home in the place of its ~.
func expandHome(pattern string) string {
	negation := ""
	rest, ok := strings.CutPrefix(pattern, "!")
	if ok {
		negation = "!"
	}
	if below, ok := strings.CutPrefix(rest, "~/"); ok {
		if user, err := os.UserHomeDir(); err == nil {
			return negation + filepath.ToSlash(user) + "/" + below
		}
	}
	return pattern
}
