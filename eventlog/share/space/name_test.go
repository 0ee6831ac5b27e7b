package space_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog/share/space"
)

// TestNamesAreUnique: a machine that is called like another one, or like one that left, is given a number, and one that comes back keeps its name.
func TestNamesAreUnique(t *testing.T) {
	f := newFleet(t)
	laptop, _ := f.created()
	f.entered(f.invited(laptop, noon), "vm", noon)
	dir := t.TempDir()
	second, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "VM", "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Leave(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	long := f.entered(f.invited(laptop, noon), strings.Repeat("x", 100), noon)
	f.entered(f.invited(long, noon), strings.Repeat("x", 100), noon)
	f.entered(f.invited(laptop, noon), "vm", noon)
	if err := space.Forget(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := space.Enter(t.Context(), dir, f.connect(), f.invited(laptop, noon), "VM-2", "", noon); err != nil {
		t.Fatal(err)
	}
	f.refresh(laptop, nil)
	got := names(laptop)
	slices.Sort(got)
	want := []string{"VM-2", "laptop", "vm", "vm-3", strings.Repeat("x", 100), strings.Repeat("x", 98) + "-2"}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
