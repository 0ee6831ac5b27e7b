package projections

import (
	"context"
	"path"

	"github.com/cmemd/cmemd/projections/engine"
)

// ProjectAbove returns the nearest folder that sessions named as their project's root, among an absolute path, with slashes,
// and the folders above it; empty if there is none. The disk is not looked at.
func (v ProjectReader) ProjectAbove(ctx context.Context, file string) (root string, err error) {
	err = v.View(ctx, projectView{}.Name(), func(x *engine.Tx) error {
		for dir := path.Clean(file); ; dir = path.Dir(dir) {
			id := engine.ProjectIDOf(dir)
			_, known, err := keyTable().Get(x, id[:])
			if err != nil {
				return err
			}
			if known {
				root = dir
			}
			if known || dir == path.Dir(dir) {
				return nil
			}
		}
	})
	return root, err
}
