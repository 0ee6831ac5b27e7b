package memory

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// shownBad is how many lines that were not understood are listed of one file.
const shownBad = 5

func newIngest(a *terminal.App) *cobra.Command {
	agent := ""
	c := &cobra.Command{
		Use: "ingest PATH...", Short: "Take in an agent's transcripts, files or whole folders",
		Long: "Ingest reads transcripts and captures what they report: prompts, tool calls with their results, answers.\n" +
			"What was captured before, by hooks or by an earlier ingest, is known and not captured again.\n" +
			"Work without an end is ended where nothing has followed it for the setting idle_stop, so that it is observed.",
		Example: "  cmemd ingest ~/.claude/projects ~/.codex/sessions\n  cmemd ingest --agent gemini-cli session.jsonl",
		Args:    terminal.Takes(1, -1, "a transcript or a folder of them"),
	}
	c.Flags().StringVar(&agent, "agent", "", "whose transcripts they are (default: told by the agent's own folder or how the file begins, else claude-code)")
	terminal.OneOf(c, "agent", agents.Names()...)
	c.RunE = func(c *cobra.Command, paths []string) error {
		files, err := transcripts(paths)
		if err != nil {
			return terminal.Advise(err, "name a transcript or a folder of them that can be read; Claude Code keeps its own in ~/.claude/projects")
		}
		if len(files) == 0 {
			return fmt.Errorf("%w: no .jsonl file below %s", terminal.ErrNothing, strings.Join(paths, ", "))
		}
		return a.Stream(c.Context(), func(client *client.Client) error { return ingest(c.Context(), a, client, agent, files) })
	}
	return c
}

// A transcript is a file to take in.
type transcript struct {
	path  string // absolute
	named bool   // itself, not a folder above it
	size  int64
	at    time.Time
	err   error // why it cannot be looked at; nil: it can
}

// transcripts lists the files that paths name, and those below the folders that they name, the oldest first: so the log
// has sessions in the order in which they ended. What lies below a named folder and cannot be looked at has its error; what
// is named and is not there is an error of the whole.
func transcripts(paths []string) ([]transcript, error) {
	var files []transcript
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || at != path && !mayBeTranscript(at)) {
				return nil
			}
			if t, ok := transcriptAt(at, err); ok {
				t.named = at == path
				files = append(files, t)
			}
			return nil
		})
	}
	slices.SortFunc(files, func(a, b transcript) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.path, b.path), named(b)-named(a))
	})
	return slices.CompactFunc(files, func(a, b transcript) bool { return a.path == b.path }), nil
}

// named is 1 for a file that was named itself: it comes before the same file below a folder.
func named(t transcript) int {
	if t.named {
		return 1
	}
	return 0
}

// mayBeTranscript reports whether a file below a named folder may be a transcript: by its name, or because it is one object of JSON
// that begins as an agent's transcript does.
func mayBeTranscript(path string) bool {
	switch filepath.Ext(path) {
	case ".jsonl":
		return true
	case ".json":
		_, ok := agentOfObject(path)
		return ok
	}
	return false
}

// transcriptAt is the file at path, which a walk came to with err. It reports false for what is no file.
func transcriptAt(path string, err error) (transcript, bool) {
	if err != nil {
		return transcript{path: path, err: err}, true
	}
	info, err := os.Stat(path)
	if err != nil {
		return transcript{path: path, err: err}, true
	}
	return transcript{path: path, size: info.Size(), at: info.ModTime()}, info.Mode().IsRegular()
}

// An ingestedFile is what became of one transcript.
type ingestedFile struct {
	Path string `json:"path"`
	api.Ingested
	Foreign bool   `json:"foreign,omitempty"` // no line was understood: it is no transcript, or another agent's
	Error   string `json:"error,omitempty"`   // why it was not read to its end
	by      string // whose it was read as
	named   bool
}

// ingest sends files one by one. One that fails does not keep the others back, unless the daemon is gone.
func ingest(ctx context.Context, a *terminal.App, client *client.Client, agent string, files []transcript) error {
	var total int64
	for _, f := range files {
		total += f.size
	}
	m := a.Meter("ingesting", total, true)
	var all []ingestedFile
	var failed error
	for _, f := range files {
		by, known := whose(agent, f.path)
		got, err := ingestOne(ctx, client, by, f, m)
		done := ingestedFile{Path: f.path, Ingested: got, by: by, named: f.named}
		if err != nil {
			done.Error, failed = terminal.Describe(err), err
		}
		done.Foreign = err == nil && (got.Malformed > 0 && got.Malformed == got.Lines || !known && nothingOf(got))
		all = append(all, done)
		if errors.Is(err, api.ErrNotRunning) || errors.Is(err, api.ErrCut) || ctx.Err() != nil {
			break
		}
	}
	m.End()
	ended, unsettled := settle(ctx, client, all)
	if err := showIngested(a, all, ended); err != nil {
		return err
	}
	if failed != nil && len(files) > 1 && !errors.Is(failed, api.ErrNotRunning) {
		return fmt.Errorf("not every transcript was taken in: %w", failed)
	}
	if failed != nil {
		return failed
	}
	if unsettled != nil {
		return fmt.Errorf("what sessions left unfinished waits, until they are ingested again: %w", unsettled)
	}
	return refuseForeign(all)
}

