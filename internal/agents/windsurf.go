package agents

import (
	"cmp"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Windsurf is the Windsurf editor's agent, Cascade. A session is a trajectory. Payloads name no folder of the workspace: the
// program that carries them adds its own, in which hooks are run, as cmemd_cwd.
//
// What becomes of its hooks:
//
//	hook                       captured as               remarks
//	pre_user_prompt            PromptSubmitted
//	post_read_code             ToolUsed "read_code"      input: file_path
//	post_write_code            ToolUsed "write_code"     input: file_path, edits
//	post_run_command           ToolUsed "run_command"    input: command_line; neither output nor exit code
//	post_mcp_tool_use          ToolUsed "mcp__s__t"
//	post_cascade_response      AgentStopped, stop
//	all others, known or not   -                         ignored, with a reason
//
// No hook starts or ends a session: the first sight opens it, silence ends it. Windsurf takes no words from a hook, so that no
// reply goes out, and no memory: its MCP server gives that.
type Windsurf struct{}

// Name is "windsurf".
func (Windsurf) Name() string { return "windsurf" }

// Decode implements Agent.
func (w Windsurf) Decode(payload []byte, m Meta) (Report, error) {
	return decode(w.Name(), shape{
		event: "agent_action_name", session: "trajectory_id", fact: (*hookPayload).ofWindsurf,
		place: func(p *hookPayload) { p.origin.Cwd = cmp.Or(p.text("cmemd_cwd"), member(p.raw("tool_info"), "cwd")) },
	}, payload, m)
}

func (p *hookPayload) ofWindsurf() fact {
	info, execution := p.raw("tool_info"), p.name("execution_id")
	t := events.ToolUsed{Tool: strings.TrimPrefix(p.event, "post_"), Cwd: p.scrubber.text(cmp.Or(member(info, "cwd"), p.origin.Cwd))}
	switch p.event {
	case "pre_user_prompt":
		return p.prompted(execution, member(info, "user_prompt"))
	case "post_cascade_response":
		return p.stopped(execution, member(info, "response"))
	case "post_read_code", "post_write_code", "post_run_command":
		return p.used(t, "", info, nil)
	case "post_mcp_tool_use":
		server := cleanName(member(info, "mcp_server_name"), maxName/2)
		t.Tool = "mcp__" + server + "__" + cleanName(member(info, "mcp_tool_name"), maxName/2-len("mcp____"))
		return p.used(t, server, rawMember(info, "mcp_tool_arguments"), unquoted(rawMember(info, "mcp_result")))
	}
	return notRecorded(p.event)
}

// Reply implements Agent.
func (Windsurf) Reply(Report, Answer) []byte { return nil }
