package install

import (
	"path/filepath"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// claudeCode is put in as a plugin, by the client's own commands, or into its settings file.
func claudeCode() Agent {
	return Agent{
		Name: claudeName, Title: "Claude Code", Captures: true, programs: []string{"claude"},
		dirs:    func(m Machine) []string { return []string{claudeDir(m)} },
		targets: claudeTargets,
	}
}

const claudeName = "claude-code"

func claudeDir(m Machine) string { return m.dir("CLAUDE_CONFIG_DIR", ".claude") }

// claudeState is the file in which Claude Code keeps a person's servers, among much else of its own.
func claudeState(m Machine) string {
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(m.Home, ".claude.json")
}

// claudeTargets are the files of a person's settings, that of hooks first, and those in which the client keeps its plugins. Where the plugin is put in they lose what another way of installing,
// or the person, put there: each event would be reported twice.
func claudeTargets(m Machine, o Options) []target {
	var hooks editor = hookEditor{entries: claudeHooks(m.OS, o), posts: o.addrs()}
	servers := target{path: claudeState(m), edit: serverEditor{below: "mcpServers", value: claudeServer(o.Program)}}
	if !o.Settings {
		hooks, servers.edit = takeEditor{hooks}, takeEditor{servers.edit}
	}
	ts := pluginTargets(m, o, hooks)
	if o.Settings {
		ts[0].secret = o.HTTP != nil
		for i := range ts {
			ts[i].client = nil
		}
	}
	return withServer(o, ts, servers)
}

// claudeServer is the MCP server as Claude Code writes it.
func claudeServer(p Program) jsonedit.Object {
	return append(jsonedit.Object{{Key: "type", Value: "stdio"}}, server(p, "env")...)
}

// claudeHooks are the hooks, each at its event. Where they post to the daemon, the start of a session still runs a program:
// Claude Code passes posting hooks over there without a word.
func claudeHooks(goos string, o Options) []entry {
	argv := o.Program.hook(goos, claudeName)
	run := jsonedit.Object{
		{Key: "type", Value: "command"}, {Key: "command", Value: argv[0]}, {Key: "args", Value: argv[1:]},
		{Key: "timeout", Value: hookSeconds},
	}
	handler := run
	if o.HTTP != nil {
		handler = jsonedit.Object{
			{Key: "type", Value: "http"}, {Key: "url", Value: "http://" + o.HTTP.Addr + "/v1/hooks/" + claudeName},
			{Key: "headers", Value: jsonedit.Object{{Key: "Authorization", Value: "Bearer " + o.HTTP.Token}}},
			{Key: "timeout", Value: hookSeconds},
		}
	}
	es := []entry{group("SessionStart", run)}
	for _, event := range []string{
		"UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop", "PostCompact", "Stop", "StopFailure", "SessionEnd",
	} {
		es = append(es, group(event, handler))
	}
	if o.Files {
		read := jsonedit.Object{{Key: "matcher", Value: "Read"}, {Key: "hooks", Value: []any{handler}}}
		es = append(es, entry{"PreToolUse", read})
	}
	return es
}
