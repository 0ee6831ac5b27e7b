package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// ErrUnknownAgent is returned by ByName.
var ErrUnknownAgent = errors.New("install: unknown agent")

// Options say what is put into an agent's settings.
type Options struct {
	Program  Program
	Version  string // of cmemd
	Home     string // where cmemd keeps its files: records, backups and the plugin are below
	Settings bool   // Claude Code: into its settings file, and not as a plugin
	HTTP     *HTTP  // Claude Code: its hooks post to the daemon where they can; nil: they run a program
	NoMCP    bool   // no memory as tools
	Files    bool   // Claude Code: a hook before a file is read, which is given what memory knows of it
	Listen   string // where the daemon listens, host and port: hooks that post there are cmemd's; empty: nowhere

	posted []string // where hooks of cmemd's were told to post to
}

// knowing is o with what the record of an installation says; nil: there is none.
func (o Options) knowing(r *Record) Options {
	o.posted = nil
	if r != nil {
		o.posted = append(o.posted, r.Addrs...)
	}
	if o.HTTP != nil && !slices.Contains(o.posted, o.HTTP.Addr) {
		o.posted = append(o.posted, o.HTTP.Addr)
	}
	return o
}

// addrs are those where hooks of cmemd's post to.
func (o Options) addrs() []string {
	if o.Listen == "" {
		return o.posted
	}
	return append([]string{o.Listen}, o.posted...)
}

// HTTP is where hooks post to.
type HTTP struct {
	Addr  string // of the daemon: host and port
	Token string // that it wants
}

// An Agent is one that cmemd can be put into.
type Agent struct {
	Name     string   // as package agents has it, where it has hooks
	Title    string   // its maker's name of it
	Captures bool     // it has hooks; else it is only given memory as tools
	programs []string // that start it
	dirs     func(Machine) []string
	targets  func(Machine, Options) []target
}

// Found reports whether the agent is on a machine: its program, or a folder that only it makes.
func (a Agent) Found(m Machine) bool { return m.has(a.programs, a.dirs(m)...) }

// A target is a file of an agent, and what cmemd keeps in it.
type target struct {
	path   string
	edit   editor
	client editor // what the agent's own client puts into it, at cmemd's word; nil: nothing
	secret bool   // nobody but its owner may read it: a token goes into it
}

// Agents lists them in the order in which they are shown.
func Agents() []Agent {
	return []Agent{
		claudeCode(), codex(), geminiCLI(), cursor(), windsurf(), openCode(),
		serverOnly("claude-desktop", "Claude Desktop", claudeDesktop, nil),
		serverOnly("vscode", "Visual Studio Code", vsCode, []string{"code"}),
		serverOnly("zed", "Zed", zed, []string{"zed", "zeditor"}),
	}
}

// ByName returns the agent of that name. The error is ErrUnknownAgent and names those that are known.
func ByName(name string) (Agent, error) {
	var names []string
	for _, a := range Agents() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Agent{}, fmt.Errorf("%w %q (known: %s)", ErrUnknownAgent, name, strings.Join(names, ", "))
}

// hookSeconds is how long an agent waits for a hook at most. The hook itself gives up after 1.5 s.
const hookSeconds = 10

// codexEndSeconds is how long Codex waits at the end of a session at most; it warns at each start of a longer limit.
const codexEndSeconds = 3

// codex has hooks of Claude Code's shape, whose commands are lines for a shell, and settings in TOML.
func codex() Agent {
	dir := func(m Machine) string { return m.dir("CODEX_HOME", ".codex") }
	return Agent{
		Name: "codex", Title: "Codex", Captures: true, programs: []string{"codex"},
		dirs: func(m Machine) []string { return []string{dir(m)} },
		targets: func(m Machine, o Options) []target {
			events := []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop", "Stop", "SessionEnd"}
			var es []entry
			for _, event := range events {
				limit := hookSeconds
				if event == "SessionEnd" {
					limit = codexEndSeconds
				}
				es = append(es, group(event, jsonedit.Object{
					{Key: "type", Value: "command"}, {Key: "command", Value: o.Program.hookLine(m.OS, "codex")}, {Key: "timeout", Value: limit},
				}))
			}
			config := tomlEditor{value: server(o.Program, "env")}
			return withServer(o, []target{{path: filepath.Join(dir(m), "hooks.json"), edit: hookEditor{entries: es}}},
				target{path: filepath.Join(dir(m), "config.toml"), edit: config})
		},
	}
}

// geminiCLI has hooks and servers in one file; its timeouts are milliseconds.
func geminiCLI() Agent {
	dir := func(m Machine) string { return filepath.Join(m.Home, ".gemini") }
	return Agent{
		Name: "gemini-cli", Title: "Gemini CLI", Captures: true, programs: []string{"gemini"},
		dirs: func(m Machine) []string { return []string{dir(m)} },
		targets: func(m Machine, o Options) []target {
			var es []entry
			for _, event := range []string{"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"} {
				es = append(es, group(event, jsonedit.Object{
					{Key: "name", Value: serverName}, {Key: "type", Value: "command"},
					{Key: "command", Value: o.Program.hookLine(m.OS, "gemini-cli")}, {Key: "timeout", Value: hookSeconds * 1000},
				}))
			}
			var servers editor = serverEditor{below: "mcpServers", value: server(o.Program, "env")}
			if o.NoMCP {
				servers = takeEditor{servers}
			}
			return []target{{path: filepath.Join(dir(m), "settings.json"), edit: editors{hookEditor{entries: es}, servers}}}
		},
	}
}

