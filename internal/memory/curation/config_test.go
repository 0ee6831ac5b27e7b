package curation

import "testing"

// What works with a config that lacks something says so when it is made, and not when it is used first.
func TestIncompleteConfigs(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(){
		"a curator":    func() { New(Config{}) },
		"a reobserver": func() { NewReobserver(ReobserverConfig{}) },
		"a forgetter":  func() { NewForgetter(ForgetterConfig{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("got one of nothing")
				}
			}()
			made()
		})
	}
}
