package events_test

import (
	"bytes"
	"time"

	"github.com/cmemd/cmemd/events"
)

func sampleID(n byte) events.ID {
	return events.ID{0x01, 0x9a, 0x2b, 0x3c, 0x4d, 0x5e, 0x70, n, 0x80, 1, 2, 3, 4, 5, 6, n}
}

func sampleTime(minute int) time.Time {
	return time.Date(2026, 11, 20, 16, minute, 5, 123456789, time.UTC)
}

func sampleLimits() events.Limits {
	return events.Limits{MaxRestarts: 10, Window: time.Minute, MaxConsecutive: 5, Unparseable: 5, Every: 10 * time.Minute}
}

// samples is one event of every kind with every field set. Maps hold one entry: their order is not fixed.
func samples() []events.Event {
	return append(append(capturedSamples(), turnSamples()...), append(supervisionSamples(), append(memorySamples(), projectSamples()...)...)...)
}

func capturedSamples() []events.Event {
	return []events.Event{
		events.SessionOpened{
			Agent: "claude-code", AgentSession: "00000000-0000-4000-8000-000000000001", Project: "parser",
			ProjectRoot: "/home/dev/parser", Cwd: "/home/dev/parser/cmd", GitRoot: "/home/dev/parser", GitBranch: "main",
			GitHead: "4b446020f5d3a4f9ce1f3ad8a40ac8f4c8c0a111", Source: "startup", Transcript: "/home/dev/t.jsonl",
			ProjectKey: "remote:example.org/dev/parser", RootFile: "8.1:4711:1763650000.000000001", ProjectClaim: "remote:example.org/parser",
		},
		events.PromptSubmitted{
			Number: 3, Text: "raise the parser's limit", Private: true, Size: 240, Redactions: map[string]int{"token": 2},
		},
		events.ToolUsed{
			ToolUseID: "toolu_01", Tool: "Edit", Input: `{"file_path":"/home/dev/parser/main.go"}`, Output: `{"ok":true}`,
			Failed: true, DurationMS: 12, Cwd: "/home/dev/parser", SubagentID: "a01", SubagentType: "general-purpose",
			InputSize: 41, OutputSize: 11, Redactions: map[string]int{"key": 1}, Prompt: 3, Unobserved: "private", Refused: true,
			Named: []string{"m41"},
		},
		events.AgentStopped{
			LastMessage: "Done: the limit is 8192.", Cause: events.StopDone, Work: 4, Prompt: 3, Error: "overloaded",
			Size: 24, Redactions: map[string]int{"token": 1},
		},
		events.ContextCompacted{
			Summary: "The user asked for a larger limit.", Trigger: "manual", Size: 34, Redactions: map[string]int{"key": 3}, Prompt: 4,
		},
		events.AgentSaid{Text: "The limit is read twice.", Size: 40, Redactions: map[string]int{"key": 1}, Prompt: 4},
		events.PreferenceStated{
			Sentence: "Always run the tests first.", Same: events.KeyOf("preference", "always run the tests first"), Prompt: 4, ToolUseID: "toolu_2",
		},
		events.SessionClosed{Cause: "silent"},
		events.ContextInjected{
			Hook: "startup", IDs: []events.ID{sampleID(1), sampleID(2)}, Characters: 9876, Position: 1 << 40,
		},
	}
}

func projectSamples() []events.Event {
	return []events.Event{
		events.ProjectJoined{Root: "/home/dev/parser-2", Key: "remote:example.org/dev/parser"},
		events.ProjectParted{Root: "/home/dev/parser-3"},
		events.ProjectGiven{Name: "parser", Root: "/home/dev/parser"},
	}
}

func turnSamples() []events.Event {
	claims := []events.Claim{{Kind: "commit", Value: "4f2c9d1", Verdict: events.Absent, Evidence: "missing"}}
	return []events.Event{
		events.TurnStarted{
			Turn: sampleID(3), TurnKind: events.TurnObservation, Generation: 2, Provider: "anthropic", Model: "haiku",
			Settles: []events.Position{7, 8}, Reads: []events.Position{5}, PromptBytes: 20480, Attempt: 1, Probe: true, Prompt: 3,
			Notable: 1, Instead: []string{"claude-cli", "openai"},
		},
		events.TurnReceived{
			Turn: sampleID(3), Form: events.FormXML, Output: events.NewOutput("<observation><title>Limit raised</title></observation>"),
			StopReason: "end_turn", Usage: events.Usage{Input: 1500, Cached: 900, Output: 60}, LatencyMS: 480,
			Model: "haiku-20261101", Cost: 0.00225, Calls: 2,
			CostStated: true, Uncosted: events.Usage{Input: 500, Cached: 300, Output: 20}, SentBytes: 41200,
		},
		events.TurnFailed{
			Turn: sampleID(4), Class: events.FailLimit, Status: 429, ResetsAt: sampleTime(30), Message: "rate limited",
			Output: events.NewOutput("<obs"), Provider: "anthropic", Clean: true, Halved: 10,
			Usage: events.Usage{Input: 1400, Cached: 800, Output: 7}, Model: "haiku-20261101", Cost: 0.0018, Calls: 3,
			CostStated: true, Uncosted: events.Usage{Input: 400, Cached: 200, Output: 7}, SentBytes: 61800, Form: events.FormXML,
			Answered: 4711, Spared: true,
		},
		events.OutputDropped{Turn: sampleID(5), Class: "prose", Reason: "no_xml", Preview: events.NewOutput("I have noted it."), Length: 16},
		events.OutputSkipped{Turn: sampleID(6), Reason: "skip_summary", Stated: events.NewOutput("nothing new")},
		events.ObservationParsed{
			Observation: sampleID(7), Turn: sampleID(3), Type: events.TypeUnknown, TypeGiven: "milestone", Title: "Limit raised",
			Subtitle: "8192 bytes", Narrative: "The parser reads 8192 bytes.", Facts: []string{"limit is 8192"},
			Concepts: []string{"how-it-works"}, FilesRead: []string{"main.go"}, FilesModified: []string{"parse.go"},
			FilesUnverified: []string{"lexer.go"}, Claims: claims, Prompt: 3, Unseen: true, Source: "claude-mem",
			Origin: events.OriginOutside, Outside: []events.Position{11}, Unsupported: true,
		},
		events.SummaryParsed{
			Summary: sampleID(8), Turn: sampleID(9), Request: "raise the limit", Investigated: "the reader",
			Learned: "it was a constant", Completed: "raised in 4f2c9d1", NextSteps: "measure", Notes: "none yet",
			Claims: claims, Prompt: 3, Source: "claude-mem", Origin: events.OriginOwn, Unseen: true, Unsupported: true,
		},
		events.WorkUndone{Turn: sampleID(10), Rows: []events.Undone{{Observation: sampleID(8), At: 27, By: 31, How: events.UndoneRewritten}}},
		events.InputsDropped{Inputs: []events.Position{11, 12}, Reason: events.DropPoison, Turn: sampleID(10)},
		events.ReobserveRequested{Turns: []events.ID{sampleID(5)}, Provider: "extractive", Inputs: []events.Position{11}},
	}
}

