package known

// rows lists the agents by their names, in the order in which they are shown. Their Marks are as programs that look for agents have
// them in 2026: vercel's detect-agent, checkly-cli and aws-cdk-cli. Variables that an editor's terminal has for the person too are none.
func rows() []row {
	return []row{
		{"claude-code", claudeCode}, {"codex", codex}, {"gemini-cli", geminiCLI}, {"cursor", cursor}, {"windsurf", windsurf},
		{"opencode", openCode}, {"raw", raw}, {"claude-desktop", claudeDesktop}, {"vscode", vsCode}, {"zed", zed},
	}
}

// hookSeconds is how long an agent waits for a hook at most. The hook itself gives up after 1.5 s.
const hookSeconds = 10

// claudeCode is put in as a plugin, by the client's own commands, or into its settings file. It keeps a person's servers in a
// file of its own, among much else.
func claudeCode() Agent {
	return Agent{
		Title: "Claude Code", Aliases: []string{"claude"}, Programs: []string{"claude"},
		Folder:     Folder{Variable: "CLAUDE_CONFIG_DIR", Standard: ".claude"},
		OpenEvents: []string{"SessionStart"}, NoticeEvents: []string{"SessionStart", "UserPromptSubmit"},
		SecretPrefixes: []string{"CLAUDE_CODE_MESSAGING_"}, MarkerVars: []string{"CLAUDECODE"},
		Hooks: Hooks{
			File: "settings.json", Plugin: true, BeforeRead: "PreToolUse",
			Events: []string{
				"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop", "PostCompact", "Stop",
				"StopFailure", "SessionEnd",
			},
			Handler:     []Field{{"type", "command"}, {"command", HookProgram}, {"args", HookArgs}, {"timeout", hookSeconds}},
			HTTPHandler: []Field{{"type", "http"}, {"url", PostURL}, {"headers", PostHeaders}, {"timeout", hookSeconds}},
			OffSwitches: []Switch{{Path: []any{"disableAllHooks"}, OffValue: true, Remedy: "take disableAllHooks out of it"}},
		},
		Server: Server{
			Folder: Folder{Variable: "CLAUDE_CONFIG_DIR"}, File: ".claude.json", Member: "mcpServers",
			Fields: append([]Field{{"type", "stdio"}}, StandardServer()...),
		},
		Transcripts: []string{"projects"},
	}
}

// codexEndSeconds is how long Codex waits at the end of a session at most; it warns at each start of a longer limit.
const codexEndSeconds = 3

// codex has hooks of Claude Code's shape, whose commands are lines for a shell, and settings in TOML.
func codex() Agent {
	return Agent{
		Title: "Codex", Programs: []string{"codex"}, Folder: Folder{Variable: "CODEX_HOME", Standard: ".codex"},
		OpenEvents: []string{"SessionStart"}, NoticeEvents: []string{"SessionStart"}, MarkerVars: []string{"CODEX_SANDBOX", "CODEX_THREAD_ID", "CODEX_CI"},
		Hooks: Hooks{
			File: "hooks.json", Events: []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop", "Stop", "SessionEnd"},
			Handler:    []Field{{"type", "command"}, {"command", HookLine}, {"timeout", hookSeconds}},
			EndHandler: []Field{{"type", "command"}, {"command", HookLine}, {"timeout", codexEndSeconds}},
			Trust: &Trust{
				Args:    []string{"app-server", "-c", "features.plugins=false", "-c", "skills.bundled.enabled=false"},
				Scratch: "CODEX_SQLITE_HOME", Remedy: "let no `hooks = false` stand below [features] in Codex's config.toml",
			},
		},
		Server:      Server{File: "config.toml", Member: "mcp_servers", Fields: StandardServer()},
		Transcripts: []string{"sessions", "archived_sessions"},
	}
}

// geminiCLI has hooks and servers in one file; its limits are milliseconds.
func geminiCLI() Agent {
	return Agent{
		Title: "Gemini CLI", Aliases: []string{"gemini", "antigravity", "antigravity-cli"}, Programs: []string{"gemini"},
		Folder: Folder{Standard: ".gemini"}, OpenEvents: []string{"SessionStart"}, NoticeEvents: []string{"SessionStart"}, MarkerVars: []string{"GEMINI_CLI"},
		Hooks: Hooks{
			File: "settings.json", Events: []string{"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"},
			Handler: []Field{{"name", "cmemd"}, {"type", "command"}, {"command", HookLine}, {"timeout", hookSeconds * 1000}},
			OffSwitches: []Switch{
				{Path: []any{"hooksConfig", "enabled"}, OffValue: false, Remedy: "let hooksConfig.enabled be true in it"},
				{Path: []any{"hooksConfig", "disabled"}, OffValue: "cmemd", InList: true, Remedy: "take cmemd out of hooksConfig.disabled in it"},
			},
		},
		Server:      Server{File: "settings.json", Member: "mcpServers", Fields: StandardServer()},
		Transcripts: []string{"tmp"}, Pattern: "*/chats/**/*.jsonl", OtherKeys: true,
	}
}

