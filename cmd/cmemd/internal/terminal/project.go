package terminal

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// ProjectFlag adds --project: a shown name, or any folder of the project, which may be written from here. What folder is in
// which project the daemon decides, as it does for sessions.
func ProjectFlag(c *cobra.Command, to *string, usage string) {
	c.Flags().Var((*projectValue)(to), "project", usage)
}

// projectValue is the value of --project: a folder made absolute, or a name as it stands.
type projectValue string

func (p *projectValue) String() string { return string(*p) }
func (p *projectValue) Type() string   { return "string" }

// Set takes what names a folder from here for one, and anything else for a name: a word alone is a name.
func (p *projectValue) Set(text string) error {
	*p = projectValue(text)
	if !isFolderHere(text) {
		return nil
	}
	whole, err := filepath.Abs(text)
	*p = projectValue(whole)
	return err
}

func isFolderHere(text string) bool {
	if text == "." || text == ".." {
		return true
	}
	if !strings.ContainsRune(filepath.ToSlash(text), '/') {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.IsDir()
}
