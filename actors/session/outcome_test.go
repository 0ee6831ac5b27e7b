package session

import "testing"

// TestSettledAs: forgotten is final, and what was observed or skipped is never dropped any more.
func TestSettledAs(t *testing.T) {
	t.Parallel()
	for was := Pending; was <= Forgotten; was++ {
		for to := Observed; to <= Dropped; to++ {
			want := to
			if was == Forgotten || to == Dropped && (was == Observed || was == Skipped) {
				want = was
			}
			if got := was.SettledAs(to); got != want {
				t.Errorf("%s settled as %s: got %s, want %s", was, to, got, want)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	var n Answers
	for i := range 300 {
		if n.First() != (i == 1) || int(n) != min(i, 255) {
			t.Fatalf("after %d answers: got %d, first: %t", i, n, n.First())
		}
		n = n.Next()
	}
}
