package vectors

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// TestFloor: only what stands out is near, whatever the model's cosines are; where there are few rows all are.
func TestFloor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conf.Floor, w.fake.dims = 0, 256 // the standard
	w.fill(200)
	both := w.save("carousel pictures")
	one := w.save("the carousel stopped")
	v := w.run()
	v.filled(202)
	got := v.Nearest(t.Context(), "carousel pictures", nil, 100)
	if len(got.Hits) < 2 || len(got.Hits) > 12 || got.Hits[0].ID != both || got.Hits[1].ID != one {
		t.Errorf("%d rows are near: %+v", len(got.Hits), got.Hits)
	}
	if got := v.Nearest(t.Context(), "carousel pictures", nil, 1); len(got.Hits) != 1 {
		t.Errorf("of one alone: %+v", got)
	}
	few := v.Nearest(t.Context(), "nothing of it", []events.Position{1, 2}, 100)
	if len(few.Hits) != 2 {
		t.Errorf("of two rows %d are near", len(few.Hits))
	}
	v.cfg.Floor = -1
	if got := v.Nearest(t.Context(), "carousel pictures", nil, 100); len(got.Hits) != 100 {
		t.Errorf("without a floor %d rows are near", len(got.Hits))
	}
}

// TestFloorIsRelative: moving and scaling all scores, as another model does, changes nothing of what is near.
func TestFloorIsRelative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(-0.3, 0.3), fewRows, 60).Draw(t, "scores")
		floor := rapid.Float64Range(0, 3).Draw(t, "floor")
		scale, shift := rapid.Float64Range(0.1, 2).Draw(t, "scale"), rapid.Float64Range(-0.2, 0.6).Draw(t, "shift")
		count := func(scale, shift, slack float64) int {
			var all spread
			b := best{k: len(scores)}
			for i, x := range scores {
				all.add(x*scale + shift)
				b.add(Hit{ID: [16]byte{byte(i)}, Score: x*scale + shift})
			}
			return len(all.above(floor+slack, b.hits))
		}
		low, high := count(1, 0, 1e-6), count(1, 0, -1e-6) // rounding may move one that is at the floor
		if got := count(scale, shift, 0); got < low || got > high {
			t.Fatalf("%d are near, and %d to %d of the same scores moved by %v and scaled by %v", got, low, high, shift, scale)
		}
		half := len(scores) / 2
		var a, b, whole spread
		for i, x := range scores {
			whole.add(x)
			if i < half {
				a.add(x)
			} else {
				b.add(x)
			}
		}
		a.join(b)
		if diff := cmp.Diff(fmt.Sprintf("%d %.9f %.9f", whole.n, whole.sum, whole.squares), fmt.Sprintf("%d %.9f %.9f", a.n, a.sum, a.squares)); diff != "" {
			t.Fatal(diff)
		}
	})
}
