// Command cmemd-hub is a store for the machines of one person: a NATS server with JetStream inside, on one machine, that keeps sealed
// objects which it cannot read. `cmemd hub` starts it; a module of its own, so that nobody else has to link a server.
//
//	cmemd-hub --dir FOLDER [--listen HOST:PORT] [--advertise HOST] [--json]
//	cmemd-hub --dev 3 --dir FOLDER [--listen HOST:PORT] [--json]
//
// It says on its standard output what to join with, one line, once it can be joined; what it logs goes to standard error. SIGTERM and
// SIGINT end it in order. It ends by itself, with an error, before its disk is full: the server inside would go on and answer nothing.
// That server takes at most three quarters of what is free when it starts, and refuses more.
//
// With --dev it is several such stores on loopback, processes of their own that keep each object on all of them: to try what a failure
// does, and for tests. It ends them when it ends, also where it is killed.
//
// The folder holds the server's key and certificate (hub.pem), the token that lets machines in (token), a lock, and the objects
// (jetstream). Whoever has the token and can reach the port can read, change and delete what is stored, which is sealed and signed.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/cmemd/cmemd/internal/release"
)

// version is what a linker may set (-X main.version=0.1.0); without it Go's own record counts.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "cmemd-hub:", err, "(see cmemd-hub --help)")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "cmemd-hub:", err)
	os.Exit(1)
}

// errUsage is a command line that cannot be meant.
var errUsage = errors.New("the command line is not right")

// joining is what a machine joins with: what --json prints.
type joining struct {
	Address string `json:"address"` // as `cmemd join` takes it, with the token
	Listen  string `json:"listen"`  // where the hub listens
	Pin     string `json:"pin"`     // SHA-256 of its certificate, in hex
	Dir     string `json:"dir"`

	used bool // machines have joined before
}

// untilEnd returns a context that ends with in too: whoever holds the other end of it is gone then.
func untilEnd(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // it ends with the process: nothing else ends a read of a pipe
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx, cancel
}

// run runs a hub until ctx is done, and prints what to join with once it can be joined.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	config, asJSON, err := parse(args, stderr)
	switch {
	case err != nil:
		return err
	case config.version:
		_, err := fmt.Fprintln(stdout, "cmemd-hub", release.Of(version))
		return err
	case config.member:
		return runMember(ctx, os.Stdin, stdout)
	}
	if config.attached {
		var cancel context.CancelFunc
		ctx, cancel = untilEnd(ctx, os.Stdin)
		defer cancel()
	}
	if config.dev > 0 {
		return runDev(ctx, config, asJSON, stdout, stderr)
	}
	h, err := start(config, stderr)
	if err != nil {
		return err
	}
	if err := printAddress(stdout, h.joining, asJSON); err != nil {
		return errors.Join(err, h.stop())
	}
	return errors.Join(h.wait(ctx), h.stop())
}

func printAddress(stdout io.Writer, j joining, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(stdout).Encode(j)
	}
	line := fmt.Sprintf("On your first machine: cmemd join '%s'", j.Address)
	if j.used {
		line = "It listens on " + j.Listen + ", with what it had. To let another machine in, `cmemd invite` on one that has joined; " +
			"with --json this prints the address and its token"
	}
	_, err := fmt.Fprintln(stdout, line)
	return err
}

// config is what the command line says.
type config struct {
	dir       string
	listen    string   // HOST:PORT; port 0 takes a free one
	advertise []string // hosts that others reach it by; none are found out

	attached bool // end with standard input

	dev     int  // how many stores of a cluster to run; 0: one by itself
	version bool // only say which

	member bool  // to be one of those, as standard input says
	peers  peers // of a member
}

// devStores is how many stores --dev runs: the fewest of which one may go.
const devStores = 3

func parse(args []string, stderr io.Writer) (c config, asJSON bool, err error) {
	flags := flag.NewFlagSet("cmemd-hub", flag.ContinueOnError)
	flags.SetOutput(stderr)
	advertise := ""
	flags.StringVar(&c.dir, "dir", "", "the `folder` in which the hub keeps its key and all objects; it is made if need be")
	flags.StringVar(&c.listen, "listen", ":4222", "the `HOST:PORT` to listen on; an empty host is every interface's IPv4 address")
	flags.StringVar(&advertise, "advertise", "",
		"the `HOST`, or several with commas, by which other machines reach this one (default: its name and its first address)")
	flags.IntVar(&c.dev, "dev", 0, "run so many stores on loopback instead, which keep each object on all of them, for trying: `3`")
	flags.BoolVar(&c.member, "member", false, "be one of those; --dev uses it")
	flags.BoolVar(&c.attached, "until-stdin-ends", false, "end when standard input ends: with the program that holds its other end")
	flags.BoolVar(&c.version, "version", false, "say which version this is")
	flags.BoolVar(&asJSON, "json", false, "print what to join with as JSON")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return config{}, false, err
		}
		return config{}, false, fmt.Errorf("%w: %w", errUsage, err)
	}
	switch {
	case flags.NArg() > 0:
		return config{}, false, fmt.Errorf("%w: %q is too much", errUsage, flags.Arg(0))
	case c.dev != 0 && c.dev != devStores:
		return config{}, false, fmt.Errorf("%w: --dev %d: it is %d", errUsage, c.dev, devStores)
	case c.dev != 0 && advertise != "":
		return config{}, false, fmt.Errorf("%w: --advertise is for one store: those of --dev are on loopback", errUsage)
	case c.member, c.version:
		return c, asJSON, nil
	case c.dir == "":
		return config{}, false, fmt.Errorf("%w: say with --dir in which folder the hub is to keep its objects", errUsage)
	}
	for host := range strings.SplitSeq(advertise, ",") {
		if host = strings.TrimSpace(host); host != "" {
			c.advertise = append(c.advertise, host)
		}
	}
	return c, asJSON, nil
}

func pinText(pin []byte) string { return hex.EncodeToString(pin) }
