// Package install puts cmemd into the settings of the coding agents on a machine, and takes it out again.
//
// A Plan says which files change, and how, before anything is written; Apply carries it out. Settings are edited as text:
// what a person has there keeps its order, its comments and its line ends (jsonedit). What was there before is kept in
// $CMEMD_HOME/install, so that a removal restores it byte for byte where nobody has changed it since; where somebody has,
// exactly cmemd's own entries go.
//
// What each agent is given:
//
//	agent           hooks                                    memory as tools (MCP)
//	claude-code     a plugin, by the client's own commands;  in the plugin; ~/.claude.json
//	                or ~/.claude/settings.json
//	codex           ~/.codex/hooks.json                      ~/.codex/config.toml
//	gemini-cli      ~/.gemini/settings.json                  the same file
//	cursor          ~/.cursor/hooks.json                     ~/.cursor/mcp.json
//	windsurf        ~/.codeium/windsurf/hooks.json           ~/.codeium/windsurf/mcp_config.json
//	opencode        a plugin file in ~/.config/opencode      opencode.json there
//	claude-desktop  -                                        claude_desktop_config.json
//	vscode          -                                        mcp.json of the user
//	zed             -                                        settings.json
//
// The files, each referring to those below it:
//
//	removal.go, restore.go, apply.go, plan.go, gone.go, edit_plugin.go, plugin.go, agents.go, record.go,
//	current.go, edit_toml.go, edit_server.go, edit_hooks.go, trust.go, owner_unix.go, owner_other.go,
//	entries.go, machine.go
//
// What bites:
//   - An entry is cmemd's if it runs cmemd-hook or `cmemd hook` and nothing else, posts to /v1/hooks/AGENT where the daemon
//     listens or hooks were set to post, or is a server named cmemd that runs cmemd. A line that runs it among other commands
//     is its author's, and stays.
//   - A link is followed, and stays a link. A file that is read-only, of another user, or no valid settings is refused.
//   - Claude Code rewrites its settings with its own formatting when it is asked to add or to remove a plugin, and leaves empty
//     objects. A removal restores the bytes from before where the file says the same but for cmemd's members, whichever of
//     the client's commands an installation or a removal got to; else exactly those members go.
//   - Trust that an agent wants for hooks (Codex) is read, never written: that is the person's to give.
package install
