//go:build !unix

package claudecli

// lives is not known here.
func lives(int) bool { return false }
