package capture

import (
	"context"
	"io"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/watch"
)

// maxFollowed is how many keys the reading of one transcript remembers, some 5 MB.
const maxFollowed = 1 << 17

// feed is one transcript that is recorded while it grows. It is not safe for concurrent use.
type feed struct {
	agent string
	in    *ingest
	t     *agents.Transcript
	src   *source
}

// Open begins the reading of a transcript, from its beginning. It implements watch.Sink. Errors are agents.ErrUnknownAgent and
// agents.ErrNoTranscripts.
func (p *Pipeline) Open(agent, path string) (watch.Reading, error) {
	src := &source{}
	t, err := agents.ReadTranscript(agent, src, path)
	if err != nil {
		return nil, err
	}
	t.Redact = p.cfg.Secrets
	f := &feed{agent: agent, in: newIngest(p, t.Progress), t: t, src: src}
	f.in.most = maxFollowed
	return f, nil
}

// Take records what r has of the transcript: bytes from Offset of the answer before on. It is in the log when Take returns
// without an error; after one the reading is not used again. Rests says that nothing more comes for now, so that the agent's
// last words are its answer. The answer is about the whole reading, from its beginning.
func (f *feed) Take(ctx context.Context, r io.Reader, rests bool) (watch.Taken, error) {
	f.src.Reader = r
	f.in.again(f.agent)
	captures := f.t.More()
	if rests {
		captures = f.t.Captures()
	}
	if err := f.in.run(ctx, captures); err != nil {
		return watch.Taken{}, err
	}
	got := f.in.result(f.t.Progress())
	return watch.Taken{Offset: got.Offset, Lines: got.Lines, Captured: got.Captured, Bad: got.Malformed}, nil
}
