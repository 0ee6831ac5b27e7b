package machines

import "testing"

// TestSameStore: a store is known again by one of its hosts, for the others change with the network.
func TestSameStore(t *testing.T) {
	t.Parallel()
	pin := "?pin=7bc2f39bc9711b6cb7cbb1a3f1ff94b8d7d7a6c15d5d46f0ae1d5d5d9f0c2a51"
	hub := "nats://TOKEN@desk:4222" + pin + ",nats://TOKEN@192.168.1.7:4222" + pin
	for shown, want := range map[string]bool{
		"nats://desk:4222,nats://192.168.1.5:4222": true,
		"nats://192.168.1.7:4222":                  true,
		"nats://192.168.1.5:4222":                  false,
		"nats://desk:4223":                         false,
		"/sync/cmemd":                              false,
		"":                                         false,
	} {
		if got := sameStore(hub, shown); got != want {
			t.Errorf("%q: got %t, want %t", shown, got, want)
		}
	}
}
