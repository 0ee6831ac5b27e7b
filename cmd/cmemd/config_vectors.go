package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/redact/full"
	"github.com/cmemd/cmemd/projections/vectors"
	"github.com/cmemd/cmemd/projections/vectors/embed"
)

// embeddingsName begins the keys of the endpoint that makes vectors.
const embeddingsName = "embeddings"

// Embeddings is the settings of vectors. Without a URL there are none.
type Embeddings struct {
	Endpoint   serviceConfig
	Dimensions int
	Batch      int
	Timeout    time.Duration
	Floor      int // per cent of a standard deviation
}

// vectorSettings is the part of the table that says where vectors come from.
func vectorSettings() []setting {
	at := func(field func(*serviceConfig) *string) func(*config) *string {
		return func(c *config) *string { return field(&c.Embeddings.Endpoint) }
	}
	return []setting{
		secret(wordsKey("embeddings_url", "", "an http or https URL without a user and a query, or empty",
			"an OpenAI-compatible endpoint that finds memory by what it means, such as http://127.0.0.1:11434/v1; empty: by words alone",
			func(text string) bool { return text == "" || isBaseURL(text) }, at(func(s *serviceConfig) *string { return &s.URL })), unmasked),
		wordsKey("embeddings_model", "", modelLimits, "the model that is asked there; another one has all vectors made anew", isModel,
			at(func(s *serviceConfig) *string { return &s.Model })),
		numberKey("embeddings_dimensions", 0, 0, 16384, "of a vector, where the model lets one choose. 0: its own",
			func(c *config) *int { return &c.Embeddings.Dimensions }),
		numberKey("embeddings_batch", 32, 1, 512, "texts in one request, at most",
			func(c *config) *int { return &c.Embeddings.Batch }),
		durationKey("embeddings_timeout", 300*time.Millisecond, 10*time.Millisecond, 30*time.Second, "that a search waits for the vector of its words",
			func(c *config) *time.Duration { return &c.Embeddings.Timeout }),
		numberKey("embeddings_floor", standardFloor, 0, 1000,
			"how far memory must stand out from the rest to count as near, in per cent of a standard deviation; 0: whatever is nearest does",
			func(c *config) *int { return &c.Embeddings.Floor }),
		secret(wordsKey("embeddings_key_env", "", "the name of a variable in capitals that is not cmemd's, or empty",
			"the variable that holds its key; empty: none is sent", isVariable, at(func(s *serviceConfig) *string { return &s.KeyEnv })), unmasked),
		secret(pathKey("embeddings_key_file", "a file (0600) with its key in the first line",
			at(func(s *serviceConfig) *string { return &s.KeyFile })), unmasked),
		secret(wordsKey("embeddings_key_command", "", "a program with arguments, quoted where they have blanks, or empty",
			"a program that prints its key; only its name is ever shown", isCommand, at(func(s *serviceConfig) *string { return &s.KeyCommand })), programOnly),
	}
}

// checkEmbeddings reports what is set of vectors and does not go together.
func (l *loaded) checkEmbeddings() error {
	e := l.Embeddings.Endpoint
	keys := 0
	for _, key := range []string{e.KeyEnv, e.KeyFile, e.KeyCommand} {
		if key != "" {
			keys++
		}
	}
	switch {
	case e.URL != "" && e.Model == "":
		return errors.New("embeddings_url needs embeddings_model, the model that is asked there")
	case keys > 1:
		return errors.New("embeddings_key_env, embeddings_key_file and embeddings_key_command are set together: a key comes from one of them")
	}
	return nil
}

// openVectors opens the vectors of a home; where none are set, those of earlier days go: nobody would forget in them.
func (d *daemon) openVectors(ctx context.Context) (err error) {
	e := d.config.Embeddings
	if e.Endpoint.URL == "" {
		return vectors.Remove(d.paths.vectors)
	}
	key, err := d.config.keySource(embeddingsName).key(d.config.getenv)
	if err != nil {
		return err
	}
	d.embed, err = embed.New(embed.Config{
		Model: e.Endpoint.Model, Dimensions: e.Dimensions, Endpoint: model.Endpoint{URL: e.Endpoint.URL, Key: key},
	})
	if err != nil {
		return err
	}
	d.vectors, err = vectors.Open(ctx, d.paths.vectors, d.log, vectors.Config{
		Embedder: d.embed, Model: e.vectorsOf(), Rows: d.views, Redact: full.New().Plain, Batch: e.Batch, QueryTimeout: e.Timeout, Floor: e.floor(),
		Pause: policy.Backoff{First: d.config.PauseFirst, Cap: d.config.PauseMax}, Logger: d.logger,
	})
	return err
}

