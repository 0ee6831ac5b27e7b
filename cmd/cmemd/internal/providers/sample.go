package providers

import (
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// samplePrompt is a turn of which any observer has something to record: an agent finds a mistake, mends it and runs the
// tests.
func samplePrompt(now time.Time) observer.Prompt {
	p := observer.Prompt{
		Turn: events.ID(uuid.Must(uuid.NewV7())), Kind: events.TurnObservation, Attempt: 1,
		Project: "shop", Cwd: "/src/shop", Agent: "claude-code", Stop: events.StopDone,
		Request: "The total of a cart with three discounted items is a cent off. Please find out why and fix it.",
		Message: "The discount was rounded for each item. It is now taken from the sum and rounded once; the test covers three items.",
	}
	for i, tool := range sampleWork() {
		tool.Cwd, tool.InputSize, tool.OutputSize = p.Cwd, len(tool.Input), len(tool.Output)
		at := now.Add(time.Duration(i-len(sampleWork())) * time.Minute)
		p.Inputs = append(p.Inputs, observer.NewInput(events.Position(i+1), at, tool))
	}
	return p
}

func sampleWork() []events.ToolUsed {
	return []events.ToolUsed{
		{
			ToolUseID: "sample-1", Tool: "Bash", Input: `{"command":"go test ./cart"}`, Failed: true, DurationMS: 2100,
			Output: "--- FAIL: TestTotal (0.00s)\n    cart_test.go:41: three items at 15 %: got 28.04, want 28.05\nFAIL\tshop/cart\t0.004s",
		},
		{
			ToolUseID: "sample-2", Tool: "Edit", DurationMS: 9,
			Input: `{"file_path":"/src/shop/cart/total.go",` +
				`"old_string":"sum += round(item.Price * (1 - discount))",` +
				`"new_string":"sum += item.Price\n\t}\n\treturn round(sum * (1 - discount))"}`,
			Output: `{"filePath":"/src/shop/cart/total.go","success":true}`,
		},
		{
			ToolUseID: "sample-3", Tool: "Bash", Input: `{"command":"go test ./cart"}`, DurationMS: 1900,
			Output: "ok  \tshop/cart\t0.004s",
		},
	}
}
