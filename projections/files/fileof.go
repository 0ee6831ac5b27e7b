package files

import (
	"path"

	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// fileOf finds the file that a tool call names, by the shape of its input: the keys of the JSON object at the top. It
// reads no further than it must, so that a call that writes a large file costs no more than one that reads it, and it
// does without a whole document, because inputs are cut.
func fileOf(input string) (file string, modified bool) {
	var search, loose bool
	jsonscan.CutMembers(input, func(key string, value func() string) bool {
		switch use := toolinput.Of(key); {
		case use.Is(toolinput.File | toolinput.Path):
			if name, whole := jsonscan.CutText(value()); whole && file == "" {
				file, loose = name, use.Is(toolinput.Path) // a Path may be a folder
			}
		case use.Is(toolinput.Content):
			modified = true
		case use.Is(toolinput.Query): // what is named is where to look, not what was read
			search = true
		}
		return file == "" || !modified
	})
	if search || loose && !modified && path.Ext(file) == "" {
		return "", false
	}
	return file, modified
}
