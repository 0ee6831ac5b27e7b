package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// session is one annotated session of the set.
type session struct {
	Name       string `json:"name"`
	Agent      string `json:"agent"`
	Language   string `json:"language"`
	Held       bool   `json:"held"`
	Transcript string `json:"transcript"` // SHA-256 of NAME.jsonl
	Facts      string `json:"facts"`      // SHA-256 of NAME.facts.jsonl

	path       string
	transcript []byte
	facts      []fact
}

// fact is what a memory of its session should hold.
type fact struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Worth    int        `json:"worth"`
	Fact     string     `json:"fact"`
	Must     [][]string `json:"must"`
	Question string     `json:"question"`
	Stale    bool       `json:"stale"`
}

// readSessions reads the set in dir, and refuses one of which a file was changed.
func readSessions(dir string) (all []session, err error) {
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(manifest, &all); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	for i := range all {
		if err := all[i].read(filepath.Join(dir, "sessions")); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *session) read(dir string) (err error) {
	s.path = filepath.Join(dir, s.Name+".jsonl")
	if s.transcript, err = frozen(s.path, s.Transcript); err != nil {
		return err
	}
	facts, err := frozen(filepath.Join(dir, s.Name+".facts.jsonl"), s.Facts)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(facts) {
		var f fact
		if err := json.Unmarshal(line, &f); err != nil {
			return fmt.Errorf("facts of %s: %w", s.Name, err)
		}
		s.facts = append(s.facts, f)
	}
	return nil
}

// frozen reads a file whose hash must be sum.
func frozen(path, sum string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%s is not what manifest.json froze: figures would mean something else", path)
	}
	return b, nil
}
