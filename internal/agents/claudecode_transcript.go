package agents

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Transcript implements Historian. The tables in the package comment say what becomes of the lines.
func (c ClaudeCode) Transcript(r io.Reader, path string) *Transcript {
	d := &claudeReader{
		lines:    lines{path: path},
		sessions: newRecent[*claudeSession](maxSessions, maxSessions*maxName),
		roots:    newRecent[string](maxRoots, maxRoots*2*maxName),
	}
	return d.read(newTranscript(r, d), lineTime)
}

// lineTime returns the time of a line, or the zero time if it has none that is good.
func lineTime(line []byte) time.Time { return parseTime(member(line, "timestamp")) }

// What a transcript may make its reader keep. Agents call some tens of tools at once, and a line of a side chain follows
// one that stands close before it.
const (
	maxSessions  = 1000
	maxOpen      = 1000
	maxOpenBytes = 32 << 20
	maxRoots     = 10_000
)

// unanswered is what Progress.Skipped calls tool calls that had no result when over maxOpen or maxOpenBytes of others
// followed.
const unanswered = "tool_use without result"

// maxStops is how many stops of one prompt are told apart by their lines; an agent was seen to be sent on 25 times.
const maxStops = 1000

// claudeReader is the lineDecoder of Claude Code: what one line needs to know of those before it.
type claudeReader struct {
	lines
	sessions *recent[*claudeSession] // by id
	current  *claudeSession          // of the last line
	fork     claudeFork
	begun    string          // session of a stream, which says its folder once
	folder   string          // that folder
	spare    members         // memory for the next line's
	roots    *recent[string] // line of a side chain -> its first line: the subagent, where nothing else names it
}

// claudeSession is one session of a transcript; a resumed one may hold lines of more.
type claudeSession struct {
	origin         session.Origin
	at             time.Time       // of its last line that had one
	promptID       string          // of the last prompt
	stops          *recent[string] // stops in answer to it, by key: the uuid of the line
	said           *finalText      // the agent's last words, while no tool call followed
	inLocalCommand bool            // a command was announced that runs beside the conversation
	trigger        string          // of the compaction under way
}

// finalText is a text that ends a turn if nothing of that turn follows.
type finalText struct {
	text, failure, stop string
	failed              bool
	at                  time.Time
	uuid, promptID      string
}

type openCall struct {
	tool  string
	input []byte
}

// line implements lineDecoder.
func (t *claudeReader) line(line []byte) (skipped string, err error) {
	var l claudeLine
	t.spare = l.read(line, t.spare)
	t.note(l.at)
	if l.kind == "system" && l.subtype == "init" {
		t.begun, t.folder = l.session, l.cwd
	}
	t.fork.begin(&l)
	if !l.matters() {
		return cmp.Or(strings.TrimSuffix(l.kind+"/"+l.subtype, "/"), "without type"), nil
	}
	if (l.kind == "user" || l.kind == "assistant") && !isObject(l.message) {
		return "", &FieldError{Field: "message", Err: ErrNotObject}
	}
	if l.at = t.clock(l.at); l.at.IsZero() {
		return "", noTime(line)
	}
	if t.isCopy(&l) {
		t.noteCopied(&l)
		return skippedFork, nil
	}
	s, err := t.enter(&l)
	if err != nil {
		return "", err
	}
	t.take(s, &l)
	return "", nil
}

// sessionOf is the id of a line's session: its own, else that of the line before, else as the file is called.
func (t *claudeReader) sessionOf(l *claudeLine) string {
	switch {
	case l.session != "":
		return l.session
	case t.current != nil:
		return t.current.origin.AgentSession
	}
	return t.base()
}

// enter returns the session of a line, which it opens at first sight. Old lines may lack what the ones before them said.
func (t *claudeReader) enter(l *claudeLine) (*claudeSession, error) {
	id := t.sessionOf(l)
	if l.cwd == "" && id == t.begun {
		l.cwd = t.folder
	}
	s, known := t.sessions.get(id)
	if !known {
		if err := checkIdentity(id, "sessionId", l.cwd); err != nil {
			return nil, err
		}
		s = &claudeSession{origin: session.Origin{
			Agent: ClaudeCode{}.Name(), AgentSession: id, Transcript: cleanName(mainTranscript(t.path), maxPath),
		}}
		s.beginAnswer("")
		t.sessions.put(id, s, 0)
		s.update(l)
		key := events.KeyOf(s.origin.Session().String(), "transcript")
		t.record(s.origin, s.at, key, events.SessionOpened{Source: "transcript"})
	}
	if t.current != nil && t.current != s {
		t.endAnswer(t.current)
	}
	t.current = s
	s.update(l)
	return s, nil
}

