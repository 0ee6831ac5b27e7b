package daemon

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/memory/erasure"
)

// submit has a session's user say something, and returns what the hook was answered.
func submit(ctx context.Context, c *client.Client, session, text string) error {
	payload := fmt.Appendf(nil, `{"session_id":%q,"cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":%q}`, session, text)
	_, err := c.Hook(ctx, "claude-code", payload, events.ID{}, time.Time{})
	return err
}

// damageLeaf spoils the number of a page of records in the middle of a log's file, and returns the position of its first record and of the
// first behind it. Older versions of a page are spoiled, too.
func damageLeaf(t *testing.T, path string) (from, to events.Position) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 4096
	first := func(p []byte) events.Position {
		pos, n := binary.NativeEndian.Uint32(p[20:]), binary.NativeEndian.Uint32(p[24:])
		if p[8] != 0x02 || p[10] == 0 || n != 8 || int(16+pos+8) > len(p) {
			return 0
		}
		return events.Position(binary.BigEndian.Uint64(p[16+pos:]))
	}
	var all []events.Position
	for at := 0; at+size <= len(file); at += size {
		if n := first(file[at : at+size]); n > 1 {
			all = append(all, n)
		}
	}
	if len(all) < 3 {
		t.Fatalf("the log has records in %d pages", len(all))
	}
	from, to = all[0], ^events.Position(0)
	for _, n := range all {
		from = min(from, n)
	}
	for _, n := range all {
		if n > from {
			to = min(to, n)
		}
	}
	for at := 0; at+size <= len(file); at += size {
		if first(file[at:at+size]) == from {
			file[at+5] ^= 0x10
		}
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return from, to
}

// holders are the files of a home that hold a text.
func holders(t *testing.T, home, text string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// metrics is what the daemon at a socket tells Prometheus.
func metrics(t *testing.T, socket string) string {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	asking := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	answer, err := asking.Get("http://localhost" + api.MetricsRoute.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestForgetInDamagedLog damages a page of a log's records: what can be read is forgotten, and gone from each file; the session whose page
// it is is refused with the damage, others go on; and the damage is told until the log is found whole.
func TestForgetInDamagedLog(t *testing.T) {
	t.Parallel()
	d, ctx := openTemp(t)
	p, l := d.paths, d.config
	c := client.Dial(p.Home)
	defer c.Close()
	ended := serving(t, ctx, d)
	for n := range 40 {
		said := fmt.Sprintf("wombat%dx is said here %s", n, strings.Repeat("and so on ", 20))
		if err := errors.Join(submit(ctx, c, fmt.Sprint("s", n), said), submit(ctx, c, fmt.Sprint("s", n), "kept "+said[6:])); err != nil {
			t.Fatal(err)
		}
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Fatal(err)
	}
	from, to := damageLeaf(t, p.Log)

	ctx, stop := context.WithCancelCause(t.Context())
	d, err := openDaemon(ctx, l, p, slog.New(slog.DiscardHandler), "test", stop)
	if err != nil {
		t.Fatal(err)
	}
	ended = serving(t, ctx, d)
	done, err := d.eraser.Forget(ctx, erasure.Request{Query: "wombat"}, nil)
	if err != nil || len(done.Refused) > 0 || done.Records < 20 || done.Unread == 0 {
		t.Fatalf("Forget: %+v, %v", done, err)
	}
	if s := d.eraser.Status(); s.Owed {
		t.Error("something is owed still")
	}
	bad := map[string]bool{} // sessions of which a part cannot be read
	for r, err := range eventlog.Readable(d.log, nil).All(ctx, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if k := r.Kind; k == events.KindPromptSubmitted && !r.Erased {
			e, err := r.Event()
			if err != nil || strings.Contains(e.(events.PromptSubmitted).Text, "wombat") {
				t.Errorf("record %d says %+v, %v", r.Position, e, err)
			}
		}
	}
	gone := 0
	for n := range 40 {
		if len(holders(t, p.Home, fmt.Sprintf("wombat%dx", n))) == 0 {
			gone++
			continue
		}
		bad[fmt.Sprint("s", n)] = true
	}
	if gone != 40-len(bad) || len(bad) == 0 || events.Position(len(bad)) > to-from {
		t.Errorf("%d of 40 are gone; %v are not, where records %d to %d cannot be read", gone, bad, from, to-1)
	}
	if known := d.damage.Known(); known == nil {
		t.Error("nobody was told of the damage")
	}
	if line := d.notices().line(ctx); !strings.HasPrefix(line, "the log is damaged at position ") || !strings.Contains(line, "`cmemd log salvage`") {
		t.Errorf("the notice is %q", line)
	}
	if page := metrics(t, p.Socket); !strings.Contains(page, "cmemd_log_damaged 1\n") {
		t.Error("the metrics do not tell of it")
	}
	if err := submit(ctx, c, "another", "goes on"); err != nil {
		t.Errorf("another session: %v", err)
	}
	parked := 0
	for n := range 40 {
		err := submit(ctx, c, fmt.Sprint("s", n), "again")
		var problem *api.Problem
		switch {
		case err == nil:
		case errors.As(err, &problem) && problem.Type == api.ProblemDamaged:
			parked++
		default:
			t.Errorf("session %d: %v", n, err)
		}
	}
	if parked == 0 || parked > int(to-from) {
		t.Errorf("%d sessions are refused for the damage", parked)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
}
