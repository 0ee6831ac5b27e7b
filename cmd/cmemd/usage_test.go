package main

import "testing"

func TestDollars(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{0: "$0", 1e-9: "<$0.0001", 0.0001: "$0.0001", 0.01234: "$0.0123", 0.09999: "$0.10", 0.5: "$0.50", 1: "$1.00", 1234.567: "$1234.57"} {
		if got := dollars(usd); got != want {
			t.Errorf("%v: got %s, want %s", usd, got, want)
		}
	}
}
