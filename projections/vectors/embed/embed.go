package embed

import (
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/projections/vectors"
)

// Config of an Asker.
type Config struct {
	Model      string         // as the endpoint names it; needed
	Dimensions int            // of the vectors that are asked for; 0: the model's own
	Endpoint   model.Endpoint // its URL with the version, as in http://127.0.0.1:11434/v1; needed
}

// Asker asks one embeddings model. It is safe for concurrent use.
type Asker struct {
	*model.Client
	cfg Config
}

var _ vectors.Embedder = (*Asker)(nil)

// New checks c and returns an asker that has connected to nothing yet.
func New(c Config) (*Asker, error) {
	if c.Endpoint.URL == "" {
		return nil, errors.New("embed: no endpoint is named")
	}
	client, err := model.NewClient(model.Service{Name: "embed", KeyHeader: "Authorization"}, c.Model, c.Endpoint)
	return &Asker{Client: client, cfg: c}, err
}

// What goes over the wire.
type (
	requestBody struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Encoding   string   `json:"encoding_format"`
		Dimensions int      `json:"dimensions,omitempty"`
	}
	embedding struct {
		Index  int       `json:"index"`
		Vector []float32 `json:"embedding"`
	}
)

// Embed returns one vector for each text. The error is ctx.Err() or a *vectors.Failure.
func (a *Asker) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var got struct {
		Data []embedding `json:"data"`
	}
	asked := requestBody{Model: a.cfg.Model, Input: texts, Encoding: "float", Dimensions: a.cfg.Dimensions}
	r := a.Post(ctx, "embeddings", asked)
	switch {
	case !r.JSON(&got):
		return nil, failure(r.Failed(ctx))
	case len(got.Data) == 0: // an error under a good status, or nothing that we know
		return nil, failure(r.Refused(r.Body))
	}
	out, err := ordered(got.Data, len(texts))
	if err == nil && a.cfg.Dimensions > 0 && len(out[0]) != a.cfg.Dimensions {
		return nil, &vectors.Failure{Says: fmt.Sprintf("it sent %d dimensions, and was asked for %d", len(out[0]), a.cfg.Dimensions)}
	}
	return out, err
}

// ordered puts what came in the order of the n texts.
func ordered(data []embedding, n int) ([][]float32, error) {
	out := make([][]float32, n)
	for _, d := range data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, &vectors.Failure{Says: fmt.Sprintf("it sent a vector for text %d of %d, or two", d.Index+1, n)}
		}
		if d.Vector == nil {
			d.Vector = []float32{} // it is none, and who stores it says so
		}
		out[d.Index] = d.Vector
	}
	if len(data) != n {
		return nil, &vectors.Failure{Says: fmt.Sprintf("it sent %d vectors for %d texts", len(data), n)}
	}
	return out, nil
}

// failure is err in the terms of the vectors.
func failure(err error) error {
	f, ok := errors.AsType[*observer.Failure](err)
	if !ok {
		return err
	}
	out := &vectors.Failure{Says: "the endpoint: " + f.Message, Until: f.ResetsAt, Retryable: model.Retryable(f)}
	switch f.Class {
	case events.FailRefused, events.FailOverflow, events.FailTruncated:
		out.BlamesTexts = true
	case events.FailSetup: // it says what is wrong on our side
		out.Says = f.Message
	}
	return out
}
