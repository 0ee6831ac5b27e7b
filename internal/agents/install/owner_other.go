//go:build !unix

package install

import "io/fs"

// isOwned reports true: the system keeps owners elsewhere, and refuses by itself.
func isOwned(fs.FileInfo) bool { return true }

// hasNames reports false: what the system tells of a file says nothing of its other names.
func hasNames(fs.FileInfo) bool { return false }
