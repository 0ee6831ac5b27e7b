package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// forgetArgs are the arguments of forget.
type forgetArgs struct {
	IDs     []string `json:"ids" says:"rows, by their handles or ids" most:"50" each:"a handle or an id"`
	Query   string   `json:"query" says:"a text that is in it literally, such as a leaked key; letter case aside" most:"4000" least:"3"`
	Session string   `json:"session" says:"all of one session, by its id"`
	Project string   `json:"project" says:"all of a project: its folder or its shown name" most:"4000"`
	Since   string   `json:"since" says:"what happened since: 2026-01-31, 2026-01-31T15:04Z, or how long ago: 36h, 7d"`
	Until   string   `json:"until" says:"what happened until; written as since is"`
}

func forgetTool() spec {
	return spec{
		name: "forget", title: "Forget", hints: erases(),
		description: "Forget memory, with the captured tool uses it was made of and all that was made of those. Only when the user asks for it. The user is shown what would go and agrees in a form: then it is erased for good. Where there is no form it is only taken out of searches and of what sessions are given, until the user decides in a terminal. Conditions hold all together; give at least one.",
	}
}

// forgetWait is how long planning and erasing may take: files are written anew.
const forgetWait = 10 * time.Minute

// confirmQuestion is the name of the question to the user.
const confirmQuestion = "confirm"

func (c call) forget(ctx context.Context, in forgetArgs) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, forgetWait)
	defer cancel()
	q, err := c.choiceOf(in)
	if err != nil {
		return nil, err
	}
	if answer, ok := c.req.Params.InputResponses[confirmQuestion]; ok {
		if !agreed(answer) {
			return textResult("The user did not agree. Nothing was erased."), nil
		}
		return c.erase(ctx, in, q, c.req.Params.RequestState)
	}
	if !c.canAsk() {
		return c.request(ctx, q)
	}
	return c.propose(ctx, in, q)
}

// choiceOf is what the arguments choose.
func (s *Server) choiceOf(in forgetArgs) (q api.ForgetRequest, err error) {
	q = api.ForgetRequest{Query: in.Query, Session: in.Session}
	if len(in.IDs) > 0 {
		if q.IDs, err = cleanIDs(in.IDs); err != nil {
			return q, err
		}
	}
	if in.Project == everywhere {
		return q, &wrongArgument{"all projects are not forgotten at once", "name one, or say what else it is."}
	}
	if in.Project != "" {
		q.Project = s.named(in.Project).filter()
	}
	now := s.cfg.Now()
	if q.Since, err = timeOf("since", in.Since, now); err != nil {
		return q, err
	}
	if q.Until, err = timeOf("until", in.Until, now); err != nil {
		return q, err
	}
	if q.ChoosesNothing() {
		return q, &wrongArgument{"nothing is chosen", "give ids, query, session, project, since or until."}
	}
	return q, nil
}

