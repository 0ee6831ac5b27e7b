package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed formula.rb.tmpl
var formulaText string

// formula writes the Homebrew formula, where all archives that it names are made.
func (r *release) formula(layouts map[target]layout) error {
	sums := map[string]string{}
	for _, t := range allTargets() {
		if t.os == "windows" {
			continue
		}
		if _, ok := layouts[t]; !ok {
			return nil
		}
		b, err := os.ReadFile(filepath.Join(r.out, r.archiveName(t)+t.extension()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		sums[t.String()] = hex.EncodeToString(sum[:])
	}
	var out bytes.Buffer
	err := template.Must(template.New("").Parse(formulaText)).Execute(&out, map[string]any{
		"Description": description, "Homepage": homepage, "Version": r.version, "Sums": sums,
	})
	if err != nil {
		return err
	}
	return r.put("cmemd.rb", out.Bytes())
}
