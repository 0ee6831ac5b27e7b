package memory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/number"
)

// maxListedBad is how many lines that were not understood are listed of one file.
const maxListedBad = 5

const ingestHelp = `Ingest reads transcripts and captures what they report: prompts, tool calls with their results, answers.
What was captured before, by hooks or by an earlier ingest, is known and not captured again.
Work without an end is ended where nothing has followed it for the setting idle_stop, so that it is observed.

With --all it takes what lies in the folders of the agents of this machine. With --background a process of its own goes on with it, the
newest first, when the command has ended; ` + "`cmemd status`" + ` says how far it is.`

// An ingestCommand is the flags of the command.
type ingestCommand struct {
	agent                        string
	all, newestFirst, background bool
	note                         bool // write down how far it is, for who does not wait
}

func newIngest(a *terminal.App) *cobra.Command {
	var f ingestCommand
	c := &cobra.Command{
		Use: "ingest [PATH...]", Short: "Take in an agent's transcripts, files or whole folders", Long: ingestHelp,
		Example: "  cmemd ingest --all --background\n  cmemd ingest ~/.claude/projects ~/.codex/sessions\n  cmemd ingest --agent gemini-cli session.jsonl",
		Args: func(c *cobra.Command, paths []string) error {
			if f.all && len(paths) == 0 {
				return nil
			}
			return terminal.Takes(1, -1, "a transcript or a folder of them, or --all")(c, paths)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.agent, "agent", "", "whose transcripts they are (default: by their folder, else by how the file begins, else claude-code)")
	flags.BoolVar(&f.all, "all", false, "what lies in the folders of the agents of this machine")
	flags.BoolVar(&f.newestFirst, "newest-first", false, "begin with the transcripts that were written last")
	flags.BoolVar(&f.background, "background", false, "go on in a process of its own, the newest first")
	flags.BoolVar(&f.note, "note", false, "write down how far it is")
	_ = flags.MarkHidden("note") // it is there
	terminal.OneOf(c, "agent", agents.Names()...)
	c.RunE = func(c *cobra.Command, paths []string) error {
		paths, err := f.paths(a, paths)
		if err != nil {
			return err
		}
		files, err := f.files(paths)
		if err != nil {
			return err
		}
		return a.Stream(c.Context(), func(client *client.Client) error {
			if f.background {
				return ingestInBackground(c.Context(), a, f.agent, paths)
			}
			return f.run(c.Context(), a, client, files)
		})
	}
	return c
}

// paths are those that were given, and with --all the folders of agents.
func (f ingestCommand) paths(a *terminal.App, given []string) ([]string, error) {
	if !f.all {
		return given, nil
	}
	folders, err := transcriptFolders(a)
	if err == nil && len(folders) == 0 {
		err = fmt.Errorf("%w: no agent of this machine keeps transcripts", terminal.ErrNothing)
	}
	return append(given, folders...), err
}

// files are those that paths name, in the order in which they are to be taken in.
func (f ingestCommand) files(paths []string) ([]transcript, error) {
	files, err := transcripts(paths)
	if err != nil {
		return nil, terminal.Advise(err, "name a transcript or a folder of them that can be read; Claude Code keeps its own in ~/.claude/projects")
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: no .jsonl file below %s", terminal.ErrNothing, strings.Join(paths, ", "))
	}
	if f.newestFirst || f.background {
		slices.Reverse(files)
	}
	return files, nil
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

// run sends files one by one. One that fails does not keep the others back, unless the daemon is gone.
func (f ingestCommand) run(ctx context.Context, a *terminal.App, client *client.Client, files []transcript) error {
	total := sizeOf(files)
	m := a.Meter("ingesting", total, true)
	var noted *ingestNote
	if f.note {
		var err error
		if noted, err = noteIngest(a, files); err != nil {
			return err
		}
	}
	var all []ingestedFile
	var failed error
	for _, t := range files {
		by, known := whose(f.agent, t.path)
		got, err := ingestOne(ctx, client, by, t, m)
		done := ingestedFile{Path: t.path, Ingested: got, by: by, named: t.named}
		if err != nil {
			done.Error, failed = terminal.Describe(err), err
		}
		done.Foreign = err == nil && (noneUnderstood(got, t.named) || !known && nothingOf(got))
		all = append(all, done)
		if errors.Is(err, api.ErrNotRunning) || errors.Is(err, api.ErrCut) || ctx.Err() != nil {
			break
		}
		noted.add(t.size, done.Captured, err)
	}
	m.End()
	ended, unsettled := settle(ctx, client, all)
	if len(all) == len(files) {
		noted.end(a.Now())
	}
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
		"a transcript is text in UTF-8 with an object of JSON a line; --agent says whose transcripts they are, if they are not %s's", refused[0].by)
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
		if problem, ok := errors.AsType[*api.Problem](err); ok && problem.Status == http.StatusNotFound {
			return ended, terminal.Advise(err, "the daemon is older than this cmemd: `cmemd start` replaces it")
		}
		if err != nil {
			return ended, err
		}
		ended += got.Ended
	}
	return ended, nil
}

