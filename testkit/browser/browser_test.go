package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Find returns the path of a Chromium on this machine, or "".
func Find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Browser is a running Chromium with a profile of its own. It is safe for concurrent use.
type Browser struct {
	pipe  *pipe
	cmd   *exec.Cmd
	ended chan struct{} // closed when it is gone
}

// MustStart starts a browser, which ends with the test. The test is skipped where none is installed. All names under .example lead to
// this machine, and no other name leads anywhere.
func MustStart(tb testing.TB, flags ...string) *Browser {
	tb.Helper()
	program := Find()
	if program == "" {
		tb.Skip("no chromium is installed")
	}
	b, err := start(program, tb.TempDir(), flags)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.stop)
	return b
}

func start(program, dir string, flags []string) (*Browser, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close())
	}
	b := &Browser{pipe: newPipe(ourOut), ended: make(chan struct{})}
	b.cmd = exec.Command(program, append([]string{
		"--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--mute-audio",
		"--hide-scrollbars", "--user-data-dir=" + dir, "--host-resolver-rules=MAP *.example 127.0.0.1", "--lang=en-US",
	}, flags...)...)
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4: what it reads, what it writes
	b.cmd.Env = append(os.Environ(), "HOME="+dir, "TZ=UTC")
	err = b.cmd.Start()
	err = errors.Join(err, theirIn.Close(), theirOut.Close())
	if err != nil {
		return nil, errors.Join(err, ourIn.Close(), ourOut.Close())
	}
	go func() { // stop waits for it
		b.pipe.read(ourIn)
		_ = b.cmd.Wait() // a browser that was killed says so
		_, _ = ourIn.Close(), ourOut.Close()
		close(b.ended)
	}()
	return b, nil
}

// stop ends the browser.
func (b *Browser) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = b.pipe.call(ctx, "", "Browser.close", struct{}{}, nil) // it is killed below
	select {
	case <-b.ended:
	case <-ctx.Done():
		_ = b.cmd.Process.Kill()
		<-b.ended
	}
}

// Open returns a new page at url, in a window of its own, when it has loaded.
func (b *Browser) Open(ctx context.Context, url string) (*Page, error) {
	var made struct {
		TargetID string `json:"targetId"`
	}
	if err := b.pipe.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &made); err != nil {
		return nil, err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := b.pipe.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	p := &Page{pipe: b.pipe, session: attached.SessionID, loaded: make(chan struct{}, 1), asked: map[string]string{}}
	b.pipe.listen(p.session, p.hear)
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "Audits"} {
		if err := p.call(ctx, domain+".enable", struct{}{}, nil); err != nil {
			return nil, err
		}
	}
	return p, p.Go(ctx, url)
}

// MustOpen is Open for a test.
func (b *Browser) MustOpen(tb testing.TB, url string) *Page {
	tb.Helper()
	p, err := b.Open(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// text is a value of the protocol as a person reads it.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return fmt.Sprint(string(raw))
}
