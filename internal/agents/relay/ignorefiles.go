package relay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

const (
	// maxIgnoreFiles is how many bytes of ignore files are kept beside a payload: more than anybody writes by hand.
	maxIgnoreFiles = 64 << 10

	// maxFoldersUp is how many folders are looked into for one.
	maxFoldersUp = 64
)

// ignoreFiles reads the ignore files of a folder and of those above it, as they are now: the daemon may look only when they are
// others. Where they are longer than maxIgnoreFiles, or one cannot be read, or there are too many folders, all is ignored.
func ignoreFiles(folder string) (files []ignore.Source) {
	if !filepath.IsAbs(folder) || strings.IndexByte(folder, 0) >= 0 {
		return nil
	}
	all := []ignore.Source{{Folder: filepath.Clean(folder), Text: "*"}}
	left := int64(maxIgnoreFiles)
	dir := filepath.Clean(folder)
	for range maxFoldersUp {
		path := filepath.Join(dir, ignore.File)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real // people keep such files elsewhere
		}
		data, err := durable.ReadBounded(path, left)
		var at *fs.PathError
		switch {
		case err == nil && strings.IndexByte(string(data), 0) < 0:
			left -= int64(len(data))
			files = append(files, ignore.Source{Folder: dir, Text: string(data)})
		case errors.Is(err, fs.ErrNotExist), errors.As(err, &at) && at.Op == "lstat":
		default:
			return all
		}
		if filepath.Dir(dir) == dir {
			return files
		}
		dir = filepath.Dir(dir)
	}
	return all
}

// folderOf is the folder that a payload says its session works in, or else this process's.
func folderOf(payload []byte) string {
	for _, name := range [...]string{"cwd", folderMember, "directory"} {
		if folder := jsonscan.StringMember(payload, name); folder != "" {
			return folder
		}
	}
	folder, _ := os.Getwd() // without one there is no file either
	return folder
}
