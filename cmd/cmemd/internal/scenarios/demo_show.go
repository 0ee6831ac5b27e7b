package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
)

// sent is how many inputs the session's hooks report.
func (d *stage) sent() (n int) {
	for _, p := range d.payloads() {
		if strings.Contains(p, `"tool_use_id"`) || strings.Contains(p, `"hook_event_name": "Stop"`) {
			n++
		}
	}
	return n
}

// settle waits until every input has its outcome, and counts: what the hooks sent is what the log holds.
func (d *stage) settle(ctx context.Context) error {
	want := d.sent()
	var in api.Balance
	err := d.until(ctx, demoWait, "every input to be settled", func() bool {
		st, err := api.StatusRoute.Call(ctx, d.client, api.NoQuery{})
		in = st.Inputs
		return err == nil && in.Captured >= want && in.Pending == 0 && st.Spool.Waiting == 0
	})
	if err != nil {
		return fmt.Errorf("%w: %+v of %d", err, in, want)
	}
	if in.Captured != want || in.Observed+in.Skipped != want {
		return fmt.Errorf("inputs %+v, want %d captured, all of them observed or skipped", in, want)
	}
	whose := "the session"
	if d.name != "" {
		whose = "the session on " + d.name
	}
	d.announce("%s is over: %d inputs captured, %d observed, %d dropped, %d lost", whose, in.Captured, in.Observed, in.Dropped, want-in.Captured)
	return nil
}

// remember starts a second session and shows the memory that its hook is given.
func (d *stage) remember(ctx context.Context) error {
	payload := fmt.Sprintf(`{"session_id":"00000000-0000-4000-8000-00000000d002","transcript_path":%q,"cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`,
		d.dir+"/second.jsonl", d.project)
	reply, took, err := d.hook(ctx, payload)
	if err != nil {
		return fmt.Errorf("hook: %w", err)
	}
	var r struct {
		Hook struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(reply, &r); err != nil || r.Hook.Context == "" {
		return fmt.Errorf("the second session was given nothing: %q, %v", reply, err)
	}
	d.announce("a second session begins and is given this, in %d ms", took.Milliseconds())
	d.printDetail("%s", r.Hook.Context)
	return nil
}

// find searches for the work of the first session in other words than its own.
func (d *stage) find(ctx context.Context) error {
	const words = "why was a refused delivery retried"
	found, err := api.SearchRoute.Call(ctx, d.client, api.SearchQuery{Text: words, Limit: 5})
	if err != nil {
		return err
	}
	if len(found.Results) == 0 {
		return fmt.Errorf("a search for %q found nothing", words)
	}
	d.announce("cmemd search %s", words)
	for _, r := range found.Results {
		if d.bestHitID == "" && r.Kind == "observation" {
			d.bestHitID = r.ID.String()
		}
		d.printDetail("%-11s  %5.2f  %s", r.Kind, r.Score, r.Title)
	}
	if d.bestHitID == "" {
		return fmt.Errorf("a search for %q found no observation", words)
	}
	return nil
}

// explain leads from the best hit back to the events it came from.
func (d *stage) explain(ctx context.Context) error {
	why, err := api.WhyRoute.Call(ctx, d.client, api.WhyQuery{ID: d.bestHitID})
	if err != nil {
		return err
	}
	if len(why.Turns) == 0 || len(why.Turns[0].Inputs) == 0 {
		return fmt.Errorf("%s leads back to nothing", d.bestHitID)
	}
	d.announce("cmemd why %s", d.bestHitID)
	for _, p := range why.Prompts {
		d.printDetail("asked      %6d  %s", p.Position, p.Text)
	}
	for _, in := range why.Turns[0].Inputs {
		name := cmp.Or(in.Tool, string(in.Kind))
		failed := ""
		if in.Failed {
			failed = "  (failed)"
		}
		part := "settled"
		if in.Read {
			part = "read"
		}
		d.printDetail("%-7s    %6d  %s%s", part, in.Position, name, failed)
	}
	for _, c := range why.Row.Claims {
		d.printDetail("%-9s          %s %s", c.Verdict, c.Kind, c.Value)
	}
	return nil
}

// verify walks the log's chains.
func (d *stage) verify(ctx context.Context) error {
	v, err := api.VerifyRoute.Call(ctx, d.client, api.NoQuery{}, func(api.Progress) {})
	if err != nil {
		return err
	}
	if !v.OK {
		return fmt.Errorf("the log is damaged at %d: %s", v.Position, v.Reason)
	}
	d.announce("cmemd log verify: %d records, every chain holds", v.Records)
	return nil
}

// openPage has a browser show the page of the demo's daemon.
func (d *stage) openPage(ctx context.Context) error {
	d.announce("cmemd ui")
	c := exec.CommandContext(ctx, d.self, "ui")
	c.Env, c.Stdout, c.Stderr = d.environ(), d.a.Out, d.a.Err
	return c.Run()
}

// stay keeps what the page shows until the person ends the demo. Nobody waits where no terminal is.
func (d *stage) stay(ctx context.Context) error {
	if !d.watched() {
		return nil
	}
	d.announce("the page shows it until you press Ctrl-C, which removes everything")
	<-ctx.Done()
	return nil
}

// reserve chooses a loopback port for the page. The daemon that comes back after it was killed has the same one: a browser is let in at one
// address.
func (d *stage) reserve(context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	d.listen = l.Addr().String()
	return l.Close()
}

// playDemo plays the whole story of a session, beside its page if that is asked for. What it shows is checked: it fails where the daemon
// did not do its job.
func playDemo(ctx context.Context, a *terminal.App, page bool) (err error) {
	d, err := newStage(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.clear()) }()
	d.commit(ctx, "queue: give up a delivery that the receiver refuses")
	d.commit(ctx, "config: limit the attempts of a delivery")
	acts := []func(context.Context) error{d.raise, d.play, d.settle, d.remember, d.find, d.explain, d.verify}
	if page {
		acts = append([]func(context.Context) error{d.reserve, d.raise, d.openPage}, append(acts[1:], d.stay)...)
	}
	for _, act := range acts {
		if err := act(ctx); err != nil {
			return err
		}
	}
	d.announce("all of it happened in %s, which is removed now; to use cmemd for real: cmemd setup", d.home)
	return nil
}