// cursor has flat hooks, and its servers in a file of their own.
func cursor() Agent {
	dir := func(m Machine) string { return filepath.Join(m.Home, ".cursor") }
	return Agent{
		Name: "cursor", Title: "Cursor", Captures: true, programs: []string{"cursor", "cursor-agent"},
		dirs: func(m Machine) []string { return []string{dir(m)} },
		targets: func(m Machine, o Options) []target {
			var es []entry
			for _, event := range []string{
				"sessionStart", "beforeSubmitPrompt", "afterShellExecution", "afterMCPExecution", "afterFileEdit", "postToolUse",
				"postToolUseFailure", "subagentStop", "afterAgentResponse", "stop", "sessionEnd",
			} {
				es = append(es, entry{event, jsonedit.Object{
					{Key: "command", Value: o.Program.hookLine(m.OS, "cursor")}, {Key: "timeout", Value: hookSeconds},
				}})
			}
			edit := hookEditor{entries: es, flat: true, version: true}
			return withServer(o, []target{{path: filepath.Join(dir(m), "hooks.json"), edit: edit}},
				target{path: filepath.Join(dir(m), "mcp.json"), edit: serverEditor{below: "mcpServers", value: server(o.Program, "env")}})
		},
	}
}

// windsurf has flat hooks without a time limit of their own.
func windsurf() Agent {
	dir := func(m Machine) string { return filepath.Join(m.Home, ".codeium", "windsurf") }
	return Agent{
		Name: "windsurf", Title: "Windsurf", Captures: true, programs: []string{"windsurf"},
		dirs: func(m Machine) []string { return []string{dir(m)} },
		targets: func(m Machine, o Options) []target {
			var es []entry
			for _, event := range []string{
				"pre_user_prompt", "post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use", "post_cascade_response",
			} {
				es = append(es, entry{event, jsonedit.Object{
					{Key: "command", Value: o.Program.hookLine(m.OS, "windsurf")}, {Key: "show_output", Value: false},
				}})
			}
			return withServer(o, []target{{path: filepath.Join(dir(m), "hooks.json"), edit: hookEditor{entries: es, flat: true}}},
				target{path: filepath.Join(dir(m), "mcp_config.json"), edit: serverEditor{below: "mcpServers", value: server(o.Program, "env")}})
		},
	}
}

// openCode has no hooks but a plugin, a file of JavaScript, and settings that may have comments.
func openCode() Agent {
	dir := func(m Machine) string { return filepath.Join(m.dir("XDG_CONFIG_HOME", ".config"), "opencode") }
	return Agent{
		Name: "opencode", Title: "OpenCode", Captures: true, programs: []string{"opencode"},
		dirs: func(m Machine) []string { return []string{dir(m)} },
		targets: func(m Machine, o Options) []target {
			plugin := agents.OpenCodePlugin(o.Program.hook(m.OS, "opencode")...)
			settings := filepath.Join(dir(m), "opencode.json")
			if commented := settings + "c"; isFile(commented) {
				settings = commented
			}
			value := jsonedit.Object{{Key: "type", Value: "local"}, {Key: "command", Value: []string{o.Program.Cmemd, "mcp"}}, {Key: "enabled", Value: true}}
			if env := o.Program.env(); env != nil {
				value = append(value, jsonedit.Member{Key: "environment", Value: env})
			}
			return withServer(o, []target{{path: filepath.Join(dir(m), "plugin", "cmemd.js"), edit: wholeEditor{plugin}}},
				target{path: settings, edit: serverEditor{below: "mcp", value: value}})
		},
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// serverOnly is an agent without hooks. Where says which file holds its servers and below which member.
func serverOnly(name, title string, where func(Machine) (path, below string), programs []string) Agent {
	return Agent{
		Name: name, Title: title, programs: programs,
		dirs: func(m Machine) []string {
			path, _ := where(m)
			return []string{filepath.Dir(path)}
		},
		targets: func(m Machine, o Options) []target {
			path, below := where(m)
			return []target{{path: path, edit: serverEditor{below: below, value: server(o.Program, "env")}}}
		},
	}
}

func claudeDesktop(m Machine) (path, below string) {
	return filepath.Join(m.config("Claude"), "claude_desktop_config.json"), "mcpServers"
}

func vsCode(m Machine) (path, below string) {
	return filepath.Join(m.config("Code"), "User", "mcp.json"), "servers"
}

func zed(m Machine) (path, below string) {
	if m.OS == "windows" {
		return filepath.Join(m.config("Zed"), "settings.json"), "context_servers"
	}
	return filepath.Join(m.dir("XDG_CONFIG_HOME", ".config"), "zed", "settings.json"), "context_servers"
}

// group is an entry of Claude Code's shape.
func group(event string, handler jsonedit.Object) entry {
	return entry{event, jsonedit.Object{{Key: "hooks", Value: []any{handler}}}}
}

// server is how most agents write a server that speaks over standard input and output.
func server(p Program, env string) jsonedit.Object {
	value := jsonedit.Object{{Key: "command", Value: p.Cmemd}, {Key: "args", Value: []string{"mcp"}}}
	if vars := p.env(); vars != nil {
		value = append(value, jsonedit.Member{Key: env, Value: vars})
	}
	return value
}

// withServer adds the target of a server to others. Where none is wanted, one that is there goes.
func withServer(o Options, ts []target, s target) []target {
	if o.NoMCP {
		s.edit = takeEditor{s.edit}
	}
	return append(ts, s)
}
