package capture

import (
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/projects"
)

// claimed is what a folder claims to be, and what names the folder itself wherever it is moved to.
type claimed struct {
	evidence.Project
	file string
}

// claimOf is what the folder of p claims to be, as it is named now.
func claimOf(p evidence.Project, folderID func(dir string) string) claimed {
	if p.Root == "" {
		return claimed{Project: p}
	}
	return claimed{p, folderID(p.Root)}
}

// keyOf decides which project the folder of c is of. A folder that is known stays what it is, whatever stands there now: that is how
// a restored or newly cloned repository finds its memory. A new one is what it claims if nobody else is; if it is a known folder
// under another path, of which same tells; or if the person's own file above them all says so. Else it is kept apart.
func keyOf(k projects.Known, c claimed, same func(projects.Root) bool) string {
	if own, known := k[c.Root]; known {
		if c.Own && !own.Decided && own.Key != c.Key && own.Claim != c.Key {
			return projects.OwnKey(c.Root) // a file that has come since parts it; none joins it
		}
		return own.Key
	}
	if at := sameAs(k, c, same); at.Key != "" {
		return at.Key
	}
	others := k.Holders(c.Key, c.Root)
	below := func(r projects.Root) bool { return r.Key == c.Key && isBelow(r.Path, c.Above) }
	if len(others) == 0 || c.Above != "" && slices.ContainsFunc(others, below) {
		return c.Key
	}
	return projects.OwnKey(c.Root)
}

// sameAs is the known folder that the folder of c is, under another path: it was moved there, or is mounted twice. The zero Root if
// there is none.
func sameAs(k projects.Known, c claimed, same func(projects.Root) bool) (found projects.Root) {
	for _, r := range namedLike(k, c) {
		if same(r) && r.Last >= found.Last {
			found = r
		}
	}
	return found
}

// namedLike are the known folders of other paths that have the name of c's folder itself.
func namedLike(k projects.Known, c claimed) (found []projects.Root) {
	if c.file == "" {
		return nil
	}
	for _, r := range k {
		if r.File == c.file && r.Path != c.Root {
			found = append(found, r)
		}
	}
	return found
}

// isBelow reports whether path is dir or lies in it.
func isBelow(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}
