package planted

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Blanks, lengths, characters and lines may be looked at; so may what a transport said in types.
func harmless(e events.TurnReceived, f *observer.Failure) bool {
	return e.Output == "" || len(e.Output) > 10 || strings.TrimSpace(e.Output) != "" ||
		strings.Contains(e.Output, "\n") || strings.IndexFunc(e.Output, unicode.IsLetter) >= 0 ||
		e.Output[0] == '<' || f.Class == events.FailLimit || f.Status == 429 || e.StopReason == "max_tokens" ||
		sha256.Sum256([]byte(e.Output)) == [32]byte{}
}

// What the contract makes of an output is no raw output any more.
func parsed(r observer.Reply) bool {
	p := observer.Parse(r.Text, events.TurnObservation, nil)
	return p.Disposition == observer.DispositionSkip || len(p.Observations) > 0 && p.Observations[0].Title == "limit"
}

// Other texts may be read, by the same helpers too: what a helper returns is what it was given.
func others(e events.ToolUsed, d events.OutputDropped) bool {
	_ = firstLine(d.Preview)
	return firstLine(e.Output) == "limit" || strings.Contains(d.Reason, "no_xml")
}

func shown(d events.OutputDropped) string {
	clipped := d.Preview[:min(len(d.Preview), 80)]
	return fmt.Sprintf("%s (%d bytes)", strings.ReplaceAll(clipped, "\n", " "), d.Length)
}

// A value that holds words may be put into bytes and taken out again; what is not one of its words may be read.
func roundTrip(e events.TurnReceived) (again events.TurnReceived, ok bool) {
	raw, err := json.Marshal(e)
	if err != nil || len(raw) == 0 || utf8.RuneCount(raw) > 1000 {
		return again, false
	}
	fmt.Println(string(bytes.TrimSuffix(raw, []byte("\n}\n"))))
	return again, again.StopReason == "max_tokens"
}

// An error is told by its type and identity, whatever words it was made of.
func told(f *observer.Failure) bool {
	err := fmt.Errorf("turn: %w", error(f))
	known, ok := errors.AsType[*observer.Failure](err)
	return errors.Is(err, io.EOF) || ok && known.Class == events.FailLimit
}
