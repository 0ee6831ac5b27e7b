package memory

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/internal/agents/importer/claudemem"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/sqlite"
)

func newImport(a *terminal.App) *cobra.Command {
	return terminal.Group(&cobra.Command{Use: "import", Short: "Take in what another memory kept"}, newImportClaudeMem(a))
}

const importHelp = `Reads the database of claude-mem: sessions, prompts, observations, summaries, and in its later versions tool uses. Times,
projects and types stay as they are. The file is only read, also while claude-mem runs: where it does, or where it left its
last entries in a -wal file, SQLite may make its own -wal and -shm files beside it. What was imported before, or captured by
hooks and transcripts, is known and not recorded again. Of a damaged file what can be read is taken in. What it says is believed,
so only you may have it taken in, in your own terminal; --dry-run is anybody's. Windows does not tell your commands from an
agent's: nothing is taken in there, but in WSL.

Imported memory is searched, shown and given to agents like any other, and says that it was imported. It was not made of
anything that cmemd captured: it changes no count of inputs, and no model is asked about imported tool uses.

claude-mem knows projects by the name of their folder alone; where that is, is learned from the paths that it recorded, or
said by --folder, or asked for at a terminal. What has no folder is found by its name, and agents are given it once
` + "`cmemd project give`" + ` says whose it is. Prompts of sessions that cmemd captured itself are left out. Where you also want to
ingest transcripts of the same sessions, do that first.`

// importQuery is what is asked of an import.
type importQuery struct {
	file     string
	projects []string
	folders  map[string]string
	dry      bool
}

func newImportClaudeMem(a *terminal.App) *cobra.Command {
	q := importQuery{}
	var folders []string
	c := &cobra.Command{
		Use: "claude-mem [FILE]", Short: "Take in the database of claude-mem", Long: importHelp,
		Args:    terminal.Takes(0, 1, "a database"),
		Example: "  cmemd import claude-mem --dry-run\n  cmemd import claude-mem ~/old/claude-mem.db --folder shop=/home/me/src/shop",
	}
	c.Flags().StringSliceVar(&q.projects, "project", nil, "only this one, as claude-mem calls it; may be given again")
	c.Flags().StringSliceVar(&folders, "folder", nil, "NAME=FOLDER: where a project is; may be given again")
	c.Flags().BoolVar(&q.dry, "dry-run", false, "only say what there is, and which folder each project is taken to have")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if q.folders, err = foldersOf(c, folders); err != nil {
			return err
		}
		if q.file, err = claudeMemFile(a, args); err != nil {
			return err
		}
		return importClaudeMem(c.Context(), a, q)
	}
	return c
}

// foldersOf reads NAME=FOLDER.
func foldersOf(c *cobra.Command, list []string) (map[string]string, error) {
	folders := map[string]string{}
	for _, s := range list {
		name, dir, ok := strings.Cut(s, "=")
		if !ok || name == "" || dir == "" {
			return nil, terminal.Misused(c, "--folder %q is not NAME=FOLDER", s)
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		folders[name] = dir
	}
	return folders, nil
}

// claudeMemFile is the database that args name, or where claude-mem keeps its own.
func claudeMemFile(a *terminal.App, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	dir := a.Getenv("CLAUDE_MEM_DATA_DIR")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", terminal.Advise(err, "name the database: cmemd import claude-mem FILE")
		}
		dir = filepath.Join(home, ".claude-mem")
	}
	return filepath.Join(dir, "claude-mem.db"), nil
}

