package owned

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// ErrOthers is wrapped in what this package returns for what another user made or may change.
var ErrOthers = errors.New("others may write there")

// Folder returns an error wrapping ErrOthers unless dir itself, no link to it, is a folder of this user's that nobody else
// may write to.
func Folder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOwnerOnly(info) {
		return fmt.Errorf("%w: %s", ErrOthers, dir)
	}
	return nil
}

// File returns an error wrapping ErrOthers unless path itself, no link to it, is a regular file of this user's that nobody
// else may write to, and that has no second name.
func File(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !isOwnerOnly(info) || links(info) > 1 {
		return fmt.Errorf("%w: %s", ErrOthers, path)
	}
	return nil
}

// Parents returns an error wrapping ErrOthers if another user of this machine could rename, replace or remove what is on the
// way to a folder, or the folder itself: folders, and links with what they lead through. Folders with the sticky bit, like /tmp,
// let nobody do that to what is not theirs. at is what is open to them.
func Parents(folder string) (at string, err error) {
	path := folder
	if !filepath.IsAbs(path) {
		in, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = in + string(filepath.Separator) + folder // not cleaned: ".." behind a link leads to where the link's target stands
	}
	at = filepath.VolumeName(path) + string(filepath.Separator)
	next, rest := at, namesIn(path)
	for links := 0; ; {
		info, err := os.Lstat(next)
		if err != nil {
			return next, err
		}
		if why := writableByOthers(info); why != "" {
			return next, fmt.Errorf("%w: %s, on the way to %s, %s", ErrOthers, next, folder, why)
		}
		switch {
		case info.Mode()&fs.ModeSymlink == 0:
			at = next
		case links == maxLinks:
			return next, fmt.Errorf("owned: %s: too many links", folder)
		default:
			links++
			to, err := os.Readlink(next)
			if err != nil {
				return next, err
			}
			if filepath.IsAbs(to) || to != "" && os.IsPathSeparator(to[0]) {
				at = cmp.Or(filepath.VolumeName(to), filepath.VolumeName(next)) + string(filepath.Separator)
			}
			rest = append(namesIn(to), rest...)
		}
		if len(rest) == 0 {
			return "", nil
		}
		next, rest = filepath.Join(at, rest[0]), rest[1:]
	}
}

// maxLinks is how many links may stand on the way to a folder, as Linux has it.
const maxLinks = 40

// namesIn are the names that a path is made of.
func namesIn(path string) []string {
	isSeparator := func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) }
	return strings.FieldsFunc(strings.TrimPrefix(path, filepath.VolumeName(path)), isSeparator)
}
