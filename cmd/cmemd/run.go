package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// run carries out one command line and returns the exit code.
func run(args []string) int {
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(), getenv: os.Getenv, now: time.Now,
		version: version,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	a.JSON = a.JSON || wantsJSON(err, args)
	a.complain(err)
	return exitCode(err)
}

// wantsJSON reports whether args ask for JSON after the place where err ended the reading of them.
func wantsJSON(err error, args []string) bool {
	var usage *usageError
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return errors.As(err, &usage) && (slices.Contains(args, "--json") || slices.Contains(args, "--json=true"))
}
