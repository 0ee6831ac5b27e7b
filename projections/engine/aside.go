package engine

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/internal/durable"
)

// setAside gives the file another name, and makes a new one, where the log is not the one that it was made from, or does not reach as
// far: it may hold the last copy of what is remembered, so that nobody but a person may remove it.
func (v *Views) setAside(s *store) (*store, error) {
	why := ""
	err := s.View(func(btx *bolt.Tx) (err error) {
		why, err = v.foreignFile(btx)
		return err
	})
	if errors.Is(err, ErrDamaged) || err == nil && why == "" {
		return s, nil // damage is for whoever takes the views up
	}
	if err != nil {
		s.abandon()
		return nil, err
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	kept, err := durable.SetAside(s.path, time.Now())
	if err != nil {
		return nil, fmt.Errorf("set the old views aside: %w", err)
	}
	v.logger.Warn("views are built anew; the old ones are kept, as the log may lack what they hold", "err", why, "path", kept)
	s, _, err = openStore(v.dir, v.cfg.BootID)
	return s, err
}

// foreignFile says why the log is not what the views in a file were made from; nothing where it is.
func (v *Views) foreignFile(btx *bolt.Tx) (string, error) {
	for _, view := range v.views {
		p, ok, err := readPoint(v.codec, btx, view.Name())
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		if why, err := v.foreignReason(p); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}
