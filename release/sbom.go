package main

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom writes what the programs of a target are made of, in CycloneDX's form: the modules that the programs themselves name.
func (r *release) sbom(l layout) error {
	bom, module := cdx.NewBOM(), ours
	if l.product.name != "cmemd" {
		module += "/cmd/" + l.product.name
	}
	bom.Metadata = &cdx.Metadata{Timestamp: r.at.Format(time.RFC3339), Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: l.product.name, Version: r.version,
		BOMRef: purl(module, "v"+r.version), PackageURL: purl(module, "v"+r.version),
		Licenses:           &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		ExternalReferences: &[]cdx.ExternalReference{{Type: cdx.ERTypeVCS, URL: homepage, Comment: "commit " + r.commit}},
	}}
	parts := []cdx.Component{part("std", runtime.Version())}
	for _, m := range l.modules {
		parts = append(parts, part(m.Path, m.Version))
	}
	bom.Components = &parts
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).Encode(bom)
	return errors.Join(err, r.put(r.packageName(l.product.name, l.target)+".sbom.cdx.json", out.Bytes()))
}

const (
	ours     = "github.com/cmemd/cmemd"
	homepage = "https://github.com/cmemd/cmemd"
)

func part(module, version string) cdx.Component {
	ref := purl(module, version)
	return cdx.Component{Type: cdx.ComponentTypeLibrary, Name: module, Version: version, BOMRef: ref, PackageURL: ref}
}

// purl is a Go module's package URL; a plus of its version is escaped, as package-url asks.
func purl(module, version string) string {
	return "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
}
