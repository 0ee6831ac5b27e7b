package openai

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/cmemd/cmemd/internal/observer/model"
)

// What goes over the wire of chat/completions, as far as it is used here. Endpoints leave fields out, or null.
type (
	request struct {
		Model               string    `json:"model"`
		Messages            []message `json:"messages"`
		MaxTokens           int       `json:"max_tokens,omitempty"`
		MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
		Effort              string    `json:"reasoning_effort,omitempty"`
		Format              *format   `json:"response_format,omitempty"`
	}
	message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	format struct {
		Type   string `json:"type"`
		Schema schema `json:"json_schema"`
	}
	schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}

	completion struct {
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
		Usage   usage    `json:"usage"`
	}
	choice struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		Reason string `json:"finish_reason"`
		raw    []byte
	}
	usage struct {
		Prompt     model.Count `json:"prompt_tokens"`
		Completion model.Count `json:"completion_tokens"`
		Details    struct {
			Cached model.Count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Cost json.RawMessage `json:"cost"` // what OpenRouter says; of others there may be anything
	}
)

// UnmarshalJSON keeps the bytes too: an error may stand in a choice in as many ways as there are services.
func (c *choice) UnmarshalJSON(b []byte) error {
	type plain choice
	if err := json.Unmarshal(b, (*plain)(c)); err != nil {
		return err
	}
	c.raw = append([]byte(nil), b...)
	return nil
}

// cost is what OpenRouter says an answer cost, in US dollars, of a free one that it is 0; the others do not say.
func (u usage) cost() (usd float64, stated bool) {
	dollars, err := strconv.ParseFloat(string(u.Cost), 64)
	if err != nil || dollars < 0 || math.IsNaN(dollars) || math.IsInf(dollars, 0) {
		return 0, false
	}
	return dollars, true
}
