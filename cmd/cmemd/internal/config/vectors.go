package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/projections/vectors"
)

// EmbeddingsName begins the keys of the endpoint that makes vectors.
const EmbeddingsName = "embeddings"

// Embeddings is the settings of vectors. Without a URL there are none.
type Embeddings struct {
	Endpoint   serviceConfig
	Model      string
	Dimensions int
	Batch      int
	Timeout    time.Duration
	Floor      int // per cent of a standard deviation
}

// vectorSettings is the part of the table that says where vectors come from.
func vectorSettings() []setting.Row[Embeddings] {
	endpoint := setting.Within(append([]setting.Row[serviceConfig]{
		secret(setting.Text("embeddings_url", "", "an http or https URL without a user and a query, or empty",
			"an OpenAI-compatible endpoint that finds memory by what it means, such as http://127.0.0.1:11434/v1; empty: by words alone",
			func(text string) bool { return text == "" || isBaseURL(text) }, func(s *serviceConfig) *string { return &s.URL }), unmasked),
	}, keySettings(EmbeddingsName, "its key", "", "empty: none is sent")...), func(e *Embeddings) *serviceConfig { return &e.Endpoint })
	return slices.Insert(endpoint, 1,
		setting.Model("embeddings_model", "", "the model that is asked there; another one has all vectors made anew",
			func(e *Embeddings) *string { return &e.Model }),
		setting.Number("embeddings_dimensions", 0, 0, 16384, "of a vector, where the model lets one choose. 0: its own",
			func(e *Embeddings) *int { return &e.Dimensions }),
		setting.Number("embeddings_batch", 32, 1, 512, "texts in one request, at most",
			func(e *Embeddings) *int { return &e.Batch }),
		setting.Duration("embeddings_timeout", 300*time.Millisecond, 10*time.Millisecond, 30*time.Second, "that a search waits for the vector of its words",
			func(e *Embeddings) *time.Duration { return &e.Timeout }),
		setting.Number("embeddings_floor", standardFloor, 0, 1000,
			"how far memory must stand out from the rest to count as near, in per cent of a standard deviation; 0: whatever is nearest does",
			func(e *Embeddings) *int { return &e.Floor }),
	)
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
		return e.Model
	}
	return fmt.Sprintf("%s (%d)", e.Model, e.Dimensions)
}
