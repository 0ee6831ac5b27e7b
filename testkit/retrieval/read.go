package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strings"
	"time"
)

// doc is what is to be found.
type doc struct {
	ID      string `json:"id"`
	Scope   string `json:"scope"`
	Session string `json:"session"`
	Date    string `json:"date"`
	Text    string `json:"text"`
	at      time.Time
}

// query is a question and the ids of the documents that answer it.
type query struct {
	ID       string   `json:"id"`
	Scope    string   `json:"scope"`
	Q        string   `json:"q"`
	Evidence []string `json:"evidence"`
}

func readDocs(path string) ([]doc, error) {
	seen := map[string]bool{}
	return readLines(path, func(d *doc) (err error) {
		switch {
		case d.ID == "" || seen[d.ID]:
			return fmt.Errorf("id %q is empty or taken", d.ID)
		case strings.TrimSpace(d.Text) == "":
			return errors.New("text is empty")
		}
		seen[d.ID] = true
		d.at, err = parseDate(d.Date)
		return err
	})
}

// readQueries reads questions; evidence that is none of docs is an error: it could never be found.
func readQueries(path string, docs []doc) ([]query, error) {
	scopes := make(map[string]string, len(docs))
	for _, d := range docs {
		scopes[d.ID] = d.Scope
	}
	return readLines(path, func(q *query) error {
		if q.ID == "" || strings.TrimSpace(q.Q) == "" || len(q.Evidence) == 0 {
			return errors.New("id, q or evidence is empty")
		}
		for _, id := range q.Evidence {
			if scope, ok := scopes[id]; !ok || scope != q.Scope {
				return fmt.Errorf("evidence %q is no document of scope %q", id, q.Scope)
			}
		}
		return nil
	})
}

// maxLine is the longest line of a set in bytes.
const maxLine = 16 << 20

// readLines reads one T a line and checks it.
func readLines[T any](path string, check func(*T) error) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeLines(f, path, check)
}

func decodeLines[T any](r io.Reader, name string, check func(*T) error) (out []T, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var v T
		if err = json.Unmarshal(lines.Bytes(), &v); err == nil {
			err = check(&v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// parseDate reads the usual ways to write a moment; none is the zero time.
func parseDate(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05", "2006/01/02 (Mon) 15:04", "2006-01-02 15:04",
		"3:04 pm on 2 January, 2006", "2 January, 2006", "January 2, 2006", "2006/01/02", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("date %q is of no form that is known", text)
}

// The halves of a set.
const (
	tuneHalf    = "tune" // what constants are chosen by
	heldOutHalf = "held" // what is reported
)

// halfOf returns the questions of one half; all for "".
func halfOf(queries []query, half string) (out []query) {
	for _, q := range queries {
		h := fnv.New32a()
		_, _ = io.WriteString(h, q.ID) // a hash takes everything
		own := tuneHalf
		if h.Sum32()%2 == 1 {
			own = heldOutHalf
		}
		if half == "" || half == own {
			out = append(out, q)
		}
	}
	return out
}
