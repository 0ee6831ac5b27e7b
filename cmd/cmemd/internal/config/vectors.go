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

// settings is the part of the table that says where vectors come from.
func (e *Embeddings) settings() []setting.Row {
	endpoint := append([]setting.Row{
		secret(setting.Text(&e.Endpoint.URL, "embeddings_url", "", "an http or https URL without a user and a query, or empty",
			"an OpenAI-compatible endpoint that finds memory by what it means, such as http://127.0.0.1:11434/v1; empty: by words alone",
			func(text string) bool { return text == "" || isBaseURL(text) }), unmasked),
	}, e.Endpoint.keySettings(EmbeddingsName, "its key", "the first line", "", "empty: none is sent")...)
	return slices.Insert(endpoint, 1,
		setting.Model(&e.Model, "embeddings_model", "", "the model that is asked there; another one has all vectors made anew"),
		setting.Number(&e.Dimensions, "embeddings_dimensions", 0, 0, 16384, "of a vector, where the model lets one choose. 0: its own"),
		setting.Number(&e.Batch, "embeddings_batch", 32, 1, 512, "texts in one request, at most"),
		setting.Duration(&e.Timeout, "embeddings_timeout", 300*time.Millisecond, 10*time.Millisecond, 30*time.Second, "that a search waits for the vector of its words"),
		setting.Number(&e.Floor, "embeddings_floor", standardFloor, 0, 1000,
			"how far memory must stand out from the rest to count as near, in per cent of a standard deviation; 0: whatever is nearest does"),
	)
}

// standardFloor is what vectors take without a setting.
const standardFloor = int(100 * vectors.StandardFloor)

// Deviation is the setting as vectors have it.
func (e Embeddings) Deviation() float64 { return fractionOrOff(e.Floor) }

// VectorsOf names what vectors are of: those of one model with other dimensions are others.
func (e Embeddings) VectorsOf() string {
	if e.Dimensions == 0 {
		return e.Model
	}
	return fmt.Sprintf("%s (%d)", e.Model, e.Dimensions)
}
