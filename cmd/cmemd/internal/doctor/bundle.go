package doctor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/redact/full"
)

const bundleReadme = `What cmemd doctor found, for somebody who is asked for help.

doctor.json    what is well and what is not
status.json    numbers of the daemon that ran, if one did
settings.json  the settings in force, and where each comes from; secrets are masked
log.json       how many records of which kind the log has
daemon.log     the end of the daemon's log, without its lines for debugging
start.log      what the daemon said before its log was open
system.json    versions

No prompt, no input or output of a tool, no memory and no title is in here, and nothing of the environment. Secrets were
looked for with all rules, and marks stand in their place. Names of folders stand in some lines: look before you send it.
`

// bundleTail is how much of the end of a log file goes into a bundle.
const bundleTail = 512 << 10

// bundled is one file of a bundle.
type bundled struct {
	name string
	text []byte
}

// bundle gathers what helps to find a fault, without contents. What cannot be had is left out: doctor.json says why.
func (x *examination) bundle(ctx context.Context, found diagnosis) ([]bundled, error) {
	files := []bundled{{"README.txt", []byte(bundleReadme)}}
	add := func(name string, v any) error {
		text, err := json.MarshalIndent(v, "", "  ")
		files = append(files, bundled{name, text})
		return err
	}
	errs := []error{add("doctor.json", found), add("system.json", x.system())}
	if x.config != nil {
		errs = append(errs, add("settings.json", x.settingsInForce()))
	}
	if x.status != nil {
		errs = append(errs, add("status.json", x.status))
		_ = x.app.Query(ctx, func(ctx context.Context, client api.Invoker) error {
			stats, err := api.LogStatsRoute.Call(ctx, client, api.NoQuery{})
			if err == nil {
				errs = append(errs, add("log.json", stats))
			}
			return err
		})
	}
	for name, path := range map[string]string{"daemon.log": x.paths.LogFile, "start.log": x.paths.StartLog} {
		if text, err := tailOf(path); err == nil {
			files = append(files, bundled{name, withoutDebug(text)})
		}
	}
	return files, errors.Join(errs...)
}

// writeBundle writes a bundle to a new file at path.
func (x *examination) writeBundle(ctx context.Context, found diagnosis, path string) error {
	files, err := x.bundle(ctx, found)
	if err != nil {
		return err
	}
	if err := writeBundle(path, files, x.now); err != nil {
		return err
	}
	x.app.Infof("written to %s; look into it before you send it", terminal.VisibleLine(path))
	return nil
}

// system is what cmemd runs on.
func (x *examination) system() map[string]string {
	return map[string]string{
		"cmemd": x.app.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		"cpus": fmt.Sprint(runtime.NumCPU()), "at": x.now.UTC().Format(time.RFC3339),
	}
}

func (x *examination) settingsInForce() map[string]map[string]string {
	out := map[string]map[string]string{}
	for key, value := range x.config.Values() {
		out[key] = map[string]string{"value": value, "from": x.config.From[key]}
	}
	return out
}

// tailOf is the end of a file, from the beginning of a line.
func tailOf(path string) ([]byte, error) {
	f, info, err := durable.OpenLinked(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cut := info.Size() > bundleTail
	if cut {
		if _, err := f.Seek(-bundleTail, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, bundleTail))
	if cut {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}

// withoutDebug is a log without the lines that may quote what agents said.
func withoutDebug(log []byte) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte("level=DEBUG")) && !bytes.Contains(line, []byte(`"level":"DEBUG"`)) {
			out = append(out, line...)
		}
	}
	return out
}

// writeBundle writes files as a compressed archive to a new file that nobody else may read. All of it loses its secrets.
func writeBundle(path string, files []bundled, at time.Time) (err error) {
	secrets := full.New()
	if err := secrets.Load(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, homedir.OwnFile)
	if errors.Is(err, os.ErrExist) {
		return terminal.Advise(err, "name a file that is not there yet")
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	zipped := gzip.NewWriter(f)
	archive := tar.NewWriter(zipped)
	for _, one := range files {
		text := shortHome(secrets.TextOrAll(strings.ToValidUTF8(string(one.text), "\uFFFD")))
		head := &tar.Header{Name: "cmemd-doctor/" + one.name, Mode: 0o600, Size: int64(len(text)), ModTime: at}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close(), f.Sync())
}