// cursor has flat hooks, and its servers in a file of their own.
func cursor() Agent {
	return Agent{
		Title: "Cursor", Programs: []string{"cursor", "cursor-agent"}, Folder: Folder{Standard: ".cursor"},
		OpenEvents: []string{"sessionStart"}, NoRemarks: true, MarkerVars: []string{"CURSOR_AGENT"},
		Hooks: Hooks{
			File: "hooks.json", Flat: true, Version: true, Handler: []Field{{"command", HookLine}, {"timeout", hookSeconds}},
			Events: []string{
				"sessionStart", "beforeSubmitPrompt", "afterShellExecution", "afterMCPExecution", "afterFileEdit", "postToolUse",
				"postToolUseFailure", "subagentStop", "afterAgentResponse", "stop", "sessionEnd",
			},
		},
		Server: Server{File: "mcp.json", Member: "mcpServers", Fields: StandardServer()},
	}
}

// windsurf has flat hooks without a limit of their own. It says in no other way in which folder it works than by running them there.
func windsurf() Agent {
	return Agent{
		Title: "Windsurf", Programs: []string{"windsurf"}, Folder: Folder{Standard: ".codeium/windsurf"}, NoFolder: true, NoRemarks: true,
		Hooks: Hooks{
			File: "hooks.json", Flat: true, Handler: []Field{{"command", HookLine}, {"show_output", false}},
			Events: []string{"pre_user_prompt", "post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use", "post_cascade_response"},
		},
		Server: Server{File: "mcp_config.json", Member: "mcpServers", Fields: StandardServer()},
	}
}

// openCode has no hooks but a plugin, a file of JavaScript, and settings that may have comments.
func openCode() Agent {
	return Agent{
		Title: "OpenCode", Programs: []string{"opencode"}, MarkerVars: []string{"OPENCODE"},
		Folder:     Folder{Variable: "XDG_CONFIG_HOME", Standard: ".config", Below: "opencode"},
		OpenEvents: []string{"session.created", "session.resumed"},
		Hooks:      Hooks{File: "plugin/cmemd.js", Script: true},
		Server: Server{
			File: "opencode.json", Commented: "opencode.jsonc", Member: "mcp",
			Fields: []Field{{"type", "local"}, {"command", ServerCommand}, {"enabled", true}},
		},
	}
}

// raw is whoever can write JSON: nothing is put into it. AI_AGENT is what agents without a variable of their own are asked to set.
func raw() Agent {
	return Agent{EventMember: "event", OpenEvents: []string{"start"}, MarkerVars: []string{"AI_AGENT"}}
}

// claudeDesktop, vsCode and zed have no hooks: they are only given memory as tools.
func claudeDesktop() Agent {
	return Agent{
		Title: "Claude Desktop", Runs: []string{"claude-desktop"}, Folder: settings("Claude"),
		Server: Server{File: "claude_desktop_config.json", Member: "mcpServers", Fields: StandardServer()},
	}
}

func vsCode() Agent {
	return Agent{
		Title: "Visual Studio Code", Programs: []string{"code"}, Runs: []string{"code-insiders", "electron"}, Folder: settings("Code/User"),
		Server: Server{File: "mcp.json", Member: "servers", Fields: StandardServer()},
	}
}

func zed() Agent {
	return Agent{
		Title: "Zed", Programs: []string{"zed", "zeditor"}, Runs: []string{"zed-editor"},
		Folder: Folder{Variable: "XDG_CONFIG_HOME", Standard: ".config", Below: "zed", Windows: "Zed"},
		Server: Server{File: "settings.json", Member: "context_servers", Fields: StandardServer()},
	}
}

// settings is the folder of a program that keeps its settings by the rules of each system.
func settings(program string) Folder {
	return Folder{
		Variable: "XDG_CONFIG_HOME", Standard: ".config", Below: program,
		Darwin: "Library/Application Support/" + program, Windows: program,
	}
}

// StandardServer is how most agents write a server that speaks over standard input and output.
func StandardServer() []Field {
	return []Field{{"command", ServerProgram}, {"args", ServerArgs}}
}
