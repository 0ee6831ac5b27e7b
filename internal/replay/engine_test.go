package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/actors/policy"
)

// recorded reads the scenarios that come with what is known to be right of them.
func recorded(t testing.TB) map[string]*Scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("scenarios: %d, %v", len(files), err)
	}
	all := make(map[string]*Scenario, len(files))
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ReadScenario(f)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = s
	}
	return all
}

// TestRecordedScenarios holds every figure and every decision of every policy to what is known to be right.
func TestRecordedScenarios(t *testing.T) {
	t.Parallel()
	for name, s := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s.ID != name {
				t.Errorf("its id is %q", s.ID)
			}
			got, err := Compare(s, policy.Names(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Expect) != len(policy.Names()) {
				t.Errorf("expectations: %d, want %d", len(s.Expect), len(policy.Names()))
			}
			for _, p := range policy.Names() {
				want, ok := s.Expect[string(p)]
				if !ok {
					t.Errorf("%s: nothing is expected", p)
					continue
				}
				if diff := cmp.Diff(want, got[p], cmpopts.IgnoreFields(Result{}, "Marks")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", p, diff)
				}
			}
		})
	}
}

// Run is Compare under one policy, and an error where that ran away.
func Run(s *Scenario, name policy.Name, opt Options) (Result, error) {
	results, err := Compare(s, []policy.Name{name}, opt)
	if err == nil && results[name].Error != "" {
		err = fmt.Errorf("%w under %s", ErrRunaway, name)
	}
	return results[name], err
}

// TestASlidingWindowCountsWhatAnAnchoredOneParts plays the scenario that tells the two apart, whose expectations are of the
// anchored one.
func TestASlidingWindowCountsWhatAnAnchoredOneParts(t *testing.T) {
	t.Parallel()
	opt := Options{Settings: policy.Settings{Windowed: policy.WindowedSettings{Sliding: true}}}
	r, err := Run(recorded(t)["window-edges"], policy.Windowed, opt)
	if err != nil {
		t.Fatal(err)
	}
	decided(t, r, "drop drop drop respawn")
}