func importClaudeMem(ctx context.Context, a *terminal.App, q importQuery) error {
	db, err := claudemem.Open(ctx, "", q.file)
	if err != nil {
		return adviseDatabase(err)
	}
	defer db.Close()
	plan, err := planImport(ctx, a, db, q)
	if err != nil {
		return adviseDatabase(err)
	}
	out := imported{File: q.file, Notes: db.Notes(), Projects: projectsOf(plan), Dry: q.dry}
	for _, name := range q.projects {
		if !slices.Contains(plan.Names(), name) {
			out.Notes = append(out.Notes, fmt.Sprintf("there is no project %q in it", name))
		}
	}
	if len(q.projects) > 0 && plan.Total() == 0 && plan.Damage() == nil {
		return terminal.Advise(fmt.Errorf("%w of project %s in %s", terminal.ErrNothing, strings.Join(q.projects, ", "), q.file), "%s", hasProjects(plan))
	}
	if !q.dry {
		err = a.Stream(ctx, func(client *client.Client) error { return sendPlan(ctx, a, client, plan, &out) })
	}
	out.InFile, out.Rowless, out.LeftOut = plan.Rows(), plan.Rowless(), mergeReasons(plan.LeftOut(), out.LeftOut)
	if out.sent || q.dry {
		err = errors.Join(a.Show(out, func() { showImported(a, out) }), err, plan.Damage())
	}
	return adviseDatabase(err)
}

// planImport is what there is to import, once somebody at a terminal was asked where the projects are that nothing tells of.
func planImport(ctx context.Context, a *terminal.App, db *claudemem.DB, q importQuery) (*claudemem.Plan, error) {
	cfg := claudemem.Config{Projects: q.projects, Folders: q.folders, Now: a.Now}
	plan, err := db.Plan(ctx, cfg)
	if err != nil || q.dry || a.JSON || !terminal.IsTerminal(a.In) {
		return plan, err
	}
	if answered, err := askFolders(a, a.In, projectsOf(plan), q.folders); err != nil || !answered {
		return plan, err
	}
	return db.Plan(ctx, cfg)
}

// hasProjects says which projects a database names.
func hasProjects(p *claudemem.Plan) string {
	names := p.Names()
	if len(names) == 0 {
		return "the file names no project at all: leave --project out"
	}
	more := ""
	if len(names) > shownProjects {
		more = fmt.Sprintf(" and %d more: --dry-run lists them", len(names)-shownProjects)
	}
	return "the file has " + strings.Join(names[:min(len(names), shownProjects)], ", ") + more
}

// shownProjects is how many projects an advice names.
const shownProjects = 12

// adviseDatabase adds to what is wrong with a database, or with the daemon that takes it in, what can be done.
func adviseDatabase(err error) error {
	switch {
	case errors.Is(err, sqlite.ErrNoProgram):
		return terminal.Advise(fmt.Errorf("claude-mem keeps its rows in SQLite, and %s, which reads that, is not installed", sqlite.Program),
			"`go install github.com/cmemd/cmemd/cmd/%s@latest`, or put it beside cmemd; then run this again", sqlite.Program)
	case errors.Is(err, os.ErrNotExist) && !errors.Is(err, api.ErrNotRunning):
		return terminal.Advise(err, "name the database: cmemd import claude-mem FILE; claude-mem keeps it as claude-mem.db in its data folder")
	case errors.Is(err, claudemem.ErrUnwritable):
		return terminal.Advise(err, "copy it, with the -wal or -journal file beside it, to a folder that you can write, open the copy with sqlite3 once, and import that")
	case errors.Is(err, claudemem.ErrChanged):
		return terminal.Advise(err, "run it again: what was recorded is known")
	case errors.Is(err, claudemem.ErrDamaged):
		return terminal.Advise(err, "what more there is, sqlite3 may find: `sqlite3 FILE .recover | sqlite3 mended.db`, then `cmemd import claude-mem mended.db`; "+
			"what was recorded is known")
	case errors.Is(err, api.ErrCut):
		return terminal.Advise(fmt.Errorf("the daemon ended before all was taken in: %w", api.ErrCut),
			"`cmemd logs` says why; `cmemd start` starts it, then run this again: what was recorded is known")
	}
	return err
}

// imported is what became of a database.
type imported struct {
	File     string                `json:"file"`
	Notes    []string              `json:"notes,omitempty"`
	Dry      bool                  `json:"dry_run,omitempty"`
	Projects []importedProject     `json:"projects"`
	InFile   map[importer.Kind]int `json:"in_file"`
	Rowless  int                   `json:"sessions_without_row,omitempty"` // that other rows tell of: not in InFile
	api.Imported
	sent bool
}