// refuseForeign is the error of files of which no line was understood, where they were named themselves or there are no others.
// Beside others in a folder they are passed over.
func refuseForeign(files []ingestedFile) error {
	var foreign, refused []ingestedFile
	for _, f := range files {
		if f.Foreign {
			foreign = append(foreign, f)
		}
		if f.Foreign && f.named {
			refused = append(refused, f)
		}
	}
	if len(foreign) == len(files) {
		refused = foreign
	}
	if len(refused) == 0 {
		return nil
	}
	paths := make([]string, len(refused))
	for i, f := range refused {
		paths[i] = f.Path
	}
	return terminal.Advise(fmt.Errorf("no line was understood of %s", strings.Join(paths, ", ")),
		"--agent says whose transcripts they are; it was %s", refused[0].by)
}

// settle ends what the sessions of all files left unfinished, and returns how many it ended. A session may stand in several files.
func settle(ctx context.Context, client *client.Client, files []ingestedFile) (ended int, err error) {
	last := map[events.SessionID]time.Time{}
	var sessions []api.SilentSession
	for _, f := range files {
		for _, id := range f.Sessions {
			at, known := last[id]
			if !known {
				sessions = append(sessions, api.SilentSession{Session: id})
			}
			if last[id] = at; f.Last.After(at) {
				last[id] = f.Last
			}
		}
	}
	for i := range sessions {
		sessions[i].Last = last[sessions[i].Session]
	}
	for some := range slices.Chunk(sessions, api.MaxSettled) {
		got, err := api.SettleRoute.Call(ctx, client, api.SettleRequest{Sessions: some})
		var problem *api.Problem
		if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
			return ended, terminal.Advise(err, "the daemon is older than this cmemd: `cmemd start` replaces it")
		}
		if err != nil {
			return ended, err
		}
		ended += got.Ended
	}
	return ended, nil
}

// nothingOf reports whether all lines of a transcript were passed over or not understood.
func nothingOf(got api.Ingested) bool {
	lines := got.Malformed
	for _, n := range got.Skipped {
		lines += n
	}
	return got.Lines > 0 && got.Captured+got.Duplicates+got.Refused == 0 && lines >= got.Lines
}

const (
	// longestFirst bounds the first line of a transcript that is looked at. Codex's holds its whole instructions, some 50 kB.
	longestFirst = 1 << 20

	// longestHead bounds what is looked at of an object that is printed over several lines.
	longestHead = 64 << 10
)

// whose is the agent that wrote a transcript: as the flag says, else its folder, else its beginning. Known is false where
// none of them says it.
func whose(agent, path string) (name string, known bool) {
	if agent != "" {
		return agent, true
	}
	if kept, ok := agents.AgentOfTranscript(path); ok {
		return kept, true
	}
	if by, ok := agentOf(path); ok {
		return by, true
	}
	return agents.ClaudeCode{}.Name(), false
}

// agentOf tells by its beginning whose transcript a file is.
func agentOf(path string) (agent string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, longestFirst)).ReadBytes('\n')
	if by, ok := agents.AgentOfLine(line); ok {
		return by, true
	}
	return agentOfObject(path)
}

// agentOfObject tells whose transcript a file is that is one object, however it is printed.
func agentOfObject(path string) (agent string, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, longestHead))
	return agents.AgentOfText(head)
}

func ingestOne(ctx context.Context, client *client.Client, agent string, t transcript, m *terminal.Meter) (api.Ingested, error) {
	if t.err != nil {
		return api.Ingested{}, t.err
	}
	f, err := os.Open(t.path)
	if err != nil {
		return api.Ingested{}, err
	}
	defer f.Close()
	return client.Ingest(ctx, agent, t.path, m.Reader(f))
}

func showIngested(a *terminal.App, files []ingestedFile, ended int) error {
	sum, skipped := ingestedFile{}, 0
	for _, f := range files {
		sum.Lines, sum.Captured = sum.Lines+f.Lines, sum.Captured+f.Captured
		sum.Duplicates, sum.Malformed = sum.Duplicates+f.Duplicates, sum.Malformed+f.Malformed
		for _, n := range f.Skipped {
			skipped += n
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{
			"files": files, "lines": sum.Lines, "captured": sum.Captured, "duplicates": sum.Duplicates, "skipped": skipped,
			"malformed": sum.Malformed, "ended": ended,
		})
	}
	for _, f := range files {
		if f.Error != "" {
			a.Say("%s: %s", terminal.VisibleLine(f.Path), terminal.VisibleLine(f.Error))
		}
		if f.Foreign && !f.named {
			a.Say("%s: no line was understood as %s's; passed over", terminal.VisibleLine(f.Path), f.by)
			continue
		}
		for _, bad := range f.Bad[:min(len(f.Bad), shownBad)] {
			a.Say("%s:%d: %s", terminal.VisibleLine(f.Path), bad.Line, terminal.VisibleLine(bad.Detail))
		}
		if f.Malformed > shownBad {
			a.Say("%s: %s more were not understood", terminal.VisibleLine(f.Path), terminal.Plural(f.Malformed-shownBad, "line"))
		}
	}
	a.Printf("%s, %s: %d captured, %d known before, %d passed over, %d not understood\n", terminal.Plural(len(files), "transcript"),
		terminal.Plural(sum.Lines, "line"), sum.Captured, sum.Duplicates, skipped, sum.Malformed)
	if ended > 0 {
		a.Printf("%s ended, which stopped in the middle of work\n", terminal.Plural(ended, "session"))
	}
	return nil
}
