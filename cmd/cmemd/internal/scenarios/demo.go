package scenarios

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/sleep"
)

// demoSession is a recorded session, one hook payload a line, in the order the hooks fired.
//
//go:embed demo/session.jsonl
var demoSession string

const (
	// killBeforePayload and reviveBeforePayload are the payloads before which the daemon is killed and started again.
	killBeforePayload   = 14
	reviveBeforePayload = 17

	// demoWait is how long the demo waits for anything that takes milliseconds when all is well.
	demoWait = 10 * time.Second
)

// perform plays a story. A closed terminal or a reader that goes away ends it as an interrupt does, and nothing stays
// behind.
func perform(ctx context.Context, a *terminal.App, story func(context.Context) error) error {
	ctx, stop := terminal.UntilHangup(ctx)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signal.Ignore(syscall.SIGPIPE)
	a.Out = &carefulWriter{to: a.Out, onFailure: cancel}
	err := story(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("demo: interrupted, everything is removed: %w", context.Cause(ctx))
	}
	return fmt.Errorf("demo: %w", err)
}

// carefulWriter tells when nobody reads any more.
type carefulWriter struct {
	to        io.Writer
	onFailure func(error)
}

// Write passes b on.
func (w *carefulWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if err != nil {
		w.onFailure(err)
	}
	return n, err
}

// stage is the temporary world of a demo.
type stage struct {
	a         *terminal.App
	self      string // this program
	dir       string // all of the below
	home      string // CMEMD_HOME
	project   string // the repository that the session works in
	commits   []string
	client    *client.Client
	daemon    *exec.Cmd
	began     time.Time
	bestHitID string // the id of the best hit
	listen    string // the loopback address of the page; empty: there is none

	// Where several machines play.
	name    string // of the machine; empty: there is one
	steady  bool   // its daemon is not killed
	session string // that is played
	hooks   []time.Duration
}

// defaultSession is the session that is played where there is one machine.
const defaultSession = "00000000-0000-4000-8000-00000000d001"

// selfAndFolder are the program that runs, and a new folder for a demo.
func selfAndFolder() (self, dir string, err error) {
	if self, err = os.Executable(); err == nil {
		dir, err = os.MkdirTemp("", "cmemd-demo-")
	}
	return self, dir, err
}

// newStage makes a home, and a folder to work in.
func newStage(a *terminal.App) (*stage, error) {
	self, dir, err := selfAndFolder()
	if err != nil {
		return nil, err
	}
	d := newStageIn(a, self, dir, filepath.Join(dir, "home"))
	if err := os.MkdirAll(d.project, 0o700); err != nil {
		return nil, errors.Join(err, d.clear())
	}
	return d, nil
}

// newStageIn is a stage in a folder, with a home, of which nothing is made yet.
func newStageIn(a *terminal.App, self, dir, home string) *stage {
	return &stage{
		a: a, self: self, dir: dir, home: home, project: filepath.Join(dir, "courier"), began: a.Now(), client: client.Dial(home),
		session: defaultSession,
	}
}

