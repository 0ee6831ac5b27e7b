//go:build !unix

package space

// readableByOthers reports whether another user may read the file at path; the rights of this system are not looked at.
func readableByOthers(string) (bool, error) { return false, nil }
