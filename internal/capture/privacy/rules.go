package privacy

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/ignore"
)

// Rules say what of a report is not to be recorded. The zero value has the rules that nobody can switch off: contents of
// files that are keys, dotenv or credentials, and listings of the environment, are never recorded. It is safe for
// concurrent use.
type Rules struct {
	SkipTools  []string     // names of tools, in any case of letters; a * stands for any characters
	SkipAgents []string     // names of agents, the same
	Homes      []string     // cmemd's own: what works in there is not recorded; see OwnHomes
	Ignore     *ignore.Tree // paths of which nothing is recorded; nil: none
}

// With returns rules by which what these ignore files name is ignored too. Without files they are r.
func (r *Rules) With(files []ignore.Source) *Rules {
	if len(files) == 0 {
		return r
	}
	with := *r
	with.Ignore = r.Ignore.With(files)
	return &with
}

// The kinds under which it is counted that contents were left out, beside those of the secrets that a text had.
const (
	LeftFile        = "private-file"
	LeftEnvironment = "environment"
)

// OwnHomes are the names that the home of cmemd goes by: as it is said, and where its links lead.
func OwnHomes(home string) []string {
	homes := []string{filepath.Clean(home)}
	if real, err := filepath.EvalSymlinks(home); err == nil && real != homes[0] {
		homes = append(homes, real)
	}
	return homes
}

// Skips says why nothing is recorded of what an agent does in a folder; empty: something is.
func (r *Rules) Skips(agent, cwd string) string {
	if anyNamed(r.SkipAgents, agent) {
		return "the setting capture_skip_agents names the agent"
	}
	if cwd == "" {
		return ""
	}
	real, ignored := r.Ignore.Folder(cwd)
	for _, home := range r.Homes {
		if within(home, cwd) || within(home, real) {
			return "the session works in cmemd's own home"
		}
	}
	if ignored {
		return "its folder is ignored: see " + ignore.File
	}
	return ""
}

// HiddenBy returns the ignore file for which nothing is recorded of what happens in a folder, or the setting's key; empty: no
// pattern hides it.
func (r *Rules) HiddenBy(cwd string) string {
	if cwd == "" {
		return ""
	}
	if _, ignored := r.Ignore.Folder(cwd); !ignored {
		return ""
	}
	return cmp.Or(r.Ignore.By(cwd), KeyIgnore)
}

// within reports whether a path is a folder, or below it.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), folder)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// SkipsTool says why nothing is recorded of the uses of a tool; empty: something is.
func (r *Rules) SkipsTool(tool string) string {
	if anyNamed(r.SkipTools, tool) {
		return "the setting capture_skip_tools names the tool"
	}
	return ""
}

// anyNamed reports whether one of names, in which a * stands for any characters, is name in any case of letters.
func anyNamed(names []string, name string) bool {
	for _, n := range names {
		if name != "" && isNamed(strings.ToLower(n), strings.ToLower(name)) {
			return true
		}
	}
	return false
}

func isNamed(pattern, name string) bool {
	before, after, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	for {
		next, more, again := strings.Cut(after, "*")
		if !again {
			return strings.HasSuffix(rest, next)
		}
		i := strings.Index(rest, next)
		if i < 0 {
			return false
		}
		rest, after = rest[i+len(next):], more
	}
}

// A Finding is what Inspect found in what a tool was given.
type Finding struct {
	Ignored bool   // it names a path of which nothing is recorded
	LeftOut string // LeftFile or LeftEnvironment: its contents are not recorded; empty: they are
	What    string // they are contents of

	// OutputStays says that what came of it holds none of them: only what it was given is cut.
	OutputStays bool

	cwd string // in which it was looked at
	dir string // in which a command worked at its end, if that is another one
}

// Mark is what stands in the place of contents that were left out.
func (f Finding) Mark() string { return leftMark(f.What) }

func leftMark(what string) string { return "[cmemd: left out: " + what + "]" }
