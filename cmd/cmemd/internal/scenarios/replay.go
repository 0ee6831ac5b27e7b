package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

const replayHelp = `Replay runs a recorded stretch of observer turns again under other policies and says what each would have done: what it
calls, keeps, drops, holds, loses and wastes. It changes nothing: neither the log nor what was decided.

With --scenario it reads a scenario file. Where that says what is to be expected, the command fails on the first difference.
Without, it reads the log, through the daemon or from the file where none runs, and first proves itself: under the rules
and the outputs on record it must reach the decisions on record. What a respawned observer would have said and cost is not
on record; it is assumed, can be set, and is printed with the result.

A scenario is JSON: id, title, respawn {delay_ms, output, tokens {in, out}}, end_ms, events, and expect {POLICY: figures}. An
event is at_ms from the beginning, took_ms (how long before that its turn began), kind (observation, summary, exit), batch
(how many inputs it settles), output, form (xml, structured), tokens, provider {is_error, code, resets_at_ms} where the
transport said something, commits [{hash, exists}], session, observer.`

const replayExample = `  cmemd replay --policy all
  cmemd replay --session 7f3a21c0 --policy otp-hold,legacy-keyword
  cmemd replay --since 2d --report week.html
  cmemd replay --scenario loop.json --policy all --json
  cmemd replay --session 7f3a21c0 --to-scenario loop.json
  cmemd replay --since 2w --parser`

// allPolicies is the name for every one of them.
const allPolicies = "all"

// replayFlags are what the command is given.
type replayFlags struct {
	scenario      string
	policies      []string
	sessions      []string
	since, until  time.Time
	settings      map[string]*string // of the windowed policies, by flag
	openingOutput string
	openingTokens string
	respawnDelay  time.Duration
	toScenario    string
	report        string
	inputs        bool
	force         bool
	parser        bool
}

// replayPlan is the same, checked.
type replayPlan struct {
	replayFlags
	names   []policy.Name
	numbers policy.Settings
	bare    bool                                // nothing is drawn
	tuned   bool                                // settings or assumptions differ from the scenario's own
	respawn func(replay.Respawn) replay.Respawn // sets what the flags say
}

// A windowedFlag is a flag that sets one of the windowed policies' settings.
type windowedFlag struct{ flag, key string }

func windowedFlags() []windowedFlag {
	return []windowedFlag{{"threshold", policy.KeyThreshold}, {"window-ms", policy.KeyWindowMS}, {"exempt", policy.KeyExempt}, {"window", policy.KeyWindow}}
}

func (f *replayFlags) define(a *terminal.App, c *cobra.Command) {
	fs, assumed := c.Flags(), replay.AssumedRespawn()
	fs.StringVar(&f.scenario, "scenario", "", "a scenario's file, or - for standard input; else the log is replayed")
	fs.StringSliceVar(&f.policies, "policy", []string{allPolicies}, "policies with commas between, or all")
	fs.StringSliceVar(&f.sessions, "session", nil, "only this session: its id, ours or the agent's; may be given again")
	terminal.WhenFlag(a, c, &f.since, "since", "only turns that ended since")
	terminal.WhenFlag(a, c, &f.until, "until", "only turns that ended before")
	f.settings = map[string]*string{
		"threshold": fs.String("threshold", "3", "of the windowed policies: outputs that cause a respawn, 1 to 100"),
		"window-ms": fs.String("window-ms", "60000", "of the windowed policies: their window, 1000 to 3600000 milliseconds"),
		"exempt":    fs.String("exempt", "idle", "of the windowed policies: classes that are not counted: idle, prose, both, or none as \"\""),
	}
	f.settings["window"] = fs.String("window", policy.WindowAnchored, "of the windowed policies: anchored at the first output counted, as claude-mem's code has it, or sliding, as its description")
	fs.StringVar(&f.openingOutput, "opening-output", "", "what a respawned observer is assumed to say first")
	fs.StringVar(&f.openingTokens, "opening-tokens", fmt.Sprintf("%d,%d", assumed.Tokens.In, assumed.Tokens.Out), "what that is assumed to cost: IN or IN,OUT tokens")
	fs.DurationVar(&f.respawnDelay, "respawn-delay", time.Duration(assumed.DelayMS)*time.Millisecond, "after how long it is assumed to speak")
	fs.StringVar(&f.toScenario, "to-scenario", "", "write the stretch as a scenario to this file, - for standard output, and replay nothing")
	fs.BoolVar(&f.inputs, "inputs", false, "with --to-scenario: take what was captured, too")
	fs.StringVar(&f.report, "report", "", "write the comparison to this file, as one HTML page")
	fs.BoolVar(&f.force, "force", false, "replace a file that is there")
	fs.BoolVar(&f.parser, "parser", false, "instead read the recorded outputs with today's grammar, and show which come out differently")
}

