package main

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// shim is what the package cmemd consists of, but for its package.json and licence.
//
//go:embed npm
var shim embed.FS

// npmOf are npm's names of a system and a processor, as Node.js has them.
func npmOf(t target) (system, cpu string) {
	system, cpu = t.os, t.arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

// platformPackage is the name of the npm package with the programs of a target.
func platformPackage(t target) string {
	system, cpu := npmOf(t)
	return "@cmemd/" + system + "-" + cpu
}

// A manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"` // provenance is refused where it is not the repository that builds
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

func (r *release) manifest(name, description string) manifest {
	return manifest{
		Name: name, Version: r.version, Description: description, Licence: "Apache-2.0", Homepage: homepage,
		Repository: map[string]string{"type": "git", "url": "git+" + homepage + ".git"},
	}
}

// npmPlatform writes the npm package with a target's programs. npm installs it only where its system and processor are the machine's.
// That of cmemd-hub is installed by its own name, and needs no shim: nobody starts it at every tool call.
func (r *release) npmPlatform(l layout) error {
	m := r.manifest(platformPackage(l.target), "The programs of cmemd for one system and processor; install the package cmemd")
	system, cpu := npmOf(l.target)
	if l.product.name != "cmemd" {
		m = r.manifest("@cmemd/"+strings.TrimPrefix(l.product.name, "cmemd-")+"-"+system+"-"+cpu, l.product.description)
		m.Bin = map[string]string{l.product.name: "bin/" + l.product.name + l.target.exe()}
	}
	m.OS, m.CPU = []string{system}, []string{cpu}
	files, err := readAll(append(l.under("bin"), l.under(".")...), func(f file) string { return "package/" + f.name })
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f packed) bool { return strings.HasSuffix(f.name, ".md") })
	return r.npmPack(m, files)
}

// npmMain writes the npm package cmemd: a shim that starts the program of the platform's package. It has no script that npm would run at
// its installation.
func (r *release) npmMain() error {
	m := r.manifest("cmemd", description)
	m.Engines, m.Optional = map[string]string{"node": ">=16"}, map[string]string{}
	m.Bin = map[string]string{"cmemd": "bin/cmemd.js", "cmemd-hook": "bin/cmemd-hook.js"}
	for _, t := range allTargets() {
		m.Optional[platformPackage(t)] = r.version
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	files := []packed{{name: "package/LICENSE", mode: 0o644, data: licence}}
	err = fs.WalkDir(shim, "npm", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := shim.ReadFile(name)
		mode := fs.FileMode(0o644)
		if path.Base(path.Dir(name)) == "bin" {
			mode = 0o755
		}
		files = append(files, packed{name: "package" + strings.TrimPrefix(name, "npm"), mode: mode, data: b})
		return err
	})
	return errors.Join(err, r.npmPack(m, files))
}

// npmPack writes a tarball as `npm pack` names it.
func (r *release) npmPack(m manifest, files []packed) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files = append([]packed{{name: "package/package.json", mode: 0o644, data: append(b, '\n')}}, files...)
	tgz, err := tarGz(files, r.at)
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-")
	return errors.Join(err, r.put(name+"-"+r.version+".tgz", tgz))
}