// nothingOf reports whether all lines of a transcript but blank ones were passed over or not understood.
func nothingOf(got api.Ingested) bool {
	return got.Captured+got.Duplicates+got.Refused == 0 && got.Malformed+skippedOf(got) > 0
}

// noneUnderstood reports whether a file has lines that are not blank, none of which means anything; of one that was named, also whether
// it has but the beginning of one.
func noneUnderstood(got api.Ingested, named bool) bool {
	means := got.Captured + got.Duplicates + got.Refused + skippedOf(got)
	return means == 0 && (got.Malformed > 0 || named && got.Partial > 0)
}

// skippedOf is how many lines mean nothing here, of whatever kind.
func skippedOf(got api.Ingested) (lines int) {
	for _, n := range got.Skipped {
		lines += n
	}
	return lines
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
	var begin [2]byte
	n, _ := f.ReadAt(begin[:], 0) // what cannot be read here says so below
	if agents.IsUTF16(begin[:n]) {
		return api.Ingested{}, terminal.Advise(agents.ErrUTF16, "save it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does, and ingest that")
	}
	return client.Ingest(ctx, agent, t.path, m.Reader(f))
}

func showIngested(a *terminal.App, files []ingestedFile, ended int) error {
	sum, skipped := ingestedFile{}, 0
	for _, f := range files {
		sum.Lines, sum.Captured = sum.Lines+f.Lines, sum.Captured+f.Captured
		sum.Duplicates, sum.Malformed = sum.Duplicates+f.Duplicates, sum.Malformed+f.Malformed
		skipped += skippedOf(f.Ingested)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{
			"files": files, "lines": sum.Lines, "captured": sum.Captured, "duplicates": sum.Duplicates, "skipped": skipped,
			"malformed": sum.Malformed, "ended": ended,
		})
	}
	for _, f := range files {
		if f.Error != "" {
			a.Infof("%s: %s", terminal.VisibleLine(f.Path), terminal.VisibleLine(f.Error))
		}
		if f.Foreign && !f.named {
			a.Infof("%s: no line was understood as %s's; passed over", terminal.VisibleLine(f.Path), f.by)
			continue
		}
		for _, bad := range f.Bad[:min(len(f.Bad), maxListedBad)] {
			a.Infof("%s:%d: %s", terminal.VisibleLine(f.Path), bad.Line, terminal.VisibleLine(bad.Detail))
		}
		if f.Malformed > maxListedBad {
			a.Infof("%s: %s more were not understood", terminal.VisibleLine(f.Path), number.Plural(f.Malformed-maxListedBad, "line"))
		}
		if f.Partial > 0 {
			a.Infof("%s: the last line is not whole, and was left (%s)", terminal.VisibleLine(f.Path), terminal.Size(f.Partial))
		}
	}
	a.Printf("%s, %s: %d captured, %d known before, %d passed over, %d not understood\n", number.Plural(len(files), "transcript"),
		number.Plural(sum.Lines, "line"), sum.Captured, sum.Duplicates, skipped, sum.Malformed)
	if ended > 0 {
		a.Printf("%s ended, which stopped in the middle of work\n", number.Plural(ended, "session"))
	}
	return nil
}
