package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/cmemd/cmemd/testkit/daemon"
)

func main() { daemon.Main("retrieval", run) }

// options is what the command line asks for.
type options struct {
	docs, queries, binary, half string
	json, misses                bool
	embedding                   meaning
}

func optionsOf(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("retrieval", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.docs, "docs", "", "file of documents, a JSON object a line")
	flags.StringVar(&o.queries, "queries", "", "file of questions, a JSON object a line")
	flags.StringVar(&o.binary, "cmemd", "", "the program to measure; empty builds the one around the working folder")
	flags.StringVar(&o.half, "half", "", "ask the questions of one half alone: tune or held")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.misses, "misses", false, "list the questions whose evidence is not all among the first 10")
	flags.StringVar(&o.embedding.url, "embeddings", "", "an OpenAI-compatible endpoint with its version, or local; empty: words alone")
	flags.StringVar(&o.embedding.model, "embeddings-model", "", "the model that is asked there")
	flags.IntVar(&o.embedding.floor, "floor", -1, "embeddings_floor; below 0: its default")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case (o.embedding.url == local || o.embedding.url == "") != (o.embedding.model == ""):
		return o, errors.New("want -embeddings URL with -embeddings-model, or -embeddings local without")
	case o.docs == "" || o.queries == "":
		return o, errors.New("want -docs and -queries")
	case o.half != "" && o.half != tuneHalf && o.half != heldOutHalf:
		return o, fmt.Errorf("-half %q is neither %s nor %s", o.half, tuneHalf, heldOutHalf)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := optionsOf(args, stderr)
	if err != nil {
		return err
	}
	docs, err := readDocs(o.docs)
	if err != nil {
		return err
	}
	queries, err := readQueries(o.queries, docs)
	if err != nil {
		return err
	}
	if queries = halfOf(queries, o.half); len(queries) == 0 {
		return errors.New("there are no questions")
	}
	began := time.Now()
	r, err := measure(ctx, o.binary, docs, queries, o.embedding, meter{stderr, !o.json && isTerminal(stderr)})
	if err != nil {
		return err
	}
	r.Seconds = time.Since(began).Seconds()
	if o.json {
		return json.NewEncoder(stdout).Encode(r)
	}
	return r.print(stdout, o.misses)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
