package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// packed is a file as a package holds it.
type packed struct {
	name string
	mode fs.FileMode // ModeDir for a folder
	data []byte
	uid  int
}

// archiveName is what the archive of a target is called, without its extension, and the folder in it.
func (r *release) archiveName(t target) string { return r.packageName("cmemd", t) }

// packageName is archiveName for any product.
func (r *release) packageName(product string, t target) string {
	return product + "_" + r.version + "_" + t.String()
}

// extension is that of a target's archive.
func (t target) extension() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// archive writes the archive of a target. Programs lie at its top, so that it can be used as it is unpacked.
func (r *release) archive(l layout) error {
	name := r.packageName(l.product.name, l.target)
	files, err := readAll(l.files, func(f file) string {
		if f.program {
			return name + "/" + path.Base(f.name)
		}
		return name + "/" + f.name
	})
	if err != nil {
		return err
	}
	write := tarGz
	if l.target.extension() == ".zip" {
		write = zipped
	}
	b, err := write(files, r.at)
	return errors.Join(err, r.put(name+l.target.extension(), b))
}

// put writes a file of the release.
func (r *release) put(name string, b []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), b, 0o644)
}

// readAll reads files, each under the name that rename gives it.
func readAll(files []file, rename func(file) string) ([]packed, error) {
	var all []packed
	for _, f := range files {
		b, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if f.program {
			mode = 0o755
		}
		all = append(all, packed{name: rename(f), mode: mode, data: b})
	}
	return all, nil
}

// tarGz is a compressed archive of files in their order, all of one time.
func tarGz(files []packed, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	err := errors.Join(writeTar(zw, files, at), zw.Close())
	return out.Bytes(), err
}

func writeTar(w io.Writer, files []packed, at time.Time) error {
	tw := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), Format: tar.FormatPAX}
		h.ModTime, h.Uid, h.Gid = at, f.uid, f.uid
		if f.mode.IsDir() {
			h.Name, h.Typeflag = f.name+"/", tar.TypeDir
		}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := tw.Write(f.data); err != nil {
			return err
		}
	}
	return tw.Close()
}

// zipped is tarGz for Windows.
func zipped(files []packed, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		w, err := zw.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := zw.Close()
	return out.Bytes(), err
}
