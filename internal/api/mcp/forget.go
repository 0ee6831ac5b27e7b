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
)

// forgetArgs are the arguments of forget.
type forgetArgs struct {
	IDs     []string `json:"ids" says:"rows, by their handles or ids" most:"50" each:"a handle or an id"`
	Query   string   `json:"query" says:"a text that is in it literally, such as a leaked key; letter case aside" most:"4000" least:"3"`
	Session string   `json:"session" says:"all of one session, by its id"`
	Project string   `json:"project" says:"all of a project: its folder or its shown name" most:"4000"`
	Since   string   `json:"since" says:"what happened since: 2026-01-31, 2026-01-31T15:04Z, or how long ago: 36h, 7d"`
	Until   string   `json:"until" says:"what happened until; written as since is"`
	Confirm string   `json:"confirm" says:"what the first call returned, once the user has agreed to exactly that"`
}

func forgetTool() spec {
	return spec{
		name: "forget", title: "Erase for good", hints: erases(),
		says: "Erase memory for good, with the captured tool uses it was made of and all that was made of those. Only when the user asks for it. It first shows what would go and asks back: the user agrees in a form, or, where there is none, you ask them and call again with confirm. Conditions hold all together; give at least one.",
	}
}

// forgetWait is how long planning and erasing may take: files are written anew.
const forgetWait = 10 * time.Minute

// asked is the name of the question to the user.
const asked = "confirm"

func (c call) forget(ctx context.Context, in forgetArgs) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, forgetWait)
	defer cancel()
	q, err := c.choiceOf(in)
	if err != nil {
		return nil, err
	}
	if answer, ok := c.req.Params.InputResponses[asked]; ok {
		if !agreed(answer) {
			return textResult("The user did not agree. Nothing was erased."), nil
		}
		return c.erase(ctx, in, q, c.req.Params.RequestState)
	}
	if in.Confirm != "" && !c.canAsk() {
		return c.erase(ctx, in, q, in.Confirm)
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
	if len(q.IDs) == 0 && q.Query+q.Session+q.Project == "" && q.Since.IsZero() && q.Until.IsZero() {
		return q, &wrongArgument{"nothing is chosen", "give ids, query, session, project, since or until."}
	}
	return q, nil
}

// canAsk reports whether the client can put a form before the user.
func (c call) canAsk() bool {
	can := c.req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// propose says what would go, and asks the user, or has the model ask. Nothing is erased.
func (c call) propose(ctx context.Context, in forgetArgs, q api.ForgetRequest) (*mcp.CallToolResult, error) {
	plan, err := api.ForgetPlanRoute.Call(ctx, c.cfg.Memory, q.Plan(), nil)
	if err != nil {
		return nil, err
	}
	if plan.Records+plan.Spooled == 0 {
		return textResult("Nothing fits: there is nothing to erase."), nil
	}
	ticket := c.ticket(in, plan.Records, plan.Position)
	if c.canAsk() {
		return &mcp.CallToolResult{RequestState: ticket, InputRequests: mcp.InputRequestMap{asked: question(plan)}}, nil
	}
	p := planPage(plan)
	p.head = "Nothing is erased yet. " + planLine(plan)
	p.next("Show the user what would go and ask. Only if they agree, call forget again with the same arguments and confirm " + ticket)
	return textResult(p.String()), nil
}

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
	line := fmt.Sprintf("This would erase %s for good", countOf(p.Records, "record"))
	if len(kinds) > 0 {
		line += " (" + strings.Join(kinds, ", ") + ")"
	}
	if p.Spooled > 0 {
		line += fmt.Sprintf(" and %s beside the log", countOf(p.Spooled, "file"))
	}
	return line + "."
}

// planPage shows some of what would go, and of what stays beside it.
func planPage(plan api.ForgetPlan) *page {
	p := newPage(projectOfPlan(plan))
	for _, s := range plan.Sample {
		p.put(sampleLine(s))
	}
	if len(plan.Stays) > 0 {
		p.put(fmt.Sprintf("%d records stay, because other memory was made of them too:\n", plan.Kept))
		for _, s := range plan.Stays {
			p.put(sampleLine(s))
		}
	}
	return p
}

// projectOfPlan is the project that all of a plan is of; empty if it is of several.
func projectOfPlan(plan api.ForgetPlan) string {
	for _, sh := range plan.Sessions {
		if sh.Project != plan.Sessions[0].Project {
			return ""
		}
	}
	if len(plan.Sessions) == 0 {
		return ""
	}
	return plan.Sessions[0].Project
}

func sampleLine(s api.ForgetSample) string {
	return fmt.Sprintf("- %s %s %s\n", moment(s.At), s.Kind, oneLine(s.Text, maxTitle))
}

// erase erases what a ticket confirms, if that is still what q chooses.
func (c call) erase(ctx context.Context, in forgetArgs, q api.ForgetRequest, ticket string) (*mcp.CallToolResult, error) {
	position, ok := c.validTicket(in, ticket)
	if !ok {
		return nil, &wrongArgument{
			"confirm is not what a call with these arguments returned", "call forget with the same arguments and without confirm, and ask the user again.",
		}
	}
	q.Through = position
	plan, err := api.ForgetPlanRoute.Call(ctx, c.cfg.Memory, q.Plan(), nil)
	if err != nil {
		return nil, err
	}
	if c.ticket(in, plan.Records, position) != ticket {
		return nil, &wrongArgument{"something else would go by now: " + planLine(plan), "call forget without confirm, and ask the user again."}
	}
	done, err := api.ForgetRoute.Call(ctx, c.cfg.Memory, q, c.progress(ctx))
	if err != nil {
		return nil, err
	}
	c.noted(done.Position)
	return textResult(doneText(done)), nil
}

func doneText(done api.Forgotten) string {
	says := fmt.Sprintf("Erased for good: %s. The words are in no file of cmemd any more; what the agent itself keeps of this conversation is not reached.",
		countOf(done.Records, "record"))
	if len(done.Refused) > 0 {
		says += fmt.Sprintf(" %s could not be asked; that is tried again.", countOf(len(done.Refused), "session"))
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
		_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // who has gone is not told
			ProgressToken: token, Progress: float64(p.Done), Total: float64(p.Total), Message: "forgetting",
		})
	}
}
