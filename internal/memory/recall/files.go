package recall

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/projections/index"
)

// fileIn is how rows may name the file of a query otherwise: memory of a project is of all its folders and working trees, and
// knows files by paths below them too.
func (r *Recall) fileIn(ctx context.Context, q Query) (index.FileIn, error) {
	if !filepath.IsAbs(q.File) {
		return index.FileIn{}, nil
	}
	file, in := filepath.ToSlash(filepath.Clean(q.File)), q.FileIn
	if in.Root == "" {
		var err error
		if in.Root, err = r.cfg.Views.ProjectAbove(ctx, file); err != nil {
			return index.FileIn{}, fmt.Errorf("recall: %w", err)
		}
	}
	if in.Root == "" && isRoot(q.Project) {
		in.Root, in.Key = q.Project, q.Key
	}
	if in.Root == "" {
		return index.FileIn{}, nil
	}
	own, err := r.cfg.Views.Extent(ctx, in.Root, in.Key)
	if err != nil {
		return index.FileIn{}, fmt.Errorf("recall: %w", err)
	}
	out := index.FileIn{Projects: own.Roots, Rootless: own.Names}
	for _, below := range below(file, in.Path, own.Roots) {
		if strings.Contains(below, "/") {
			out.Files = append(out.Files, below)
			continue
		}
		out.Paths = append(out.Paths, below, "./"+below) // its end alone would be that of many others
		for _, folder := range own.Roots {
			out.Paths = append(out.Paths, path.Join(filepath.ToSlash(folder), below))
		}
	}
	return out, nil
}

// below are the paths that a file has below its working tree, if that is known, and below the folders that it lies in.
func below(file, tree string, folders []string) (out []string) {
	if tree != "" {
		out = append(out, tree)
	}
	for _, folder := range folders {
		folder = strings.TrimSuffix(filepath.ToSlash(folder), "/")
		rest, ok := strings.CutPrefix(file+"/", folder+"/")
		if rest = path.Clean(rest); ok && !slices.Contains(out, rest) {
			out = append(out, rest)
		}
	}
	return out
}
