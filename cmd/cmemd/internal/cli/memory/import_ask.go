package memory

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
)

// importedProject is a project and the folder that it is taken to have.
type importedProject struct {
	Name    string `json:"name"`
	Folder  string `json:"folder,omitempty"`
	Entries int    `json:"entries"`
}

// askFolders asks where the projects are that nothing tells of, the largest first, and adds what is answered to folders. It reports
// whether there was an answer. An empty one leaves a project without a folder, and so does the end of the input all others.
func askFolders(a *terminal.App, in io.Reader, all []importedProject, folders map[string]string) (answered bool, err error) {
	lines := bufio.NewReader(in)
	for _, p := range all {
		for p.Name != "" && p.Folder == "" {
			fmt.Fprintf(a.Err, "In which folder is the project %s, of which there are %s? [none] ", terminal.VisibleLine(p.Name), number.Plural(p.Entries, "entry"))
			line, err := lines.ReadString('\n')
			if err != nil && line == "" {
				return answered, nil
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			dir, err := wholePath(line)
			if err != nil {
				return answered, err
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				fmt.Fprintf(a.Err, "%s is no folder.\n", terminal.VisibleLine(dir))
				continue
			}
			folders[p.Name], p.Folder, answered = dir, dir, true
		}
	}
	return answered, nil
}

// wholePath is a folder as somebody types it, without a shell that would know what ~ is.
func wholePath(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", terminal.Advise(err, "name the folder by its whole path")
		}
		return filepath.Join(home, rest), nil
	}
	return filepath.Abs(text)
}
