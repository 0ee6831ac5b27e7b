package daemon

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/race"
)

// TestMain serves where the test program is launched as a daemon.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && slices.Equal(os.Args[1:], relay.ServeArgs(os.Args[3])) {
		a := &terminal.App{Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now, Version: "test", HomeDir: os.Args[3]}
		err := serve(context.Background(), a, true)
		a.Complain(err)
		os.Exit(terminal.ExitCode(err))
	}
	os.Exit(m.Run())
}

// TestStartWaitsForTheQuicker has another daemon hold the log, and listen only after the one that `cmemd start` launched
// has given up.
func TestStartWaitsForTheQuicker(t *testing.T) {
	t.Parallel()
	race.SkipProcesses(t)
	d, ctx := openTemp(t)
	a, out, _ := clitest.AppAt(d.paths.Home)
	a.Environ = os.Environ()
	said := make(chan error, 1)
	go func() { said <- a.WithClient(func(c *client.Client) error { return start(ctx, a, c) }) }()
	for limit := time.Now().Add(clitest.Timeout); ; time.Sleep(5 * time.Millisecond) {
		if b, _ := os.ReadFile(d.paths.StartLog); strings.Contains(string(b), "held") {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("the second daemon does not say that the log is held")
		}
	}
	time.Sleep(100 * time.Millisecond) // for the second daemon to be gone: its command must wait on
	ended := serving(t, ctx, d)
	if err := waitEnd(t, said); err != nil || !strings.Contains(out.String(), "is running already") {
		t.Errorf("start: %v\n%s", err, out)
	}
	d.stop(endRequest("a test"))
	if err := waitEnd(t, ended); err != nil {
		t.Error(err)
	}
}
