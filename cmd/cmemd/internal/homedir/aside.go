package homedir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/durable"
)

// DamagedMark stands in the name of a damaged log that was kept when another one was put in its place, before the time.
const DamagedMark = ".damaged-"

// An AsideFile is a file of a home that was put out of use and kept: what it holds may be nowhere else, and nothing erases words in it.
type AsideFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	What  string `json:"what"`           // it is
	Next  string `json:"next"`           // to do about it
	Held  bool   `json:"held,omitempty"` // records in it were acknowledged that the log may lack
}

const removeIt = "remove it once nothing in it is missed"

// asideKinds are the files that are set aside, by what stands behind the path of the file that was in use.
func (p Paths) asideKinds() []AsideFile {
	return []AsideFile{
		{Path: p.Log + eventlog.HeldPrefix, What: "what a daemon had recorded when its log was exchanged or moved", Held: true,
			Next: "put it back as log.db while no daemon runs, or save what it holds: `cmemd log salvage --from FILE --out NEW`; then " + removeIt},
		{Path: p.Log + durable.AsideMark, What: "a file that was in the log's place and was none that could be opened", Next: removeIt},
		{Path: p.Log + DamagedMark, What: "the damaged log that this one was salvaged from", Next: removeIt},
		{Path: filepath.Join(p.Views, "views.db") + durable.AsideMark, What: "views of the log as it was before, which may hold what this one lacks", Next: removeIt},
		{Path: p.Forget + durable.AsideMark, What: "what was being forgotten of the log as it was before", Next: removeIt},
	}
}

// Aside lists the files of a home that were set aside, kind by kind, the oldest first. What cannot be looked at is left out.
func (p Paths) Aside() (all []AsideFile) {
	for _, kind := range p.asideKinds() {
		dir, begin := filepath.Split(kind.Path)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(e.Name(), begin) {
				continue
			}
			one := kind
			one.Path, one.Bytes = filepath.Join(dir, e.Name()), info.Size()
			all = append(all, one)
		}
	}
	return all
}