// canAsk reports whether the client can put a form before the user whose answer is the user's.
func (c call) canAsk() bool {
	if c.cfg.NoForms {
		return false
	}
	can := c.req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// request has what q chooses kept as a request of an agent. Nothing is erased.
func (c call) request(ctx context.Context, q api.ForgetRequest) (*mcp.CallToolResult, error) {
	done, err := api.ForgetRoute.Call(ctx, c.cfg.Memory, q, c.progress(ctx))
	if err != nil {
		return nil, err
	}
	c.noteWritten(done.Position)
	return textResult(doneText(done)), nil
}

// propose asks the user in a form whether what would go may. Nothing is erased.
func (c call) propose(ctx context.Context, in forgetArgs, q api.ForgetRequest) (*mcp.CallToolResult, error) {
	plan, err := api.ForgetPlanRoute.Call(ctx, c.cfg.Memory, q.Plan(), nil)
	if err != nil {
		return nil, err
	}
	if plan.Records+plan.Spooled == 0 {
		return textResult(nothingFits), nil
	}
	return &mcp.CallToolResult{
		RequestState: c.ticket(in, plan.Records, plan.Position), InputRequests: mcp.InputRequestMap{confirmQuestion: question(plan)},
	}, nil
}

const nothingFits = "Nothing fits: there is nothing to forget."

// question is the form for the user.
func question(plan api.ForgetPlan) *mcp.ElicitParams {
	lines := []string{planLine(plan)}
	for _, s := range plan.Sample[:min(len(plan.Sample), shownInForm)] {
		lines = append(lines, "- "+moment(s.At)+" "+oneLine(s.Text, maxWords))
	}
	return &mcp.ElicitParams{
		Mode: "form", Message: strings.Join(lines, "\n"),
		RequestedSchema: object([]string{"erase"}, map[string]property{
			"erase": {"type": "boolean", "title": "Erase all of this for good", "description": "It cannot be taken back."},
		}),
	}
}

// shownInForm is how many records a form names.
const shownInForm = 10

// agreed reports whether the user has said so, and meant it.
func agreed(answer any) bool {
	res, ok := answer.(*mcp.ElicitResult)
	if !ok || res.Action != "accept" {
		return false
	}
	erase, _ := res.Content["erase"].(bool)
	return erase
}

// planLine is what would go, in numbers.
func planLine(p api.ForgetPlan) string {
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(p.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", p.Kinds[k], k))
	}
	line := fmt.Sprintf("This would erase %s for good", number.Plural(p.Records, "record"))
	if len(kinds) > 0 {
		line += " (" + strings.Join(kinds, ", ") + ")"
	}
	if p.Spooled > 0 {
		line += fmt.Sprintf(" and %s beside the log", number.Plural(p.Spooled, "file"))
	}
	return line + "."
}

// erase erases what the user has agreed to by a ticket, if that is still what q chooses.
func (c call) erase(ctx context.Context, in forgetArgs, q api.ForgetRequest, ticket string) (*mcp.CallToolResult, error) {
	position, ok := c.validTicket(in, ticket)
	if !ok {
		return nil, &wrongArgument{
			"the user agreed to something else", "call forget again, so that the user is asked again.",
		}
	}
	q.Through = position
	plan, err := api.ForgetPlanRoute.Call(ctx, c.cfg.Memory, q.Plan(), nil)
	if err != nil {
		return nil, err
	}
	if c.ticket(in, plan.Records, position) != ticket {
		return nil, &wrongArgument{"something else would go by now: " + planLine(plan), "call forget again, so that the user is asked again."}
	}
	return c.request(api.Agreed(ctx), q)
}

// doneText says what came of it: an erasure, a request, or nothing.
func doneText(done api.Forgotten) string {
	others := ""
	if done.Others > 0 {
		others = fmt.Sprintf(" %s of the user's other machines fit too, and stay as they are: only the user can have those forgotten, by `cmemd forget` in their own terminal.",
			number.Plural(done.Others, "record"))
	}
	switch r := done.Request; {
	case r != nil:
		return fmt.Sprintf("Nothing is erased. %s and %s behind them are asked to be forgotten as %s: they are in no search and are injected into no "+
			"session, until the user decides, or until %s.%s\nNext: tell the user to run `cmemd forget --approve %s` or `cmemd forget --refuse %s` in their own terminal.",
			number.Plural(len(r.Rows), "row"), number.Plural(r.Records, "record"), r.Name, r.Expires.UTC().Format(time.DateOnly), others, r.Name, r.Name)
	case done.Records+done.Spooled == 0 && len(done.Refused) == 0 && others != "":
		return "Nothing that this machine recorded fits." + others
	case done.Records+done.Spooled == 0 && len(done.Refused) == 0:
		return nothingFits
	}
	says := fmt.Sprintf("Erased for good: %s. The words are in no file of cmemd any more; what the agent itself keeps of this conversation is not reached.",
		number.Plural(done.Records, "record"))
	if len(done.Refused) > 0 {
		says += fmt.Sprintf(" %s could not be asked; that is tried again.", number.Plural(len(done.Refused), "session"))
	}
	return says
}

// progress tells the client how far it is, if it wants to know; nil: it does not.
func (c call) progress(ctx context.Context) func(api.Progress) {
	token := c.req.Params.GetProgressToken()
	if token == nil || c.req.Session == nil {
		return nil
	}
	return func(p api.Progress) {
		_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // who has gone is not notified
			ProgressToken: token, Progress: float64(p.Done), Total: float64(p.Total), Message: "forgetting",
		})
	}
}
