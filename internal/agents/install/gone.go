package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// programPath finds the absolute path of one of cmemd's programs in the text of settings, where it stands between blanks or quotes.
var programPath = regexp.MustCompile(`(?:^|[\s"'])((?:[A-Za-z]:)?[/\\][^"'\s]*[/\\]cmemd(?:-hook)?(?:\.exe)?)(?:$|[\s"'])`)

// Gone returns the first program that the agent's files name as one of cmemd's and that is not there any more; empty: all are there, or
// none is named. What cannot be read is passed over.
func (a Agent) Gone(m Machine, o Options) string {
	var files []string
	for _, t := range a.targets(m, o) {
		files = append(files, t.path)
	}
	if a.Hooks.Plugin {
		_ = filepath.WalkDir(a.pluginDir(o), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return nil
		})
	}
	for _, path := range files {
		c, err := read(path)
		if err != nil {
			continue
		}
		for _, found := range programPath.FindAllSubmatch(c.text, -1) {
			if _, err := os.Stat(string(found[1])); os.IsNotExist(err) {
				return string(found[1])
			}
		}
	}
	return ""
}
