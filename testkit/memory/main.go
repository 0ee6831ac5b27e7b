package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/testkit/daemon"
)

// testdata is where the sessions are, seen from the top of the module.
const testdata = "testkit/memory/testdata"

func main() { daemon.Main("memory", run) }

// options is what the command line asks for.
type options struct {
	held, json, missed          bool
	dir, only, binary, observer string
	settings                    []string
}

func optionsOf(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("memory", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.held, "held", false, "measure the half that nothing is tuned on, instead of the other")
	flags.StringVar(&o.dir, "testdata", testdata, "folder of the sessions")
	flags.StringVar(&o.only, "only", "", "measure this session alone")
	flags.StringVar(&o.binary, "cmemd", "", "the program to measure; empty builds the one around the working folder")
	flags.StringVar(&o.observer, "observer", extractor, "who observes: "+strings.Join(observers(), ", "))
	flags.BoolVar(&o.missed, "missed", false, "list the facts that no row holds")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.Func("set", "a setting of the daemon, as KEY=VALUE; may be given again", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("want KEY=VALUE")
		}
		o.settings = append(o.settings, "CMEMD_"+strings.ToUpper(key)+"="+value)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if !slices.Contains(observers(), o.observer) {
		return o, fmt.Errorf("-observer %q is none of %s", o.observer, strings.Join(observers(), ", "))
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := optionsOf(args, stderr)
	if err != nil {
		return err
	}
	all, err := readSessions(o.dir)
	if err != nil {
		return err
	}
	chosen := choose(all, o.held, o.only)
	if len(chosen) == 0 {
		return errors.New("there is no such session in this half")
	}
	binary, remove, err := daemon.Program(ctx, o.binary)
	if err != nil {
		return err
	}
	defer remove()
	r := newResult(o.observer, o.held)
	for _, s := range chosen {
		m, err := measure(ctx, binary, o.observer, o.settings, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		r.add(s, m)
	}
	if o.json {
		return json.NewEncoder(stdout).Encode(r)
	}
	_, err = io.WriteString(stdout, r.text(o.missed))
	return err
}

// choose returns the sessions of one half, or the one of a name if it belongs to that half.
func choose(all []session, held bool, only string) (out []session) {
	for _, s := range all {
		if s.Held == held && (only == "" || s.Name == only) {
			out = append(out, s)
		}
	}
	return out
}
