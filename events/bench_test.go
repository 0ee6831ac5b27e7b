package events_test

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// benchSizes are what tool calls weigh: a command, a short file, and one that is worth compressing.
var benchSizes = []struct {
	name  string
	bytes int
}{{"300B", 300}, {"1kB", 1000}, {"1.6kB", 1600}}

func benchDraft(bytes int) events.Draft {
	const line = `func (p *Parser) limit(n int) error { return p.reader.Grow(n) }` + "\n"
	return events.Draft{
		ID: sampleID(1), Key: events.KeyOf("s", "toolu_01"), OccurredAt: sampleTime(1),
		Event: events.ToolUsed{
			ToolUseID: "toolu_01", Tool: "Read", Input: `{"file_path":"/home/dev/parser/main.go"}`, Cwd: "/home/dev/parser",
			Output: strings.Repeat(line, bytes/len(line)+1)[:bytes-120], InputSize: 41, OutputSize: bytes, Prompt: 3,
		},
	}
}

func BenchmarkSeal(b *testing.B) {
	codec := events.NewCodec()
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			d := benchDraft(size.bytes)
			b.ReportAllocs()
			for b.Loop() {
				s, err := codec.Seal(d, events.Salt{1})
				if err != nil {
					b.Fatal(err)
				}
				_ = codec.Place(s, 1, events.Daemon, 1, 0, events.Hash{}, d.OccurredAt)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	codec := events.NewCodec()
	for _, size := range benchSizes {
		_, r := sealed(b, codec, benchDraft(size.bytes), events.SessionIDOf("a", "b").Stream())
		stored := store(b, r)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(stored)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := codec.Record(stored)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Event(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadHeader(b *testing.B) {
	codec := events.NewCodec()
	_, r := sealed(b, codec, benchDraft(1600), events.SessionIDOf("a", "b").Stream())
	stored := store(b, r)
	b.ReportAllocs()
	for b.Loop() {
		r, err := codec.Record(stored)
		if err != nil || !r.IsInput() {
			b.Fatal(err)
		}
	}
}

// BenchmarkOutput is what it costs to write and read a turn's output.
func BenchmarkOutput(b *testing.B) {
	codec := events.NewCodec()
	for _, size := range benchSizes {
		e := events.TurnReceived{Turn: sampleID(1), Form: events.FormXML, Output: events.NewOutput(strings.Repeat("x", size.bytes))}
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				payload, schema, err := codec.Encode(e)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := codec.Decode(events.KindTurnReceived, schema, payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
