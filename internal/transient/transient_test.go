package transient

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

var errBusy = Mark(errors.New("busy"))

type failure struct{ passes bool }

func (f *failure) Error() string   { return "failure" }
func (f *failure) Transient() bool { return f.passes }

func TestIs(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nil":                   {nil, false},
		"plain":                 {plain, false},
		"a sentinel":            {errBusy, true},
		"a full disk":           {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		"a disk's error":        {&fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}, false},
		"wrapped":               {fmt.Errorf("append: %w", errBusy), true},
		"joined":                {errors.Join(plain, errBusy), true},
		"marked later":          {Mark(fmt.Errorf("read: %w", plain)), true},
		"a type that passes":    {fmt.Errorf("embed: %w", &failure{true}), true},
		"a type that does not":  {fmt.Errorf("embed: %w", &failure{false}), false},
		"a deadline":            {fmt.Errorf("wait: %w", context.DeadlineExceeded), true},
		"somebody who has gone": {fmt.Errorf("wait: %w", context.Canceled), true},
		"printed, not wrapped":  {fmt.Errorf("append: %v", errBusy), false},
	} {
		if got := Is(tc.err); got != tc.want {
			t.Errorf("%s: Is = %v, want %v", name, got, tc.want)
		}
	}
	marked := Mark(plain)
	if !errors.Is(marked, plain) || !errors.Is(fmt.Errorf("x: %w", errBusy), errBusy) || errors.Is(marked, errBusy) {
		t.Error("a mark hides what it marks, or makes one sentinel another")
	}
	if marked.Error() != "plain" || Mark(nil) != nil {
		t.Errorf("Mark changed the text to %q, or made an error of nil", marked)
	}
}
