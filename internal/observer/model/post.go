package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// Count is a number of tokens in an answer. What is none reads as 0: no answer is lost for what stands in its bill.
type Count int64

// maxCount is far more than any model takes, and has no rounding.
const maxCount = 1 << 50

// UnmarshalJSON takes any number from 0 on, and anything else as 0. It never fails.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = 0
	if n, err := strconv.ParseFloat(string(b), 64); err == nil && n > 0 && n <= maxCount {
		*c = Count(n)
	}
	return nil
}

// Post sends question as JSON to the URL to, by a client of NewClient, and reads the answer into answer. It returns the answer's
// bytes as well, also those of one that could not be read. Numbers and fields that answer does not know are left out. The
// error is for Call.Failed: what it says is not for people.
func Post(ctx context.Context, client *http.Client, to string, question, answer any) ([]byte, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false) // the same words in fewer bytes
	if err := e.Encode(question); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, &body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body) // bounded by the client
	if err != nil {
		return raw, err
	}
	if resp.StatusCode != http.StatusOK {
		return raw, errors.New("model: " + resp.Status)
	}
	return raw, json.Unmarshal(raw, answer)
}
