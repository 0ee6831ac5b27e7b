package refusal

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/transient"
)

// TestOf: an error that is several things is the first of them in this order.
func TestOf(t *testing.T) {
	t.Parallel()
	passes := transient.Mark(errors.New("busy"))
	field := &agents.FieldError{Field: "cwd", Err: agents.ErrMissing}
	cut := At("", "the body ends before it is whole")
	for name, c := range map[string]struct {
		err  error
		want string // "": none
	}{
		"nothing":                {nil, ""},
		"unforeseen":             {errors.New("secret"), ""},
		"what passes":            {passes, ""},
		"a fault":                {actors.ErrFaulted, Faulted.Title},
		"a damaged log":          {fmt.Errorf("%w: %w", actors.ErrParked, &eventlog.CorruptError{Position: 7}), Damaged.Title},
		"a parked session":       {actors.ErrParked, Parked.Title},
		"a fault that passes":    {fmt.Errorf("%w: %w", actors.ErrFaulted, passes), ""},
		"parked by what passes":  {fmt.Errorf("%w: %w", actors.ErrParked, passes), ""},
		"a field":                {field, "cwd: is missing (400)"},
		"a field that passes":    {errors.Join(passes, field), "cwd: is missing (400)"},
		"a cut field":            {fmt.Errorf("%w: %w", cut, field), "the body: the body ends before it is whole (400)"},
		"a field before the cut": {errors.Join(field, cut), "the body: the body ends before it is whole (400)"},
		"a field before syntax":  {errors.Join(&agents.SyntaxError{}, field), "cwd: is missing (400)"},
		"too large":              {fmt.Errorf("read: %w", agents.ErrTooLarge), LargerThan(agents.MaxPayload).Error()},
	} {
		got := Of(c.err)
		switch {
		case c.want == "" && got != nil:
			t.Errorf("%s: got %v, want none", name, got)
		case c.want != "" && (got == nil || got.Error() != c.want && got.Kind.Title != c.want):
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}
