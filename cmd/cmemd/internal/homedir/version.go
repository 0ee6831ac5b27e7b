package homedir

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/durable"
)

// maxVersion bounds the file that names a version, in bytes.
const maxVersion = 1 << 10

// RecordVersion writes down which version of cmemd has the log open for writing, for an older one that cannot read it.
func (p Paths) RecordVersion(version string) error {
	if p.lastVersion() == version {
		return nil
	}
	return durable.Replace(p.version, []byte(version+"\n"), OwnFile)
}

// lastVersion is the version that last had the log open for writing; empty where that is not known.
func (p Paths) lastVersion() string {
	b, err := readFile(p.version, maxVersion)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// AdviseNewer adds to an error of opening the log, where a newer cmemd wrote that, which one it was and the ways back.
func (p Paths) AdviseNewer(err error) error {
	if !errors.Is(err, eventlog.ErrNewerFormat) {
		return err
	}
	if last := p.lastVersion(); last != "" {
		err = fmt.Errorf("%w, at last %s", err, terminal.VisibleLine(last))
	}
	return terminal.Advise(err, terminal.NewerStep)
}
