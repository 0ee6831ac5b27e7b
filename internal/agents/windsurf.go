package agents

import (
	"cmp"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
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

type windsurfPayload struct {
	event, trajectory, execution, folder string
	info                                 []byte // tool_info
	sieve                                sieve
}

// Decode implements Agent.
func (w Windsurf) Decode(payload []byte, m Meta) (Report, error) {
	p := windsurfPayload{sieve: m.sieve()}
	if err := p.read(payload); err != nil {
		return Report{}, err
	}
	o := session.Origin{Agent: w.Name(), AgentSession: p.trajectory, Cwd: cmp.Or(p.folder, member(p.info, "cwd"))}
	r, err := newReport(p.event, "agent_action_name", o, "trajectory_id")
	if err != nil {
		return Report{}, err
	}
	return r.report(m, p.translate(o)), nil
}

// read reads the members that mean something here.
func (p *windsurfPayload) read(payload []byte) error {
	return readPayload(payload, nil, []field{
		{"agent_action_name", (*asName)(&p.event)},
		{"trajectory_id", (*asID)(&p.trajectory)},
		{"execution_id", (*asName)(&p.execution)},
		{"cmemd_cwd", (*asText)(&p.folder)},
		{"tool_info", &p.info},
	})
}

func (p *windsurfPayload) translate(o session.Origin) fact {
	t := events.ToolUsed{Tool: strings.TrimPrefix(p.event, "post_"), Cwd: p.sieve.text(cmp.Or(member(p.info, "cwd"), o.Cwd))}
	switch p.event {
	case "pre_user_prompt":
		return p.sieve.prompted(o, p.execution, member(p.info, "user_prompt"))
	case "post_cascade_response":
		return p.sieve.stopped(o, p.execution, member(p.info, "response"))
	case "post_read_code", "post_write_code", "post_run_command":
		return fact{event: p.sieve.use(t, "", p.info, nil)}
	case "post_mcp_tool_use":
		server := cleanName(member(p.info, "mcp_server_name"), maxName/2)
		t.Tool = "mcp__" + server + "__" + cleanName(member(p.info, "mcp_tool_name"), maxName/2-len("mcp____"))
		return fact{event: p.sieve.use(t, server, rawMember(p.info, "mcp_tool_arguments"), unquoted(rawMember(p.info, "mcp_result")))}
	}
	return notRecorded(p.event)
}

// Reply implements Agent.
func (Windsurf) Reply(Report, Answer) []byte { return nil }