// commit makes an empty commit and notes its short hash, so that what the session claims can be checked. Without git it
// claims one that nobody can check.
func (d *stage) commit(ctx context.Context, subject string) {
	git := func(args ...string) string {
		own := []string{"-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"}
		c := exec.CommandContext(ctx, "git", append(own, args...)...)
		c.Dir, c.Env = d.project, d.environ()
		out, err := c.Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if len(d.commits) == 0 {
		git("init", "-q")
	}
	git("commit", "-q", "--allow-empty", "-m", subject)
	d.commits = append(d.commits, cmp.Or(git("rev-parse", "--short", "HEAD"), "4b44602"))
}

// clear ends the daemon and removes everything.
func (d *stage) clear() error {
	d.client.Close()
	d.kill()
	return os.RemoveAll(d.dir)
}

// kill kills the daemon, if it runs, and waits for its end.
func (d *stage) kill() {
	if d.daemon != nil {
		_ = d.daemon.Process.Kill()
		_ = d.daemon.Wait()
	}
	d.daemon = nil
}

// of is whose daemon it is, before a verb.
func (d *stage) of() string {
	if d.name == "" {
		return "the daemon"
	}
	return "the daemon of " + d.name
}

// environ is what the demo's processes see: their own home, and none of the person's settings of cmemd and git. Git sets
// GIT_DIR for its own hooks: with it the demo would write into the repository that it is started from.
func (d *stage) environ() []string {
	kept := []string{
		"CMEMD_HOME=" + d.home, "CMEMD_LISTEN=" + d.listen, "CMEMD_NO_START=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + d.dir,
	}
	for _, v := range d.a.Environ {
		if !strings.HasPrefix(v, "CMEMD_") && !strings.HasPrefix(v, "GIT_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// raise starts the daemon and waits until it is ready.
func (d *stage) raise(ctx context.Context) error {
	began := d.a.Now()
	log, err := os.Create(filepath.Join(d.dir, "daemon.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	daemon := exec.CommandContext(ctx, d.self, "serve")
	daemon.Env, daemon.Stdout, daemon.Stderr = d.environ(), log, log
	if err := daemon.Start(); err != nil {
		return err
	}
	d.daemon = daemon
	err = d.until(ctx, demoWait, "the daemon to be ready", func() bool {
		r, err := api.ReadyRoute.Call(ctx, d.client, api.ReadyQuery{Always: true})
		return err == nil && r.Ready
	})
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%w; it said:\n%s", err, terminal.Visible(string(said)))
	}
	d.announce("%s, process %d, is ready after %d ms", d.of(), d.daemon.Process.Pid, d.a.Now().Sub(began).Milliseconds())
	return nil
}

// until waits for a condition, for a limited time.
func (d *stage) until(ctx context.Context, most time.Duration, what string, ok func() bool) error {
	limit := time.After(most)
	for !ok() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			return fmt.Errorf("gave up waiting for %s after %v", what, most)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// announce announces what happens next.
func (d *stage) announce(format string, args ...any) {
	seconds, text := d.a.Now().Sub(d.began).Seconds(), fmt.Sprintf(format, args...)
	if d.a.JSON {
		_ = d.a.PrintJSONLine(demoLine{Seconds: seconds, Act: text})
		return
	}
	d.a.Printf("\n")
	d.a.Heading("%5.1f s  %s", seconds, text)
}

// demoLine is one line of the demo for programs: what began, or a detail of it.
type demoLine struct {
	Seconds float64 `json:"seconds,omitempty"`
	Act     string  `json:"act,omitempty"`
	Detail  string  `json:"detail,omitempty"`
}

// printDetail shows a detail of the present act. Captured text in it is made harmless.
func (d *stage) printDetail(format string, args ...any) {
	text := terminal.Visible(fmt.Sprintf(format, args...))
	if d.a.JSON {
		_ = d.a.PrintJSONLine(demoLine{Detail: text})
		return
	}
	d.a.Printf("         %s\n", strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n         "))
}

// payloads is the recorded session, set in this stage.
func (d *stage) payloads() []string {
	set := strings.NewReplacer(
		"{{SESSION}}", d.session, "{{CWD}}", d.project, "{{HOME}}", d.dir,
		"{{COMMIT1}}", d.commits[0], "{{COMMIT2}}", d.commits[1],
	)
	return strings.Split(strings.TrimSpace(set.Replace(demoSession)), "\n")
}

// hook runs the hook command, as an agent does, and returns what it replied.
func (d *stage) hook(ctx context.Context, payload string) (reply []byte, took time.Duration, err error) {
	c := exec.CommandContext(ctx, d.self, "hook", "claude-code")
	c.Env, c.Stdin, c.Dir = d.environ(), strings.NewReader(payload), d.project
	began := d.a.Now()
	reply, err = c.Output()
	return reply, d.a.Now().Sub(began), err
}

// play sends the session's hooks. In the middle the daemon is killed, and later started again.
func (d *stage) play(ctx context.Context) error {
	if d.name == "" {
		d.announce("a session of Claude Code begins in %s", d.project)
	}
	for i, payload := range d.payloads() {
		switch {
		case d.steady:
		case i == killBeforePayload:
			d.announce("%s is killed with SIGKILL", d.of())
			d.kill()
		case i == reviveBeforePayload:
			if err := d.revive(ctx); err != nil {
				return err
			}
		}
		_, took, err := d.hook(ctx, payload)
		if err != nil {
			return fmt.Errorf("hook: %w", err)
		}
		d.hooks = append(d.hooks, took)
		if d.name == "" {
			d.printDetail("%4d ms  %s", took.Milliseconds(), describeHook(payload))
			d.pace(ctx)
		}
	}
	return nil
}

// revive starts the daemon that was killed, for which hooks wait in the spool.
func (d *stage) revive(ctx context.Context) error {
	waiting, _, err := spool.New(d.home).Usage()
	if err != nil {
		return err
	}
	if waiting < reviveBeforePayload-killBeforePayload { // a hook that the daemon did not answer in time has spooled one more
		return fmt.Errorf("%d payloads wait in the spool, want at least %d", waiting, reviveBeforePayload-killBeforePayload)
	}
	d.announce("%d payloads wait in the spool; %s comes back", waiting, d.of())
	return d.raise(ctx)
}

// watched reports whether a person reads along.
func (d *stage) watched() bool {
	w, ok := d.a.Out.(*carefulWriter)
	return ok && terminal.IsTerminal(w.to)
}

// pace gives a person time to read along. Nobody waits where no terminal is.
func (d *stage) pace(ctx context.Context) {
	if !d.watched() {
		return
	}
	_ = sleep.For(ctx, d.hookPause())
}

// hookPause is the time between two hooks on a terminal. A page is looked at beside it.
func (d *stage) hookPause() time.Duration {
	if d.listen != "" {
		return time.Second
	}
	return 150 * time.Millisecond
}

// describeHook is one line of a payload.
func describeHook(payload string) string {
	var p struct {
		Event   string `json:"hook_event_name"`
		Prompt  string `json:"prompt"`
		Tool    string `json:"tool_name"`
		Message string `json:"last_assistant_message"`
		Source  string `json:"source"`
		Input   struct {
			Command string `json:"command"`
			File    string `json:"file_path"`
		} `json:"tool_input"`
	}
	_ = json.Unmarshal([]byte(payload), &p)
	about := p.Source + p.Prompt + p.Message + p.Input.Command
	if p.Input.File != "" {
		about += filepath.Base(filepath.Dir(p.Input.File)) + "/" + filepath.Base(p.Input.File)
	}
	return fmt.Sprintf("%-18s %-5s %s", p.Event, p.Tool, terminal.Shortened(about, 60))
}
