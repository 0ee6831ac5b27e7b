package viewer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cmemd/cmemd/internal/replay/report"
)

//go:embed assets
var assets embed.FS

const (
	// pathShell is where the page is, and pathFiles below it where its files are, behind the hash of all of them.
	pathShell = "/ui/"
	pathFiles = pathShell + "a/"

	// stylesheet is the file that the page's own style and that of the report are joined in.
	stylesheet = "style.css"
	shellFile  = "index.html"
)

// file is one that a browser may have.
type file struct {
	kind   string // its media type
	plain  []byte
	packed func() []byte // gzip, made when it is asked for first
}

// kinds are the media types of what is served, by the end of its name. Systems' own lists differ.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml",
}

func newFile(name string, content []byte) file {
	return file{kinds[path.Ext(name)], content, sync.OnceValue(func() []byte { return pack(content) })}
}

func pack(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = w.Write(content)                               // to memory
	_ = w.Close()
	return b.Bytes()
}

// page is what the handler answers from. It does not change.
type page struct {
	hash  string
	shell file
	files map[string]file // by name below assets
}

// Handler answers GET and HEAD below /ui/: the page's files, and for every other path the shell, whose script knows the views. It sets
// the media type and how long a browser keeps an answer; the headers that keep the page in are the server's. It is safe for
// concurrent use.
func Handler() http.Handler {
	return newPage(read())
}

// read reads the page's files by name.
func read() map[string][]byte {
	all := map[string][]byte{}
	err := fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := assets.ReadFile(name)
		all[strings.TrimPrefix(name, "assets/")] = b
		return err
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	all[stylesheet] = append([]byte(report.Style()), all[stylesheet]...)
	// A browser resolves no bare name without a map, which would have to stand in the shell as a script.
	all["vendor/hooks.js"] = bytes.ReplaceAll(all["vendor/hooks.js"], []byte(`from"preact"`), []byte(`from"./preact.js"`))
	return all
}

func newPage(all map[string][]byte) *page {
	p := &page{files: map[string]file{}}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, _ = sum.Write(append([]byte(name), all[name]...)) // never fails
		if f := newFile(name, all[name]); f.kind != "" && name != shellFile {
			p.files[name] = f
		}
	}
	p.hash = hex.EncodeToString(sum.Sum(nil)[:8])
	p.shell = newFile(shellFile, bytes.ReplaceAll(all[shellFile], []byte("{{files}}"), []byte(pathFiles+p.hash)))
	return p
}

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
		return
	}
	f, keep := p.shell, "no-cache"
	if name, ok := strings.CutPrefix(r.URL.Path, pathFiles); ok {
		name, mine := strings.CutPrefix(name, p.hash+"/")
		if f, ok = p.files[name]; !ok || !mine {
			http.Error(w, "the page has no such file; load it anew", http.StatusNotFound)
			return
		}
		keep = "public, max-age=31536000, immutable"
	}
	p.send(w, r, f, keep)
}

// send answers with f, unless the browser has it.
func (p *page) send(w http.ResponseWriter, r *http.Request, f file, keep string) {
	h := w.Header()
	h.Set("Cache-Control", keep)
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed()
	}
	h.Set("ETag", `"`+p.hash+`"`)
	if r.Header.Get("If-None-Match") == h.Get("ETag") {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the browser is gone, or has it
	}
}