// mainTranscript is the transcript of the session itself where the one at path is a subagent's: SESSION/subagents/agent-ID.jsonl.
func mainTranscript(path string) string {
	for _, folder := range []string{"/subagents/", `\subagents\`} {
		if i := strings.LastIndex(path, folder); i >= 0 {
			return path[:i] + ".jsonl"
		}
	}
	return path
}

func (s *claudeSession) update(l *claudeLine) {
	s.at = l.at
	if l.sideChain && s.origin.Cwd != "" {
		return
	}
	if len(l.cwd) <= maxPath && isAbsolute(l.cwd) {
		s.origin.Cwd = l.cwd
	}
	if l.branch != "" {
		s.origin.GitBranch = l.branch
	}
	if l.branch == "HEAD" { // written where no branch is checked out
		s.origin.GitBranch = ""
	}
}

// take takes what a line says.
func (t *claudeReader) take(s *claudeSession, l *claudeLine) {
	if l.sideChain && l.agentID == "" {
		l.agentID = t.root(l)
	}
	switch {
	case l.kind == "user":
		t.user(s, l)
	case l.kind == "assistant":
		t.assistant(s, l)
	case l.sideChain:
	case l.kind == "attachment":
		t.queued(s, l)
	default:
		t.endAnswer(s)
		s.trigger = l.trigger
	}
}

// root returns the first line of the side chain that l continues. It stands for the subagent.
func (t *claudeReader) root(l *claudeLine) string {
	root, ok := t.roots.get(l.parent)
	if !ok {
		root = l.uuid
	}
	t.roots.put(l.uuid, root, len(root))
	return root
}

func (t *claudeReader) assistant(s *claudeSession, l *claudeLine) {
	if member(l.message, "model") == "<synthetic>" && !l.apiError {
		return // the harness speaks in the agent's place
	}
	content := rawMember(l.message, "content")
	var said []string
	if kindOf(content) == '"' {
		said = append(said, stringOf(content))
	}
	text := func() *finalText {
		return &finalText{
			text: strings.TrimSpace(strings.Join(said, "\n")), at: s.at, uuid: l.uuid, promptID: s.promptID,
			failed: l.apiError, failure: l.failure, stop: member(l.message, "stop_reason"),
		}
	}
	jsonscan.Elements(content, func(block []byte) bool {
		switch member(block, "type") {
		case "text":
			said = append(said, member(block, "text"))
		case "tool_use":
			if !l.sideChain {
				t.remark(s)
				s.said = text()
				t.remark(s)
			}
			said = nil
			t.keep(block)
		}
		return true
	})
	last := text()
	switch {
	case last.text == "":
	case !l.sideChain:
		t.remark(s)
		s.said = last
	case l.agentType != "" && last.stop == "end_turn" && !last.failed:
		t.subagentStopped(s, l, last.text)
	}
}

// subagentStopped captures what a subagent said last. Subagents run beside the agent, so that its own transcript has no result of theirs; that
// of versions that do not name the type of a subagent has.
func (t *claudeReader) subagentStopped(s *claudeSession, l *claudeLine, said string) {
	u := t.scrubber().subagentStopped(said, s.origin.Cwd, l.agentID, l.agentType)
	t.captureLine(s, s.at, factKey(s.origin, "subagent", l.agentID, u.Output), l.uuid, u)
}

// remark captures what the agent said last, as work goes on behind it.
func (t *claudeReader) remark(s *claudeSession) {
	said := s.said
	s.said = nil
	if e, ok := said.remark(t.scrubber()); ok {
		t.captureLine(s, said.at, factKey(s.origin, "said", said.uuid, e.Text), said.uuid, e)
	}
}

// keep keeps a tool call until its result comes.
func (t *claudeReader) keep(block []byte) {
	t.call(cleanName(member(block, "id"), maxName), cleanName(member(block, "name"), maxName), rawMember(block, "input"))
}

// endAnswer ends a turn with the agent's last words. A turn that was interrupted has none: as with hooks, its work belongs
// to the next endAnswer.
func (t *claudeReader) endAnswer(s *claudeSession) {
	if s.said != nil && s.said.stop == "tool_use" {
		t.remark(s)
	}
	said := s.said
	s.said = nil
	if said == nil {
		return
	}
	e := said.event(t.scrubber())
	key := s.stopKey(said, e.LastMessage)
	if said.failed {
		e = withoutFailureText(e)
	}
	t.captureLine(s, said.at, key, said.uuid, e)
}

// stopKey is the key that the hook of a stop has too. Where the agent says the same in answer to the same prompt again,
// it is zero: the line alone tells the two apart, and one more stop costs less than work that no stop ends.
func (s *claudeSession) stopKey(said *finalText, text string) events.Key {
	key := factKey(s.origin, "stop", said.promptID, text)
	if first, ok := s.stops.get(string(key[:])); ok && first != said.uuid {
		return events.Key{}
	}
	s.stops.put(string(key[:]), said.uuid, len(said.uuid))
	return key
}

// user takes a line in the user's place: results of tools, a prompt, or what the harness puts there.
func (t *claudeReader) user(s *claudeSession, l *claudeLine) {
	content := rawMember(l.message, "content")
	if t.results(s, l, content) || l.sideChain {
		return
	}
	text := contentText(content)
	if strings.TrimSpace(text) == "" {
		return
	}
	if isInterruption(text) {
		t.remark(s)
		return
	}
	t.endAnswer(s)
	s.beginAnswer(l.promptID)
	switch {
	case l.compacted || strings.HasPrefix(text, continuedPrefix):
		e := t.scrubber().contextCompacted(text, s.trigger)
		s.trigger = ""
		t.captureLine(s, s.at, factKey(s.origin, "compact", l.promptID, e.Summary), l.uuid, e)
	case strings.HasPrefix(text, caveatPrefix) || strings.HasPrefix(text, "<local-command-caveat>"):
		s.inLocalCommand = true
	case !l.meta:
		t.typed(s, l, text)
	}
}

// beginAnswer begins the answer to a prompt; one id may cover more than one.
func (s *claudeSession) beginAnswer(promptID string) {
	if promptID != s.promptID || s.stops == nil {
		s.stops = newRecent[string](maxStops, maxStops*maxName)
	}
	s.promptID = promptID
}

// typed takes a prompt, or a command that the user typed in its place. Commands that ran beside the conversation are
// no prompts: they were announced by a caveat.
func (t *claudeReader) typed(s *claudeSession, l *claudeLine, text string) {
	beside := s.inLocalCommand
	s.inLocalCommand = false
	if command, ok := typedCommand(text); ok {
		if beside {
			return
		}
		text = command
	}
	t.prompt(s, l, text)
}

func (t *claudeReader) prompt(s *claudeSession, l *claudeLine, text string) {
	p, machine := t.scrubber().promptSubmitted(text)
	if !machine {
		t.captureLine(s, s.at, factKey(s.origin, "prompt", s.promptID, p.Text), l.uuid, p)
	}
}

// typedCommand returns what the user typed, "/name arguments", from the elements that the harness made of it.
func typedCommand(text string) (string, bool) {
	name, ok := element(text, "command-name")
	if !ok || name == "" || cutLeading(text, machineTags()) != "" {
		return "", false
	}
	args, _ := element(text, "command-args")
	return strings.TrimSpace(name + " " + args), true
}

// queued takes a prompt that was typed while the agent worked, and that it read in the middle of its turn.
func (t *claudeReader) queued(s *claudeSession, l *claudeLine) {
	if mode := member(l.attachment, "commandMode"); mode != "" && mode != "prompt" {
		return
	}
	if text := contentText(rawMember(l.attachment, "prompt")); strings.TrimSpace(text) != "" {
		t.prompt(s, l, text)
	}
}

// results takes the results of tools in a line, and reports whether there are any.
func (t *claudeReader) results(s *claudeSession, l *claudeLine, content []byte) bool {
	var blocks [][]byte
	jsonscan.Elements(content, func(block []byte) bool {
		if member(block, "type") == "tool_result" {
			blocks = append(blocks, block)
		}
		return true
	})
	if len(blocks) > 1 {
		l.result, l.denial = nil, "" // they are of one of them, and do not say which
	}
	for _, block := range blocks {
		t.result(s, l, block, l.result)
	}
	return len(blocks) > 0
}

// result pairs the result of a tool with its call. Structured is the form that hooks report; a failure has none.
func (t *claudeReader) result(s *claudeSession, l *claudeLine, block, structured []byte) {
	id := cleanName(member(block, "tool_use_id"), maxName)
	call, ok := t.answer(id)
	if !ok {
		return
	}
	v, content := t.scrubber(), rawMember(block, "content")
	u := events.ToolUsed{
		ToolUseID: id, Tool: cmp.Or(call.tool, "unknown"), Cwd: v.text(cmp.Or(l.cwd, s.origin.Cwd)),
		Failed: isTrue(rawMember(block, "is_error")),
	}
	if l.sideChain {
		u.SubagentID = l.agentID
	}
	switch {
	case isMemoryCall(u.Tool, "", call.input):
		u = ownCall(u, call.input, len(content))
	case isObject(structured) && !u.Failed:
		u.Input, u.InputSize = v.toolText(call.input, nil)
		u.Output, u.OutputSize = v.toolText(structured, call.input)
	default:
		u.Input, u.InputSize = v.toolText(call.input, nil)
		u.Output, u.OutputSize = v.plainText(contentText(content))
	}
	u.Redactions, u.Refused = v.found, l.isRefused(u)
	t.record(s.origin, s.at, ToolKey(s.origin, id), u)
}

// end implements lineDecoder.
func (t *claudeReader) end() {
	if t.current != nil {
		t.endAnswer(t.current)
	}
}

// captureLine captures what a line says, by key if that is one, else by the line's own id.
func (t *claudeReader) captureLine(s *claudeSession, at time.Time, key events.Key, uuid string, e events.Event) {
	t.record(s.origin, at, lineKey(s.origin, key, uuid, at, e), e)
}
