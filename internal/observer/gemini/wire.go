package gemini

import (
	"encoding/json"
	"strings"

	"github.com/cmemd/cmemd/internal/observer/model"
)

// What goes over the wire of models.generateContent, as far as it is used here.
type (
	request struct {
		Contents []content `json:"contents"`
		System   *content  `json:"systemInstruction,omitempty"`
		Config   config    `json:"generationConfig"`
	}
	content struct {
		Role  string `json:"role,omitempty"`
		Parts []part `json:"parts"`
	}
	part struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought,omitempty"` // of an answer: it is none of it
	}
	config struct {
		MaxTokens  int             `json:"maxOutputTokens"`
		Candidates int             `json:"candidateCount"`
		MIMEType   string          `json:"responseMimeType,omitempty"`
		Schema     json.RawMessage `json:"responseJsonSchema,omitempty"`
		Thinking   *thinking       `json:"thinkingConfig,omitempty"`
	}
	thinking struct {
		Budget *int   `json:"thinkingBudget,omitempty"` // in tokens
		Level  string `json:"thinkingLevel,omitempty"`
	}

	response struct {
		Candidates []candidate `json:"candidates"`
		Blocked    *struct {
			Reason string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage struct {
			Prompt     model.Count `json:"promptTokenCount"`
			Cached     model.Count `json:"cachedContentTokenCount"`
			Candidates model.Count `json:"candidatesTokenCount"`
			Thoughts   model.Count `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
		Model string `json:"modelVersion"`
	}
	candidate struct {
		Content content `json:"content"`
		Reason  string  `json:"finishReason"`
	}
)

// said is the text of c without what the model thought.
func (c candidate) said() string {
	var b strings.Builder
	for _, p := range c.Content.Parts {
		if !p.Thought {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
