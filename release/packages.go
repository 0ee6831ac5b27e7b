package main

import (
	"bytes"
	"errors"
	"fmt"
	"path"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the packagers that nfpm.Get knows
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// systemPackages writes the deb and the rpm of a target, if it is a Linux one.
func (r *release) systemPackages(l layout) error {
	if l.target.os != "linux" {
		return nil
	}
	var failed error
	for _, format := range []string{"deb", "rpm"} {
		if err := r.systemPackage(l, format); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", format, err))
		}
	}
	return failed
}

func (r *release) systemPackage(l layout, format string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	recommends := []string{"git"}
	if l.product.name != "cmemd" {
		recommends = []string{"cmemd"}
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: l.product.name, Version: r.version, Arch: l.target.arch, Platform: "linux", Section: "devel", Priority: "optional",
		Description: l.product.description, Homepage: homepage, License: "Apache-2.0", Maintainer: "The cmemd authors <" + homepage + ">",
		MTime: r.at, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: r.systemFiles(l, format), Recommends: recommends,
			RPM: nfpm.RPM{BuildHost: "localhost", Summary: l.product.description}, // else the name of this machine
		},
	})
	if err := nfpm.Validate(info); err != nil {
		return err
	}
	var out bytes.Buffer
	err = packager.Package(info, &out)
	// Not the name by convention: in that of a pre-release stands a ~, which hosts of files change.
	return errors.Join(err, r.put(r.packageName(l.product.name, l.target)+"."+format, out.Bytes()))
}

// systemFiles says where a package puts the files of a layout.
func (r *release) systemFiles(l layout, format string) (all files.Contents) {
	documents := "/usr/share/doc/" + l.product.name + "/"
	zsh := "/usr/share/zsh/site-functions/"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/"
	}
	places := map[string]string{
		"bin": "/usr/bin/", "man/man1": "/usr/share/man/man1/", ".": documents,
		"completions/cmemd.bash": "/usr/share/bash-completion/completions/cmemd",
		"completions/cmemd.fish": "/usr/share/fish/vendor_completions.d/cmemd.fish",
		"completions/_cmemd":     zsh + "_cmemd",
	}
	for _, f := range l.files {
		to, ok := places[f.name]
		if !ok {
			to = places[path.Dir(f.name)] + path.Base(f.name)
		}
		if f.name == "LICENSE" && format == "deb" {
			to = documents + "copyright"
		}
		info := &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o644, MTime: r.at}
		if f.program {
			info.Mode = 0o755
		}
		all = append(all, &files.Content{Source: f.source, Destination: to, FileInfo: info})
	}
	return all
}
