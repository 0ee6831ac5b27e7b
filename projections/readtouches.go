package projections

import (
	"context"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/projections/engine"
)

// Touches returns the newest touches of one file of a project, at most limit of them (0 means 10), newest first. Path is
// as File has it. Its cost does not depend on how many files there are.
func (v FileReader) Touches(ctx context.Context, root, path string, limit int) ([]Touch, error) {
	if limit <= 0 {
		limit = 10
	}
	var file File
	err := v.Read(ctx, func(btx *bolt.Tx) error {
		x, err := v.LiveTx(btx, fileView{}.Name())
		if err != nil {
			return err
		}
		file, err = FileFilter{Touches: limit}.read(x, engine.ProjectIDOf(root), path)
		return err
	})
	return file.Touches, err
}