func supervisionSamples() []events.Event {
	counted := events.Counted{InWindow: 3, Consecutive: 2, Unparseable: 5}
	return []events.Event{
		events.SessionRespawned{
			From: 1, To: 2, Cause: "crash", Limits: sampleLimits(), Counted: counted, Delay: 1500 * time.Millisecond,
		},
		events.SessionQuarantined{
			Cause: "intensity", Until: sampleTime(31), Trip: 1, Limits: sampleLimits(), Counted: counted,
		},
		events.SessionReleased{By: "probe"},
		events.ProviderPaused{
			Class: events.FailOverload, Until: sampleTime(32), Probe: 2, Turn: sampleID(11),
			Limits:  events.Limits{MaxRestarts: 10, Window: time.Minute, MaxConsecutive: 5, Unparseable: 25, Every: time.Hour},
			Counted: events.Counted{InWindow: 3, Consecutive: 2, Unparseable: 26},
		},
		events.ProviderResumed{By: "config"},
		events.SessionFaulted{
			Session: events.SessionIDOf("codex", "s-1"), Command: "tool", Cause: "index out of range",
		},
		events.DaemonStarted{Version: "1.0.0", PID: 4711, Settings: map[string]string{"policy": "otp-hold"}, Rules: 3},
		events.DaemonStopped{Clean: true, Cause: "signal"},
		events.DaemonDegraded{Why: "3 sessions quarantined", Cleared: true},
		events.CaptureHidden{Agent: "codex", Session: events.SessionIDOf("codex", "s-2"), File: "/home/dev/clone/.cmemdignore", Count: 12},
		events.RecordLost{Version: 7},
		events.LogSalvaged{
			Source: "log.db.damaged-20261126T110000Z", Records: 770, Lost: 3, LostAt: []events.Span{{From: 5, To: 6}, {From: 9, To: 9}},
			Unread: 1, UnreadAt: []events.Span{{From: 12, To: 12}}, Relaid: 40, SourceSize: 479232,
		},
	}
}

func memorySamples() []events.Event {
	return []events.Event{
		events.ClaimChecked{
			Subject: sampleID(8),
			Claim:   events.Claim{Kind: "commit", Value: "9d3e7aa", Verdict: events.Verified, Evidence: "9d3e7aa0"},
		},
		events.MemorySaved{
			Memory: sampleID(12), Project: "parser", ProjectRoot: "/home/dev/parser", Type: "decision", Title: "Limits are settings",
			Text: "No constant in the reader.", Concepts: []string{"limits"}, Files: []string{"parse.go"}, Session: "s-1",
			At: sampleTime(33), Writer: events.WriterAgent,
		},
		events.MemoryConfirmed{Memory: sampleID(12), Withdrawn: true},
		events.MemorySuperseded{Memory: sampleID(12), By: sampleID(13), Writer: events.WriterPerson},
		events.ForgetRequested{
			Request: sampleID(14), Positions: []events.Position{21, 22}, IDs: []events.ID{sampleID(12)}, Writer: events.WriterAgent,
		},
		events.ForgetSettled{Request: sampleID(14), Outcome: events.SettleApproved, Writer: events.WriterPerson},
		events.MemoryForgotten{
			Positions: []events.Position{21}, IDs: []events.ID{sampleID(12)},
			ErasedHash: events.Hash(bytes.Repeat([]byte{0xab}, 32)), Cause: "person",
			Spent: []events.TurnSpent{{Turn: sampleID(4), Class: events.FailLimit, Bill: events.Bill{
				Usage: events.Usage{Input: 1400, Cached: 800, Output: 7}, Model: "haiku-20261101", Cost: 0.0018, CostStated: true,
				Uncosted: events.Usage{Input: 400, Cached: 200, Output: 7}, Calls: 3, SentBytes: 61800,
			}}},
		},
	}
}
