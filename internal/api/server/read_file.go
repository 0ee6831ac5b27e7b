package server

import (
	"os"
	"path"
	"path/filepath"

	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// fileOf is where a file or a folder lies that a request names by its absolute path. It need not exist any more: then the
// folder above it tells that does.
func fileOf(named string) recall.FileIn {
	if !filepath.IsAbs(named) {
		return recall.FileIn{}
	}
	folder, rest := filepath.Clean(named), ""
	for !isFolder(folder) && folder != filepath.Dir(folder) {
		folder, rest = filepath.Dir(folder), path.Join(filepath.Base(folder), rest)
	}
	below, ok := evidence.InTree(folder)
	if !ok {
		return recall.FileIn{}
	}
	p := evidence.ProjectOf(folder)
	return recall.FileIn{Root: p.Root, Project: recall.Project{Name: p.Name, Key: p.Key}, Path: path.Join(below, rest)}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
