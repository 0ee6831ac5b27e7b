package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Page is one page of a browser. It is safe for concurrent use.
type Page struct {
	pipe    *pipe
	session string
	loaded  chan struct{}

	mu       sync.Mutex // guards the fields below
	problems []string
	requests []string
	bytes    int64
	asked    map[string]string // the URLs of requests, by their ids
	answers  []answer
	traced   []traceEvent  // since tracing began
	whole    chan struct{} // closed once all of traced is told; nil: nothing is traced
}

// answer is an Answer by the id of its request, which may be told of after it.
type answer struct {
	id     string
	status int
}

// Answer is what a server answered to a request of a page and of what it frames of its own site, whether or not they may read it.
type Answer struct {
	URL    string
	Status int
}

// Screen is how a page is shown.
type Screen struct {
	Width, Height int
	Dark          bool
	Print         bool
	Forced        bool // colours
	Zoom          float64
}

func (p *Page) call(ctx context.Context, method string, params, out any) error {
	return p.pipe.call(ctx, p.session, method, params, out)
}

// hear notes what the page does.
func (p *Page) hear(method string, params json.RawMessage) {
	var e struct {
		Type    string
		Args    []struct{ Value, Description json.RawMessage }
		Entry   struct{ Level, Text, URL string }
		Request struct{ Method, URL string }
		Issue   struct{ Code string }
		Length  int64  `json:"encodedDataLength"`
		ID      string `json:"requestId"`
		Status  int    `json:"statusCode"`
	}
	_ = json.Unmarshal(params, &e) // fields of another form are none of ours
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "Tracing.dataCollected":
		var more struct{ Value []traceEvent }
		_ = json.Unmarshal(params, &more) // as above
		p.traced = append(p.traced, more.Value...)
	case "Tracing.tracingComplete":
		close(p.whole)
	case "Page.loadEventFired":
		select {
		case p.loaded <- struct{}{}:
		default:
		}
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.Method+" "+e.Request.URL)
		p.asked[e.ID] = e.Request.URL
	case "Network.responseReceivedExtraInfo":
		p.answers = append(p.answers, answer{e.ID, e.Status})
	case "Network.loadingFinished":
		p.bytes += e.Length
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "assert" {
			p.problems = append(p.problems, "console: "+string(params))
		}
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, "exception: "+string(params))
	case "Log.entryAdded":
		if e.Entry.Level == "error" {
			p.problems = append(p.problems, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case "Audits.issueAdded":
		if e.Issue.Code == "ContentSecurityPolicyIssue" {
			p.problems = append(p.problems, "policy: "+string(params))
		}
	}
}

// Problems returns what the page complained of since the last call: errors on its console, exceptions, violations of its policy.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.problems
	p.problems = nil
	return out
}

// Requests returns what the page asked for since the last call, "GET url" each, and the bytes that came over the wire.
func (p *Page) Requests() (list []string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, bytes = p.requests, p.bytes
	p.requests, p.bytes = nil, 0
	return list, bytes
}

// Answers returns what the page was answered since it was opened.
func (p *Page) Answers() []Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Answer
	for _, a := range p.answers {
		list = append(list, Answer{p.asked[a.id], a.status})
	}
	return list
}

// Go leads the page to url, and returns when it has loaded.
func (p *Page) Go(ctx context.Context, url string) error {
	select {
	case <-p.loaded:
	default:
	}
	var gone struct {
		ErrorText string `json:"errorText"`
		LoaderID  string `json:"loaderId"`
	}
	if err := p.call(ctx, "Page.navigate", map[string]any{"url": url}, &gone); err != nil {
		return err
	}
	if gone.ErrorText != "" {
		return fmt.Errorf("browser: %s: %s", url, gone.ErrorText)
	}
	if gone.LoaderID == "" { // in the same document
		return nil
	}
	select {
	case <-p.loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("browser: %s: %w", url, ctx.Err())
	}
}

