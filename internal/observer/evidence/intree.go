package evidence

import "path/filepath"

// InTree returns the path of a folder below the top of the working tree that it lies in, with slashes, "." for the top itself.
// ok is false where there is no working tree. It reads files only.
func InTree(folder string) (below string, ok bool) {
	repo, ok := locate(folder)
	if !ok {
		return "", false
	}
	below, err := filepath.Rel(repo.Root, resolve(folder))
	return filepath.ToSlash(below), err == nil && filepath.IsLocal(below)
}
