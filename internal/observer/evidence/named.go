package evidence

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNamed is how many files are taken from one text.
const maxNamed = 50

// Named returns the files that a text names, as written, each once, in order, at most 50: words that end in the
// extension of a source, text or data file. Links, patterns, methods and products such as Node.js are no files. Files
// without an extension are not told from words. It takes linear time.
func Named(text string) []string {
	text = text[:min(len(text), maxClaimText)]
	var out []string
	for at := 0; at < len(text) && len(out) < maxNamed; {
		start, end := nextName(text, at)
		at = end
		name := strings.TrimRight(text[start:end], ".-~+")
		if end == start || strings.HasPrefix(text[end:], "(") || !isFileName(name) || slices.Contains(out, name) {
			continue
		}
		out = append(out, name)
	}
	return out
}

// nextName finds the next run of the characters that paths are written in.
func nextName(text string, from int) (start, end int) {
	inName := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./@+~", r)
	}
	skip := strings.IndexFunc(text[from:], inName)
	if skip < 0 {
		return len(text), len(text)
	}
	start = from + skip
	length := strings.IndexFunc(text[start:], func(r rune) bool { return !inName(r) })
	if length < 0 {
		return start, len(text)
	}
	return start, start + length
}

func isFileName(name string) bool {
	if len(name) > 512 || strings.HasPrefix(name, "//") || strings.LastIndexByte(name, '@') > 0 || isHost(name) {
		return false
	}
	base := path.Base(name)
	ext := strings.TrimPrefix(path.Ext(base), ".")
	stem := strings.TrimSuffix(base, "."+ext)
	if stem == "" || stem == base || !isSourceExtension(ext) || strings.TrimFunc(stem, func(r rune) bool { return !unicode.IsLetter(r) }) == "" {
		return false
	}
	if len(ext) == 1 && utf8.RuneCountInString(stem) < 2 { // p.m.
		return false
	}
	return strings.Contains(name, "/") || !isProduct(strings.ToLower(base))
}

// isHost reports whether the name begins with the name of a host.
func isHost(name string) bool {
	first, _, ok := strings.Cut(name, "/")
	if !ok {
		return false
	}
	switch path.Ext(first) {
	case ".com", ".org", ".net", ".io", ".dev", ".ai", ".de", ".co":
		return true
	}
	return false
}

// isSourceExtension knows the extensions that are not also words of code: no map, log, lock, test, env.
func isSourceExtension(ext string) bool {
	switch ext {
	case "go", "mod", "sum", "rs", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "cs", "fs", "vb", "java", "kt", "kts", "scala", "groovy",
		"swift", "dart", "py", "pyi", "pyx", "ipynb", "rb", "erb", "php", "pl", "pm", "lua", "r", "jl", "ex", "exs", "erl", "hrl", "hs", "ml", "mli",
		"clj", "cljs", "elm", "zig", "nim", "cr", "sol", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro", "html", "htm",
		"css", "scss", "sass", "less", "md", "mdx", "rst", "adoc", "txt", "json", "jsonc", "json5", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf",
		"xml", "csv", "tsv", "sql", "sh", "bash", "zsh", "fish", "ps1", "bat", "proto", "graphql", "gql", "tf", "tfvars", "nix", "cmake", "gradle",
		"svg", "png", "jpg", "jpeg", "gif", "webp", "pdf", "wasm", "sqlite", "parquet", "prisma", "plist", "snap", "golden", "patch", "tmpl", "hbs":
		return true
	}
	return false
}

// isProduct names what is written as a file and is none.
func isProduct(base string) bool {
	switch base {
	case "node.js", "next.js", "nuxt.js", "vue.js", "react.js", "express.js", "three.js", "d3.js", "chart.js", "angular.js", "backbone.js", "ember.js",
		"moment.js", "day.js", "alpine.js", "solid.js", "discord.js", "p5.js", "pdf.js", "nest.js", "require.js", "underscore.js",
		"handlebars.js", "mustache.js", "babylon.js", "tensorflow.js", "reveal.js", "plotly.js", "highlight.js", "prism.js", "video.js", "hls.js",
		"docs.rs":
		return true
	}
	return false
}

// Names reports whether text names the file of this base name, as a word of its own.
func Names(text, base string) bool {
	for from := 0; base != ""; {
		i := strings.Index(text[from:], base)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(base)
		if !partOfWord(text[:start], true) && !partOfWord(text[end:], false) {
			return true
		}
		from = start + 1
	}
	return false
}

// partOfWord reports whether s goes on, at its end or at its beginning, with the letters of a word. An escape of JSON,
// such as the n of a line break, is none.
func partOfWord(s string, atEnd bool) bool {
	if !atEnd {
		return s != "" && isWordByte(s[0])
	}
	return s != "" && isWordByte(s[len(s)-1]) && (len(s) < 2 || s[len(s)-2] != '\\')
}