// Eval evaluates an expression, awaits it, and stores its value where out points, which may be nil.
func (p *Page) Eval(ctx context.Context, expression string, out any) error {
	var r struct {
		Result  struct{ Value json.RawMessage }
		Details *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	err := p.call(ctx, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &r)
	if err != nil {
		return err
	}
	if d := r.Details; d != nil {
		return fmt.Errorf("browser: %s: %s %s", expression, d.Text, d.Exception.Description)
	}
	if out == nil || r.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(r.Result.Value, out)
}

// Before has each document that p goes to from now on run a script first.
func (p *Page) Before(ctx context.Context, script string) error {
	return p.call(ctx, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
}

// Until returns when expression is true; an error says what the page shows instead. It must be so within 15 seconds.
func (p *Page) Until(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for {
		var ok bool
		err := p.Eval(ctx, "!!("+expression+")", &ok)
		if ok {
			return nil
		}
		select {
		case <-time.After(15 * time.Millisecond):
		case <-ctx.Done():
			var shown string
			late, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return errors.Join(fmt.Errorf("browser: never so: %s", expression), err,
				p.Eval(late, "document.body.innerText", &shown), fmt.Errorf("the page shows:\n%s", shown))
		}
	}
}

// Key presses a key: a character, or a name such as Enter, Escape, Tab, ArrowDown.
func (p *Page) Key(ctx context.Context, key string) error {
	down := map[string]any{"type": "keyDown", "key": key}
	switch {
	case len([]rune(key)) == 1:
		down["text"] = key
	case key == "Enter":
		down["text"] = "\r"
	}
	if code, ok := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "Backspace": 8}[key]; ok {
		down["windowsVirtualKeyCode"] = code
	}
	if err := p.call(ctx, "Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return p.call(ctx, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// Type presses the keys of text.
func (p *Page) Type(ctx context.Context, text string) error {
	for _, r := range text {
		if err := p.Key(ctx, string(r)); err != nil {
			return err
		}
	}
	return nil
}

// Show sets how the page is shown.
func (p *Page) Show(ctx context.Context, s Screen) error {
	scheme, media, forced := "light", "", "none"
	if s.Dark {
		scheme = "dark"
	}
	if s.Print {
		media = "print"
	}
	if s.Forced {
		forced = "active"
	}
	scale := s.Zoom
	if scale == 0 {
		scale = 1
	}
	return errors.Join(
		p.call(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{
			"width": int(float64(s.Width) / scale), "height": int(float64(s.Height) / scale), "deviceScaleFactor": scale, "mobile": false,
		}, nil),
		p.call(ctx, "Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{
			{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}, {"name": "forced-colors", "value": forced},
		}}, nil),
	)
}

// Picture writes what the page shows to a PNG file.
func (p *Page) Picture(ctx context.Context, path string) error {
	var shot struct{ Data []byte }
	if err := p.call(ctx, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		return err
	}
	return os.WriteFile(path, shot.Data, 0o600)
}

// traceEvent is a part of what the browser's threads did; times are microseconds.
type traceEvent struct {
	Name     string
	Pid, Tid int
	Dur      float64 `json:"dur"`
	Tdur     float64 `json:"tdur"`
}

// Task is one that kept the page from answering: how long, and how much of that it worked. On a loaded machine it waits for the rest.
type Task struct{ Took, Worked time.Duration }

// Tasks returns the tasks of the main threads of the browser's pages while during ran. One trace is made at a time.
func (p *Page) Tasks(ctx context.Context, during func()) (list []Task, err error) {
	p.mu.Lock()
	p.traced, p.whole = nil, make(chan struct{})
	p.mu.Unlock()
	wanted := map[string]any{"includedCategories": []string{"toplevel", "devtools.timeline"}}
	if err := p.call(ctx, "Tracing.start", map[string]any{"traceConfig": wanted}, nil); err != nil {
		return nil, err
	}
	during()
	if err := p.call(ctx, "Tracing.end", struct{}{}, nil); err != nil {
		return nil, err
	}
	select {
	case <-p.whole:
	case <-ctx.Done():
		return nil, fmt.Errorf("browser: trace: %w", ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	scripted := map[[2]int]bool{} // the threads that run scripts
	for _, e := range p.traced {
		if e.Name == "FunctionCall" {
			scripted[[2]int{e.Pid, e.Tid}] = true
		}
	}
	for _, e := range p.traced {
		if scripted[[2]int{e.Pid, e.Tid}] && strings.HasSuffix(e.Name, "RunTask") && e.Dur > 0 {
			list = append(list, Task{time.Duration(e.Dur * 1000), time.Duration(e.Tdur * 1000)})
		}
	}
	p.traced = nil
	return list, nil
}

// Heap is how many bytes of JavaScript's heap are in use once it has been collected.
func (p *Page) Heap(ctx context.Context) (used int64, err error) {
	var h struct{ UsedSize float64 }
	err = errors.Join(p.call(ctx, "HeapProfiler.collectGarbage", struct{}{}, nil), p.call(ctx, "Runtime.getHeapUsage", struct{}{}, &h))
	return int64(h.UsedSize), err
}

// Named are the roles and names of the page's accessibility tree, "role: name" each, in its order. Texts are left out.
func (p *Page) Named(ctx context.Context) (list []string, err error) {
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value json.RawMessage }
		}
	}
	err = p.call(ctx, "Accessibility.getFullAXTree", struct{}{}, &tree)
	for _, n := range tree.Nodes {
		role := text(n.Role.Value)
		if !n.Ignored && !slices.Contains([]string{"StaticText", "InlineTextBox", "none", "generic"}, role) {
			list = append(list, role+": "+strings.TrimSpace(text(n.Name.Value)))
		}
	}
	return list, err
}
