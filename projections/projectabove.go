package projections

import (
	"context"
	"path"
)

// ProjectAbove returns the nearest folder that sessions named as their project's root, among an absolute path, with slashes,
// and the folders above it; empty if there is none. The disk is not looked at.
func (v *Views) ProjectAbove(ctx context.Context, file string) (root string, err error) {
	err = v.view(ctx, projectView{}.name(), func(x *tx) error {
		for dir := path.Clean(file); ; dir = path.Dir(dir) {
			id := projectIDOf(dir)
			_, known, err := keyTable().get(x, id[:])
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
