package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Programs is where a daemon finds other programs, and the person's own folder: what `cmemd install` found, as the person has it,
// and never what the environment of an agent says. A path that is empty was not found.
type Programs struct {
	Path     string // the value of PATH
	Cmemd    string // the command itself
	Git      string
	Claude   string // the client of claude-cli
	UserHome string // the value of HOME; where no install wrote it down, that of the home's first daemon
}

// ReadPrograms returns what is written down for a home; the zero value where that is nothing.
func ReadPrograms(home string) (p Programs, err error) {
	data, err := durable.ReadBounded(programsFile(home), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("relay: read where programs are: %w", err)
	}
	jsonscan.Scalars(data, func(name string, value []byte) bool {
		for _, f := range p.fields() {
			if f.name == name && value[0] == '"' {
				*f.at = jsonscan.Unquote(value)
			}
		}
		return true
	})
	return p, nil
}

// Write writes p down for a home, whose folder is there.
func (p Programs) Write(home string) error {
	b := []byte("{")
	for i, f := range p.fields() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendQuoted(b, f.name), ':')
		b = jsonscan.AppendQuoted(b, *f.at)
	}
	return durable.Replace(programsFile(home), append(b, "}\n"...), 0o600)
}

type programField struct {
	name string
	at   *string
}

// fields are what is written down, under its names in the file.
func (p *Programs) fields() []programField {
	return []programField{{"path", &p.Path}, {"cmemd", &p.Cmemd}, {"git", &p.Git}, {"claude", &p.Claude}, {"user_home", &p.UserHome}}
}

func programsFile(home string) string { return filepath.Join(home, "programs.json") }

// ReadVariables returns the names of the variables that a daemon of this home is to be given beside those that every one is: its
// settings name them as holding a key, or for its provider's child. written is false where no daemon has said yet.
func ReadVariables(home string) (names []string, written bool) {
	data, err := durable.ReadBounded(variablesFile(home), maxSmallFile)
	if err != nil {
		return nil, false
	}
	for name := range strings.Lines(string(data)) {
		if name = strings.TrimSpace(name); isVariable(name) {
			names = append(names, name)
		}
	}
	return names, true
}

// WriteVariables is what a daemon, or who changes its settings, writes down for ReadVariables. Names alone are written.
func WriteVariables(home string, names []string) error {
	if old, written := ReadVariables(home); written && slices.Equal(old, names) {
		return nil
	}
	text := strings.Join(names, "\n")
	if text != "" {
		text += "\n"
	}
	return durable.Swap(variablesFile(home), []byte(text), 0o600)
}

func variablesFile(home string) string { return filepath.Join(home, "variables") }

// DaemonEnv chooses the variables that a daemon is given, and any program that must find what the daemon finds. These say who and
// where the person is; PATH and the person's folder are taken from p; the variables in named pass as they are. Left are the names of all
// others: an agent, or a folder that it works in, may have set them.
func DaemonEnv(env []string, p Programs, named []string) (given, left []string) {
	values, order := map[string]string{}, []string{}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if name = foldVariable(name); !ok || name == "" {
			continue
		}
		if _, twice := values[name]; !twice {
			order = append(order, name)
		}
		values[name] = value // the last one holds, as for a process
	}
	for _, name := range order {
		switch {
		case name == "PATH", name == userHomeVariable() && p.UserHome != "":
		case isGiven(name) || slices.Contains(named, name):
			given = append(given, name+"="+values[name])
		case isVariable(name):
			left = append(left, name)
		}
	}
	if p.UserHome != "" {
		given = append(given, userHomeVariable()+"="+p.UserHome)
	}
	return append(given, "PATH="+pathOf(p)), left
}

// LeftOutVar is the variable in which a daemon that is started is given the names of those that it was not given, with commas between
// them.
const LeftOutVar = "CMEMD_LEFT_OUT"

// maxLeftOut bounds LeftOutVar, in bytes; what is beyond is not named.
const maxLeftOut = 8 << 10

// ServeArgs are the arguments by which a daemon of home is started that takes nothing from the environment but what it is given.
func ServeArgs(home string) []string { return []string{"serve", "--home", home, "--no-env"} }

// ServeEnv is the environment of a daemon of home that is started in env.
func ServeEnv(env []string, home string, named []string) []string {
	p, _ := ReadPrograms(home) // without it programs are looked for where systems have them
	given, left := DaemonEnv(env, p, named)
	names := ""
	for _, name := range left {
		if name == LeftOutVar || len(names)+len(name) >= maxLeftOut {
			continue
		}
		if names != "" {
			names += ","
		}
		names += name
	}
	if names != "" {
		given = append(given, LeftOutVar+"="+names)
	}
	return given
}

// isGiven reports whether every daemon is given a variable: what says who the person is, in which words and in which hours, and
// where sockets lie; on other systems also what programs do not run without.
func isGiven(name string) bool {
	switch name {
	case "HOME", "USER", "LANG", "TZ", "XDG_RUNTIME_DIR":
		return true
	case "TMPDIR":
		return runtime.GOOS == "darwin"
	case "SYSTEMROOT", "APPDATA", "USERPROFILE":
		return runtime.GOOS == "windows"
	}
	return strings.HasPrefix(name, "LC_")
}

// userHomeVariable is the variable that os.UserHomeDir reads.
func userHomeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// foldVariable is a name as isGiven has it: Windows knows no small letters in names.
func foldVariable(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// isVariable takes names as shells have them, and not too long to be one.
func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// pathOf is the PATH that a daemon is given: the person's, and before `cmemd install` wrote that down, where systems have their programs.
func pathOf(p Programs) string {
	switch {
	case p.Path != "":
		return p.Path
	case runtime.GOOS == "windows":
		return `C:\Windows\System32;C:\Windows;C:\Program Files\Git\cmd`
	case runtime.GOOS == "darwin":
		return "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	}
	return "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
}
