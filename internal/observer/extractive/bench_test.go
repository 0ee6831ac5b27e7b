package extractive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// busy is a turn of n inputs with the sizes of real ones: reads of 6 kB, edits of 2 kB, commands of 1 kB.
func busy(n int) observer.Prompt {
	p := observer.Prompt{
		Kind: events.TurnObservation, Attempt: 1, Project: "shop", Cwd: "/src/shop", Agent: "claude-code",
		Request: "Rename the cart package to basket and keep all tests green.",
		Message: "The cart package is now called basket.\n\n" + strings.Repeat("- Every import was changed, and its tests pass.\n", 20),
	}
	code := strings.Repeat("func total(items []item) money { return sum(items) }\\n", 1+2000/53)
	for i := range n {
		file := fmt.Sprintf("/src/shop/pkg%d/file%d.go", i%17, i%90)
		u := events.ToolUsed{Tool: "Read", Cwd: p.Cwd, Input: fmt.Sprintf(`{"file_path":%q}`, file),
			Output: `{"type":"text","file":{"filePath":"` + file + `","content":"` + code + code + code + `"}}`}
		switch i % 3 {
		case 1:
			u.Tool = "Edit"
			u.Input = fmt.Sprintf(`{"file_path":%q,"old_string":"%s","new_string":"%s"}`, file, code[:900], code[:900])
			u.Output = `{"filePath":"` + file + `","structuredPatch":[{"oldStart":1,"lines":[" a","-b","+c"]}]}`
		case 2:
			u.Tool, u.Failed = "Bash", i%9 == 2
			u.Input = fmt.Sprintf(`{"command":"cd /src/shop && go test ./pkg%d/... -run TestTotal","description":"Run tests"}`, i%17)
			u.Output = `{"stdout":"` + code[:900] + `","stderr":"","interrupted":false}`
		}
		p.Inputs = append(p.Inputs, observer.NewInput(events.Position(i+1), time.Time{}, u))
	}
	return p
}

func BenchmarkObservation(b *testing.B) {
	for _, n := range []int{1, 20, 500} {
		b.Run(fmt.Sprintf("inputs=%d", n), func(b *testing.B) {
			p, prompt := New(), busy(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Complete(b.Context(), prompt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFindings: with something said behind each third input, of what those printed.
func BenchmarkFindings(b *testing.B) {
	p, prompt := New(), busy(500)
	for i := range prompt.Inputs {
		prompt.Inputs[i].At = time.Unix(int64(i), 0)
		if i%3 == 2 {
			prompt.Said = append(prompt.Said, observer.Saying{At: time.Unix(int64(i), 0), Text: fmt.Sprintf(
				"Looking at it, `total` is slow in pkg%d because sum(items) runs %d times.\n\n- `items` is never cached\n- It takes 900 ms", i%17, i)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Complete(b.Context(), prompt); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSummary(b *testing.B) {
	p, prompt := New(), busy(20)
	prompt.Kind, prompt.Inputs = events.TurnSummary, nil
	for i := range 10 {
		prompt.Observed = append(prompt.Observed, events.ObservationParsed{
			Type: observer.TypeChange, Title: fmt.Sprintf("Change %d of the cart", i), Narrative: prompt.Message,
			FilesModified: []string{"/src/shop/cart.go"},
		})
	}
	for b.Loop() {
		if _, err := p.Complete(b.Context(), prompt); err != nil {
			b.Fatal(err)
		}
	}
}
