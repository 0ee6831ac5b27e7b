package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	ocilayout "github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user that the image's programs run as, with no rights of its own; the number is that of other images without a shell.
const imageUser = 65532

// image writes the container image of a product for the Linux targets among layouts, as an archive in OCI's layout: from
// scratch, the programs and what they need, with a volume for the home.
func (r *release) image(p product, layouts map[target]layout) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range allTargets() {
		l, ok := layouts[t]
		if !ok || t.os != "linux" {
			continue
		}
		img, err := r.platformImage(l)
		if err != nil {
			return err
		}
		platform := v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: platform})
	}
	if m, err := index.IndexManifest(); err != nil || len(m.Manifests) == 0 {
		return err
	}
	dir := filepath.Join(r.stage, p.name+"-oci")
	to, err := ocilayout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := to.AppendIndex(index, ocilayout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return err
	}
	files, err := readFolder(dir)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	err = writeTar(&out, files, r.at)
	return errors.Join(err, r.put(p.name+"_"+r.version+"_image.oci.tar", out.Bytes()))
}

func (r *release) platformImage(l layout) (v1.Image, error) {
	layer, err := r.imageLayer(l)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	history := v1.History{Created: v1.Time{Time: r.at}, CreatedBy: "release/snapshot"}
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: history})
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Config = l.target.os, l.target.arch, v1.Time{Time: r.at}, r.imageConfig(l.product)
	return mutate.ConfigFile(img, file)
}

// imageConfig says how a container is run. The health of cmemd's is what `cmemd status` says of the daemon.
func (r *release) imageConfig(p product) v1.Config {
	config := v1.Config{
		User: "65532:65532", Entrypoint: p.entrypoint, Cmd: p.command, WorkingDir: "/data", StopSignal: "SIGTERM",
		Env:     []string{"PATH=/usr/bin", "HOME=/data", "CMEMD_HOME=/data"},
		Volumes: map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":       p.name,
			"org.opencontainers.image.description": p.description,
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.revision":    r.commit,
			"org.opencontainers.image.source":      homepage,
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
	if len(p.health) > 0 {
		config.Healthcheck = &v1.HealthConfig{
			Test: p.health, Interval: 30 * time.Second, Timeout: 5 * time.Second, StartPeriod: 10 * time.Second, Retries: 3,
		}
	}
	if p.port != "" {
		config.ExposedPorts = map[string]struct{}{p.port: {}}
	}
	return config
}

// imageLayer is all of the image's file system.
func (r *release) imageLayer(l layout) (v1.Layer, error) {
	folder := func(name string, mode fs.FileMode, uid int) packed {
		return packed{name: name, mode: fs.ModeDir | mode, uid: uid}
	}
	documents := "usr/share/doc/" + l.product.name
	text := func(name, s string) packed { return packed{name: name, mode: 0o644, data: []byte(s)} }
	files := []packed{
		folder("data", 0o700, imageUser), folder("tmp", 0o777|fs.ModeSticky, 0), folder("etc", 0o755, 0),
		text("etc/passwd", "root:x:0:0:root:/:/sbin/nologin\ncmemd:x:65532:65532:cmemd:/data:/sbin/nologin\n"),
		text("etc/group", "root:x:0:\ncmemd:x:65532:\n"),
		folder("etc/ssl", 0o755, 0), folder("etc/ssl/certs", 0o755, 0), text("etc/ssl/certs/ca-certificates.crt", authorities()),
		folder("usr", 0o755, 0), folder("usr/bin", 0o755, 0),
		folder("usr/share", 0o755, 0), folder("usr/share/doc", 0o755, 0), folder(documents, 0o755, 0),
	}
	own, err := readAll(append(l.under("bin"), l.under(".")...), func(f file) string {
		if f.program {
			return "usr/bin/" + path.Base(f.name)
		}
		return documents + "/" + f.name
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := writeTar(&b, append(files, own...), r.at); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// authorities are the certificates that Mozilla trusts without a condition, as PEM: a file cannot say until when.
func authorities() string {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.String()
}

// readFolder reads all files below a folder, sorted by their names, with its folders.
func readFolder(dir string) (all []packed, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		p := packed{name: filepath.ToSlash(rel), mode: 0o644}
		if d.IsDir() {
			p.mode = fs.ModeDir | 0o755
		} else if p.data, err = os.ReadFile(name); err != nil {
			return err
		}
		all = append(all, p)
		return nil
	})
	slices.SortFunc(all, func(a, b packed) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return all, err
}
