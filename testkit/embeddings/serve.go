package embeddings

import (
	"encoding/json"
	"net/http"
)

// maxBody is the largest request, in bytes: cmemd sends at most 512 texts of 8 KiB.
const maxBody = 8 << 20

// ServeHTTP answers POST of {model, input} as OpenAI's /v1/embeddings does, input being a text or a list of texts; below any path.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
		refuse(w, "the body is no request for embeddings")
		return
	}
	var texts []string
	if json.Unmarshal(q.Input, &texts) != nil {
		texts = make([]string, 1)
		if json.Unmarshal(q.Input, &texts[0]) != nil {
			refuse(w, "input is neither a text nor a list of texts")
			return
		}
	}
	type embedding struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	data := make([]embedding, len(texts))
	for i, text := range texts {
		data[i] = embedding{"embedding", i, m.Vector(text)}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": q.Model, "data": data}) // who asked may be gone
}

func refuse(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error"}})
}
