package server

import (
	"context"
	"io"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
)

// followed is how many keys the reading of one transcript remembers, some 5 MB.
const followed = 1 << 17

// Feed is one transcript that is recorded while it grows. It is not safe for concurrent use.
type Feed struct {
	agent string
	in    *ingest
	t     *agents.Transcript
	src   *source
}

// source is a reader that is given more and more.
type source struct{ io.Reader }

// Feed begins the reading of a transcript, from its beginning. Errors are agents.ErrUnknownAgent and agents.ErrNoTranscripts.
func (s *Server) Feed(agent, path string) (*Feed, error) {
	f := &Feed{agent: agent, src: &source{}}
	t, err := agents.ReadTranscript(agent, f.src, path)
	if err != nil {
		return nil, err
	}
	t.Redact = s.cfg.Secrets
	f.t, f.in = t, newIngest(s, t.Progress)
	f.in.most = followed
	return f, nil
}

// Take records what r has of the transcript: bytes from Offset of the answer before on. It is in the log when Take returns
// without an error; after one the Feed is not used again. Rests says that nothing more comes for now, so that the agent's last
// words are its answer. The answer is about the whole reading, from its beginning.
func (f *Feed) Take(ctx context.Context, r io.Reader, rests bool) (api.Ingested, error) {
	f.src.Reader = r
	f.in.again(f.agent)
	captures := f.t.More()
	if rests {
		captures = f.t.Captures()
	}
	if err := f.in.run(ctx, captures); err != nil {
		return api.Ingested{}, err
	}
	return f.in.result(f.t.Progress()), nil
}
