package race

import "testing"

func TestSample(t *testing.T) {
	t.Parallel()
	cases := make([]int, 20)
	for i := range cases {
		cases[i] = i
	}
	want := 20
	if Enabled {
		want = 3
	}
	if got := Sample(cases); len(got) != want || got[0] != 0 {
		t.Errorf("got %v of 20 cases, want %d", got, want)
	}
	if got := Sample([]int(nil)); len(got) != 0 {
		t.Errorf("got %v of nothing", got)
	}
}

func TestSkipProcesses(t *testing.T) {
	t.Parallel()
	t.Run("processes", func(t *testing.T) {
		defer func() {
			if t.Skipped() != Enabled {
				t.Errorf("skipped is %v with the detector %v", t.Skipped(), Enabled)
			}
		}()
		SkipProcesses(t)
	})
}
