package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want hooks or seed")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	home := flags.String("home", "", "CMEMD_HOME")
	n := flags.Int("n", 20000, "how many")
	posters := flags.Int("posters", 16, "posters at once")
	sessions := flags.Int("sessions", 16, "sessions over which they are spread")
	size := flags.Int("size", 1000, "bytes of a payload")
	fresh := flags.Bool("fresh", false, "a new connection for each payload, as hooks have it")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *home == "" {
		return errors.New("want -home")
	}
	var result any
	var err error
	switch args[0] {
	case "hooks":
		result, err = post(ctx, posting{home: *home, n: *n, posters: *posters, sessions: *sessions, size: *size, fresh: *fresh})
	case "seed":
		result, err = seed(ctx, *home, *n)
	default:
		err = fmt.Errorf("unknown command %q: want hooks or seed", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
