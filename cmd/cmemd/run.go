package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// run carries out one command line of cmemd as of version, and returns the exit code.
func run(version string, args []string) int {
	a := &terminal.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Getenv: os.Getenv, Now: time.Now,
		Version: version,
	}
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} { // Go heeds them by itself; the setting ca_file says who is trusted
		_ = os.Unsetenv(name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends what the first one does not
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := cmp.Or(root.ExecuteContext(ctx), a.WriteErr())
	a.JSON = a.JSON || wantsJSON(err, args)
	a.Complain(err)
	return terminal.ExitCode(err)
}

// wantsJSON reports whether args ask for JSON after the place where err ended the reading of them.
func wantsJSON(err error, args []string) bool {
	var usage *terminal.UsageError
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return errors.As(err, &usage) && (slices.Contains(args, "--json") || slices.Contains(args, "--json=true"))
}