func projectsOf(p *claudemem.Plan) []importedProject {
	list := []importedProject{}
	for name, n := range p.Projects() {
		list = append(list, importedProject{Name: name, Folder: p.Folder(name), Entries: n})
	}
	order.By(list, func(a, b importedProject) int {
		return cmp.Or(cmp.Compare(b.Entries, a.Entries), strings.Compare(a.Name, b.Name))
	})
	return list
}

// sendPlan sends all entries. Where the database cannot be read to its end, what was read is recorded all the same.
func sendPlan(ctx context.Context, a *terminal.App, client *client.Client, plan *claudemem.Plan, out *imported) error {
	m := a.Meter("importing", int64(plan.Total()), false)
	r, w := io.Pipe()
	wrote := make(chan error, 1)
	go func() { wrote <- writeEntries(ctx, w, plan, m) }()
	got, err := client.Import(ctx, importer.ClaudeMem, r)
	r.CloseWithError(io.ErrClosedPipe) // who still writes is not read any more
	unread := <-wrote
	m.End()
	if err != nil {
		return err
	}
	left := out.LeftOut
	out.Imported, out.sent = got, true
	out.LeftOut = mergeReasons(left, got.LeftOut)
	if unread != nil {
		return fmt.Errorf("the database was not read to its end: %w", unread)
	}
	return nil
}

// writeEntries writes a line an entry. It returns why the plan ended early.
func writeEntries(ctx context.Context, w *io.PipeWriter, plan *claudemem.Plan, m *terminal.Meter) error {
	out := bufio.NewWriterSize(w, 256<<10)
	defer w.Close()
	done := uint64(0)
	for e, err := range plan.Entries(ctx) {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		done++
		m.Set(done, uint64(plan.Total()))
		if len(line) > importer.MaxLine {
			plan.LeaveOut(e.Kind, importer.ReasonLong)
			continue
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return nil // nobody reads any more, and says why
		}
	}
	_ = out.Flush() // nobody reads any more, and says why
	return nil
}

// mergeReasons adds counts up.
func mergeReasons(all ...map[importer.Kind]importer.ReasonCount) map[importer.Kind]importer.ReasonCount {
	sum := map[importer.Kind]importer.ReasonCount{}
	for _, counts := range all {
		for kind, reasons := range counts {
			for reason, n := range reasons {
				importer.Count(sum, kind, reason, n)
			}
		}
	}
	return sum
}

func showImported(a *terminal.App, out imported) {
	for _, note := range out.Notes {
		a.Infof("%s", terminal.VisibleLine(note))
	}
	for _, bad := range out.Bad[:min(len(out.Bad), maxListedBad)] {
		a.Infof("entry %d: %s", bad.Line, terminal.VisibleLine(bad.Detail))
	}
	t := terminal.List{Head: []string{"KIND", "IN THE FILE", "RECORDED", "KNOWN BEFORE", "LEFT OUT", "SHORTENED"}}
	for _, kind := range importer.Kinds() {
		there := fmt.Sprint(out.InFile[kind])
		if kind == importer.Session && out.Rowless > 0 {
			there += fmt.Sprintf(" + %d without a row", out.Rowless)
		}
		t.Add(strings.ReplaceAll(string(kind), "_", " "), there, fmt.Sprint(out.Recorded[kind]),
			fmt.Sprint(out.Known[kind]), reasonsText(out.LeftOut[kind]), reasonsText(out.Shortened[kind]))
	}
	a.Print(t)
	if out.Refused+out.Malformed > 0 {
		a.Printf("%d could not be recorded\n", out.Refused+out.Malformed)
	}
	for _, p := range out.Projects {
		where := cmp.Or(p.Folder, "in no known folder: --folder says where, else `cmemd project give`; agents are not given it before")
		a.Printf("%s  %s\n", terminal.VisibleLine(cmp.Or(p.Name, "(no project)")), terminal.VisibleLine(where))
	}
}

// reasonsText is counts in words, the most frequent first.
func reasonsText(reasons importer.ReasonCount) string {
	var parts []string
	for _, name := range terminal.MostFirst(reasons) {
		parts = append(parts, fmt.Sprintf("%d %s", reasons[name], name))
	}
	return cmp.Or(strings.Join(parts, ", "), "0")
}
