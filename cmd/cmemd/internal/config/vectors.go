package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/projections/vectors"
)

// EmbeddingsName begins the keys of the endpoint that makes vectors.
const EmbeddingsName = "embeddings"

// Embeddings is the settings of vectors. Without a URL there are none.
type Embeddings struct {
	Endpoint   serviceConfig
	Dimensions int
	Batch      int
	Timeout    time.Duration
	Floor      int // per cent of a standard deviation
}

// vectorSettings is the part of the table that says where vectors come from.
func vectorSettings() []Setting {
	at := func(field func(*serviceConfig) *string) func(*Config) *string {
		return func(c *Config) *string { return field(&c.Embeddings.Endpoint) }
	}
	return []Setting{
		secret(wordsKey("embeddings_url", "", "an http or https URL without a user and a query, or empty",
			"an OpenAI-compatible endpoint that finds memory by what it means, such as http://127.0.0.1:11434/v1; empty: by words alone",
			func(text string) bool { return text == "" || isBaseURL(text) }, at(func(s *serviceConfig) *string { return &s.URL })), unmasked),
		wordsKey("embeddings_model", "", modelLimits, "the model that is asked there; another one has all vectors made anew", isModel,
			at(func(s *serviceConfig) *string { return &s.Model })),
		numberKey("embeddings_dimensions", 0, 0, 16384, "of a vector, where the model lets one choose. 0: its own",
			func(c *Config) *int { return &c.Embeddings.Dimensions }),
		numberKey("embeddings_batch", 32, 1, 512, "texts in one request, at most",
			func(c *Config) *int { return &c.Embeddings.Batch }),
		durationKey("embeddings_timeout", 300*time.Millisecond, 10*time.Millisecond, 30*time.Second, "that a search waits for the vector of its words",
			func(c *Config) *time.Duration { return &c.Embeddings.Timeout }),
		numberKey("embeddings_floor", standardFloor, 0, 1000,
			"how far memory must stand out from the rest to count as near, in per cent of a standard deviation; 0: whatever is nearest does",
			func(c *Config) *int { return &c.Embeddings.Floor }),
		secret(wordsKey("embeddings_key_env", "", "the name of a variable in capitals that is not cmemd's, or empty",
			"the variable that holds its key; empty: none is sent", isVariable, at(func(s *serviceConfig) *string { return &s.KeyEnv })), unmasked),
		secret(pathKey("embeddings_key_file", "a file (0600) with its key in the first line",
			at(func(s *serviceConfig) *string { return &s.KeyFile })), unmasked),
		secret(wordsKey("embeddings_key_command", "", "a program with arguments, quoted where they have blanks, or empty",
			"a program that prints its key; only its name is ever shown", isCommand, at(func(s *serviceConfig) *string { return &s.KeyCommand })), programOnly),
	}
}

// checkEmbeddings reports what is set of vectors and does not go together.
func (l *Loaded) checkEmbeddings() error {
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

// standardFloor is what vectors take without a setting.
const standardFloor = int(100 * vectors.StandardFloor)

// Deviation is the setting as vectors have it.
func (e Embeddings) Deviation() float64 {
	if e.Floor == 0 {
		return -1
	}
	return float64(e.Floor) / 100
}

// VectorsOf names what vectors are of: those of one model with other dimensions are others.
func (e Embeddings) VectorsOf() string {
	if e.Dimensions == 0 {
		return e.Endpoint.Model
	}
	return fmt.Sprintf("%s (%d)", e.Endpoint.Model, e.Dimensions)
}
