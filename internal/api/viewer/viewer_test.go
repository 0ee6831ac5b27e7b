package viewer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The bounds of what a browser loads and a person reads.
const (
	maxLines      = 2000
	maxLineLength = 110
	maxPacked     = 60_000 // bytes of all files together, compressed
)

// own are the page's own modules, by name.
func own() map[string]string {
	all := map[string]string{}
	for name, content := range read() {
		if strings.HasSuffix(name, ".js") && !strings.HasPrefix(name, "vendor/") {
			all[name] = string(content)
		}
	}
	return all
}

// TestVendored: what is vendored is what npm has, byte by byte: preact 10.29.8 (dist/preact.module.js, hooks/dist/hooks.module.js) and
// htm 3.1.1 (dist/htm.module.js).
func TestVendored(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"preact.js": "c30e721ebfdc6e2ad4c18c14d2dfb82667829c8aec27de1207774e3fc16858a8",
		"hooks.js":  "a6ee626f2d01570592dd569a792e3f050154aa02890eead8c223fa3ed5aa3d5a",
		"htm.js":    "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4",
	} {
		b, err := assets.ReadFile("assets/vendor/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s is not the file that npm has", name)
		}
	}
	for _, name := range []string{"preact.LICENSE", "htm.LICENSE"} {
		if b, err := assets.ReadFile("assets/vendor/" + name); err != nil || len(b) < 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// forbidden are the ways from text to markup or to code.
var forbidden = []string{
	"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc", "dangerouslySetInnerHTML",
	"createContextualFragment", "DOMParser", "setHTMLUnsafe", "javascript:", "createPolicy", "document.cookie", "sessionStorage",
}

// onAttribute is a handler as an attribute of text: those of components have a function.
var onAttribute = regexp.MustCompile(`\bon[a-z]+=["']`)

// TestNoWayToMarkup: no module of ours makes markup or code of text, or keeps anything but a theme and a choice in the browser.
func TestNoWayToMarkup(t *testing.T) {
	t.Parallel()
	for name, text := range own() {
		for _, word := range forbidden {
			if strings.Contains(text, word) {
				t.Errorf("%s says %s", name, word)
			}
		}
		if onAttribute.MatchString(text) {
			t.Errorf("%s has a handler as text: %s", name, onAttribute.FindString(text))
		}
		for _, m := range regexp.MustCompile(`localStorage\.setItem\("(\w+)"`).FindAllStringSubmatch(text, -1) {
			if !slices.Contains([]string{"theme", "keys"}, m[1]) {
				t.Errorf("%s keeps %s in the browser", name, m[1])
			}
		}
	}
	if html := string(read()[shellFile]); strings.Contains(html, "<style") || regexp.MustCompile(`<script(?:[^>]*[^c])?>|\son[a-z]+=`).MatchString(strings.ReplaceAll(html, `.js">`, `.jsc>`)) {
		t.Error("the shell holds a script or a style")
	}
}

// TestSizes: the page stays one that is read, and loaded, at once.
func TestSizes(t *testing.T) {
	t.Parallel()
	lines := 0
	for name, text := range own() {
		for i, l := range strings.Split(text, "\n") {
			lines++
			if len([]rune(l)) > maxLineLength {
				t.Errorf("%s:%d has %d characters", name, i+1, len([]rune(l)))
			}
		}
	}
	p, packed := newPage(read()), 0
	for _, f := range p.files {
		packed += len(f.packed())
	}
	if lines > maxLines || packed > maxPacked {
		t.Errorf("%d lines, %d bytes compressed: at most %d and %d may be", lines, packed, maxLines, maxPacked)
	}
	t.Logf("%d lines of JavaScript; %d files, %d bytes compressed", lines, len(p.files), packed)
}

// TestModulesImportDown: modules import others by relative paths, those that doc.go lists below them.
func TestModulesImportDown(t *testing.T) {
	t.Parallel()
	order := []string{"app.js", "now.js", "memory.js", "why.js", "losses.js", "log.js", "replay.js", "decide.js", "forget.js", "fields.js", "ui.js", "net.js", "text.js"}
	all := own()
	for name := range all {
		if !slices.Contains(order, name) {
			t.Errorf("%s is not in the order", name)
		}
	}
	for name, text := range all {
		for _, m := range regexp.MustCompile(`(?:from |import\()"([^"]+)"`).FindAllStringSubmatch(text, -1) {
			to, ok := strings.CutPrefix(m[1], "./")
			switch {
			case !ok || read()[to] == nil:
				t.Errorf("%s imports %s, which is no file beside it", name, m[1])
			case strings.HasPrefix(to, "vendor/") && name != "ui.js":
				t.Errorf("%s imports %s: ui.js alone does", name, to)
			case slices.Contains(order, to) && slices.Index(order, to) <= slices.Index(order, name) && to != "now.js":
				t.Errorf("%s imports %s, which stands above it", name, to)
			}
		}
	}
}

// TestHandler: the shell is answered for every view, and files are under the hash of all, for ever.
func TestHandler(t *testing.T) {
	t.Parallel()
	p := newPage(read())
	ask := func(method, path string, header map[string]string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		for k, v := range header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w
	}
	shell := ask("GET", "/ui/memory/m41", nil)
	if shell.Code != 200 || !strings.Contains(shell.Body.String(), pathFiles+p.hash+"/app.js") || shell.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("the shell: %d %v %s", shell.Code, shell.Header(), shell.Body)
	}
	for _, c := range []struct {
		method, path string
		header       map[string]string
		code         int
	}{
		{"GET", "/ui/", map[string]string{"If-None-Match": shell.Header().Get("ETag")}, 304},
		{"HEAD", "/ui/", nil, 200},
		{"POST", "/ui/", nil, 405},
		{"GET", pathFiles + p.hash + "/app.js", nil, 200},
		{"GET", pathFiles + p.hash + "/index.html", nil, 404},
		{"GET", pathFiles + p.hash + "/vendor/htm.LICENSE", nil, 404},
		{"GET", pathFiles + "0000/app.js", nil, 404},
		{"GET", pathFiles, nil, 404},
	} {
		if got := ask(c.method, c.path, c.header); got.Code != c.code {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, got.Code, c.code)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		got := ask("GET", pathFiles+p.hash+"/"+name, map[string]string{"Accept-Encoding": "gzip"})
		if got.Header().Get("Content-Encoding") != "gzip" || !strings.Contains(got.Header().Get("Cache-Control"), "immutable") || got.Body.Len() == 0 {
			t.Errorf("%s: %v", name, got.Header())
		}
	}
}

// TestHashMoves: whatever changes has another path.
func TestHashMoves(t *testing.T) {
	t.Parallel()
	seen := map[string]string{newPage(read()).hash: "nothing"}
	for name := range read() {
		all := read()
		all[name] = fmt.Append(all[name], " ")
		h := newPage(all).hash
		if at, again := seen[h]; again {
			t.Errorf("with %s changed the hash is that of %s changed", name, at)
		}
		seen[h] = name
	}
}
