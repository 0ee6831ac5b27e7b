package known

import (
	"path/filepath"
	"slices"
	"strings"
)

// An Agent is what is known of a coding agent. Its zero value is one of which nothing is known.
type Agent struct {
	Name     string   // in commands, paths and events: "claude-code"
	Title    string   // its maker's name of it
	Aliases  []string // what other memories call it
	Programs []string // that start it; the first is its client on the command line
	Runs     []string // what its processes are called besides, in small letters
	Folder   Folder   // of its settings and transcripts

	EventMember    string   // of a payload, which names the event; empty: hook_event_name
	NoRemarks      bool     // neither its hooks nor a transcript tell what it says between tool calls
	NoFolder       bool     // its payloads do not say in which folder it works: its hooks are run there
	OpenEvents     []string // events that open a session: it takes memory from their replies
	NoticeEvents   []string // events at which a systemMessage in the reply reaches the person
	SecretPrefixes []string // how variables begin that it gives its hooks, and that nobody else is to see
	MarkerVars     []string // variables that it sets for the commands that it runs, and that no person's terminal has

	Hooks  Hooks
	Server Server

	// Transcripts are the folders below Folder that hold its transcripts. Those in the first are followed, where Pattern is not
	// empty those alone that it matches.
	Transcripts []string
	Pattern     string
	OtherKeys   bool // its hooks carry no ids: what they and its transcripts tell of has other keys in each
}

// A Folder is where an agent keeps its files.
type Folder struct {
	Variable string // of the environment, which names the folder where it is absolute; empty: none does
	Standard string // else: below the person's home
	Below    string // in either
	Darwin   string // below the person's home, on macOS; empty: as elsewhere
	Windows  string // below %APPDATA%, on Windows; empty: as elsewhere
}

// Path is the folder on a system, as runtime.GOOS calls it, for a person whose home is home.
func (f Folder) Path(goos, home string, getenv func(string) string) string {
	in := func(variable, standard, below string) string {
		if dir := getenv(variable); variable != "" && filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(below))
		}
		return filepath.Join(home, filepath.FromSlash(standard), filepath.FromSlash(below))
	}
	switch {
	case goos == "darwin" && f.Darwin != "":
		return in("", f.Darwin, "")
	case goos == "windows" && f.Windows != "":
		return in("APPDATA", "AppData/Roaming", f.Windows)
	}
	return in(f.Variable, f.Standard, f.Below)
}

// Hooks are what an agent is given so that it reports.
type Hooks struct {
	File        string   // of JSON below Folder; empty: it reports nothing
	Script      bool     // File is a plugin whose text the decoder knows, and nothing else stands in it
	Plugin      bool     // its client takes a plugin with the hooks instead, unless the person wants them in File
	Events      []string // in the order in which they are written
	Handler     []Field  // of one hook
	EndHandler  []Field  // of one at the last event; nil: Handler
	HTTPHandler []Field  // of one that posts to the daemon, which those at OpenEvents never do; nil: it cannot
	BeforeRead  string   // the event before a tool is used, for the tool Read alone; empty: there is none
	Flat        bool     // an entry is a handler; else a group with a list of them
	Version     bool     // a member "version" stands beside the hooks

	// OffSwitches are the members of File that keep hooks from being run.
	OffSwitches []Switch

	// Trust is how to ask the client which hooks the person trusts it to run; nil: it runs all.
	Trust *Trust
}

// A Switch is a member of an agent's settings.
type Switch struct {
	Path     []any
	OffValue any    // the value that switches hooks off
	InList   bool   // OffValue stands in a list
	Remedy   string // what to do
}

// Trust is how a client is asked.
type Trust struct {
	Args    []string // of the client
	Scratch string   // the variable that names a folder for its databases
	Remedy  string   // what to do where it does not know all hooks
}

// Server is how an agent is given memory as tools (MCP): a member of the name cmemd.
type Server struct {
	Folder    Folder  // zero: the agent's
	File      string  // JSON, or TOML by its name
	Commented string  // the file that is taken instead where it is there
	Member    string  // that holds the servers
	Fields    []Field // of the server
}

// A Field is a member of what is written: a constant, or a Placeholder.
type Field struct {
	Key   string
	Value any
}

// A Placeholder stands for a value that is known on the machine alone.
type Placeholder int

// The placeholders.
const (
	HookLine      Placeholder = iota + 1 // what the hook runs, as a line for a shell
	HookProgram                          // its program
	HookArgs                             // and its arguments
	PostURL                              // where the hook posts to
	PostHeaders                          // and with which headers
	ServerProgram                        // what the server runs
	ServerArgs                           // and its arguments
	ServerCommand                        // both
)

// A row is an agent in the table, which is made when it is asked for: a hook asks for one, at every tool call.
type row struct {
	name  string
	known func() Agent
}

func (r row) agent() Agent {
	a := r.known()
	a.Name = r.name
	return a
}

// All lists the agents in the order in which they are shown.
func All() (all []Agent) {
	for _, r := range rows() {
		all = append(all, r.agent())
	}
	return all
}

// ByName returns the agent of that name; ok is false, and the agent the zero one, where none is known.
func ByName(name string) (a Agent, ok bool) {
	for _, r := range rows() {
		if r.name == name {
			return r.agent(), true
		}
	}
	return Agent{}, false
}

// ByAlias returns the agent that goes by a name here or in other memories.
func ByAlias(name string) (a Agent, ok bool) {
	for _, a := range All() {
		if a.Name == name || slices.Contains(a.Aliases, name) {
			return a, true
		}
	}
	return Agent{}, false
}

// Secrets are how the names of variables begin that agents give their hooks, and that nobody else is to see.
func Secrets() (beginnings []string) {
	for _, a := range All() {
		beginnings = append(beginnings, a.SecretPrefixes...)
	}
	return beginnings
}

// Processes are what processes of agents are called, in small letters.
func Processes() (names []string) {
	for _, a := range All() {
		for _, name := range a.Programs {
			names = append(names, strings.ToLower(name))
		}
		names = append(names, a.Runs...)
	}
	return names
}

// Marks are the variables that agents set for the commands that they run.
func Marks() (names []string) {
	for _, a := range All() {
		names = append(names, a.MarkerVars...)
	}
	return names
}

// Followed is the folder or pattern of the transcripts that are followed, for a person whose home is home; empty: none.
func (a Agent) Followed(goos, home string, getenv func(string) string) string {
	if len(a.Transcripts) == 0 {
		return ""
	}
	return filepath.Join(a.Folder.Path(goos, home, getenv), a.Transcripts[0], filepath.FromSlash(a.Pattern))
}

// IsName reports whether s may stand in a request and in a spool file as an agent's name: lower case letters, digits, ".", "_" and "-", at
// most 64 of them. It need not be one that is known.
func IsName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64 && s != "." && s != ".."
}