// standardFloor is what vectors take without a setting.
const standardFloor = int(100 * vectors.StandardFloor)

// floor is the setting as vectors have it.
func (e Embeddings) floor() float64 {
	if e.Floor == 0 {
		return -1
	}
	return float64(e.Floor) / 100
}

// vectorsOf names what vectors are of: those of one model with other dimensions are others.
func (e Embeddings) vectorsOf() string {
	if e.Dimensions == 0 {
		return e.Endpoint.Model
	}
	return fmt.Sprintf("%s (%d)", e.Endpoint.Model, e.Dimensions)
}

// vectorsFile is the vectors as a file that words are taken out of; none where there are no vectors.
func (d *daemon) vectorsFile() []erasure.Files {
	if d.vectors == nil {
		return nil
	}
	return []erasure.Files{{Name: "vectors", Purge: func(ctx context.Context, upTo events.Position) error { return d.vectors.Purge(ctx, upTo) }}}
}

// runVectors fills the vectors. Where they cannot be kept, searches go on without them.
func (d *daemon) runVectors(ctx context.Context) error {
	if err := d.vectors.Run(ctx); err != nil && ctx.Err() == nil {
		d.logger.Error("vectors stand still; searches go on by words", "err", err)
		<-ctx.Done()
	}
	return nil
}

// vectorsLine says how far the vectors are.
func vectorsLine(st *vectors.Stats) string {
	line := fmt.Sprintf("%s of %s, by %s", grouped(st.Filled), grouped(st.Total), st.Model)
	if st.Refused > 0 {
		line += fmt.Sprintf("; %s refused", grouped(st.Refused))
	}
	if st.Stopped != "" {
		return line + "; they stand still: " + st.Stopped
	}
	if st.Paused != "" {
		line += "; " + st.Paused
	}
	return line
}

// grouped writes n with commas between its thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// checkVectors tells how far vectors are; deep asks one real question through them.
func checkVectors(ctx context.Context, x *examination) []checked {
	switch {
	case x.status == nil && x.config != nil && x.config.Embeddings.Endpoint.URL == "":
		return []checked{well("off: `embeddings_url` is not set")}
	case x.status == nil:
		return needsDaemon()
	case x.status.Vectors == nil:
		return []checked{well("off: `embeddings_url` is not set")}
	}
	st := x.status.Vectors
	switch {
	case st.Stopped != "":
		return []checked{wrong("`cmemd logs` says more; `cmemd stop` and `cmemd start` begin anew", "%s", vectorsLine(st))}
	case st.Paused != "":
		return []checked{note("look after the endpoint that embeddings_url names; it is asked again by itself", "%s", vectorsLine(st))}
	case !x.deep:
		return []checked{well("%s", vectorsLine(st))}
	}
	return []checked{x.askVectors(ctx, st)}
}

// askVectors asks one question of the daemon that words and vectors answer.
func (x *examination) askVectors(ctx context.Context, st *vectors.Stats) checked {
	var found api.SearchResults
	began := time.Now()
	err := x.app.query(ctx, func(ctx context.Context, client *api.Client) (err error) {
		found, err = client.Search(ctx, api.SearchQuery{Text: "what was decided last", Limit: 1})
		return err
	})
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case err != nil:
		return wrong("`cmemd logs` says more", "a search fails: %s", describe(err))
	case st.Filled == 0:
		return well("%s; there is nothing to find yet", vectorsLine(st))
	case !found.Near:
		return wrong("look after the endpoint that embeddings_url names, or raise embeddings_timeout", "a search went without them: %s", found.Note)
	}
	return well("%s; a search used them, in %s", vectorsLine(st), took)
}
