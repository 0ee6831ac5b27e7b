package number_test

import (
	"math"
	"testing"

	"github.com/cmemd/cmemd/internal/number"
)

func TestCount(t *testing.T) {
	t.Parallel()
	odd := func(n int) bool { return n%2 == 1 }
	for want, list := range [][]int{nil, {1, 2}, {1, 4, 3}} {
		if got := number.Count(list, odd); got != want {
			t.Errorf("%v: got %d, want %d", list, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for one, want := range map[string]string{"row": "1 row, 2 rows", "day": "1 day, 2 days", "discrepancy": "1 discrepancy, 2 discrepancies"} {
		if got := number.Plural(1, one) + ", " + number.Plural(uint64(2), one); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -100: "-100", -1000: "-1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := number.Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