// complete adds what a shell can complete.
func complete(c *cobra.Command, a *terminal.App) {
	terminal.MustComplete(c, "policy", completePolicies)
	terminal.MustComplete(c, "session", func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return completeSessions(c.Context(), a, begun), cobra.ShellCompDirectiveNoFileComp
	})
	terminal.MustComplete(c, "window", cobra.FixedCompletions([]string{policy.WindowAnchored, policy.WindowSliding}, cobra.ShellCompDirectiveNoFileComp))
	terminal.MustComplete(c, "exempt", cobra.FixedCompletions([]string{"idle", "prose", "idle,prose"}, cobra.ShellCompDirectiveNoFileComp))
	if err := errors.Join(c.MarkFlagFilename("scenario", "json"), c.MarkFlagFilename("report", "html")); err != nil {
		panic(err) // a flag that does not exist
	}
}

// completePolicies completes the last of several names with commas between.
func completePolicies(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	before, last := "", begun
	if i := strings.LastIndexByte(begun, ','); i >= 0 {
		before, last = begun[:i+1], begun[i+1:]
	}
	words := []string{allPolicies}
	if before != "" {
		words = nil
	}
	for _, n := range policy.Names() {
		words = append(words, string(n))
	}
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, last) && !slices.Contains(strings.Split(before, ","), w) {
			out = append(out, before+w)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeSessions lists the latest sessions that begin so; none where no daemon can be asked.
func completeSessions(ctx context.Context, a *terminal.App, begun string) []string {
	var out []string
	found, _ := terminal.Ask(ctx, a, api.SessionsRoute, api.SessionsQuery{Limit: 50}) // there is nobody to tell what is wrong
	for _, s := range found.Sessions {
		if id := s.ID.String(); strings.HasPrefix(id, begun) {
			out = append(out, id+"\t"+terminal.VisibleLine(strings.TrimSpace(s.Project+" "+s.Title)))
		}
	}
	return out
}

// planReplay checks the flags.
func planReplay(a *terminal.App, c *cobra.Command, f replayFlags) (p replayPlan, err error) {
	p = replayPlan{replayFlags: f, bare: a.JSON && f.report == ""}
	if err := f.conflicts(c); err != nil {
		return p, err
	}
	if p.names, err = policyNames(c, f.policies); err != nil {
		return p, err
	}
	for _, w := range windowedFlags() {
		p.tuned = p.tuned || c.Flags().Changed(w.flag)
		if err := p.numbers.Windowed.Set(w.key, *f.settings[w.flag]); err != nil {
			return p, misusedSetting(c, w.flag, err)
		}
	}
	if p.respawn, err = f.respawnOverride(c); err != nil {
		return p, err
	}
	for _, assumption := range []string{"opening-output", "opening-tokens", "respawn-delay"} {
		p.tuned = p.tuned || c.Flags().Changed(assumption)
	}
	if !f.until.IsZero() && !f.until.After(f.since) {
		return p, terminal.Misused(c, "--until %q is not after --since %q", c.Flag("until").Value, c.Flag("since").Value)
	}
	return p, nil
}

// misusedSetting says what a setting may be, by the flag that sets it.
func misusedSetting(c *cobra.Command, flag string, err error) error {
	if bad, ok := errors.AsType[*policy.SettingError](err); ok {
		return terminal.Misused(c, "--%s %q: it must be %s", flag, bad.Value, bad.Range)
	}
	return terminal.Misused(c, "--%s: %s", flag, err)
}

// conflicts refuses flags that do not go together.
func (f *replayFlags) conflicts(c *cobra.Command) error {
	given := func(flag string) bool { return c.Flags().Changed(flag) }
	apart := func(one string, others ...string) error {
		for _, other := range others {
			if given(one) && given(other) {
				return terminal.Misused(c, "--%s does not go with --%s", one, other)
			}
		}
		return nil
	}
	if given("scenario") && f.scenario == "" {
		return terminal.Misused(c, "--scenario needs a file, or - for standard input")
	}
	if given("inputs") && !given("to-scenario") {
		return terminal.Misused(c, "--inputs needs --to-scenario")
	}
	if given("force") && !given("to-scenario") && !given("report") {
		return terminal.Misused(c, "--force needs --to-scenario or --report")
	}
	if err := apart("scenario", "session", "since", "until", "to-scenario", "parser"); err != nil {
		return err
	}
	if err := apart("parser", "to-scenario", "report", "policy"); err != nil {
		return err
	}
	return apart("to-scenario", "report", "policy")
}

// policyNames are the policies that words name, each once, in the order of policy.Names.
func policyNames(c *cobra.Command, words []string) ([]policy.Name, error) {
	wanted := map[policy.Name]bool{}
	for _, w := range words {
		w = strings.TrimSpace(w)
		if w == allPolicies {
			return policy.Names(), nil
		}
		n, err := policy.Parse(w)
		if err != nil {
			return nil, terminal.Misused(c, "--policy %q is none of %s, %s", w, allPolicies, joinNames(policy.Names()))
		}
		wanted[n] = true
	}
	if len(wanted) == 0 {
		return nil, terminal.Misused(c, "--policy names none of %s, %s", allPolicies, joinNames(policy.Names()))
	}
	return slices.DeleteFunc(policy.Names(), func(n policy.Name) bool { return !wanted[n] }), nil
}

func joinNames(names []policy.Name) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// respawnOverride returns what sets the assumptions that are given and leaves the others.
func (f *replayFlags) respawnOverride(c *cobra.Command) (func(replay.Respawn) replay.Respawn, error) {
	tokens, err := parseTokens(f.openingTokens)
	if err != nil {
		return nil, terminal.Misused(c, "--opening-tokens %q: %s", f.openingTokens, err)
	}
	if f.respawnDelay < 0 || f.respawnDelay > maxRespawnDelay {
		return nil, terminal.Misused(c, "--respawn-delay %s: it must be from 0s to %s", f.respawnDelay, maxRespawnDelay)
	}
	changed := c.Flags().Changed
	return func(r replay.Respawn) replay.Respawn {
		if changed("opening-output") {
			r.Output = events.NewOutput(f.openingOutput)
		}
		if changed("opening-tokens") {
			r.Tokens = tokens
		}
		if changed("respawn-delay") {
			r.DelayMS = f.respawnDelay.Milliseconds()
		}
		return r
	}, nil
}

const (
	// maxRespawnDelay is longer than any observer takes to start.
	maxRespawnDelay = 24 * time.Hour
	// maxOpeningTokens is more than any model reads in one call.
	maxOpeningTokens = 100_000_000
)

// parseTokens reads IN or IN,OUT.
func parseTokens(text string) (t replay.Tokens, err error) {
	in, out, both := strings.Cut(text, ",")
	if t.In, err = parseCount(in); err != nil {
		return t, err
	}
	if both {
		t.Out, err = parseCount(out)
	}
	return t, err
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 || n > maxOpeningTokens {
		return 0, fmt.Errorf("it must be IN or IN,OUT, each from 0 to %d", maxOpeningTokens)
	}
	return n, nil
}

// comparison is what came out of a replay, and how far it can be trusted.
type comparison struct {
	scenario *replay.Scenario
	runs     []report.Run
	log      *loggedReplay // nil: of a scenario's file
	notes    []string
	unequal  []string // how it differs from what the scenario expects
	checked  int      // policies that were set beside what it expects
	live     string   // the policy that was in force, or is by default
}

// loggedReplay is what is known of a stretch of a log beside its scenario.
type loggedReplay struct {
	recording *replay.Recording
	proof     replay.Proof
}
